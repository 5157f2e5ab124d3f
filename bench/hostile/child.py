"""The process that runs cases, one after the other, through isoform's own command line.

`python -m hostile.child READ WRITE`: one JSON object a line comes in on the file descriptor READ (`folder`, `words`),
one goes out on WRITE. What isoform prints is caught; memory is limited; nothing of the case's folder may be executed.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import sys
import time
import traceback
from pathlib import Path
from typing import Any

ADDRESS_SPACE = 4 << 30
"""Bytes that can be reserved: more than a case may use, as the CPU model reserves a gibibyte for its translations. How
much is used is measured, and `runner` ends a process that uses too much at once."""
SHOWN = 200_000
_STARTS = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "os.spawn", "pty.spawn", "ctypes.dlopen")


class Guard:
    """Notes every process started and library opened that is not isoform's own."""

    def __init__(self) -> None:
        self.active = False
        self.seen: list[str] = []
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.active or event not in _STARTS:
            return
        shown = " ".join(str(a) for a in arguments)
        if event == "ctypes.dlopen":
            if str(arguments[0]).startswith(os.getcwd()):
                self.seen.append(f"{event} {shown}")
        elif sys.executable not in shown or "isoform.check.confirm" not in shown:
            self.seen.append(f"{event} {shown}"[:300])


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    from isoform.cli import run_command

    guard = Guard()
    with (
        os.fdopen(int(sys.argv[1]), "r", encoding="utf-8") as questions,
        os.fdopen(int(sys.argv[2]), "w", encoding="utf-8") as answers,
    ):
        for line in questions:
            question = json.loads(line)
            os.chdir(question["folder"])
            guard.seen.clear()
            guard.active = True
            answer = _run(run_command, question["words"])
            guard.active = False
            print(json.dumps({**answer, "executed": guard.seen}), file=answers, flush=True)


def _run(run_command: Any, words: list[str]) -> dict[str, Any]:
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace") for _ in range(2)]
    _forget_peak()
    started, used = time.monotonic(), _processor_seconds()
    code, trace = -1, ""
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        try:
            code = run_command(words)
        except BaseException:  # whatever leaves the command line is what this looks for
            trace = traceback.format_exc()
    seconds, processor = time.monotonic() - started, _processor_seconds() - used
    texts = [_text(stream) for stream in streams]
    return {
        "code": code,
        "out": texts[0][:SHOWN],
        "err": texts[1][:SHOWN],
        "trace": trace[-4000:],
        "seconds": seconds,
        "processor": processor,
        "peak": _peak(),
    }


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8", "replace")


def _processor_seconds() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def _forget_peak() -> None:
    """The kernel's high-water mark starts again (5: see proc(5))."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    """Bytes of memory at most since `_forget_peak`."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


if __name__ == "__main__":
    main()
