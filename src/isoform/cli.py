"""The command line: one command a verb, each a thin shell over `api`."""

from __future__ import annotations

import math
import os
import re
import shlex
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isoform import __version__, supervise
from isoform.isa.registry import TEXT_ISAS, machine_names
from isoform.model.contract import AbortRule, BoundsRule, CallRule, DataRule, MemoryRule, ReturnAs
from isoform.model.errors import Unsupported, UserError
from isoform.model.values import dataclass

if TYPE_CHECKING:
    from isoform.borders.question import Engine
    from isoform.load.open import LoadOptions
    from isoform.model.grades import Grades
    from isoform.model.verdict import Verdict

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Do these two functions compute the same thing? Proofs and counterexamples for machine code.",
)

TROUBLE = 2
"""Exit code of everything the user can fix."""
USAGE_ERROR: Any = next(base for base in reversed(typer.BadParameter.__mro__) if hasattr(base, "format_message"))
"""What typer raises for every mistake in the words typed (it has no public name for that in all its versions)."""
LEAST_MEMORY = 64 << 20
_SHIFTS = {"K": 10, "M": 20, "G": 30, "T": 40}
INTERRUPTED = 130
"""Exit code of a second Ctrl-C: the first one ends the question with what is known so far."""

_ISAS = machine_names()
_COMPARE_HELP = f"""Compare two functions: one question, one verdict.

A and B are `path[:function]`: an ELF object, library or executable, a `.c` or `.s` file (compiled first), or a file of
one of the small machines ({", ".join(TEXT_ISAS)}). Without B, A is built twice: see --cflags-a and --cflags-b.

Exit code: 0 equivalent, 1 different, 3 bounded or unknown, 2 trouble."""

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


@app.command(help=_COMPARE_HELP)
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
    from isoform.load.open import LoadOptions

    _refuse_unwritable(html, "--html")
    progress = _Progress(enabled=not (quiet or as_json))
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
        engine=_engine(engine),
        budget=_seconds(budget),
        fuel=fuel,
        depth=depth,
        unroll=unroll,
        degree=_degree(degree),
        seed=seed,
        tests=str(tests) if tests is not None else None,
        cert=str(cert) if cert else None,
        shapes=tuple(shape or ()),
        narrate=verbose and not as_json,
        memory_limit=_size(memory_limit),
        progress=progress,
        so_far=supervise.so_far,
    )
    sides = [
        LoadOptions(own_cc or cc, _flags(own_flags if own_flags is not None else cflags), isa, function)
        for own_cc, own_flags in ((cc_a, cflags_a), (cc_b, cflags_b))
    ]
    output = _Output(as_json, html, quiet, verbose)
    supervise.begin(supervise.Limits(options.budget, options.memory_limit), output)
    verdict = ask(a, b, options, sides[0], sides[1])
    supervise.answered()
    raise typer.Exit(_show_verdict(verdict, output))


@dataclass(frozen=True)
class _Output:
    """How a verdict is shown."""

    as_json: bool
    html: Path | None
    quiet: bool
    verbose: bool


def _show_verdict(verdict: Verdict, output: _Output) -> int:
    _Progress(enabled=not (output.quiet or output.as_json)).clear()
    if output.html is not None:
        from isoform.report.html import verdict_as_html

        _write(output.html, verdict_as_html(verdict), "--html")
    if output.as_json:
        from isoform.report.json import dumps

        print(dumps(verdict))
    else:
        from isoform.report.terminal import print_verdict

        print_verdict(verdict, verbose=output.verbose, quiet=output.quiet)
    return verdict.exit_code


@app.command(help="Show one function: disassembly, micro-ops and control flow.")
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

    print_function(look(a, _load_options(cc, cflags, isa, function), _seconds(budget)))


_RUN_HELP = """Run one function on isoform's own runner: what it returns, writes and calls.

ARGs are numbers: decimal, 0x… or negative. Memory that the function reads is zero."""


# Negative numbers are arguments: what typer does not know as an option is left for `_number` to judge.
@app.command(help=_RUN_HELP, context_settings={"ignore_unknown_options": True})
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

    result = run_one(
        a, [_number(text) for text in arguments or ()], _load_options(cc, cflags, isa, function), signature, fuel, trace
    )
    raise typer.Exit(print_run(result))


_CHECK_HELP = """Re-check a certificate with another solver.

With --target and --rewrite, also whether it is about the code in these files, built as they were compared.

Exit code: 0 if everything is confirmed, 1 if not, 2 trouble."""


