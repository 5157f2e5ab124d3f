"""The questions of `tests/pairs/adapt`. An `.adapt` file has one or more of them, an empty line between two; each has
one `key: value` a line, and `#` starts a comment.

    name: NAME                   unique among all files
    because: one sentence
    a: FILE[:function]           relative to the .adapt file
    b: FILE[:function]
    build: A | B                 as in `bench/pairfile.py`
    adapt: ...                   options of `isoform adapt`
    adaptor: x = x + 1, y = 0    the expected adaptor as it is printed, its `return` last; ` or ` between alternatives
    fits: x = EXPR where COND    instead: any adaptor whose arguments have these values wherever the condition holds, in
                                 the syntax of Python over the target's parameters as numbers with a sign
    none: why                    that it is proved that there is none
    unknown: why                 that neither is found, with a part of the reason
    trouble: sentence            that it is refused, with a part of the sentence
    long: ...                    why it is only asked with `--long`

Every question NAME with an adaptor has a twin NAME-broken: with another adaptor, or none.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pairfile import COMPILED, PAIRS, Build, builds_of, driver

FOLDER = PAIRS / "adapt"
EXPECTATIONS = ("adaptor", "fits", "none", "unknown", "trouble")


@dataclass(frozen=True)
class AdaptQuestion:
    path: Path
    fields: Mapping[str, str]

    @property
    def name(self) -> str:
        return self.fields["name"]

    @property
    def expectation(self) -> str:
        (found,) = (key for key in EXPECTATIONS if key in self.fields)
        return found

    @property
    def builds(self) -> dict[str, Build]:
        both = zip("ab", builds_of(self.fields.get("build", "")), strict=True)
        return {side: build for side, build in both if Path(self.fields[side].split(":")[0]).suffix in COMPILED}

    @property
    def missing(self) -> list[str]:
        return sorted({build.compiler for build in self.builds.values() if driver(build.compiler) is None})

    def command(self, *more: str) -> list[str]:
        """The words after `isoform` that ask it."""
        files = [str(self.path.parent / self.fields[side]) for side in "ab"]
        built = [word for side, build in self.builds.items() for word in build.options(side)]
        return ["adapt", *files, *built, *shlex.split(self.fields.get("adapt", "")), *more]


def read_questions(folder: Path = FOLDER) -> list[AdaptQuestion]:
    return [question for path in sorted(folder.rglob("*.adapt")) for question in questions_of(path)]


def questions_of(path: Path) -> list[AdaptQuestion]:
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    paragraphs = [part.splitlines() for part in "\n".join(lines).split("\n\n") if part.strip()]
    return [AdaptQuestion(path, dict(_field(line) for line in part if line)) for part in paragraphs]


def _field(line: str) -> tuple[str, str]:
    key, _, value = line.partition(":")
    return key.strip(), value.strip()
