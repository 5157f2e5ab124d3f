"""Bugs that are known: one line of a function that is another one, and how the two sides are built.

The C files beside this one have changes below some of their lines: `//? what | the line instead`. A bug is one change
and two builds: the file as it is, built one way, and with the change, built the same way or another.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
_CHANGE = re.compile(r"\s*//\? ([a-z ]+) \| (.*)")
_FUNCTION = re.compile(r"[a-z][\w ]*?[ *](\w+)\(.*\)")

Build = tuple[str, str]
"""A compiler and its flags."""
LEVELS = ("-O0", "-O1", "-O2")
ALIKE = tuple(((cc, level), (cc, level)) for cc in ("gcc", "zig") for level in LEVELS)
DIFFERENTLY: tuple[tuple[Build, Build], ...] = (
    (("gcc", "-O0"), ("gcc", "-O2")),
    (("gcc", "-O2"), ("gcc", "-O0")),
    (("zig", "-O0"), ("zig", "-O2")),
    (("zig", "-O2"), ("zig", "-O1")),
    (("gcc", "-O1"), ("zig", "-O1")),
    (("gcc", "-O2"), ("zig", "-O2")),
    (("zig", "-O1"), ("gcc", "-O0")),
)


@dataclass(frozen=True)
class Change:
    """One line of a source file that is another one."""

    kind: str
    """Of the function: the name of its file."""
    function: str
    line: int
    what: str
    """What sort of change it is."""
    text: str


@dataclass(frozen=True)
class Bug:
    change: Change
    builds: tuple[Build, Build]

    @property
    def is_built_alike(self) -> bool:
        return self.builds[0] == self.builds[1]

    def __str__(self) -> str:
        builds = " | ".join(" ".join(build) for build in self.builds)
        change = self.change
        return f"{change.kind}.c:{change.line} {change.function} ({builds}) {change.what}: {change.text.strip()}"


def source(kind: str) -> list[str]:
    """The lines of a file without its changes."""
    lines = (FOLDER / f"{kind}.c").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not _CHANGE.match(line)]


def changed(change: Change) -> list[str]:
    lines = source(change.kind)
    indent = lines[change.line - 1][: -len(lines[change.line - 1].lstrip())]
    lines[change.line - 1] = indent + change.text
    return lines


def changes_of(kind: str) -> Iterator[Change]:
    number, function = 0, ""
    for line in (FOLDER / f"{kind}.c").read_text(encoding="utf-8").splitlines():
        found = _CHANGE.match(line)
        if found is not None:
            yield Change(kind, function, number, found[1], found[2])
            continue
        number += 1
        defined = _FUNCTION.fullmatch(line)
        function = defined[1] if defined is not None else function


def kinds() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.c"))


def bugs(count: int, seed: int, only: Sequence[str] = ()) -> list[Bug]:
    """Every change is used about as often; half of the bugs have both sides built alike."""
    chance = random.Random(seed)
    changes = [change for kind in only or kinds() for change in changes_of(kind)]
    found: list[Bug] = []
    while len(found) < count:
        chance.shuffle(changes)
        found += [Bug(change, chance.choice(chance.choice((ALIKE, DIFFERENTLY)))) for change in changes]
    return found[:count]
