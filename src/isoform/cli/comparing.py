"""`isoform compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isoform import supervise
from isoform.cli.options import (
    Cc,
    Cflags,
    Isa,
    Spec,
    checked_degree,
    checked_seconds,
    engine_named,
    load_options,
    size_in_bytes,
)
from isoform.cli.streams import Progress, refuse_unwritable, write_whole
from isoform.isa.registry import TEXT_ISAS
from isoform.model.contract import AbortRule, BoundsRule, CallRule, DataRule, MemoryRule, ReturnAs
from isoform.model.values import dataclass

if TYPE_CHECKING:
    from isoform.model.verdict import Verdict

COMPARE_HELP = f"""Compare two functions: one question, one verdict.

A and B are `path[:function]`: an ELF object, library or executable, a `.c` or `.s` file (compiled first), or a file of
one of the small machines ({", ".join(TEXT_ISAS)}). Without B, A is built twice: see --cflags-a and --cflags-b.

Exit code: 0 equivalent, 1 different, 3 bounded or unknown, 2 trouble."""


def compare(
    a: Spec,
    b: Annotated[str | None, typer.Argument(metavar="B", help="The rewrite (candidate).", show_default=False)] = None,
    function: Annotated[
        str | None, typer.Option("--function", "-f", metavar="NAME", help="The function's name on both sides.")
    ] = None,
    signature: Annotated[
        str | None, typer.Option(metavar="PROTOTYPE", help='C prototype: "unsigned f(unsigned x, unsigned *p)".')
    ] = None,
    assume: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FACT",
            help='Precondition in C over parameter names: "n > 0"; "p[0..n] disjoint q[0..n]". Repeatable.',
        ),
    ] = None,
    shape: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DECLARATION",
            help='What a pointer parameter points to: "struct node { int v; struct node *next; } *p". Repeatable.',
        ),
    ] = None,
    return_as: Annotated[ReturnAs, typer.Option(help="How the return value is compared.")] = ReturnAs.VALUE,
    memory: Annotated[MemoryRule, typer.Option(help="Whether memory left behind is compared.")] = MemoryRule.COMPARE,
    aborts: Annotated[
        AbortRule, typer.Option(help="equal: both abort or neither; refine: where A aborts, B may do anything.")
    ] = AbortRule.EQUAL,
    calls: Annotated[CallRule, typer.Option(help="What to do with calls to code that is present.")] = CallRule.AUTO,
    data: Annotated[
        DataRule,
        typer.Option(help="initial: data that holds other values at first is a difference; any: it may hold anything."),
    ] = DataRule.INITIAL,
    pure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="An outside function that only computes, from its arguments and memory: like strcmp. Repeatable.",
        ),
    ] = None,
    bounds: Annotated[
        BoundsRule,
        typer.Option(
            help="assume: the target stays inside objects of known size; ignore: take memory as the machine does."
        ),
    ] = BoundsRule.ASSUME,
    engine: Annotated[str, typer.Option(metavar="ENGINE", help="auto, testing, loopfree, concolic or loops.")] = "auto",
    budget: Annotated[
        float, typer.Option(metavar="SECONDS", help="Seconds of processor time for the whole question.", min=0.01)
    ] = 60.0,
    memory_limit: Annotated[
        str, typer.Option(metavar="SIZE", help="Memory that the question may take: 2G, 512M. A bare number is MiB.")
    ] = "2G",
    fuel: Annotated[int, typer.Option(metavar="STEPS", help="Steps a concrete run may take.", min=1)] = 10_000,
    depth: Annotated[int, typer.Option(metavar="N", help="Path conditions that a search follows.", min=1)] = 50,
    unroll: Annotated[int, typer.Option(metavar="N", help="Loop iterations that are unrolled.", min=0)] = 16,
    degree: Annotated[
        int, typer.Option(metavar="N", help="Degree of the equations that proofs about loops may use: 1 to 3.")
    ] = 2,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of random tests.", min=0)] = 1,
    tests: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your own tests, as JSON: see docs/engines/loops.md.")
    ] = None,
    cert: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder to write a proof's certificate to.")] = None,
    isa: Isa = None,
    cc: Cc = None,
    cc_a: Annotated[str | None, typer.Option(metavar="CC", help="Compiler for A.")] = None,
    cc_b: Annotated[str | None, typer.Option(metavar="CC", help="Compiler for B.")] = None,
    cflags: Cflags = None,
    cflags_a: Annotated[str | None, typer.Option(metavar="FLAGS", help="Compiler flags for A: --cflags-a=-O0.")] = None,
    cflags_b: Annotated[str | None, typer.Option(metavar="FLAGS", help="Compiler flags for B.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout and nothing else.")] = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the report as one HTML page.")] = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Only the verdict's word.")] = False,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Also what each engine said, and the listing.")
    ] = False,
) -> None:
    from isoform.api import compare as ask
    from isoform.borders.question import Options

    refuse_unwritable(html, "--html")
    progress = Progress(enabled=not (quiet or as_json))
    options = Options(
        signature=signature,
        assume=tuple(assume or ()),
        return_as=return_as,
        memory=memory,
        aborts=aborts,
        calls=calls,
        data=data,
        pure=tuple(pure or ()),
        bounds=bounds,
        engine=engine_named(engine),
        budget=checked_seconds(budget),
        fuel=fuel,
        depth=depth,
        unroll=unroll,
        degree=checked_degree(degree),
        seed=seed,
        tests=str(tests) if tests is not None else None,
        cert=str(cert) if cert else None,
        shapes=tuple(shape or ()),
        narrate=verbose and not as_json,
        memory_limit=size_in_bytes(memory_limit),
        progress=progress,
        so_far=supervise.so_far,
    )
    sides = [
        load_options(own_cc or cc, own_flags if own_flags is not None else cflags, isa, function)
        for own_cc, own_flags in ((cc_a, cflags_a), (cc_b, cflags_b))
    ]
    output = Output(as_json, html, quiet, verbose)
    supervise.begin(supervise.Limits(options.budget, options.memory_limit), output)
    verdict = ask(a, b, options, sides[0], sides[1])
    supervise.answered()
    raise typer.Exit(show_verdict(verdict, output))


@dataclass(frozen=True)
class Output:
    """How a verdict is shown."""

    as_json: bool
    html: Path | None
    quiet: bool
    verbose: bool


def show_verdict(verdict: Verdict, output: Output) -> int:
    Progress(enabled=not (output.quiet or output.as_json)).clear()
    if output.html is not None:
        from isoform.report.html import verdict_as_html

        write_whole(output.html, verdict_as_html(verdict), "--html")
    if output.as_json:
        from isoform.report.json import dumps

        print(dumps(verdict))
    else:
        from isoform.report.terminal import print_verdict

        print_verdict(verdict, verbose=output.verbose, quiet=output.quiet)
    return verdict.exit_code
