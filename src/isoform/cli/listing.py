"""`isoform list`: what is in a file."""

from __future__ import annotations

from typing import Annotated

import typer

from isoform.cli.options import Cc, Cflags, Isa, load_options
from isoform.cli.question_options import AsJson
from isoform.cli.streams import Progress

LIST_HELP = """List the functions of a file: address, size, signature and where it comes from, and whether every
instruction has semantics.

FILE is what `compare` takes: an ELF file, a source, a static library or package (all its members, or one:
`libx.a:member.o`)."""


def list_functions(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file.", show_default=False)],
    only: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Only functions of this name: 'inflate*'. Repeatable.")
    ] = None,
    infer: Annotated[
        bool, typer.Option(help="Signatures from the code where debug information has none; takes longer.")
    ] = True,
    isa: Isa = None,
    cc: Cc = None,
    cflags: Cflags = None,
    as_json: AsJson = False,
) -> None:
    from isoform.api import inventory
    from isoform.model.inventory import inventory_as_json
    from isoform.report.inventory import print_inventory
    from isoform.report.json import as_text

    progress = Progress(enabled=not as_json)
    found = inventory(file, load_options(cc, cflags, isa, None), tuple(only or ()), infer, progress)
    progress.clear()
    if as_json:
        print(as_text(inventory_as_json(found)))
    else:
        print_inventory(found)
