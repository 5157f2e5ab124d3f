"""Who does a piece of work: a process of a machine, told apart from a later one of the same number."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from pathlib import Path

from isoform.model.values import dataclass


@dataclass(frozen=True)
class Owner:
    host: str
    """The machine, its boot and the space of process numbers: where two are equal, so are these numbers' meanings."""
    pid: int
    started: str
    """When the process was started, as the system tells it; empty where it does not."""

    @property
    def is_local(self) -> bool:
        return self.host == this_host()

    @property
    def is_alive(self) -> bool:
        """Of a local one. A process that has ended counts as such, even if nobody has asked for its exit code."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except OSError:
            pass  # it is there, and somebody else's
        fields = _fields(self.pid)
        return self.started == _start(fields) and fields[:1] not in (["Z"], ["X"])


def this_process() -> Owner:
    return Owner(this_host(), os.getpid(), start_of(os.getpid()))


def this_host() -> str:
    parts = [platform.node()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        parts.append(os.readlink("/proc/self/ns/pid"))
    return " ".join(parts)


def start_of(pid: int) -> str:
    """proc(5), field 22: ticks from the boot of the machine to the start of the process."""
    return _start(_fields(pid))


def _start(fields: list[str]) -> str:
    return fields[19] if len(fields) > 19 else ""


def _fields(pid: int) -> list[str]:
    """Of /proc/PID/stat, from the state (field 3) on; none where that is not known."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    return []
