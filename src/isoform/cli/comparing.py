"""`isoform compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from isoform import supervise
from isoform.cli.options import (
    Causes,
    Cc,
    Cflags,
    ExplainBudget,
    Explaining,
    FilterOfCauses,
    Isa,
    Spec,
    checked_degree,
    checked_filter,
    checked_seconds,
    engine_named,
    load_options,
    optional_seconds,
    refuse_compiler,
    size_in_bytes,
)
from isoform.cli.question_options import (
    Aborting,
    AsJson,
    BothFunctions,
    Bounding,
    Calling,
    CcOfA,
    CcOfB,
    CertificateFolder,
    CflagsOfA,
    CflagsOfB,
    Degree,
    Depth,
    EngineName,
    Facts,
    Fuel,
    HtmlFile,
    IdempotentNames,
    InitialData,
    MemoryCompared,
    MemoryLimit,
    OnlyVerdict,
    OwnTests,
    Prototype,
    PureNames,
    Restricting,
    Returning,
    Rewrite,
    Seconds,
    Seed,
    Shapes,
    Terminating,
    Unrolled,
    Verbose,
    function_names,
)
from isoform.cli.streams import Progress, refuse_unwritable, write_whole
from isoform.isa.registry import TEXT_ISAS
from isoform.model.cause import Explain
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
from isoform.model.values import dataclass

if TYPE_CHECKING:
    from isoform.model.verdict import Verdict

COMPARE_HELP = f"""Compare two functions: one question, one verdict.

A and B are `path[:function]`: an ELF object, library or executable, a `.c` or `.s` file (compiled first), or a file of
one of the small machines ({", ".join(TEXT_ISAS)}). A member of a static library or a Debian package is a file too:
`libx.a:member.o:function`, or `libx.a:function`. A function is its symbol, its C++ name as in the source
(`a.o:ns::f(int)`), or an address (`lib.so:0x1200`). Without B, A is built twice: see --cflags-a and --cflags-b.

Exit code: 0 equivalent, 1 different, 3 bounded or unknown, 2 trouble."""


def compare(
    a: Spec,
    b: Rewrite = None,
    function: BothFunctions = None,
    signature: Prototype = None,
    assume: Facts = None,
    shape: Shapes = None,
    return_as: Returning = ReturnAs.VALUE,
    memory: MemoryCompared = MemoryRule.COMPARE,
    aborts: Aborting = AbortRule.EQUAL,
    calls: Calling = CallRule.AUTO,
    data: InitialData = DataRule.INITIAL,
    pure: PureNames = None,
    idempotent: IdempotentNames = None,
    bounds: Bounding = BoundsRule.ASSUME,
    restrict: Restricting = RestrictRule.ASSUME,
    termination: Terminating = TerminationRule.PROVE,
    engine: EngineName = "auto",
    budget: Seconds = 60.0,
    memory_limit: MemoryLimit = "2G",
    fuel: Fuel = 10_000,
    depth: Depth = 50,
    unroll: Unrolled = 16,
    degree: Degree = 2,
    seed: Seed = 1,
    tests: OwnTests = None,
    cert: CertificateFolder = None,
    isa: Isa = None,
    cc: Cc = None,
    cc_a: CcOfA = None,
    cc_b: CcOfB = None,
    cflags: Cflags = None,
    cflags_a: CflagsOfA = None,
    cflags_b: CflagsOfB = None,
    explain: Explaining = Explain.FIRST,
    explain_budget: ExplainBudget = None,
    causes: Causes = 4,
    cause_filter: FilterOfCauses = None,
    as_json: AsJson = False,
    html: HtmlFile = None,
    quiet: OnlyVerdict = False,
    verbose: Verbose = False,
) -> None:
    from isoform.api import compare as ask
    from isoform.borders.question import Options
    from isoform.engines.answer import seconds_for_explaining

    refuse_compiler(a, cc_a, cflags_a, "a")
    refuse_compiler(b if b is not None else a, cc_b, cflags_b, "b")
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
        pure=function_names("--pure", pure),
        idempotent=function_names("--idempotent", idempotent),
        bounds=bounds,
        restrict=restrict,
        termination=termination,
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
        explain=explain,
        explain_budget=optional_seconds(explain_budget, "--explain-budget"),
        causes=causes,
        cause_filter=checked_filter(cause_filter),
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
    seconds = options.budget + (0.0 if explain is Explain.NONE else seconds_for_explaining(options))
    supervise.begin(supervise.Limits(seconds, options.memory_limit), output)
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
