"""Options of `compare`, each as a type: other commands take some of them in the same words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isoform.model.contract import (
    AbortRule,
    BoundsRule,
    CallRule,
    DataRule,
    MemoryRule,
    RestrictRule,
    ReturnAs,
    TerminationRule,
)
from isoform.model.errors import UserError

Rewrite = Annotated[str | None, typer.Argument(metavar="B", help="The rewrite (candidate).", show_default=False)]
BothFunctions = Annotated[
    str | None, typer.Option("--function", "-f", metavar="NAME", help="The function's name on both sides.")
]
Prototype = Annotated[
    str | None, typer.Option(metavar="PROTOTYPE", help='C prototype: "unsigned f(unsigned x, unsigned *p)".')
]
Facts = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FACT",
        help='Precondition in C over parameter names: "n > 0"; "p[0..n] disjoint q[0..n]". Repeatable.',
    ),
]
Shapes = Annotated[
    list[str] | None,
    typer.Option(
        metavar="DECLARATION",
        help='What a pointer parameter points to: "struct node { int v; struct node *next; } *p". Repeatable.',
    ),
]
Returning = Annotated[ReturnAs, typer.Option(help="How the return value is compared.")]
MemoryCompared = Annotated[MemoryRule, typer.Option(help="Whether memory left behind is compared.")]
Aborting = Annotated[
    AbortRule, typer.Option(help="equal: both abort or neither; refine: where A aborts, B may do anything.")
]
Calling = Annotated[CallRule, typer.Option(help="What to do with calls to code that is present.")]
InitialData = Annotated[
    DataRule,
    typer.Option(help="initial: data that holds other values at first is a difference; any: it may hold anything."),
]
PureNames = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="An outside function that only computes, from its arguments and memory: like strcmp. Repeatable.",
    ),
]
IdempotentNames = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="An outside function that does nothing more if it is called again at once, with the same arguments. "
        "Repeatable.",
    ),
]
Bounding = Annotated[
    BoundsRule,
    typer.Option(
        help="assume: the target stays inside objects of known size; ignore: take memory as the machine does."
    ),
]
Restricting = Annotated[
    RestrictRule,
    typer.Option(help="assume: pointers that the target declares restrict do not overlap; ignore: they may."),
]
Terminating = Annotated[
    TerminationRule,
    typer.Option(
        help="prove: both end or neither; assume: both end, where no reason is found why a loop of one side does."
    ),
]
EngineName = Annotated[
    str, typer.Option(metavar="ENGINE", help="auto, testing, loopfree, concolic, loops or recursion.")
]
Seconds = Annotated[
    float, typer.Option(metavar="SECONDS", help="Seconds of processor time for the whole question.", min=0.01)
]
MemoryLimit = Annotated[
    str, typer.Option(metavar="SIZE", help="Memory that the question may take: 2G, 512M. A bare number is MiB.")
]
Fuel = Annotated[int, typer.Option(metavar="STEPS", help="Steps a concrete run may take.", min=1)]
Depth = Annotated[int, typer.Option(metavar="N", help="Path conditions that a search follows.", min=1)]
Unrolled = Annotated[int, typer.Option(metavar="N", help="Loop iterations that are unrolled.", min=0)]
Degree = Annotated[
    int, typer.Option(metavar="N", help="Degree of the equations that proofs about loops may use: 1 to 3.")
]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of random tests.", min=0)]
OwnTests = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Your own tests, as JSON: see docs/engines/loops.md.")
]
CertificateFolder = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Folder to write a proof's certificate to.")
]
CcOfA = Annotated[str | None, typer.Option(metavar="CC", help="Compiler for A.")]
CcOfB = Annotated[str | None, typer.Option(metavar="CC", help="Compiler for B.")]
CflagsOfA = Annotated[str | None, typer.Option(metavar="FLAGS", help="Compiler flags for A: --cflags-a=-O0.")]
CflagsOfB = Annotated[str | None, typer.Option(metavar="FLAGS", help="Compiler flags for B.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on stdout and nothing else.")]
HtmlFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the report as one HTML page.")]
OnlyVerdict = Annotated[bool, typer.Option("-q", "--quiet", help="Only the verdict's word.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Also what each engine said, and the listing.")]


def function_names(option: str, names: list[str] | None) -> tuple[str, ...]:
    """The names that an option was given with."""
    if names and not all(names):
        raise UserError(f"{option} '' names no function: give the name of one.")
    return tuple(names or ())
