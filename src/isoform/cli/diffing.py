"""`isoform diff`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

import typer

from isoform.cli.options import (
    Cc,
    Cflags,
    Isa,
    checked_seconds,
    load_options,
    optional_seconds,
    refuse_compiler,
    size_in_bytes,
)
from isoform.cli.streams import Progress, refuse_unwritable, write_whole
from isoform.model.errors import UserError
from isoform.model.library_diff import FunctionAnswer, LibraryDiff

DIFF_HELP = """Which functions of a library changed what they do?

OLD and NEW are two files (object files, libraries, programs, C or assembly sources), or two folders, static libraries
or Debian packages of ELF files. Functions are matched by name, and what is left by their code and what they use.
Functions whose code is the same are settled at once; each of the others is run on the same inputs, and then asked about
as `compare` does, in a process of its own, callees first. With --store the command can be interrupted, and the same
command does the rest; answers count for later versions, too, as long as the code that they are about does not change.

Exit code: 0 all are the same, 1 some differ, 3 some are open, 2 trouble."""

_OPERATOR = re.compile(r"\boperator\s*(<=>|<<=|>>=|[-+*/%^&|=!<>]?=(?=\())")
"""In the name of a C++ function; its `=` does not separate two names."""
RETRIED = (FunctionAnswer.UNKNOWN, FunctionAnswer.BOUNDED)


def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help="A file, folder or package.", show_default=False)],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The same in another version.", show_default=False)],
    budget: Annotated[
        float, typer.Option(metavar="SECONDS", help="Seconds of processor time for each function.", min=0.01)
    ] = 20.0,
    time: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Seconds for all functions that are asked about.", min=0.01)
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("-j", "--jobs", metavar="N", help="Functions at the same time.", min=1, max=512)
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Ask on a running Dask cluster: tcp://HOST:PORT.")
    ] = None,
    store: Annotated[
        str | None, typer.Option(metavar="FILE", help="Where answers are kept: a file, or postgresql://….")
    ] = None,
    retry: Annotated[
        str | None,
        typer.Option(
            metavar="ANSWERS", help="Answers in the store to ask about again: unknown, bounded; separated by commas."
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Only functions with such names: 'inflate*'. Repeatable."),
    ] = None,
    skip: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Leave out functions with such names. Repeatable.")
    ] = None,
    match: Annotated[
        list[str] | None,
        typer.Option(metavar="OLD=NEW", help="These two belong together, whatever their names. Repeatable."),
    ] = None,
    accept: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Differences that are meant, as TOML with digests of the code.")
    ] = None,
    cert: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write a listing of what is identical, which `isoform check` confirms."),
    ] = None,
    fail_on: Annotated[
        Literal["different", "unknown"],
        typer.Option(help="When the exit code is not 0: only for differences, or also for what is open."),
    ] = "unknown",
    changed_only: Annotated[
        bool, typer.Option("--changed-only", help="Leave out functions whose code is the same.")
    ] = False,
    memory_limit: Annotated[str, typer.Option(metavar="SIZE", help="Memory for each function.")] = "2G",
    seed: Annotated[int, typer.Option(metavar="N", help="For random inputs.", min=0)] = 1,
    isa: Isa = None,
    cc: Cc = None,
    cflags: Cflags = None,
    cc_a: Annotated[str | None, typer.Option(metavar="CC", help="Compiler for OLD only.")] = None,
    cc_b: Annotated[str | None, typer.Option(metavar="CC", help="Compiler for NEW only.")] = None,
    cflags_a: Annotated[str | None, typer.Option(metavar="FLAGS", help="Compiler flags for OLD only.")] = None,
    cflags_b: Annotated[str | None, typer.Option(metavar="FLAGS", help="Compiler flags for NEW only.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout and nothing else.")] = False,
    as_lines: Annotated[bool, typer.Option("--jsonl", help="One JSON object a line for each function.")] = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the report as one HTML page.")] = None,
    sarif: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write it as SARIF 2.1.0.")] = None,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Only the summary.")] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Also the functions that are the same.")] = False,
) -> None:
    from isoform.diff.diff import diff as diff_all
    from isoform.diff.options import DiffOptions

    if as_json and as_lines:
        raise UserError("--json and --jsonl are two forms of the same: give one.")
    refuse_compiler(old, cc_a, cflags_a, "a")
    refuse_compiler(new, cc_b, cflags_b, "b")
    refuse_unwritable(html, "--html")
    refuse_unwritable(sarif, "--sarif")
    progress = Progress(enabled=not (quiet or as_json or as_lines))
    options = DiffOptions(
        budget=checked_seconds(budget),
        seconds=optional_seconds(time, "--time"),
        jobs=jobs,
        store=store,
        cluster=cluster,
        only=tuple(only or ()),
        skip=tuple(skip or ()),
        matches=tuple(map(two_names, match or ())),
        retry=_retried(retry),
        accept=str(accept) if accept is not None else None,
        cert=str(cert) if cert is not None else None,
        memory_limit=size_in_bytes(memory_limit),
        seed=seed,
        loading=(
            load_options(cc_a or cc, cflags_a if cflags_a is not None else cflags, isa, None),
            load_options(cc_b or cc, cflags_b if cflags_b is not None else cflags, isa, None),
        ),
        progress=progress,
    )
    found = diff_all(old, new, options)
    progress.clear()
    if changed_only:
        found = found.changed
    _write(found, html, sarif)
    _show(found, as_json, as_lines, quiet, verbose)
    raise typer.Exit(found.exit_code if fail_on == "unknown" or found.exit_code == 1 else 0)


def _write(found: LibraryDiff, html: Path | None, sarif: Path | None) -> None:
    if html is not None:
        from isoform.report.diff_html import library_diff_as_html

        write_whole(html, library_diff_as_html(found), "--html")
    if sarif is not None:
        _write_sarif(found, sarif)


def _write_sarif(found: LibraryDiff, path: Path) -> None:
    """Beside it, if it is needed, the text that stands for source which is not known."""
    from isoform.load.source_lines import line_length
    from isoform.report.sarif import Manifest, Sources, sarif_dumps

    beside = path.with_name(f"{path.name}.txt").absolute()
    manifest = Manifest(str(beside))
    text = sarif_dumps(found, manifest, Sources(Path.cwd(), line_length))
    if manifest.lines:
        write_whole(beside, manifest.text, "--sarif")
    write_whole(path, text, "--sarif")


def _show(found: LibraryDiff, as_json: bool, as_lines: bool, quiet: bool, verbose: bool) -> None:
    from isoform.report.diff_json import diff_as_lines, diff_dumps
    from isoform.report.diff_table import print_diff

    if as_json:
        print(diff_dumps(found))
    elif as_lines:
        for line in diff_as_lines(found):
            print(line)
    else:
        print_diff(found, quiet, verbose)


def two_names(text: str) -> tuple[str, str]:
    """Of `--match OLD=NEW`."""
    masked = _OPERATOR.sub(lambda found: "_" * len(found[0]), text)
    at = masked.find("=")
    old, new = text[: max(at, 0)].strip(), text[at + 1 :].strip()
    if at < 0 or not old or not new:
        raise UserError(f"--match {text} is not OLD=NEW: name a function of each version.")
    return old, new


def _retried(text: str | None) -> frozenset[FunctionAnswer]:
    words = [word.strip() for word in text.split(",")] if text is not None else []
    known = [answer.value for answer in RETRIED]
    for word in words:
        if word not in known:
            raise UserError(f"--retry {word} is not {' or '.join(known)}.")
    return frozenset(FunctionAnswer(word) for word in words)
