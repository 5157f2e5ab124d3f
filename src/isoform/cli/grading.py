"""`isoform grade`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isoform.cli.options import Cc, Cflags, Isa, checked_seconds, engine_named, load_options
from isoform.cli.question_options import (
    AsJson,
    Bounding,
    Calling,
    Depth,
    Fuel,
    InitialData,
    MemoryCompared,
    Restricting,
    Returning,
    Seed,
    Terminating,
    Unrolled,
    function_names,
)
from isoform.cli.streams import INTERRUPTED, complain, refuse_unwritable, write_whole
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

if TYPE_CHECKING:
    from isoform.model.grades import Grades

GRADE_HELP = """Compare every submission in a folder with one reference.

REF is `path[:function]`, as A of `compare`. The submissions are the files of REF's kind in DIR and its folders; each is
named by its path in DIR without the suffix. Rows that are done are kept: the same command resumes where it was
interrupted.

Exit code: 0 when every submission has its row, whatever the verdicts; 2 trouble."""


def grade(
    reference: Annotated[
        str, typer.Argument(metavar="REF", help="The reference: path[:function].", show_default=False)
    ],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the submissions.", show_default=False)],
    function: Annotated[
        str | None, typer.Option("--function", "-f", metavar="NAME", help="The function's name in every file.")
    ] = None,
    signature: Annotated[str | None, typer.Option(metavar="PROTOTYPE", help="C prototype of the function.")] = None,
    assume: Annotated[
        list[str] | None, typer.Option(metavar="FACT", help="Precondition, as for compare. Repeatable.")
    ] = None,
    shape: Annotated[
        list[str] | None,
        typer.Option(metavar="DECLARATION", help="What a pointer parameter points to, as for compare."),
    ] = None,
    return_as: Returning = ReturnAs.VALUE,
    memory: MemoryCompared = MemoryRule.COMPARE,
    aborts: Annotated[
        AbortRule, typer.Option(help="equal: both abort or neither; refine: where REF aborts, anything goes.")
    ] = AbortRule.EQUAL,
    calls: Calling = CallRule.AUTO,
    data: InitialData = DataRule.INITIAL,
    pure: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="An outside function that only computes. Repeatable.")
    ] = None,
    bounds: Bounding = BoundsRule.ASSUME,
    restrict: Restricting = RestrictRule.ASSUME,
    termination: Terminating = TerminationRule.PROVE,
    engine: Annotated[str, typer.Option(metavar="ENGINE", help="As for compare.")] = "auto",
    budget: Annotated[float, typer.Option(metavar="SECONDS", help="Seconds for each submission.", min=0.01)] = 2.0,
    fuel: Fuel = 10_000,
    depth: Depth = 50,
    unroll: Unrolled = 16,
    seed: Seed = 1,
    tests: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Fixed inputs to run as well, one test a line: see docs/grading.md."),
    ] = None,
    pattern: Annotated[
        str | None, typer.Option(metavar="GLOB", help="Names of submissions, as '*.c'. Default: by REF's kind.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("-j", "--jobs", metavar="N", help="Submissions at the same time.", min=1, max=512)
    ] = None,
    memory_limit: Annotated[
        int, typer.Option(metavar="MIB", help="Memory that one submission may take.", min=64, max=1 << 20)
    ] = 2048,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the rows as CSV.")] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write a report as one HTML page.")] = None,
    state: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where rows that are done are kept. Default: beside --csv or --html."),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget the rows that are kept.")] = False,
    isa: Isa = None,
    cc: Cc = None,
    cflags: Cflags = None,
    as_json: AsJson = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Only the summary.")] = False,
) -> None:
    from isoform.api import grade as grade_all
    from isoform.borders.question import Options
    from isoform.grade.grade import GradeOptions
    from isoform.grade.state import state_beside
    from isoform.report.grade_table import print_grades
    from isoform.report.progress import ProgressLine

    outputs = {"--csv": csv, "--html": html, "--state": state}
    for option, path in outputs.items():
        refuse_unwritable(path, option)
    _refuse_clashes({**outputs, "REF": Path(reference), "--tests": tests})
    options = Options(
        signature=signature,
        assume=tuple(assume or ()),
        return_as=return_as,
        memory=memory,
        aborts=aborts,
        calls=calls,
        data=data,
        pure=function_names("--pure", pure),
        bounds=bounds,
        restrict=restrict,
        termination=termination,
        engine=engine_named(engine),
        budget=checked_seconds(budget),
        fuel=fuel,
        depth=depth,
        unroll=unroll,
        seed=seed,
        shapes=tuple(shape or ()),
    )
    loading = load_options(cc, cflags, isa, function)
    kept = state or state_beside((csv, html), reference, folder)
    with ProgressLine("grading", enabled=not (quiet or as_json)) as line:
        grading = GradeOptions(jobs, tests, kept, fresh, pattern, memory_limit, line, outputs)
        grades = grade_all(reference, folder, options, loading, loading, grading)
    if not grades.interrupted:
        _write_grades(grades, csv, html)
    if as_json:
        from isoform.report.grade_json import grades_dumps

        print(grades_dumps(grades))
    else:
        print_grades(grades, quiet)
    if grades.interrupted:
        unwritten = " and ".join(str(path) for path in (csv, html) if path is not None)
        kept_too = "done and kept; the same command does the rest" if grades.state is not None else "done"
        said = f"{len(grades.rows)} of {grades.total} submissions are {kept_too}"
        complain(f"{said}; {unwritten} is not written before all are." if unwritten else f"{said}.")
        sys.stdout.flush()
        raise typer.Exit(INTERRUPTED)


def _write_grades(grades: Grades, csv: Path | None, html: Path | None) -> None:
    if csv is not None:
        from isoform.report.grade_csv import grades_as_csv

        write_whole(csv, grades_as_csv(grades), "--csv")
    if html is not None:
        from isoform.report.grade_html import grades_as_html

        write_whole(html, grades_as_html(grades), "--html")


def _refuse_clashes(files: dict[str, Path | None]) -> None:
    """One file for two purposes: the later one would destroy the earlier one."""
    seen: dict[str, str] = {}
    for option, path in files.items():
        if path is None:
            continue
        other = seen.setdefault(os.path.realpath(path), option)
        if other != option:
            raise UserError(f"{other} and {option} are both {path}: name two files.")
