"""From two loaded functions to a verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from functools import partial
from hashlib import sha256
from typing import Any

from isoform.borders.question import Options, Question
from isoform.borders.settle import settle
from isoform.engines.finding import Proved
from isoform.engines.ladder import UNFINISHED, Ladder
from isoform.engines.pose import pose, with_entered_code
from isoform.engines.same_code.engine import SAME_CODE, same_as_placed, same_code
from isoform.engines.witness import NotConfirmed, replayed
from isoform.isa.registry import machine
from isoform.lift.discovery import Discovery, with_hints
from isoform.lift.function import Function, Hints
from isoform.lift.lift import lift
from isoform.lift.listing import views_of, with_lines_of_callees
from isoform.lift.refusals import has_ambiguous_bases
from isoform.load.open import Loaded
from isoform.model.budget import Budget
from isoform.model.cause import RootCause
from isoform.model.contract import CallRule, Contract, SignatureSource
from isoform.model.errors import OutOfLimits, Unsupported, UserError
from isoform.model.outcome import Inputs
from isoform.model.saved import OPTIONS, SavedQuestion
from isoform.model.verdict import Different, Equivalent, Subject, Tried, Unknown, Verdict, Witness

Explainer = Callable[[Question, Witness, Budget], RootCause]
"""Finds out why the two differ on a witness."""
EXPLAINING_SHARE, EXPLAINING_SECONDS = 1 / 3, 5.0
"""The share of the budget for the cause of a difference, and the least number of seconds, if that much is left."""
LEAST_SECONDS = 1.0
"""For the cause, even if nothing is left."""


def answer(
    loaded: tuple[Loaded, Loaded],
    options: Options,
    budget: Budget,
    discovery: Discovery,
    explainer: Explainer | None = None,
    advises: bool = False,
    is_composed: bool = False,
) -> Verdict:
    """The verdict on two loaded functions, with the code that was found so far. Raises `CodeNeeded` if it depends on
    more. `advises`: if it stays open, with a precondition that would help. `is_composed`: callees that were shown to do
    the same stand as outside functions. The same code need not do the same then: two such callees may leave other
    things in registers that are no results."""
    subjects = (subject(loaded[0]), subject(loaded[1]))
    options.so_far(refused(subjects, options, budget, UNFINISHED))
    same = None if is_composed else same_code(loaded, options)
    if same is not None:
        return _settled(same, loaded, subjects, options, budget)
    try:
        inline = options.calls is not CallRule.UNINTERPRETED
        target, rewrite = (lifted(side, inline, budget, discovery.hints(n)) for n, side in enumerate(loaded))
        if loaded[0].together is not None and has_ambiguous_bases(target, rewrite):
            sides = enumerate(loaded[0].together())
            target, rewrite = (lifted(side, inline, budget, discovery.hints(n)) for n, side in sides)
        question = pose(target, rewrite, options, budget, discovery)
    except Unsupported as reason:
        return refused(subjects, options, budget, str(reason))
    except (OutOfLimits, MemoryError) as reason:
        budget.is_closed = True
        return refused(subjects, options, budget, f"{reason or 'memory ran out'} while lifting")
    verdict = answer_question(question, subjects, budget, explainer)
    if not advises or isinstance(verdict, (Different, Equivalent)):
        return verdict
    from isoform.engines.advice import with_advice

    return with_advice(question, verdict, partial(pose, target, rewrite), budget)


def _settled(
    same: Proved, loaded: tuple[Loaded, Loaded], subjects: tuple[Subject, Subject], options: Options, budget: Budget
) -> Verdict:
    """`equivalent`, because the code is the same. That holds under every contract: the one that is shown is found where
    the functions can be lifted."""
    verdict = Equivalent(
        *subjects, _unsettled(subjects, options), SAME_CODE, budget.elapsed, same.assumptions, proof=same.proof
    )
    try:
        target, rewrite = (lifted(side, budget=budget) for side in loaded)
        contract = settle(target, rewrite, options).contract
        verdict = replace(verdict, contract=contract, views=views_of((target, rewrite)))
    except (Unsupported, OutOfLimits, MemoryError):
        pass  # neither the contract nor the listing is needed
    budget.is_closed = True
    tried = (Tried(SAME_CODE, same.said, budget.elapsed),)
    return replace(verdict, tried=tried, seconds=budget.elapsed)


def answer_question(
    question: Question,
    subjects: tuple[Subject, Subject],
    budget: Budget,
    explainer: Explainer | None = None,
    same: Proved | None = None,
) -> Verdict:
    """What the ladder says, with the cause if it is a difference. `same`: the proof, if the code is the same."""
    ladder = Ladder(question, subjects, budget)
    same = same or same_as_placed(question)
    verdict = ladder.climb() if same is None else ladder.settled_by(SAME_CODE, same)
    if isinstance(verdict, Different):
        verdict = replace(verdict, hint=_hint(question))
        question = _with_all_lines(question)
    views = views_of((question.target, question.rewrite))
    tried, companions = tuple(ladder.tried), question.border.companions
    verdict = replace(
        verdict, tried=tried, companions=companions, steps=ladder.steps, seconds=budget.elapsed, views=views
    )
    if not isinstance(verdict, Different):
        return verdict
    verdict = replace(verdict, asked=SavedQuestion(({}, {}), _saved(question.options), code_hashes(question)))
    if explainer is None:
        return verdict
    ended = RootCause(None, (), 0.0, why_not="no cause found: the search was ended early")
    question.options.so_far(replace(verdict, root_cause=ended))
    return with_cause(question, verdict, explainer, budget)


def _with_all_lines(question: Question) -> Question:
    """With the source lines of callees: only a difference shows them."""
    left, right = with_lines_of_callees(question.target), with_lines_of_callees(question.rewrite)
    if left is question.target and right is question.rewrite:
        return question
    return replace(question, target=left, rewrite=right)


def with_cause(question: Question, verdict: Different, explainer: Explainer | None, budget: Budget) -> Different:
    """A difference with its cause, if that is wanted."""
    if explainer is None:
        return verdict
    try:
        return _explained(question, verdict, explainer, budget)
    except (Unsupported, OutOfLimits, MemoryError) as reason:
        why_not = f"no cause found: {reason or 'memory ran out'}"
    except RecursionError:
        why_not = "no cause found: a formula is nested too deeply"
    return replace(verdict, root_cause=RootCause(None, (), budget.spent, why_not=why_not))


def code_hashes(question: Question) -> tuple[str, str]:
    """Hashes of the machine code of both sides, including everything that was inlined. Code that only a search finds
    does not count: another search may find more or less of it."""
    plain = (with_hints(f, {}, None) if f.hints else f for f in (question.target, question.rewrite))
    left, right = (sha256(function.code_bytes).hexdigest() for function in plain)
    return left, right


def _saved(options: Options) -> dict[str, Any]:
    """The options that a file keeps, in the form that JSON has."""
    values = ((name, getattr(options, name)) for name in OPTIONS)
    return {name: value.value if isinstance(value, Enum) else value for name, value in values}


def _explained(question: Question, verdict: Different, explainer: Explainer, budget: Budget) -> Different:
    """With the cause, looked for with its own time limit. Whatever ends the search, the verdict stands."""
    question.options.progress("looking for the cause of the difference")
    if budget.interrupted:
        why_not = "no cause was looked for: the search was interrupted"
        return replace(verdict, root_cause=RootCause(None, (), 0.0, why_not=why_not))
    seconds = seconds_for_explaining(question.options)
    if question.options.explain_budget is None:
        seconds = min(seconds, max(budget.left, LEAST_SECONDS))  # the budget is that of the whole command
    budget.renew(seconds)
    budget.is_closed = False
    inputs = verdict.witness.inputs
    try:
        # Code that the search leads to does not repeat the question: the verdict is known.
        entered = with_entered_code(replace(question, discovery=None), (inputs, inputs), budget)
        entered = _with_all_lines(entered)
        verdict = replace(verdict, views=views_of((entered.target, entered.rewrite)))
        return replace(verdict, root_cause=explainer(entered, verdict.witness, budget))
    finally:
        budget.is_closed = True


def seconds_for_explaining(options: Options) -> float:
    if options.explain_budget is not None:
        return options.explain_budget
    return max(EXPLAINING_SECONDS, options.budget * EXPLAINING_SHARE)


def explained(
    loaded: tuple[Loaded, Loaded],
    options: Options,
    budget: Budget,
    code: tuple[str, str],
    inputs: Inputs,
    explainer: Explainer | None,
) -> Different:
    """A difference that was found before, replayed, with its cause. `code` are the hashes of the code in which it was
    found."""
    inline = options.calls is not CallRule.UNINTERPRETED
    functions = tuple(lifted(side, inline, budget) for side in loaded)
    question = pose(functions[0], functions[1], options, budget)
    for side, now, then in zip(loaded, code_hashes(question), code, strict=True):
        if now != then:
            name = f"{side.display_path}:{side.symbol.name}"
            raise UserError(f"{name} does not have the code that was compared: ask again with `compare --json`.")
    witness = replayed(question, (inputs, inputs))
    if isinstance(witness, NotConfirmed):
        raise UserError(f"the difference in the file does not show any more: {witness.sentence()}.")
    verdict = Different(
        subject(loaded[0]),
        subject(loaded[1]),
        question.contract,
        "replay",
        budget.elapsed,
        question.assumptions,
        companions=question.border.companions,
        views=views_of((question.target, question.rewrite)),
        witness=witness,
        hint=_hint(question),
        asked=SavedQuestion(({}, {}), _saved(options), code),
    )
    return with_cause(question, verdict, explainer, budget)


def _hint(question: Question) -> str:
    """A compiler can specialise only functions that no other file can call."""
    sides = question.target, question.rewrite
    own = [next((s for s in f.image.symbols if s.is_function and s.address == f.entry.address), None) for f in sides]
    if sides[0].name != sides[1].name or not any(symbol is not None and symbol.is_local for symbol in own):
        return ""
    return (
        f"{sides[0].name} is static: a compiler may have specialised it for the values that its callers pass; "
        "compare a function that calls it"
    )


def lifted(loaded: Loaded, inline: bool = True, budget: Budget | None = None, hints: Hints | None = None) -> Function:
    """The micro-ops and control-flow graph of a loaded function."""
    symbol = loaded.symbol
    found = lift(loaded.image, machine(loaded.image.machine), symbol.name, symbol.address, inline, hints, budget)
    return replace(found, alone=(symbol.address, symbol.address + symbol.size)) if loaded.is_alone else found


def subject(loaded: Loaded) -> Subject:
    return Subject(loaded.display_path, loaded.symbol.name, loaded.image.machine)


def refused(subjects: tuple[Subject, Subject], options: Options, budget: Budget, why: str) -> Verdict:
    """`unknown` for a question that could not even be posed."""
    contract = _unsettled(subjects, options)
    return Unknown(subjects[0], subjects[1], contract, "lifting", budget.elapsed, why=why)


def _unsettled(subjects: tuple[Subject, Subject], options: Options) -> Contract:
    """What is known of the contract before the functions are lifted."""
    return Contract(
        machine(subjects[0].isa),
        None,
        SignatureSource.OPTION if options.signature else SignatureSource.LIVENESS,
        (),
        (),
        return_as=options.return_as,
        memory=options.memory,
        aborts=options.aborts,
        calls=options.calls,
        data=options.data,
        bounds=options.bounds,
        restrict=options.restrict,
        termination=options.termination,
    )
