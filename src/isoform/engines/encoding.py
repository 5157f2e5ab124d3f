"""Both functions as formulas over the same inputs."""

from __future__ import annotations

import time
from dataclasses import field

from isoform.borders.linking import link_assumptions
from isoform.borders.question import Question
from isoform.borders.settle import refuse_code
from isoform.engines.grounds import Asserted, Grounds
from isoform.lift.function import Function
from isoform.lift.lift import relifted
from isoform.model.budget import Budget
from isoform.model.contract import CallRule
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption, Obligation
from isoform.smt.terms import Terms
from isoform.sym.compare import Goal, goals
from isoform.sym.entry import constrain_entry
from isoform.sym.execute import Execution
from isoform.sym.policy import Policy, Unrolled
from isoform.sym.recursion import calls_itself
from isoform.sym.scope import Scope
from isoform.sym.side import Side
from isoform.sym.state import initial_state
from isoform.sym.summary import Gap, Summary
from isoform.sym.validity import frame_bounds, fresh_blocks, reserve_result, result_apart
from isoform.sym.world import World

MOST_ROUNDS = 12
"""How often a function is lifted again because more is known about its jumps."""


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
    met: dict[str, list[int]] = field(default_factory=dict)
    """Where paths were followed one by one: for each of the target those of the rewrite that share inputs with it."""

    def grounds(self, how: str) -> Grounds:
        """All that was shown; `how` says how it makes a proof."""
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
    """Both functions over the same inputs. Where that finds out more about computed jumps, again with those."""
    started = time.perf_counter()
    hints: tuple[dict[int, frozenset[int]], ...] = ({}, {})
    functions = (question.target, question.rewrite)
    for _ in range(MOST_ROUNDS):
        encoding = _encode(question, functions, budget)
        discovered = encoding.target.discovered, encoding.rewrite.discovered
        if not any(_add_hints(known, new) for known, new in zip(hints, discovered, strict=True)):
            break
        inline = question.contract.calls is not CallRule.UNINTERPRETED
        functions = (
            relifted(functions[0], hints[0], inline, budget),
            relifted(functions[1], hints[1], inline, budget),
        )
        refuse_code(*functions)
    encoding.timings["encode"] = time.perf_counter() - started
    return encoding


def _add_hints(known: dict[int, frozenset[int]], new: dict[int, set[int]]) -> bool:
    more = {where: known.get(where, frozenset()) | targets for where, targets in new.items()}
    changed = any(known.get(where) != targets for where, targets in more.items())
    known.update(more)
    return changed


def _encode(question: Question, functions: tuple[Function, Function], budget: Budget) -> Encoding:
    unrolled = tuple(Unrolled(unroll=question.options.unroll) for _ in functions)
    return encode_as(question, functions, (unrolled[0], unrolled[1]), budget)


def encode_as(
    question: Question, functions: tuple[Function, Function], policies: tuple[Policy, Policy], budget: Budget
) -> Encoding:
    """Both functions over the same inputs, each executed as its policy says, the target first."""
    world = World(Terms(), question.contract, recursive=calls_itself(*functions))
    for assumption in link_assumptions(*functions):
        world.assume(assumption)
    sides = [Side(world, f.image, tag) for f, tag in zip(functions, "ab", strict=True)]
    for side in sides:
        side.differing.met = []
        reserve_result(side, initial_state(side))
    constrain_entry(world, initial_state(sides[0]))
    summaries = [
        Execution(Scope(side, function, question.callees), budget, policy).run()
        for side, function, policy in zip(sides, functions, policies, strict=True)
    ]
    for side in sides:
        world.constraints += [*frame_bounds(side), *fresh_blocks(side), *result_apart(side, initial_state(side))]
    return Encoding(world, summaries[0], summaries[1], goals(world, summaries[0], summaries[1], whole=True))
