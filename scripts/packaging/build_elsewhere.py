"""The build backend: setuptools, on a copy of the sources in a folder of its own.

setuptools writes `build/` and `*.egg-info` into the source tree. That fails where the tree is read-only, mixes two
builds that run at the same time, and puts into the package what an older build left behind. An editable install is
about the tree itself and is left to setuptools.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
    build_editable,
    get_requires_for_build_editable,
    prepare_metadata_for_build_editable,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

Settings = dict[str, Any] | None
PACKED = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "MANIFEST.in", "src", "scripts/packaging")
"""What a package is made from."""


@contextmanager
def _elsewhere() -> Iterator[None]:
    """In a copy of the sources, which is gone afterwards. A frontend calls every hook in the source tree."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="isoform-build-") as folder:
        for name in PACKED:
            _copy(here / name, Path(folder) / name)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(here)


def _copy(source: Path, target: Path) -> None:
    """Contents only: what is read-only at the source must be writable here."""
    if source.is_dir():
        for entry in source.iterdir():
            if entry.name != "__pycache__" and entry.suffix != ".egg-info":
                _copy(entry, target / entry.name)
    elif source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def get_requires_for_build_wheel(settings: Settings = None) -> list[str]:
    with _elsewhere():
        return build_meta.get_requires_for_build_wheel(settings)


def prepare_metadata_for_build_wheel(folder: str, settings: Settings = None) -> str:
    folder = os.path.abspath(folder)
    with _elsewhere():
        return build_meta.prepare_metadata_for_build_wheel(folder, settings)


def build_wheel(folder: str, settings: Settings = None, metadata: str | None = None) -> str:
    folder, metadata = os.path.abspath(folder), metadata and os.path.abspath(metadata)
    with _elsewhere():
        return build_meta.build_wheel(folder, settings, metadata)


def get_requires_for_build_sdist(settings: Settings = None) -> list[str]:
    with _elsewhere():
        return build_meta.get_requires_for_build_sdist(settings)


def build_sdist(folder: str, settings: Settings = None) -> str:
    folder = os.path.abspath(folder)
    with _elsewhere():
        return build_meta.build_sdist(folder, settings)
