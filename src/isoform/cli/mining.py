"""`isoform mine`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isoform.cli.adapting import families_named
from isoform.cli.options import Cc, Cflags, Isa, checked_seconds, load_options, optional_seconds
from isoform.cli.streams import Progress, refuse_unwritable, write_whole
from isoform.model.errors import UserError

if TYPE_CHECKING:
    from isoform.model.mining import Mining

MINE_HELP = """Find adaptors between all functions of one library, or between those of two.

Runs on the same inputs refute most pairs. For each of the others an adaptor is looked for, as `adapt` does, in a
process of its own. With --store the command can be interrupted, and the same command does the rest.

Exit code: 0 done, 3 some pairs are undecided or were not asked, 2 trouble."""


def mine(
    library: Annotated[
        str, typer.Argument(metavar="LIB", help="A library, object file or source file.", show_default=False)
    ],
    other: Annotated[
        str | None, typer.Argument(metavar="LIB2", help="Another: then only pairs between the two.", show_default=False)
    ] = None,
    family: Annotated[
        str, typer.Option(metavar="NAMES", help="Families to search, separated by commas, as for adapt.")
    ] = "substitution,width",
    depth: Annotated[int, typer.Option(metavar="N", help="Depth of expressions, 1 to 4, as for adapt.")] = 2,
    budget: Annotated[
        float, typer.Option(metavar="SECONDS", help="Seconds of processor time for each pair.", min=0.01)
    ] = 5.0,
    time: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Seconds for all pairs that are asked.", min=0.01)
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("-j", "--jobs", metavar="N", help="Pairs at the same time.", min=1, max=512)
    ] = None,
    store: Annotated[
        str | None, typer.Option(metavar="FILE", help="Where answers are kept: a file, or postgresql://….")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Only functions with such names: 'str*'. Repeatable.")
    ] = None,
    skip: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="No functions with such names. Repeatable.")
    ] = None,
    signatures: Annotated[
        Path | None, typer.Option(metavar="HEADER", help="C declarations of functions without debug information.")
    ] = None,
    declared: Annotated[bool, typer.Option("--declared", help="Only functions that --signatures declares.")] = False,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the pairs as CSV.")] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the clusters as one HTML page.")] = None,
    isa: Isa = None,
    cc: Cc = None,
    cflags: Cflags = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout and nothing else.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Only the summary.")] = False,
) -> None:
    from isoform.mine.mine import MineOptions
    from isoform.mine.mine import mine as mine_all
    from isoform.report.mining import print_mining

    files = {"--csv": csv, "--html": html, "--store": Path(store) if store and "://" not in store else None}
    for option in ("--csv", "--html"):
        refuse_unwritable(files[option], option)
    _refuse_clashes({**files, "LIB": Path(library), "LIB2": Path(other) if other else None, "--signatures": signatures})
    progress = Progress(enabled=not (quiet or as_json))
    options = MineOptions(
        families=families_named(family),
        depth=depth,
        budget=checked_seconds(budget),
        seconds=optional_seconds(time, "--time"),
        jobs=jobs,
        store=store,
        only=tuple(only or ()),
        skip=tuple(skip or ()),
        signatures=str(signatures) if signatures else None,
        is_declared=declared,
        progress=progress,
    )
    mined = mine_all([library] if other is None else [library, other], options, load_options(cc, cflags, isa, None))
    progress.clear()
    _write(mined, csv, html)
    if as_json:
        from isoform.report.mining import mining_dumps

        print(mining_dumps(mined))
    else:
        print_mining(mined, quiet)
    raise typer.Exit(mined.exit_code)


def _write(mined: Mining, csv: Path | None, html: Path | None) -> None:
    if csv is not None:
        from isoform.report.mining import mining_as_csv

        write_whole(csv, mining_as_csv(mined), "--csv")
    if html is not None:
        from isoform.report.mining_html import mining_as_html

        write_whole(html, mining_as_html(mined), "--html")


def _refuse_clashes(files: dict[str, Path | None]) -> None:
    seen: dict[str, str] = {}
    for option, path in files.items():
        if path is None or option == "LIB2":
            continue
        other = seen.setdefault(os.path.realpath(path), option)
        if other != option:
            raise UserError(f"{other} and {option} are both {path}: name two files.")
