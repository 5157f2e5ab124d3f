"""A case: files and a command line for isoform, and what may not come out of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TypeVar

Part = TypeVar("Part")


class Expect(Enum):
    """What is known of the right answer beyond "no crash"."""

    ANYTHING = "nothing is known"
    NEVER_EQUIVALENT = "the two functions differ whatever the damage is"
    SAME_CODE = "equivalent only where code, relocations and data of the function are as they were"
    NEVER_CONFIRMED = "the certificate is not the one that was written"


@dataclass(frozen=True)
class Edit:
    """Bytes written over a file from `offset` on; the file ends at `offset` where `new` is None."""

    offset: int
    new: bytes | None


@dataclass(frozen=True)
class Damaged:
    """A valid file and the edits that damage it."""

    base: bytes
    edits: tuple[Edit, ...] = ()

    @property
    def content(self) -> bytes:
        content = bytearray(self.base)
        for edit in self.edits:
            if edit.new is None:
                del content[edit.offset :]
                continue
            content.extend(bytes(max(0, edit.offset - len(content))))
            content[edit.offset : edit.offset + len(edit.new)] = edit.new
        return bytes(content)


class Odd(Enum):
    """A file that is none."""

    FIFO = "a pipe that nobody writes to"
    FOLDER = "a folder"
    LINK_TO_ITSELF = "a link to itself"
    ENDLESS = "a link to /dev/zero"


File = Damaged | Odd


@dataclass(frozen=True)
class Case:
    format: str
    what: str
    """What was done to the valid file, for the report."""
    words: tuple[str, ...]
    """The command line; relative paths are those of `files`."""
    files: Mapping[str, File] = field(default_factory=dict)
    expect: Expect = Expect.ANYTHING
    original: bytes = b""
    """Of SAME_CODE: the undamaged file."""
    function: str = ""

    def with_file(self, name: str, file: File) -> Case:
        return replace(self, files={**self.files, name: file})


def smaller(case: Case) -> Iterator[Case]:
    """Cases with less in them, the largest steps first: one edit, or a part of a text, left out."""
    for name, file in case.files.items():
        if isinstance(file, Damaged):
            for index in range(len(file.edits) if len(file.edits) > 1 else 0):
                rest = (*file.edits[:index], *file.edits[index + 1 :])
                yield case.with_file(name, Damaged(file.base, rest))
            if _is_text(name) and not file.edits:
                for text in _shorter(file.base.split(b"\n")):
                    yield case.with_file(name, Damaged(b"\n".join(text)))
    for position, word in enumerate(case.words):
        if position and case.words[position - 1] in ("--signature", "--assume"):
            for letters in _shorter(list(word)):
                yield replace(case, words=(*case.words[:position], "".join(letters), *case.words[position + 1 :]))


def _is_text(name: str) -> bool:
    return name.endswith((".toy", ".asm", ".smt2", ".json"))


def _shorter(parts: list[Part]) -> Iterator[list[Part]]:
    size = len(parts) // 2
    while size:
        for start in range(0, len(parts), size):
            yield parts[:start] + parts[start + size :]
        size //= 2
