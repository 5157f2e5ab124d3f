"""Finding the submissions of a folder: which files count, and what each one is called.

A submission is named by its path in the folder without the suffix: `alice`, or `alice/max` where each student has a
folder. Two that differ only in suffix or in upper and lower case would be one and the same in a gradebook, so that
is refused, with both paths, before any work.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from isoform.isa.registry import TEXT_ISAS
from isoform.load.open import SOURCE_SUFFIXES
from isoform.model.errors import UserError
from isoform.model.values import dataclass

OBJECT_SUFFIXES = (".o", ".so")
MOST_FILES = 200_000
_FOLDERS_OF_OTHERS = frozenset({"__MACOSX", "__pycache__"})


@dataclass(frozen=True, order=True)
class Submission:
    name: str
    path: Path


def find_submissions(folder: Path, reference: Path, isa: str, pattern: str | None = None) -> list[Submission]:
    """The submissions in a folder and its sub-folders, by name. The reference itself is none."""
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder: name the folder that holds the submissions.")
    wanted = _Wanted(reference, isa, pattern)
    files = list(_files(folder))
    chosen = [path for path in files if wanted.takes(path) and not _same_file(path, reference)]
    if not chosen:
        others = f" ({len(files)} other files are there)" if files else ""
        raise UserError(
            f"{folder} has no submissions: no file in it ends in {wanted.endings}{others}; --pattern takes other names."
        )
    for path in chosen:
        _refuse_unreadable(path, folder)
    submissions = sorted(Submission(_name(path, folder), path) for path in chosen)
    _refuse_same_names(submissions)
    return submissions


class _Wanted:
    """Which files are submissions: those of the reference's kind, or those that a pattern takes."""

    def __init__(self, reference: Path, isa: str, pattern: str | None) -> None:
        self._pattern = pattern
        text = isa in TEXT_ISAS.values()
        self._suffixes = (reference.suffix.lower(),) if text else (*SOURCE_SUFFIXES, *OBJECT_SUFFIXES)
        self._fold = text
        self.endings = pattern or ", ".join(self._suffixes)

    def takes(self, path: Path) -> bool:
        if self._pattern is not None:
            return fnmatchcase(path.name, self._pattern)
        return (path.suffix.lower() if self._fold else path.suffix) in self._suffixes


def _files(folder: Path) -> Iterator[Path]:
    """Every file, hidden ones left out. Folders that are links are not entered."""
    count = 0
    for where, folders, names in os.walk(folder, onerror=_unlisted):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _FOLDERS_OF_OTHERS)
        for name in names:
            if name.startswith("."):
                continue
            count += 1
            if count > MOST_FILES:
                raise UserError(
                    f"{folder} holds more than {MOST_FILES} files: name the folder of the submissions alone."
                )
            yield Path(where) / name


def _unlisted(error: OSError) -> None:
    raise UserError(f"the folder {error.filename} cannot be listed ({error.strerror}): check its permissions.")


def refuse_to_overwrite(submissions: list[Submission], outputs: Mapping[str, Path | None]) -> None:
    """Writing a report over a submission would destroy it. `outputs` are files by option."""
    for option, output in outputs.items():
        if output is not None and any(_same_file(submission.path, output) for submission in submissions):
            raise UserError(f"{option} {output} is one of the submissions: name another file.")


def _same_file(path: Path, reference: Path) -> bool:
    try:
        return path.samefile(reference)
    except OSError:
        return False


def _refuse_unreadable(path: Path, folder: Path) -> None:
    """Whoever collected the files must fix this, not the student: it stops the whole grading."""
    if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise UserError(f"{path} is a link to a file outside {folder}: put the file itself there.")
    if not path.is_file():
        raise UserError(f"{path} is not an ordinary file and cannot be read: remove it, or put the file itself there.")
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}): check its permissions.") from None


def _name(path: Path, folder: Path) -> str:
    return path.relative_to(folder).with_suffix("").as_posix()


def _refuse_same_names(submissions: list[Submission]) -> None:
    seen: dict[str, Submission] = {}
    for submission in submissions:
        key = unicodedata.normalize("NFC", submission.name).casefold()
        if key in seen:
            other = seen[key]
            raise UserError(
                f"{other.path} and {submission.path} are two submissions of the same name '{submission.name}': names "
                "are compared without suffix and case; rename one, or choose with --pattern."
            )
        seen[key] = submission