@app.command(help=_CHECK_HELP)
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

    progress = _Progress(enabled=not quiet)
    sides = [
        _load_options(own_cc or cc, own_flags if own_flags is not None else cflags, isa, None)
        for own_cc, own_flags in ((cc_a, cflags_a), (cc_b, cflags_b))
    ]
    report = confirm(
        cert,
        target,
        rewrite,
        sides[0],
        sides[1],
        jobs,
        _seconds(budget),
        lambda done, total, row: progress(f"checked {done} of {total}"),
    )
    progress.clear()
    raise typer.Exit(print_check(report, quiet))


_GRADE_HELP = """Compare every submission in a folder with one reference.

REF is `path[:function]`, as A of `compare`. The submissions are the files of REF's kind in DIR and its folders; each is
named by its path in DIR without the suffix. Rows that are done are kept: the same command resumes where it was
interrupted.

Exit code: 0 when every submission has its row, whatever the verdicts; 2 trouble."""


@app.command(help=_GRADE_HELP)
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
    return_as: Annotated[ReturnAs, typer.Option(help="How the return value is compared.")] = ReturnAs.VALUE,
    memory: Annotated[MemoryRule, typer.Option(help="Whether memory left behind is compared.")] = MemoryRule.COMPARE,
    aborts: Annotated[
        AbortRule, typer.Option(help="equal: both abort or neither; refine: where REF aborts, anything goes.")
    ] = AbortRule.EQUAL,
    calls: Annotated[CallRule, typer.Option(help="What to do with calls to code that is present.")] = CallRule.AUTO,
    data: Annotated[
        DataRule,
        typer.Option(help="initial: data that holds other values at first is a difference; any: it may hold anything."),
    ] = DataRule.INITIAL,
    pure: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="An outside function that only computes. Repeatable.")
    ] = None,
    bounds: Annotated[
        BoundsRule,
        typer.Option(
            help="assume: the target stays inside objects of known size; ignore: take memory as the machine does."
        ),
    ] = BoundsRule.ASSUME,
    engine: Annotated[str, typer.Option(metavar="ENGINE", help="As for compare.")] = "auto",
    budget: Annotated[float, typer.Option(metavar="SECONDS", help="Seconds for each submission.", min=0.01)] = 2.0,
    fuel: Annotated[int, typer.Option(metavar="STEPS", help="Steps a concrete run may take.", min=1)] = 10_000,
    depth: Annotated[int, typer.Option(metavar="N", help="Path conditions that a search follows.", min=1)] = 50,
    unroll: Annotated[int, typer.Option(metavar="N", help="Loop iterations that are unrolled.", min=0)] = 16,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of random tests.", min=0)] = 1,
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
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout and nothing else.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Only the summary.")] = False,
) -> None:
    from isoform.api import grade as grade_all
    from isoform.borders.question import Options
    from isoform.grade.grade import GradeOptions
    from isoform.grade.store import state_beside
    from isoform.report.grade_table import GradeProgress, print_grades

    outputs = {"--csv": csv, "--html": html, "--state": state}
    for option, path in outputs.items():
        _refuse_unwritable(path, option)
    _refuse_clashes({**outputs, "REF": Path(reference), "--tests": tests})
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
        engine=_engine(engine),
        budget=_seconds(budget),
        fuel=fuel,
        depth=depth,
        unroll=unroll,
        seed=seed,
        shapes=tuple(shape or ()),
    )
    load_options = _load_options(cc, cflags, isa, function)
    kept = state or state_beside((csv, html), reference, folder)
    with GradeProgress(enabled=not (quiet or as_json)) as progress:
        grading = GradeOptions(jobs, tests, kept, fresh, pattern, memory_limit, progress, outputs)
        grades = grade_all(reference, folder, options, load_options, load_options, grading)
    if not grades.interrupted:
        _write_grades(grades, csv, html)
    if as_json:
        from isoform.report.grade_json import grades_dumps

        print(grades_dumps(grades))
    else:
        print_grades(grades, quiet)
    if grades.interrupted:
        unwritten = " and ".join(str(path) for path in (csv, html) if path is not None)
        kept_too = "done and kept; the same command does the rest" if kept is not None else "done"
        said = f"{len(grades.rows)} of {grades.total} submissions are {kept_too}"
        _complain(f"{said}; {unwritten} is not written before all are." if unwritten else f"{said}.")
        sys.stdout.flush()
        raise typer.Exit(INTERRUPTED)


