"""Where answers are kept, so that grading resumes where it was interrupted."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from isoform.work.task import content_key

if TYPE_CHECKING:
    from isoform.work.store import Store

_TEXT_HEADER = {"isoform": "grade", "format": 1}
"""The first line of state files before they were databases."""


def open_state(path: Path, fresh: bool, option: str = "--state") -> Store:
    from isoform.work.store import Store  # takes as long as some gradings: only where answers are kept

    _remove_text(path)
    return Store(path, {"command": "grade"}, option, fresh)


def _remove_text(path: Path) -> None:
    """A state file of the earlier form: all that is lost is the time to grade again."""
    with suppress(OSError, ValueError):
        if path.is_file():
            with path.open("rb") as file:
                first = file.readline(1000)
            if json.loads(first) == _TEXT_HEADER:
                path.unlink()


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
    return cache / f"{content_key([os.path.abspath(reference), os.path.abspath(folder)])[:24]}.state"
