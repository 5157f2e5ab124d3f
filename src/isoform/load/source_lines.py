"""How long lines of source are, where the files are at hand."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from isoform.load.debug.lines import SOURCE_LIMIT, SOURCE_SUFFIXES


def line_length(file: str, line: int) -> int | None:
    """Characters of a line, from 1; None if there is no such file or line."""
    lengths = _lengths(file)
    return lengths[line - 1] if 0 < line <= len(lengths) else None


@lru_cache(maxsize=64)
def _lengths(file: str) -> tuple[int, ...]:
    """The name comes from the file under test: only ordinary source files of ordinary size are read."""
    path = Path(file)
    try:
        if path.suffix not in SOURCE_SUFFIXES or not path.is_file() or path.stat().st_size > SOURCE_LIMIT:
            return ()
        text = path.read_text("utf-8", "replace")
    except (OSError, ValueError):
        return ()
    return tuple(len(line) for line in text.splitlines())
