"""From two loaded functions to a verdict."""

from __future__ import annotations

from dataclasses import replace

from isoform.borders.question import Options, Question
from isoform.engines.ladder import UNFINISHED, Ladder
from isoform.engines.pose import pose
from isoform.isa.registry import machine
from isoform.lift.discovery import Discovery
from isoform.lift.function import Function, Hints
from isoform.lift.lift import lift
from isoform.lift.listing import views_of
from isoform.lift.refusals import has_ambiguous_bases
from isoform.load.open import Loaded
from isoform.model.budget import Budget
from isoform.model.contract import CallRule, Contract, SignatureSource
from isoform.model.errors import OutOfLimits, Unsupported
from isoform.model.verdict import Different, Subject, Unknown, Verdict


def answer(loaded: tuple[Loaded, Loaded], options: Options, budget: Budget, discovery: Discovery) -> Verdict:
    """The verdict on two loaded functions, with the code that was found so far. Raises `CodeNeeded` where it depends on
    more."""
    subjects = (subject(loaded[0]), subject(loaded[1]))
    options.so_far(refused(subjects, options, budget, UNFINISHED))
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
    return answer_question(question, subjects, budget)


def answer_question(question: Question, subjects: tuple[Subject, Subject], budget: Budget) -> Verdict:
    """What the ladder says."""
    ladder = Ladder(question, subjects, budget)
    verdict = ladder.climb()
    if isinstance(verdict, Different):
        verdict = replace(verdict, hint=_hint(question))
    views = views_of((question.target, question.rewrite))
    tried, companions = tuple(ladder.tried), question.border.companions
    return replace(verdict, tried=tried, companions=companions, steps=ladder.steps, seconds=budget.elapsed, views=views)


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
    """`unknown` for a question that could not even be put."""
    contract = Contract(
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
    )
    return Unknown(subjects[0], subjects[1], contract, "lifting", budget.elapsed, why=why)
