"""Small x86-64 functions, assembled by the pinned compiler."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from isoform import api
from isoform.lift.function import Function
from isoform.load.open import LoadOptions

ZIG = LoadOptions(cc="zig")


def source(folder: Path, functions: dict[str, str]) -> Path:
    """A file with these functions, each given by its instructions, `;` between them."""
    lines = [".intel_syntax noprefix"]
    for name, body in functions.items():
        lines += [f".globl {name}", f".type {name}, @function", f"{name}:", *body.split(";"), f".size {name}, .-{name}"]
    path = folder / "functions.s"
    path.write_text("\n".join([*lines, '.section .note.GNU-stack,"",@progbits', ""]))
    return path


@cache
def lifted(path: Path, name: str) -> Function:
    return api.show(f"{path}:{name}", ZIG)
