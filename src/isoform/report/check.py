"""The re-check of a certificate for a person: what became of each obligation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any

from isoform.model.check_report import CheckReport, CheckResult, CheckRow
from isoform.report.summary import duration
from isoform.report.terminal import Span, Spans, print_lines

STYLES = {
    CheckResult.CONFIRMED: "equivalent",
    CheckResult.REFUTED: "different",
    CheckResult.TAMPERED: "different",
    CheckResult.UNDECIDED: "unknown",
}
NOT_CONFIRMED = 1


def print_check(report: CheckReport, quiet: bool = False) -> int:
    """Exit code 0 only if everything is confirmed."""
    if quiet:
        print(answer_of(report))
    else:
        print_lines(list(_lines(report)))
    return 0 if report.ok else NOT_CONFIRMED


def answer_of(report: CheckReport) -> str:
    return "confirmed" if report.ok else "not confirmed"


def _lines(report: CheckReport) -> Iterator[Spans]:
    symbol, style = ("✓", "equivalent") if report.ok else ("✗", "different")
    seconds = sum(row.seconds for row in report.rows)
    yield (
        Span(f"{symbol} {answer_of(report)}", style),
        Span("   "),
        Span(_about(report.index), "name"),
        Span(f"   {duration(seconds)}", "dim"),
    )
    yield ()
    yield from _table(report.rows)
    if report.problems:
        yield ()
        yield from ((Span(f"  {problem}", "different"),) for problem in report.problems)
    assumptions = report.index.get("assumptions")
    if report.ok and isinstance(assumptions, list) and assumptions:
        names = [str(a["name"]) for a in assumptions if isinstance(a, dict) and "name" in a]
        yield ()
        yield (Span("  It rests on  ", "label"), Span(", ".join(names)))
    if report.ok:
        yield ()
        yield from ((Span(f"  {said}"),) for said in _about_code(report))


def _about_code(report: CheckReport) -> Iterator[str]:
    """What the answer says of the code itself."""
    if report.code_compared:
        yield "The code in the files is the code that the certificate is about."
    else:
        yield "The code itself was not compared: give --target and --rewrite."
    if report.index.get("returns") is False:
        yield "It says that neither function ever returns."
    contract = report.index.get("contract")
    yield from _departures(contract if isinstance(contract, dict) else {})


_LEFT_OUT = {
    ("return_as", "bool"): "Of the results only zero or nonzero is compared.",
    ("return_as", "void"): "Results are not compared.",
    ("memory", "ignore"): "Memory that is left behind is not compared.",
    ("aborts", "refine"): "Nothing is said of inputs on which the target aborts.",
    ("data", "any"): "What data holds at first is not compared.",
}


def _departures(contract: Mapping[str, Any]) -> Iterator[str]:
    """What the contract leaves out that is compared by default."""
    yield from (said for (name, value), said in _LEFT_OUT.items() if contract.get(name) == value)
    if contract.get("return_as") == "value" and not contract.get("results"):
        yield "The contract has no result to compare."
    given = contract.get("assume")
    if isinstance(given, list) and given:
        yield f"It holds only for inputs with {' and '.join(str(condition) for condition in given)}."


def _about(index: Mapping[str, Any]) -> str:
    sides = [index.get(side) for side in ("target", "rewrite")]
    names = [f"{s.get('path', '?')}:{s.get('function', '?')}" for s in sides if isinstance(s, dict)]
    return " ≡ ".join(names)


def _table(rows: list[CheckRow]) -> Iterator[Spans]:
    rows = _steps_together(rows)
    name = max((len(row.name) for row in rows), default=0)
    result = max((len(row.result.value) for row in rows), default=0)
    solver = max((len(row.solver) for row in rows), default=0)
    for row in rows:
        yield (
            Span(f"  {row.result.value:<{result}}  ", STYLES[row.result]),
            Span(f"{row.name:<{name}}  "),
            Span(f"{row.solver:<{solver}}  {duration(row.seconds):>8}  ", "dim"),
            Span(row.shows),
        )
        if row.why and row.result is not CheckResult.CONFIRMED:
            yield (Span(" " * (result + 4)), Span(row.why, "different"))


def _steps_together(rows: list[CheckRow]) -> list[CheckRow]:
    """One row for confirmed steps that follow each other: there may be hundreds."""
    together: list[CheckRow] = []
    for is_step, run in groupby(rows, key=lambda row: row.is_step and row.result is CheckResult.CONFIRMED):
        steps = list(run)
        if is_step and len(steps) > 1:
            first, last = steps[0], steps[-1]
            name = f"{first.name} to {last.name.removeprefix('step-')}"
            solvers = "+".join(sorted({step.solver for step in steps}))
            seconds = sum(step.seconds for step in steps)
            together.append(
                replace(first, name=name, shows=f"{len(steps)} times: {first.shows}", solver=solvers, seconds=seconds)
            )
        else:
            together += steps
    return together
