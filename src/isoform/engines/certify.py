"""The certificate of a proof: every obligation as it was asked, for another solver to confirm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from bitwuzla import Term, TermManager

from isoform.borders.parts import declared, parts_of
from isoform.borders.question import Question
from isoform.check.confirm import Request
from isoform.check.workers import Confirmers
from isoform.engines.grounds import Asserted, Grounds, Unfolding
from isoform.lift.function import Function
from isoform.model.budget import Budget
from isoform.model.errors import Unsupported
from isoform.model.verdict import Assumption, Subject
from isoform.smt.certificate import SMT_UNSAT, CertificateWriter, UsedStep, question_text
from isoform.smt.polynomial import Normalizer
from isoform.smt.simulate import topological
from isoform.smt.solver import Solver
from isoform.smt.sweep import Step, sweep
from isoform.smt.terms import Terms

_EASY_SECONDS = 1.0
_SWEEPING_SECONDS = 10.0
"""For all obligations together."""


def write_certificate(
    question: Question,
    subjects: tuple[Subject, Subject],
    grounds: Grounds,
    assumptions: tuple[Assumption, ...],
    folder: str,
    engine: str,
) -> str:
    from isoform.report.json import contract_as_json

    if question.contract.abis is not None:
        raise Unsupported("certificates about two machines are not written yet")
    writer = CertificateWriter(Path(folder))
    steps = _Steps(writer, grounds.terms.manager)
    for part in _confirmable(grounds):
        used = [steps.used(step) for step in needed_steps(part.goal.bad, part.steps)]
        writer.add_smt(part.goal.name, part.goal.shows, part.labelled, part.lemmas, used, part.place)
    sides = [
        _side(subject, function, question)
        for subject, function in zip(subjects, (question.target, question.rewrite), strict=True)
    ]
    writer.finish(
        {
            "verdict": "equivalent",
            "engine": engine,
            "how": grounds.how,
            "returns": grounds.returns,
            "calls": grounds.calls,
            "apart": any(f.image.has_apart for f in (question.target, question.rewrite)),
            **({"paths": grounds.met} if grounds.met else {}),
            **({"recursion": _recursion(grounds, grounds.unfolding)} if grounds.unfolding is not None else {}),
            "target": sides[0],
            "rewrite": sides[1],
            "contract": contract_as_json(question.contract),
            "assumptions": [{"name": a.name, "why": a.why} for a in assumptions],
        }
    )
    return folder


def _recursion(grounds: Grounds, unfolding: Unfolding) -> dict[str, Any]:
    """What stands in the place of deeper calls, and which engine's obligations show the rest."""
    engine = "loops" if any(part.place for part in grounds.asserted) else "loopfree"
    return {
        "rule": unfolding.rule,
        "levels": list(unfolding.levels),
        "side": unfolding.side,
        "which": unfolding.which,
        "engine": engine,
    }


def _side(subject: Subject, function: Function, question: Question) -> dict[str, Any]:
    """What a certificate says about one of the two functions."""
    contract = question.contract
    parts = parts_of(function.image, function.entry.address, contract.calls, contract.data, contract.bounds)
    return {
        "path": subject.path,
        "function": subject.function,
        "isa": subject.isa,
        "code": function.code_bytes,
        "declared": declared(function.image, subject.function),
        "parts": [asdict(part) for part in parts],
    }


def _confirmable(grounds: Grounds) -> Iterator[Asserted]:
    """The obligations, swept if the confirming solver cannot decide them at once. This is tried here as a convenience:
    the certificate is right without it, only harder to check."""
    terms = grounds.terms
    budget = Budget(_SWEEPING_SECONDS)
    with Confirmers(1) as workers:
        for bare in grounds.asserted:
            part = _with_layout(bare, terms)
            if part.steps or part.goal.bad == terms.false or budget.exhausted or _is_easy(part, workers):
                yield part
            else:
                yield _swept(part, terms, budget)


def _with_layout(part: Asserted, terms: Terms) -> Asserted:
    """With the conditions on the addresses of objects (`objects-apart`)."""
    conditions = terms.layout.conditions_of(term for _, term in part.labelled)
    return replace(part, labelled=[*part.labelled, *conditions])


def _is_easy(part: Asserted, workers: Confirmers) -> bool:
    text = question_text(part.labelled, lemmas=part.lemmas)
    return workers.ask(Request(text, SMT_UNSAT, "z3", _EASY_SECONDS)).result == "confirmed"


def _swept(part: Asserted, terms: Terms, budget: Budget) -> Asserted:
    """The lemmas then refer to the swept formula."""
    swept = sweep(terms, Solver(terms, budget), [part.goal.bad], budget.left)
    normalizer = Normalizer(terms.manager)
    for _, term in part.labelled:
        normalizer.normalize(swept.roots[0] if term == part.goal.bad else term)
    return replace(part, lemmas=normalizer.lemmas, steps=swept.steps)


def needed_steps(root: Term, steps: Sequence[Step]) -> list[Step]:
    """The steps that replace something in `root`, or in its replacement, in order."""
    present = set(topological([root]))
    needed = []
    for step in reversed(steps):
        if step.term in present:
            needed.append(step)
            present.update(topological([step.other]))
    return needed[::-1]


class _Steps:
    """Writes every step once, when it is first used."""

    def __init__(self, writer: CertificateWriter, manager: TermManager) -> None:
        self._writer = writer
        self._manager = manager
        self._written: dict[Step, UsedStep] = {}

    def used(self, step: Step) -> UsedStep:
        if step not in self._written:
            label = f"step-{len(self._written) + 1}"
            self._written[step] = UsedStep(label, step.term, step.other, self._write(label, step))
        return self._written[step]

    def _write(self, name: str, step: Step) -> str:
        normalizer = Normalizer(self._manager)
        for pattern in (step.pattern, step.other_pattern):
            normalizer.normalize(pattern)
        shows = "two values that the functions compute are equal"
        return self._writer.add_equation(name, shows, step.pattern, step.other_pattern, normalizer.lemmas)
