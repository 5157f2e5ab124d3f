"""The questions of `tests/pairs`. A `.pair` file has one `key: value` a line; `#` starts a comment.

    verdict: equivalent | different | bounded | unknown
    because: one sentence
    a: FILE[:function]           relative to the .pair file
    b: FILE[:function]
    build: A | B                 how each side is built: a compiler and its flags, as in `gcc-12 -O1 | zig -O2`;
                                 one of them where both are built alike; `zig` without it
    matrix: NAME = A | B         instead of `build` and once for each case: the same question about other builds, with
                                 a name of its own; `| long: why` at the end asks this case only with `--long`
    options: ...                 further options of `isoform compare`
    witness: x = -2147483648     inputs that a difference must have
    where: memory                what must differ, as the start of its description
    says: ...                    part of the reason of a bounded or unknown verdict
    cause: STRENGTH | A -> B     the root cause: source lines of the target and of the rewrite, or the text of the
                                 instruction where there is no line, `-` where that side has none; several with `&`;
                                 or `none`. Without it no cause is looked for
    todo: ...                    why this does not hold yet; the test is expected to fail
    long: ...                    why it is only asked with `--long`

A question is named after its file, or by its line of the matrix. Verdicts must not depend on the machine: a compiler
is `zig`, the pinned clang of ziglang, or a gcc with its major version, as `gcc-12`; a question is skipped where its
compiler is absent. Every `equivalent` question NAME has a twin NAME-broken that is `different`.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

PAIRS = Path(__file__).resolve().parent.parent / "tests" / "pairs"
DEFAULT_COMPILER = "zig"
COMPILED = (".c", ".s")
"""Sources that a compiler builds; the others isoform assembles itself."""
_GCC = re.compile(r"gcc-(\d+)")


@dataclass(frozen=True)
class Build:
    """How one side is made from its source."""

    compiler: str = DEFAULT_COMPILER
    flags: tuple[str, ...] = ()

    def options(self, side: str) -> list[str]:
        flags = [f"--cflags-{side}={shlex.join(self.flags)}"] if self.flags else []
        return [f"--cc-{side}", driver(self.compiler) or self.compiler, *flags]


@dataclass(frozen=True)
class Pair:
    """One question: a file, or one line of its matrix."""

    path: Path
    name: str
    fields: Mapping[str, str]
    builds: tuple[Build, Build]

    @property
    def verdict(self) -> str:
        return self.fields["verdict"]

    @property
    def compiled(self) -> dict[str, Build]:
        """How the sides that a compiler builds are built."""
        sides = zip("ab", self.builds, strict=True)
        return {side: build for side, build in sides if self._source(side).suffix in COMPILED}

    @property
    def missing(self) -> list[str]:
        return sorted({build.compiler for build in self.compiled.values() if driver(build.compiler) is None})

    def command(self, *more: str) -> list[str]:
        """The words after `isoform` that ask it."""
        files = [str(self.path.parent / self.fields[side]) for side in "ab"]
        built = [word for side, build in self.compiled.items() for word in build.options(side)]
        return ["compare", *files, *built, *shlex.split(self.fields.get("options", "")), *more]

    def _source(self, side: str) -> Path:
        return Path(self.fields[side].split(":")[0])


@cache
def driver(compiler: str) -> str | None:
    """What `--cc` is given for a compiler of this name and version; None where it is absent."""
    if compiler == "zig":
        return compiler if find_spec("ziglang") else None
    version = _GCC.fullmatch(compiler)
    if version is None or shutil.which(compiler):
        return shutil.which(compiler) and compiler
    return "gcc" if gcc_version() == version[1] else None


@cache
def gcc_version() -> str:
    """The major version of the machine's gcc; empty without one."""
    if shutil.which("gcc") is None:
        return ""
    said = subprocess.run(["gcc", "-dumpversion"], capture_output=True, text=True, check=True, timeout=10).stdout
    return said.strip().split(".")[0]


def versioned(compiler: str) -> str:
    """The name that a pair gives to a compiler of this machine."""
    return f"gcc-{gcc_version()}" if compiler == "gcc" else compiler


def read(path: Path) -> list[Pair]:
    """The question of a file, or one for each line of its matrix."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    split = [line.split(":", 1) for line in lines if line and not line.startswith("#")]
    found = [(key.strip(), value.strip()) for key, value in split]
    fields = {key: value for key, value in found if key != "matrix"}
    cases = [_case(path, fields, value) for key, value in found if key == "matrix"]
    return cases or [Pair(path, _name(path, path.stem), fields, builds_of(fields.get("build", "")))]


def read_all(places: Iterable[Path] = (PAIRS,)) -> list[Pair]:
    """The questions of folders and files."""
    return [pair for path in _files(places) for pair in read(path)]


def _files(places: Iterable[Path]) -> Iterator[Path]:
    for place in places:
        yield from sorted(place.resolve().rglob("*.pair")) if place.is_dir() else [place.resolve()]


def _case(path: Path, fields: Mapping[str, str], line: str) -> Pair:
    name, _, rest = line.partition("=")
    builds, _, why = rest.partition("| long:")
    more = {"long": why.strip()} if why else {}
    return Pair(path, _name(path, name.strip()), {**fields, **more}, builds_of(builds))


def _name(path: Path, stem: str) -> str:
    return (path.parent / stem).relative_to(PAIRS).as_posix() if PAIRS in path.parents else stem


def builds_of(text: str) -> tuple[Build, Build]:
    sides = [_build(side) for side in text.split("|")]
    return sides[0], sides[-1]


def _build(text: str) -> Build:
    words = shlex.split(text)
    return Build(words[0], tuple(words[1:])) if words else Build()
