"""`isoform check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isoform.cli.options import Cc, Cflags, Isa, checked_seconds, load_options
from isoform.cli.streams import Progress

CHECK_HELP = """Re-check a certificate with another solver.

With --target and --rewrite, also whether it is about the code in these files, built as they were compared.

Exit code: 0 if everything is confirmed, 1 if not, 2 trouble."""


def check(
    cert: Annotated[Path, typer.Argument(metavar="CERT", help="The folder that --cert wrote.", show_default=False)],
    target: Annotated[
        str | None, typer.Option(metavar="A", help="The target that it must be about: path[:function].")
    ] = None,
    rewrite: Annotated[
        str | None, typer.Option(metavar="B", help="The rewrite that it must be about: path[:function].")
    ] = None,
    jobs: Annotated[
        int, typer.Option("-j", "--jobs", metavar="N", help="Obligations checked at the same time.", min=1)
    ] = 2,
    budget: Annotated[float, typer.Option(metavar="SECONDS", help="Seconds for each obligation.", min=0.01)] = 60.0,
    isa: Isa = None,
    cc: Cc = None,
    cc_a: Annotated[str | None, typer.Option(metavar="CC", help="Compiler for the target.")] = None,
    cc_b: Annotated[str | None, typer.Option(metavar="CC", help="Compiler for the rewrite.")] = None,
    cflags: Cflags = None,
    cflags_a: Annotated[str | None, typer.Option(metavar="FLAGS", help="Compiler flags for the target.")] = None,
    cflags_b: Annotated[str | None, typer.Option(metavar="FLAGS", help="Compiler flags for the rewrite.")] = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Only the answer's word.")] = False,
) -> None:
    from isoform.api import check as confirm
    from isoform.report.check import print_check

    progress = Progress(enabled=not quiet)
    sides = [
        load_options(own_cc or cc, own_flags if own_flags is not None else cflags, isa, None)
        for own_cc, own_flags in ((cc_a, cflags_a), (cc_b, cflags_b))
    ]
    report = confirm(
        cert,
        target,
        rewrite,
        sides[0],
        sides[1],
        jobs,
        checked_seconds(budget),
        lambda done, total, row: progress(f"checked {done} of {total}"),
    )
    progress.clear()
    raise typer.Exit(print_check(report, quiet))
