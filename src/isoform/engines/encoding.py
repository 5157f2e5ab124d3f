"""Both functions as formulas over the same inputs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import field

from isoform.borders.question import Question
from isoform.engines.grounds import Asserted, Grounds
from isoform.lift.function import Function
from isoform.model.budget import Budget
from isoform.model.errors import Unsupported
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption, Obligation
from isoform.smt.solver import Answer, Solver
from isoform.smt.terms import Term, Terms
from isoform.sym.compare import Goal, goals
from isoform.sym.context import Access, Context, disjoint, doubts_by_bases
from isoform.sym.entry import argument_term, constrain_entry
from isoform.sym.execute import Execution
from isoform.sym.policy import Policy, Unrolled
from isoform.sym.recursion import calls_itself
from isoform.sym.scope import Scope
from isoform.sym.side import Side
from isoform.sym.state import initial_state
from isoform.sym.summary import Gap, GapKind, Summary
from isoform.sym.validity import follow_locals, frame_bounds, fresh_blocks, given_apart, reserve_result, result_apart
from isoform.sym.world import World

Contexts = tuple[Context | None, Context | None]
MOST_ROUNDS = 4
"""Encodings that look for accesses apart: what is known of some shows the addresses of others."""
APART_SECONDS = 0.2
"""For each question whether two ranges are: a few comparisons of addresses."""
OVERLAP = "accesses overlap that the assumptions keep apart"
_LEAVES_FRAME = "code in the place of a deeper call may index an array on the stack outside its frame"


@dataclass
class Encoding:
    """Both functions as formulas, and what was asked about them."""

    world: World
    target: Summary
    rewrite: Summary
    goals: list[Goal]
    obligations: list[Obligation] = field(default_factory=list)
    asserted: list[Asserted] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    given: list[tuple[str, Term]] = field(default_factory=list)
    """Conditions on the inputs that are known before anything is executed."""
    met: dict[str, list[int]] = field(default_factory=dict)
    """If paths were followed one by one: for each path of the target those of the rewrite that share inputs with it."""

    def grounds(self, how: str) -> Grounds:
        """Everything that was shown; `how` says how it makes a proof."""
        returns = bool(self.met) or (self.target.final is not None and self.rewrite.final is not None)
        calls = any(not site.pure for summary in (self.target, self.rewrite) for site in summary.calls)
        return Grounds(self.world.terms, self.asserted, how, returns, calls, self.met)

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        return tuple(self.world.assumptions.values())

    @property
    def gaps(self) -> list[Gap]:
        return [*self.target.gaps, *self.rewrite.gaps]


def encode(question: Question, budget: Budget) -> Encoding:
    """Both functions over the same inputs. If that leads to more code, the question is asked again."""
    started = time.perf_counter()
    encoding = _encode(question, budget)
    left_out = question.require_code((encoding.target.discovered, encoding.rewrite.discovered))
    for summary, why in zip((encoding.target, encoding.rewrite), left_out, strict=True):
        summary.explain_unresolved(why)
    encoding.timings["encode"] = time.perf_counter() - started
    return encoding


def _encode(question: Question, budget: Budget) -> Encoding:
    def again(shared: Terms, contexts: Contexts) -> Encoding:
        policies = Unrolled(unroll=question.options.unroll), Unrolled(unroll=question.options.unroll)
        return encode_as(question, (question.target, question.rewrite), policies, budget, shared, contexts)

    plain = None if question.contract.preconditions else again(Terms(), (None, None))
    if plain is not None and not _copies_of_arguments(plain):
        return plain
    apart = _encode_apart(again, budget)
    return apart or plain or again(Terms(), (None, None))


def _copies_of_arguments(encoding: Encoding) -> list[Term]:
    """That blocks which the target always copies by memcpy do not overlap, where the addresses are arguments at fixed
    distances. These are conditions on the inputs alone, whatever is assumed of accesses to memory."""
    side = encoding.target.side
    entry, terms = initial_state(side), side.terms
    arguments = {argument_term(entry, argument) for argument in side.contract.arguments}
    return [
        copy.apart
        for copy in side.copies
        if copy.condition == terms.true and all(terms.split_sum(a)[0] in arguments for a in (copy.to, copy.source))
    ]


def _encode_apart(encoded: Callable[[Terms, Contexts], Encoding], budget: Budget) -> Encoding | None:
    """An encoding in which accesses that the preconditions keep apart are apart, so that a load looks past stores to
    another array. None if it is no better than one without that.

    It is sound because what is shown of an access follows from conditions on the inputs alone, and its address was
    computed before it, from accesses of which the same holds. That no input is left out is an obligation."""
    terms, shown = Terms(), dict[Term, None]()
    apart: tuple[set[tuple[Access, Access]], set[tuple[Access, Access]]] = set(), set()
    for _ in range(MOST_ROUNDS):
        contexts = Context(apart=apart[0]), Context(apart=apart[1])
        encoding, solver, more = encoded(terms, contexts), Solver(terms, budget), False
        given = [*(term for _, term in encoding.given), *_copies_of_arguments(encoding)]
        for context in contexts:
            for store, load, doubts in _ranges(terms, context, bool(_copies_of_arguments(encoding))):
                overlap = terms.negate(disjoint(terms, store, load))
                if overlap in shown or solver.check([*given, overlap], APART_SECONDS) is Answer.UNSAT:
                    shown[overlap] = None
                    context.apart.update(doubts)
                    more = True
        if not more:
            break
    if shown:
        encoding.target.gaps.append(Gap(GapKind.UNSUPPORTED, terms.any_of(list(shown)), OVERLAP))
    return encoding if shown or not any(context.doubts for context in contexts) else None


def _ranges(
    terms: Terms, context: Context, singly: bool
) -> Iterator[tuple[Access, Access, list[tuple[Access, Access]]]]:
    """Ranges that may be apart, with the accesses in them. `singly`: also single accesses. Two blocks that may be the
    same one overlap, but not its first bytes and its last."""
    for store, load, doubts in doubts_by_bases(terms, context):
        yield store, load, doubts
        for one in doubts if singly and len(doubts) > 1 else ():
            if one not in context.apart:
                yield *one, [one]


def encode_as(
    question: Question,
    functions: tuple[Function, Function],
    policies: tuple[Policy, Policy],
    budget: Budget,
    terms: Terms | None = None,
    contexts: Contexts = (None, None),
) -> Encoding:
    """Both functions over the same inputs, each executed as its policy says, the target first."""
    world = World(terms or Terms(), question.contract, recursive=calls_itself(*functions))
    sides = [Side(world, f.image, tag, c) for f, tag, c in zip(functions, "ab", contexts, strict=True)]
    for side in sides:
        side.differing.met = []
        reserve_result(side, initial_state(side))
        if not question.changed:
            follow_locals(side)
    for side in sides[: 1 if question.contract.abis is None else 2]:
        constrain_entry(world, initial_state(side))
    given = [*world.constraints]
    summaries = [
        Execution(Scope(side, function, question.callees), budget, policy).run()
        for side, function, policy in zip(sides, functions, policies, strict=True)
    ]
    for number, (side, summary) in enumerate(zip(sides, summaries, strict=True)):
        bounds = frame_bounds(side)
        if number in question.changed:
            # Code that was put there is not known to stay in its frame.
            summary.gaps += [Gap(GapKind.UNSUPPORTED, world.terms.negate(rule), _LEAVES_FRAME) for _, rule in bounds]
            bounds = []
        world.constraints += [*bounds, *fresh_blocks(side), *result_apart(side, initial_state(side))]
        world.constraints += given_apart(side)
        shared = side.locals.shared() if side.locals is not None else ""
        if shared:
            why = "shares its place with something that debug information does not describe"
            raise Unsupported(f"{shared}, whose address is given to an outside function, {why}")
    return Encoding(
        world, summaries[0], summaries[1], goals(world, summaries[0], summaries[1], whole=True), given=given
    )
