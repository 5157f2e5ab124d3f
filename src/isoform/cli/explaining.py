"""`isoform explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isoform import supervise
from isoform.cli.comparing import Output, show_verdict
from isoform.cli.options import (
    Causes,
    ExplainBudget,
    Explaining,
    FilterOfCauses,
    checked_filter,
    optional_seconds,
    size_in_bytes,
)
from isoform.cli.question_options import AsJson, HtmlFile, OnlyVerdict
from isoform.cli.streams import Progress, refuse_unwritable
from isoform.model.cause import Explain

EXPLAIN_HELP = """The cause of a difference that `compare --json` saved.

The witness is run again on both functions, and the question is not solved again: the files must still have the code
that was compared.

Exit code: 1, as of the difference; 2 trouble."""


def explain(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `compare --json` printed.", show_default=False)],
    explain: Explaining = Explain.FIRST,
    explain_budget: ExplainBudget = None,
    causes: Causes = 4,
    cause_filter: FilterOfCauses = None,
    memory_limit: Annotated[
        str, typer.Option(metavar="SIZE", help="Memory that the search may take: 2G, 512M. A bare number is MiB.")
    ] = "2G",
    as_json: AsJson = False,
    html: HtmlFile = None,
    quiet: OnlyVerdict = False,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Also how the search went, and the listing.")
    ] = False,
) -> None:
    from isoform.api import explain as ask

    refuse_unwritable(html, "--html")
    output = Output(as_json, html, quiet, verbose)
    verdict = ask(
        file,
        explain=explain,
        explain_budget=optional_seconds(explain_budget, "--explain-budget"),
        causes=causes,
        cause_filter=checked_filter(cause_filter),
        memory_limit=size_in_bytes(memory_limit),
        progress=Progress(enabled=not (quiet or as_json)),
    )
    supervise.answered()
    raise typer.Exit(show_verdict(verdict, output))
