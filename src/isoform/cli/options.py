"""Options that several commands take, and what their words mean."""

from __future__ import annotations

import math
import re
import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from isoform.isa.registry import machine_names
from isoform.model.cause import CauseFilter, Explain
from isoform.model.errors import UserError

if TYPE_CHECKING:
    from isoform.borders.question import Engine
    from isoform.load.open import LoadOptions

LEAST_MEMORY = 64 << 20
_SHIFTS = {"K": 10, "M": 20, "G": 30, "T": 40}
_ISAS = machine_names()

Spec = Annotated[str, typer.Argument(metavar="A", help="The target (reference): path[:function].", show_default=False)]
Isa = Annotated[
    str | None,
    typer.Option(metavar="ISA", help=f"Machine: {', '.join(_ISAS[:-1])} or {_ISAS[-1]}. Default: by the file."),
]
Cc = Annotated[
    str | None,
    typer.Option(
        metavar="CC", help="Compiler for .c and .s files: gcc, clang, zig, a path. Default: cc, else zig's clang."
    ),
]
Cflags = Annotated[str | None, typer.Option(metavar="FLAGS", help="Compiler flags. Default: -O2.")]
Explaining = Annotated[
    Explain, typer.Option(help="Look for the cause of a difference: not at all, the first one, or all that are needed.")
]
ExplainBudget = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Seconds for the cause. Default: a third of the budget, at least 5, if so much is left of it.",
        min=0.01,
        show_default=False,
    ),
]
FilterOfCauses = Annotated[
    str | None,
    typer.Option(
        "--cause-filter",
        metavar="FILTER",
        help="Look only at some candidates for a cause: callee (the address of an indirect call), load, imm (constants "
        "and arithmetic), or call-window[:N] (what is executed after the N-th call before the first that differs).",
        show_default=False,
    ),
]
Causes = Annotated[
    int, typer.Option(metavar="N", help="Changes that may be needed together, with --explain all.", min=1, max=16)
]


def checked_filter(text: str | None) -> CauseFilter | None:
    try:
        return None if text is None else CauseFilter.parsed(text)
    except ValueError as error:
        raise UserError(f"--cause-filter: {str(error).removeprefix('cause_filter ')}.") from None


def load_options(cc: str | None, cflags: str | None, isa: str | None, function: str | None) -> LoadOptions:
    from isoform.load.open import LoadOptions

    if isa is not None and isa not in _ISAS:
        raise UserError(f"--isa '{isa}' is not a machine isoform knows: {', '.join(_ISAS)}.")
    return LoadOptions(cc, compiler_flags(cflags), isa, function)


def refuse_compiler(path: str, cc: str | None, cflags: str | None, letter: str) -> None:
    """Options about how one side is compiled, where it is not."""
    from isoform.load.open import SOURCE_SUFFIXES
    from isoform.load.resolve import split_spec

    given = [name for name, value in ((f"--cc-{letter}", cc), (f"--cflags-{letter}", cflags)) if value is not None]
    if given and split_spec(path)[0].suffix not in SOURCE_SUFFIXES:
        raise UserError(f"{given[0]} is about how a source is compiled, and {path} is none.")


def compiler_flags(text: str | None) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text)) if text else ()
    except ValueError:
        raise UserError(f"--cflags {text!r} has an unclosed quote.") from None


def engine_named(name: str) -> Engine:
    from isoform.borders.question import Engine

    try:
        return Engine(name)
    except ValueError:
        known = ", ".join(e.value for e in Engine)
        raise UserError(f"--engine '{name}' is not an engine of this version: {known}.") from None


def checked_seconds(seconds: float, option: str = "--budget") -> float:
    if not math.isfinite(seconds):
        raise UserError(f"{option} must be a number of seconds.")
    return seconds


def optional_seconds(seconds: float | None, option: str) -> float | None:
    return None if seconds is None else checked_seconds(seconds, option)


def size_in_bytes(text: str) -> int:
    """Bytes."""
    found = re.fullmatch(r"(\d{1,12})(?:([KMGT])(?:i?B)?)?", text.strip(), re.IGNORECASE)
    size = int(found[1]) << _SHIFTS[(found[2] or "M").upper()] if found else 0
    if size < LEAST_MEMORY:
        raise UserError(f"--memory-limit '{text}' is not a size of at least 64M: write 2G or 512M.")
    return size


def checked_degree(degree: int) -> int:
    if not 1 <= degree <= 3:
        raise UserError(f"--degree {degree} is not 1, 2 or 3.")
    return degree


def argument_number(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise UserError(f"'{text}' is not a number: arguments are decimal, 0x… or negative.") from None
