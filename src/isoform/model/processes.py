"""What other processes use: processor time and memory, as Linux reports it. On other systems nothing is known."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_TIMES, _RESIDENT = slice(11, 15), 21
"""In /proc/PID/stat behind the name: user, system, and both of the children that have ended (proc(5), fields 14-17);
and pages of memory (field 24)."""


class Usage(NamedTuple):
    """Of a process, all its threads, and the processes it has started."""

    seconds: float
    """Of processor time."""
    resident: int
    """Bytes of memory."""


def usage(pid: int) -> Usage:
    """Zeros if that is not known. Called often, so it must be cheap."""
    ticks = resident = 0
    for process in (pid, *descendants(pid)):
        with suppress(OSError, ValueError, IndexError):
            fields = _read(f"/proc/{process}/stat").rpartition(b")")[2].split()
            ticks += sum(map(int, fields[_TIMES]))
            resident += int(fields[_RESIDENT])
    return Usage(ticks / _TICKS, resident * _PAGE)


def processor_seconds(pid: int) -> float:
    """Of a process, all its threads, and the processes it has started; 0 where that is not known."""
    return usage(pid).seconds


def resident_bytes(pid: int | str = "self") -> int:
    """Memory that a process has in use; 0 where that is not known."""
    with suppress(OSError, ValueError, IndexError):
        return int(_read(f"/proc/{pid}/statm").split()[1]) * _PAGE
    return 0


def _read(path: str) -> bytes:
    """A short file, with as few calls as there are."""
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, 4096)
    finally:
        os.close(file)


def descendants(pid: int) -> list[int]:
    """The processes that it started, and those that they started."""
    found: list[int] = []
    pending = [pid]
    while pending:
        parent = pending.pop()
        children: list[int] = []
        with suppress(OSError, ValueError):
            children = [int(n) for n in _read(f"/proc/{parent}/task/{parent}/children").split()]
        found += children
        pending += children
    return found


def kill_with_descendants(pid: int) -> None:
    """End a process and everything that it started, whatever they are doing."""
    for process in (pid, *descendants(pid)):
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)
