"""How many low bits of each argument register a system call of Linux on x86-64 reads. It reads none of a register that
is not listed. The kernel takes an `int`, an `unsigned` or an identifier from the low half of its register.

Only calls whose arguments are the same in every version of the kernel are listed; of all others every register counts.
"""

from __future__ import annotations

_INT, _LONG = 32, 64

SYSTEM_READS: dict[int, tuple[int, ...]] = {
    0: (_INT, _LONG, _LONG),  # read
    1: (_INT, _LONG, _LONG),  # write
    2: (_LONG, _INT, _INT),  # open
    3: (_INT,),  # close
    4: (_LONG, _LONG),  # stat
    5: (_INT, _LONG),  # fstat
    6: (_LONG, _LONG),  # lstat
    7: (_LONG, _INT, _INT),  # poll
    8: (_INT, _LONG, _INT),  # lseek
    11: (_LONG, _LONG),  # munmap
    12: (_LONG,),  # brk
    21: (_LONG, _INT),  # access
    22: (_LONG,),  # pipe
    24: (),  # sched_yield
    28: (_LONG, _LONG, _INT),  # madvise
    32: (_INT,),  # dup
    33: (_INT, _INT),  # dup2
    34: (),  # pause
    35: (_LONG, _LONG),  # nanosleep
    37: (_INT,),  # alarm
    39: (),  # getpid
    41: (_INT, _INT, _INT),  # socket
    42: (_INT, _LONG, _INT),  # connect
    48: (_INT, _INT),  # shutdown
    49: (_INT, _LONG, _INT),  # bind
    50: (_INT, _INT),  # listen
    60: (_INT,),  # exit
    62: (_INT, _INT),  # kill
    63: (_LONG,),  # uname
    73: (_INT, _INT),  # flock
    74: (_INT,),  # fsync
    75: (_INT,),  # fdatasync
    76: (_LONG, _LONG),  # truncate
    77: (_INT, _LONG),  # ftruncate
    79: (_LONG, _LONG),  # getcwd
    80: (_LONG,),  # chdir
    81: (_INT,),  # fchdir
    82: (_LONG, _LONG),  # rename
    83: (_LONG, _INT),  # mkdir
    84: (_LONG,),  # rmdir
    85: (_LONG, _INT),  # creat
    86: (_LONG, _LONG),  # link
    87: (_LONG,),  # unlink
    88: (_LONG, _LONG),  # symlink
    89: (_LONG, _LONG, _INT),  # readlink
    90: (_LONG, _INT),  # chmod
    91: (_INT, _INT),  # fchmod
    92: (_LONG, _INT, _INT),  # chown
    95: (_INT,),  # umask
    96: (_LONG, _LONG),  # gettimeofday
    97: (_INT, _LONG),  # getrlimit
    98: (_INT, _LONG),  # getrusage
    102: (),  # getuid
    104: (),  # getgid
    105: (_INT,),  # setuid
    106: (_INT,),  # setgid
    107: (),  # geteuid
    108: (),  # getegid
    109: (_INT, _INT),  # setpgid
    110: (),  # getppid
    111: (),  # getpgrp
    112: (),  # setsid
    121: (_INT,),  # getpgid
    124: (_INT,),  # getsid
    160: (_INT, _LONG),  # setrlimit
    162: (),  # sync
    186: (),  # gettid
    200: (_INT, _INT),  # tkill
    201: (_LONG,),  # time
    228: (_INT, _LONG),  # clock_gettime
    231: (_INT,),  # exit_group
    234: (_INT, _INT, _INT),  # tgkill
    257: (_INT, _LONG, _INT, _INT),  # openat
}
