"""Steps of the search as a person reads them (seed 000, figure 5)."""

from __future__ import annotations

from isoform.borders.question import Question
from isoform.engines.concolic.driver import Explored
from isoform.engines.concolic.path import ELSEWHERE, Decision, DecisionKind
from isoform.engines.concolic.show import TermWriter, writer_for
from isoform.model.contract import argument_value, show_float, show_number
from isoform.model.outcome import Inputs, Outcome, Status
from isoform.model.signature import TypeKind
from isoform.model.verdict import SearchStep

MOST_CONDITIONS = 50


def row(
    question: Question,
    number: int,
    driving: int,
    inputs: Inputs,
    explored: Explored,
    driver: Outcome,
    verifier: Outcome,
) -> SearchStep:
    results = [result(question, outcome) for outcome in (driver, verifier)]
    if driving == 1:
        results.reverse()
    return SearchStep(
        number,
        ("target", "rewrite")[driving],
        tuple((a.name, _value(question, a.name, inputs)) for a in question.contract.arguments),
        tuple(_conditions(explored)),
        results[0],
        results[1],
        _remark(explored),
    )


def _conditions(explored: Explored) -> list[str]:
    writer = writer_for(explored.path.summary.side)
    counted = [d for d in explored.path.decisions if d.counts]
    return [_condition(writer, decision) for decision in counted[:MOST_CONDITIONS]]


def _condition(writer: TermWriter, decision: Decision) -> str:
    if decision.kind is DecisionKind.TARGET and decision.key == ELSEWHERE:
        return f"{writer.text(decision.term)} is no code"
    return writer.text(decision.edge)


def _remark(explored: Explored) -> str:
    if explored.restart:
        return f"restart: {explored.restart}"
    return explored.path.end.value if not explored.path.is_complete else ""


def _value(question: Question, name: str, inputs: Inputs) -> str:
    argument = next(a for a in question.contract.arguments if a.name == name)
    value = argument_value(argument, inputs)
    kind = argument.type
    if kind.kind in (TypeKind.POINTER, TypeKind.STRUCT):
        return hex(value) if value else "null"
    return show_float(value, kind.bits) if kind.is_float else show_number(value, kind.bits, kind.signed).split(" ")[0]


def result(question: Question, outcome: Outcome) -> str:
    """The result of a run, in a few words."""
    if outcome.status is Status.DONE:
        return question.contract.show_result(question.contract.result_value(outcome))
    if outcome.status is Status.EXITED:
        return f"calls {outcome.reason}"
    if outcome.status is Status.OUT_OF_FUEL:
        return "not done"
    return outcome.reason or outcome.status.value
