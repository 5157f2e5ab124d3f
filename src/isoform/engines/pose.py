"""From two lifted functions to the question about them. First, what they share by name is compared: functions whose
address they take may be questions of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from isoform.borders.apart import Border
from isoform.borders.companions import Companions, Entries, Names
from isoform.borders.question import Options, Question
from isoform.borders.settle import settle
from isoform.borders.unwritten import with_constants
from isoform.engines.encoding import encode_as
from isoform.engines.ladder import Ladder
from isoform.lift.discovery import MOST_ROUNDS, Discovery, Targets, with_hints
from isoform.lift.function import Function, Hints
from isoform.lift.lift import lift
from isoform.model.budget import Budget
from isoform.model.contract import AbortRule, CallRule, DataRule, MemoryRule, ReturnAs, TerminationRule
from isoform.model.errors import Unsupported, UserError
from isoform.model.outcome import Pair
from isoform.model.values import dataclass
from isoform.model.verdict import Subject, Unknown, Verdict, merged_assumptions
from isoform.sym.policy import Unrolled

SHARE, SHARE_OF_ALL = 0.2, 0.5
"""Shares of the remaining budget: for one companion, and for all of them."""


def pose(
    target: Function, rewrite: Function, options: Options, budget: Budget, discovery: Discovery | None = None
) -> Question:
    """The question that two functions and options make, with its border."""
    inline = options.calls is not CallRule.UNINTERPRETED
    constants = with_constants((target, rewrite), inline, budget)
    border = _Posing(constants.functions, options, budget, discovery).border()
    assumptions = (*border.assumptions, *constants.assumptions)
    border = replace(border, assumptions=assumptions, unclear=constants.unclear)
    return _posed(constants.functions, options, border, discovery)


def with_entered_code(question: Question, inputs: Pair, budget: Budget) -> Question:
    """The question with the code that computed jumps and calls lead to as part of its functions, as far as proofs can
    follow that code. Unchanged if runs on these inputs enter no such code."""
    for _ in range(MOST_ROUNDS):
        question.run_both(inputs)
        hints = _merged(question, [program.pieces.entered for program in question.programs])
        try:
            if hints == _hints(question) and any(hints):
                unrolled = Unrolled(unroll=question.options.unroll)
                encoding = encode_as(question, (question.target, question.rewrite), (unrolled, unrolled), budget)
                hints = _merged(question, [encoding.target.discovered, encoding.rewrite.discovered])
            if hints == _hints(question):
                break
            left, right = map(with_hints, (question.target, question.rewrite), hints, (budget, budget))
            question = _posed((left, right), question.options, question.border, question.discovery)
        except Unsupported:
            break
    return question


def _hints(question: Question) -> list[Hints]:
    return [question.target.hints, question.rewrite.hints]


def _merged(question: Question, found: Sequence[Targets]) -> list[Hints]:
    """The hints of both sides, with these targets."""
    return [
        {**known, **{jump: known.get(jump, frozenset()) | set(targets) for jump, targets in more.items()}}
        for known, more in zip(_hints(question), found, strict=True)
    ]


def _posed(
    functions: tuple[Function, Function], options: Options, border: Border, discovery: Discovery | None
) -> Question:
    images = border.mark_in((functions[0].image, functions[1].image))
    left, right = (replace(f, image=image) for f, image in zip(functions, images, strict=True))
    question = settle(left, right, options)
    assumptions = merged_assumptions((*question.assumptions, *border.assumptions))
    question = replace(question, border=border, assumptions=assumptions, discovery=discovery)
    versions = tuple(
        replace(version, border=border, assumptions=assumptions, discovery=discovery) for version in question.versions
    )
    contract = replace(question.contract, data_names=border.data)
    return replace(question, contract=contract, versions=versions)


@dataclass
class _Posing:
    functions: tuple[Function, Function]
    options: Options
    budget: Budget
    discovery: Discovery | None

    def border(self) -> Border:
        left, right = (f.image for f in self.functions)
        if left.sections == right.sections and left.aliases == right.aliases and left.externals == right.externals:
            return Border()  # one file: every address has the same meaning on both sides
        options = self.options
        self._plain = Options(
            calls=options.calls,
            data=options.data,
            bounds=options.bounds,
            restrict=options.restrict,
            pure=options.pure,
            idempotent=options.idempotent,
            budget=options.budget,
            fuel=options.fuel,
            seed=options.seed,
        )
        self._whole = self.budget.part(self.budget.left * SHARE_OF_ALL)
        companions = Companions(
            self.functions,
            self._lifted,
            compared=_compares_all(options),
            initial=options.data is DataRule.INITIAL,
            asks=options.calls is not CallRule.UNINTERPRETED,
        )
        return companions.settle(self._ask)

    def _lifted(self, name: str, entry: int, side: int) -> Function:
        function = self.functions[side]
        hints = None if self.discovery is None else self.discovery.hints(side)
        return lift(function.image, function.machine, name, entry, hints=hints, budget=self._whole)

    def _ask(self, names: Names, entries: Entries, border: Border) -> Verdict:
        self.options.progress(f"comparing {names[0]}, whose address is taken")
        budget = self._whole.part(self.budget.left * SHARE)
        subjects = [Subject(f.image.path, n, f.image.machine) for f, n in zip(self.functions, names, strict=True)]
        try:
            left, right = (self._lifted(names[side], entries[side], side) for side in range(2))
            question = _posed((left, right), self._plain, border, self.discovery)
        except (Unsupported, UserError) as reason:
            contract = settle(*self.functions, self.options).contract
            return Unknown(subjects[0], subjects[1], contract, "lifting", budget.elapsed, why=str(reason))
        return Ladder(question, (subjects[0], subjects[1]), budget).climb()


def _compares_all(options: Options) -> bool:
    """Whether the question compares everything about its two functions, as a question about companions does."""
    return (
        not options.assume
        and options.return_as is ReturnAs.VALUE
        and options.memory is MemoryRule.COMPARE
        and options.aborts is AbortRule.EQUAL
        and options.termination is TerminationRule.PROVE
        and options.signature is None
    )
