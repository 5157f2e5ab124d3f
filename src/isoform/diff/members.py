"""What there is to compare: one file, or those of a folder, static library or package, matched by their names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from isoform.isa.registry import DEFAULT
from isoform.load.elf import parse_elf
from isoform.load.members import ELF, is_archive, starts_as_archive
from isoform.load.members import members_of as archived
from isoform.load.open import SOURCE_SUFFIXES, LoadOptions
from isoform.load.parsed import ParsedFile
from isoform.load.resolve import read_file
from isoform.model.errors import UserError
from isoform.model.values import dataclass

MOST_MEMBERS = 10_000
MOST_BYTES = 1 << 29
"""Of all files in archives and packages, on one side: they stay in memory while they are compared."""
_VERSION = re.compile(r"\.so(\.[0-9.]+)?$")
"""What a library's name ends in: `libz.so.1.2.13` is the new `libz.so.1.2.11`."""


@dataclass(frozen=True)
class ComparedFile:
    path: str
    """The file that the user named, or one in the folder."""
    inner: str | None
    """The name inside an archive or package; None for a file of its own."""
    label: str
    """What the two sides are matched by."""
    data: bytes | None = None
    """The contents, if it is in an archive."""

    @property
    def shown(self) -> str:
        return self.path if self.inner is None else f"{self.path}:{self.inner}"

    def parsed(self, options: LoadOptions) -> ParsedFile:
        path = Path(self.path)
        if self.data is not None:
            return parse_elf(self.data, self.shown)
        if path.suffix not in SOURCE_SUFFIXES:
            return parse_elf(read_file(path), self.path)
        from isoform.load.compile import compile_source

        built = compile_source(path, options.cc, options.cflags, options.isa or DEFAULT)
        return replace(parse_elf(built, self.path), from_source=True)


MemberPair = tuple[ComparedFile | None, ComparedFile | None]


def members_of(path: str) -> list[ComparedFile]:
    """Of a file, a static library, a Debian package, or a folder of these."""
    if not path:
        raise UserError("an empty path was given: name a file or a folder.")
    place = Path(path)
    if not place.exists():
        read_file(place)  # says that there is no such file
    if not place.is_dir() and not starts_as_archive(place):
        return [ComparedFile(path, None, "")]
    files = _in_folder(place) if place.is_dir() else _in_archive(read_file(place), path, "", "")
    found = list(_bounded(files, path))
    if not found:
        raise UserError(f"{path} has no ELF files.")
    return found


def _bounded(files: Iterator[ComparedFile], path: str) -> Iterator[ComparedFile]:
    size = 0
    for file in files:
        size += len(file.data or b"")
        if size > MOST_BYTES:
            most = MOST_BYTES >> 20
            raise UserError(f"the files in {path} have more than {most} MiB: unpack it, and compare some of them.")
        yield file


def _in_archive(data: bytes, path: str, inner: str, label: str) -> Iterator[ComparedFile]:
    """The files of an archive, and of the static libraries in it."""
    shown = f"{path}:{inner}" if inner else path
    for name, content in archived(data, shown):
        inside = f"{inner}:{name}" if inner else name
        own = f"{label}:{_VERSION.sub('.so', name)}" if label else _VERSION.sub(".so", name)
        if is_archive(content):
            yield from _in_archive(content, path, inside, own)
        else:
            yield ComparedFile(path, inside, own, content)


def _in_folder(folder: Path) -> Iterator[ComparedFile]:
    """ELF files and archives. Links are left out: they lead to files in the folder, or to others that are not meant."""
    count = 0
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        count += 1
        if count > MOST_MEMBERS:
            raise UserError(f"{folder} has more than {MOST_MEMBERS} files: name a folder with fewer.")
        label = _VERSION.sub(".so", path.relative_to(folder).as_posix())
        if _starts_with(path, ELF):
            yield ComparedFile(str(path), None, label)
        elif starts_as_archive(path):
            yield from _in_archive(read_file(path), str(path), "", label)


def _starts_with(path: Path, magic: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(magic)) == magic
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.") from None


def matched_members(
    old: Sequence[ComparedFile], new: Sequence[ComparedFile], shown: tuple[str, str]
) -> list[MemberPair]:
    """Two files belong together whatever they are called; files of folders by their names."""
    if len(old) == 1 and len(new) == 1:
        return [(old[0], new[0])]
    left, right = ({member.label: member for member in side} for side in (old, new))
    for members, by_label, path in ((old, left, shown[0]), (new, right, shown[1])):
        if len(members) != len(by_label):
            twice = next(m.label for m in members if by_label[m.label] is not m)
            raise UserError(f"{path} has two files called {twice}: compare them one by one.")
    if not left.keys() & right.keys():
        raise UserError(f"{shown[0]} and {shown[1]} have no file in common: there is nothing to compare.")
    return [(left.get(label), right.get(label)) for label in dict.fromkeys([*left, *right])]