def _write_grades(grades: Grades, csv: Path | None, html: Path | None) -> None:
    if csv is not None:
        from isoform.report.grade_csv import grades_as_csv

        _write(csv, grades_as_csv(grades), "--csv")
    if html is not None:
        from isoform.report.grade_html import grades_as_html

        _write(html, grades_as_html(grades), "--html")


def _refuse_clashes(files: dict[str, Path | None]) -> None:
    """One file for two purposes: the later one would destroy the earlier one."""
    seen: dict[str, str] = {}
    for option, path in files.items():
        if path is None:
            continue
        other = seen.setdefault(os.path.realpath(path), option)
        if other != option:
            raise UserError(f"{other} and {option} are both {path}: name two files.")


def _version(wanted: bool) -> None:
    if wanted:
        print(f"isoform {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


def _load_options(cc: str | None, cflags: str | None, isa: str | None, function: str | None) -> LoadOptions:
    from isoform.load.open import LoadOptions

    return LoadOptions(cc, _flags(cflags), isa, function)


def _flags(text: str | None) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text)) if text else ()
    except ValueError:
        raise UserError(f"--cflags {text!r} has an unclosed quote.") from None


def _engine(name: str) -> Engine:
    from isoform.borders.question import Engine

    try:
        return Engine(name)
    except ValueError:
        known = ", ".join(e.value for e in Engine)
        raise UserError(f"--engine '{name}' is not an engine of this version: {known}.") from None


def _seconds(budget: float) -> float:
    if not math.isfinite(budget):
        raise UserError("--budget must be a number of seconds.")
    return budget


def _size(text: str) -> int:
    """Bytes."""
    found = re.fullmatch(r"(\d{1,12})(?:([KMGT])(?:i?B)?)?", text.strip(), re.IGNORECASE)
    size = int(found[1]) << _SHIFTS[(found[2] or "M").upper()] if found else 0
    if size < LEAST_MEMORY:
        raise UserError(f"--memory-limit '{text}' is not a size of at least 64M: write 2G or 512M.")
    return size


def _degree(degree: int) -> int:
    if not 1 <= degree <= 3:
        raise UserError(f"--degree {degree} is not 1, 2 or 3.")
    return degree


def _number(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise UserError(f"'{text}' is not a number: arguments are decimal, 0x… or negative.") from None


def _refuse_unwritable(path: Path | None, option: str) -> None:
    """Before the work, not after it."""
    if path is None:
        return
    folder = path.parent
    if path.is_dir() or not folder.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise UserError(f"{option} {path} cannot be written: name a file in a folder that exists and is yours.")


def _write(path: Path, text: str, option: str) -> None:
    partial = path.with_name(f".{path.name}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise UserError(f"{option} {path} cannot be written: {error.strerror or error}.") from None


class _Progress:
    """One line on stderr that says what is being done; nothing unless it is a terminal."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled and sys.stderr.isatty()

    def __call__(self, what: str) -> None:
        if self._enabled:
            print(f"\r\x1b[2K{what}…", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self._enabled:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)


def main() -> None:
    if sys.argv[1:2] == ["compare"] and hasattr(os, "fork"):
        sys.exit(supervise.supervised(run_command, _show_verdict, lambda why: _complain(_sentence(why))))
    sys.exit(run_command())


def run_command(words: list[str] | None = None) -> int:
    """The exit code of `isoform WORDS…`. A user's mistake is one sentence and exit code 2; only a bug shows a
    traceback, and has exit code 2 as well: Python's own, 1, would say `different`."""
    try:
        code = app(args=words, prog_name="isoform", standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:
            _complain("interrupted.")
        return code if isinstance(code, int) else 0
    except USAGE_ERROR as error:
        _complain(_sentence(error.format_message()))
    except (UserError, Unsupported) as error:
        _complain(_sentence(str(error)))
    except (BrokenPipeError, SystemExit):
        # The reader of our output has closed it: typer turns that into SystemExit. Nothing may be flushed any more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)
    except Exception:
        traceback.print_exc()
        _complain("this is a bug in isoform; please report it with what is above.")
    return TROUBLE


def _sentence(text: str) -> str:
    """With its full stop, unless it ends in a message of the compiler."""
    text = text.strip()
    return text if "\n" in text or text.endswith((".", "?", "!", "…")) else f"{text}."


def _complain(sentence: str) -> None:
    from isoform.report.terminal import encodable, printable

    shown = "\n".join(printable(line.expandtabs()) for line in sentence.splitlines())
    print(encodable(f"isoform: {shown}", sys.stderr.encoding), file=sys.stderr)
