"""Runs cases in a child process with limits, and starts a new one after a crash or a hang."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hostile.case import Case, Damaged, Odd

ROOT = Path(__file__).resolve().parents[2]
SECONDS_LIMIT = 10.0
"""Of processor time, or of real time where the processor was idle: the machine may be busy with other things."""
PATIENCE = 3.0
"""Real time over `SECONDS_LIMIT` that a busy machine may cost."""
CASES_PER_CHILD = 400
MEMORY_STOP = 3 << 29
"""Bytes at which a process is ended: half as much again as a case may use."""
HEAVY = 500 << 20
"""Bytes after which a child is replaced, so that one case's memory is not counted as the next one's."""


@dataclass(frozen=True)
class Answer:
    code: int | None
    """None: the child had to be stopped, or died."""
    out: str = ""
    err: str = ""
    trace: str = ""
    seconds: float = 0.0
    processor: float = 0.0
    peak: int = 0
    executed: tuple[str, ...] = ()
    died: str = ""
    """How the child ended instead of answering."""


@dataclass
class Runner:
    """One child process, made when it is needed."""

    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="hostile-")))
    restarts: int = 0
    _process: subprocess.Popen[bytes] | None = None
    _questions: int = -1
    _answers: int = -1
    _ran: int = 0
    _buffer: bytes = b""

    def run(self, case: Case) -> Answer:
        if self._process is None:
            self._start()
        place = self.folder / "case"
        write_case(case, place)
        question = json.dumps({"folder": str(place), "words": list(case.words)}) + "\n"
        started = time.monotonic()
        try:
            os.write(self._questions, question.encode())
            answer = self._wait(started)
        except BrokenPipeError:
            answer = None
        self._ran += 1
        if answer is None:
            return self._ended(started)
        if answer.peak > HEAVY or self._ran >= CASES_PER_CHILD or answer.trace:
            self.stop()
        return answer

    def _start(self) -> None:
        into_child, self._questions = os.pipe()
        self._answers, from_child = os.pipe()
        command = [sys.executable, "-P", "-m", "hostile.child", str(into_child), str(from_child)]
        paths = [str(ROOT / "bench"), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in paths if p), "NO_COLOR": "1"}
        self._process = subprocess.Popen(
            command,
            pass_fds=(into_child, from_child),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        os.close(into_child)
        os.close(from_child)
        self._ran, self._buffer = 0, b""
        self.restarts += 1

    def _wait(self, started: float) -> Answer | None:
        assert self._process is not None
        before = _processor_seconds(self._process.pid)
        while True:
            ready, _, _ = select.select([self._answers], [], [], 0.25)
            if ready:
                more = os.read(self._answers, 1 << 16)
                if not more:
                    return None
                self._buffer += more
                line, newline, rest = self._buffer.partition(b"\n")
                if newline:
                    self._buffer = rest
                    return _answer(json.loads(line))
            used = _processor_seconds(self._process.pid) - before
            if _resident(self._process.pid) > MEMORY_STOP:
                return None
            if used > SECONDS_LIMIT + 1 or time.monotonic() - started > SECONDS_LIMIT * PATIENCE:
                return None

    def _ended(self, started: float) -> Answer:
        process = self._process
        assert process is not None
        seconds = time.monotonic() - started
        time.sleep(0.05)
        status = process.poll()
        memory = _resident(process.pid)
        self.stop()
        died = f"no answer after {seconds:.1f} s" if status is None else f"the process ended with status {status}"
        if memory > MEMORY_STOP:
            died = f"{memory >> 20} MiB of memory after {seconds:.1f} s"
        return Answer(None, seconds=seconds, died=died)

    def stop(self) -> None:
        if self._process is None:
            return
        os.close(self._questions)
        os.close(self._answers)
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._process = None

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def _answer(record: dict[str, Any]) -> Answer:
    return Answer(**{**record, "executed": tuple(record["executed"])})


def write_case(case: Case, place: Path) -> None:
    """The files of a case, in a folder that holds nothing else."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for name, file in case.files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        match file:
            case Damaged():
                path.write_bytes(file.content)
            case Odd.FIFO:
                os.mkfifo(path)
            case Odd.FOLDER:
                path.mkdir()
            case Odd.LINK_TO_ITSELF:
                path.symlink_to(path.name)
            case Odd.ENDLESS:
                path.symlink_to("/dev/zero")


def _resident(process: int) -> int:
    """Bytes of memory that a process has now."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def _processor_seconds(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(int(ticks) for ticks in fields[11:15]) / os.sysconf("SC_CLK_TCK")
