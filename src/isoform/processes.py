"""What other processes use: processor time and memory, as Linux tells it. Elsewhere nothing is known of them."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_TIMES = slice(11, 15)
"""In /proc/PID/stat behind the name: user, system, and both of the children that have ended (proc(5), fields 14-17)."""


def processor_seconds(pid: int) -> float:
    """Of a process, all its threads, and the processes it has started; 0 where that is not known."""
    total = 0
    for process in (pid, *descendants(pid)):
        with suppress(OSError, ValueError):
            behind_name = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
            total += sum(map(int, behind_name.split()[_TIMES]))
    return total / _TICKS


def resident_bytes(pid: int | str = "self") -> int:
    """Memory that a process has in use; 0 where that is not known."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * _PAGE
    return 0


def descendants(pid: int) -> list[int]:
    """The processes that it started, and those that they started."""
    found: list[int] = []
    pending = [pid]
    while pending:
        parent = pending.pop()
        children: list[int] = []
        with suppress(OSError, ValueError):
            children = [int(n) for n in Path(f"/proc/{parent}/task/{parent}/children").read_text("ascii").split()]
        found += children
        pending += children
    return found


def kill_with_descendants(pid: int) -> None:
    """End a process and all that it started, whatever they are doing."""
    for process in (pid, *descendants(pid)):
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)
