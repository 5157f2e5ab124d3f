"""A whole comparison in the store: the same command on the same files has the same rows, and compares nothing again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from isoform.diff.members import ComparedFile, MemberPair
from isoform.diff.options import DiffOptions
from isoform.load.open import SOURCE_SUFFIXES
from isoform.load.resolve import read_file
from isoform.model.library_diff import OPEN, FunctionAnswer, Row, row_as_json, row_from_json
from isoform.work import task as work

if TYPE_CHECKING:
    from isoform.work.store import Store

KIND = "diff-whole"
_ASKED = (*OPEN, FunctionAnswer.DIFFERENT, FunctionAnswer.EQUIVALENT)


class Whole:
    """The rows of one comparison, under a key of all that they depend on. The key is empty, and nothing is kept, if
    there is no store, or if a file is a source: headers that it includes may have changed."""

    def __init__(self, store: Store | None, members: Sequence[MemberPair], options: DiffOptions) -> None:
        self._store = store
        self._options = options
        self.key = self._key(members) if store is not None else ""

    def _key(self, members: Sequence[MemberPair]) -> str:
        from isoform.work.store import current_versions

        both = [member for pair in members for member in pair if member is not None]
        if any(member.data is None and Path(member.path).suffix in SOURCE_SUFFIXES for member in both):
            return ""
        said = [[None if member is None else _digest(member) for member in pair] for pair in members]
        options = {name: value for name, value in self._options.as_json().items() if name != "time"}
        return work.content_key([current_versions(), said, options, self._options.memory_limit])

    def rows(self) -> list[Row] | None:
        if self._store is None or not self.key or self._options.retry:
            return None
        kept = self._store.get(KIND, self.key)
        if kept is None:
            return None
        rows = [row_from_json(content) for content in kept.result]
        return [replace(row, is_kept=True) if row.answer in _ASKED else row for row in rows]

    def keep(self, rows: Sequence[Row]) -> None:
        if self._store is None or not self.key:
            return
        limits = work.TaskLimits(0.0, 0)
        task = work.Task(KIND, self.key, "", None, limits, self._options.budget, label="a whole comparison")
        result = [row_as_json(row) for row in rows]
        is_final = not any(row.answer in OPEN for row in rows)
        self._store.put(work.TaskResult(task, self.key, work.TaskEnd.DONE, result, is_final=is_final))


def _digest(member: ComparedFile) -> tuple[str, str | None, str]:
    data = member.data if member.data is not None else read_file(Path(member.path))
    return member.path, member.inner, sha256(data).hexdigest()
