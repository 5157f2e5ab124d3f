"""Answers kept in a file, so that grading resumes where it was interrupted.

JSON lines: a header, then one answer a line under a key that says all it depends on but the budget. A line is appended
and flushed as soon as its answer is known. A damaged line (the machine went down while it was written) is ignored.

More time cannot change what was shown, so a proof or a difference is kept whatever the budget; an answer without
either is kept only from a run that had at least as much time.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from isoform.model.errors import UserError
from isoform.model.grades import GradedAnswer, answer_from_json

FORMAT = 1
_HEADER = {"isoform": "grade", "format": FORMAT}
LONGEST_LINE = 1 << 24


class Store:
    """Use as a context manager. Without a path nothing is kept."""

    def __init__(self, path: Path | None, fresh: bool = False, option: str = "--state") -> None:
        self._path = path
        self._answers: dict[str, tuple[float, GradedAnswer]] = {}
        self._file: IO[bytes] | None = None
        if path is None:
            return
        try:
            if path.exists() and not path.is_file():
                raise UserError(f"{option} {path} is not an ordinary file: name another.")
            self._file = path.open("a+b")
            # A lock of this process alone: a worker that outlives it must not keep the next run waiting.
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise UserError(
                f"{option} {path} is in use by another isoform grade: wait for it, or name another."
            ) from None
        except OSError as error:
            self.close()
            raise UserError(f"{option} {path} cannot be written: {error.strerror or error}.") from None
        try:
            self._begin(fresh, option)
        except BaseException:
            self.close()
            raise

    def _begin(self, fresh: bool, option: str) -> None:
        assert self._file is not None
        self._file.seek(0)
        first = self._file.readline(LONGEST_LINE)
        if first.strip() and _object(first) != _HEADER:
            raise UserError(f"{option} {self._path} is not a state file of isoform grade: name another, or remove it.")
        if fresh or not first.strip():
            self._file.truncate(0)
            self._append(_HEADER)
            return
        self._answers = dict(_entries(self._file))
        self._end_last_line()

    def _end_last_line(self) -> None:
        assert self._file is not None
        if self._file.seek(0, os.SEEK_END):
            self._file.seek(-1, os.SEEK_END)
            if self._file.read(1) != b"\n":
                self._file.write(b"\n")

    def get(self, key: str, budget: float) -> GradedAnswer | None:
        had, answer = self._answers.get(key, (0.0, None))
        return answer if answer is not None and (answer.is_final or had >= budget) else None

    def put(self, key: str, budget: float, answer: GradedAnswer) -> None:
        self._answers[key] = (budget, answer)
        if self._file is not None:
            with suppress(OSError):  # a full disk costs the resuming, not the grading
                self._append({"key": key, "budget": budget, "answer": answer.to_json()})

    def _append(self, entry: dict[str, Any]) -> None:
        assert self._file is not None
        self._file.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
        self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _entries(file: IO[bytes]) -> Iterator[tuple[str, tuple[float, GradedAnswer]]]:
    while line := file.readline(LONGEST_LINE):
        entry = _object(line)
        with suppress(KeyError, TypeError, ValueError, AttributeError):
            key, budget, answer = entry["key"], float(entry["budget"]), answer_from_json(entry["answer"])
            if isinstance(key, str):
                yield key, (budget, answer)


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def question_key(parts: Any) -> str:
    """A digest of what an answer depends on."""
    return sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def state_beside(outputs: Iterable[Path | None], reference: str, folder: Path) -> Path | None:
    """Where answers are kept if the user does not say: beside the first output file, else in the user's cache.
    None where that cannot be written."""
    for output in outputs:
        if output is not None:
            return output.with_name(f"{output.name}.state")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "isoform" / "grade"
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    if not os.access(cache, os.W_OK):
        return None
    return cache / f"{question_key([os.path.abspath(reference), os.path.abspath(folder)])[:24]}.state"
