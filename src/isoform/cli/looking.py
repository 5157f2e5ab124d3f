"""`isoform show` and `isoform run`: one function by itself."""

from __future__ import annotations

from typing import Annotated

import typer

from isoform.cli.options import Cc, Cflags, Isa, Spec, argument_number, checked_seconds, load_options

RUN_HELP = """Run one function on isoform's own runner: what it returns, writes and calls.

ARGs are numbers: decimal, 0x… or negative. Memory that the function reads is zero."""


def show(
    a: Spec,
    function: Annotated[
        str | None, typer.Option("--function", "-f", metavar="NAME", help="The function's name.")
    ] = None,
    budget: Annotated[float, typer.Option(metavar="SECONDS", help="Seconds of processor time.", min=0.01)] = 20.0,
    isa: Isa = None,
    cc: Cc = None,
    cflags: Cflags = None,
) -> None:
    from isoform.api import show as look
    from isoform.lift.shown import print_function

    print_function(look(a, load_options(cc, cflags, isa, function), checked_seconds(budget)))


def run(
    a: Spec,
    arguments: Annotated[list[str] | None, typer.Argument(metavar="ARG", help="Arguments, in order.")] = None,
    function: Annotated[
        str | None, typer.Option("--function", "-f", metavar="NAME", help="The function's name.")
    ] = None,
    signature: Annotated[
        str | None, typer.Option(metavar="PROTOTYPE", help="C prototype, where the file does not say.")
    ] = None,
    fuel: Annotated[int, typer.Option(metavar="STEPS", help="Steps it may take.", min=1)] = 1_000_000,
    trace: Annotated[bool, typer.Option("--trace", help="Show each instruction executed.")] = False,
    isa: Isa = None,
    cc: Cc = None,
    cflags: Cflags = None,
) -> None:
    from isoform.api import run_one
    from isoform.report.run import print_run

    numbers = [argument_number(text) for text in arguments or ()]
    result = run_one(a, numbers, load_options(cc, cflags, isa, function), signature, fuel, trace)
    raise typer.Exit(print_run(result))
