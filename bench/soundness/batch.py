"""Pairs are built in batches: two files, many functions each, one compiler run a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from isoform.load.compile import compile_source
from isoform.load.open import Loaded, open_pair


@dataclass(frozen=True)
class Build:
    """How one side is compiled."""

    cc: str
    flags: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join((self.cc, *(f for f in self.flags if f.startswith("-O"))))


@dataclass(frozen=True)
class Pair:
    label: str
    """`--only` takes it."""
    kind: str
    """Where the rewrite comes from: levels, rewrite, bug."""
    equal: bool
    """Whether the two are equivalent by construction."""
    change: str
    """What was done to the target, in words."""
    function: str
    target: str
    """Source text without the prelude."""
    rewrite: str
    signature: str | None = None
    engine: str = "auto"


@dataclass(frozen=True)
class Batch:
    number: int
    suffix: str
    prelude: str
    builds: tuple[Build, Build]
    pairs: tuple[Pair, ...]

    def compiled(self, folder: Path) -> tuple[Path, Path]:
        """The object files of both sides."""
        texts = ([p.target for p in self.pairs], [p.rewrite for p in self.pairs])
        left, right = (
            self._compile(folder / f"{self.number}-{side}", text, build)
            for side, text, build in zip("ab", texts, self.builds, strict=True)
        )
        return left, right

    def _compile(self, path: Path, texts: list[str], build: Build) -> Path:
        source = path.with_suffix(self.suffix)
        source.write_text(self.prelude + "\n".join(texts))
        built = path.with_suffix(".o")
        built.write_bytes(compile_source(source, build.cc, build.flags))
        return built


def loaded(objects: tuple[Path, Path], function: str) -> tuple[Loaded, Loaded]:
    return open_pair(f"{objects[0]}:{function}", f"{objects[1]}:{function}")
