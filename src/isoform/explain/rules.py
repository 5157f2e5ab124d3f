"""Whether a changed rewrite still keeps to what is assumed of memory.

Proofs are about inputs for which both sides use memory as programs may. A change that makes the rewrite do otherwise
takes inputs out of the question: what is shown of the rest says nothing about it. So every input that the rules admit
with both sides as they are must be admitted with the change.
"""

from __future__ import annotations

from isoform.borders.question import Question
from isoform.engines.encoding import Encoding
from isoform.engines.obligations import Obligations
from isoform.lift.function import Function
from isoform.model.budget import Budget
from isoform.smt.solver import Answer
from isoform.smt.terms import Term
from isoform.sym.execute import Execution
from isoform.sym.policy import Policy
from isoform.sym.restricted import restrict_rules
from isoform.sym.scope import Scope
from isoform.sym.side import Side
from isoform.sym.state import initial_state
from isoform.sym.validity import (
    follow_locals,
    frame_bounds,
    fresh_blocks,
    given_apart,
    reserve_result,
    result_apart,
    valid_addresses,
    valid_numbers,
)

_KINDS = ("frame", "block", "result-space", "local", "valid", "restrict")
"""How the labels of rules begin that are about the accesses of one side; `-a-` or `-b-` follows."""

_FIRST_UNKNOWN = 1 << 32
"""Unknowns of the side as it is are others than those of the changed one."""

Unchanged = tuple[str, Function, Policy]
"""The tag of a side that is changed, and how it is executed without the change."""


def admits_as_before(
    question: Question, budget: Budget, obligations: Obligations, unchanged: tuple[Unchanged, ...]
) -> bool:
    """Whether the rules that the changed sides must keep to hold wherever those of the unchanged ones do."""
    encoding = obligations.encoding
    terms = encoding.world.terms
    tags = [tag for tag, _, _ in unchanged]
    # Whether or not the proof needed it: with the change, no address may be one that a program cannot use.
    valid = obligations.valid or valid_addresses(encoding.target.side, encoding.rewrite.side)
    sides = [summary.side for summary in (encoding.target, encoding.rewrite)]
    every = [*encoding.world.constraints, *valid, *(rule for side in sides for rule in valid_numbers(side))]
    prefixes = tuple(f"{kind}-{tag}-" for kind in _KINDS for tag in tags)
    kept = [term for label, term in every if not label.startswith(prefixes)]
    changed = [term for label, term in every if label.startswith(prefixes) and term not in kept]
    if not changed:
        return True
    broken = terms.negate(terms.all_of(changed))
    if obligations.solver.check([*kept, broken]) is Answer.UNSAT:
        return True
    before = [term for side in unchanged for term in _rules(question, budget, encoding, side)]
    return obligations.solver.check([*kept, *before, broken]) is Answer.UNSAT


def _rules(question: Question, budget: Budget, encoding: Encoding, unchanged: Unchanged) -> list[Term]:
    """What is assumed of a side as it is."""
    tag, function, policy = unchanged
    side = Side(encoding.world, function.image, tag)
    side.rewind((_FIRST_UNKNOWN, 0))
    side.differing.met = []
    entry = initial_state(side)
    reserve_result(side, entry)
    follow_locals(side)
    Execution(Scope(side, function, question.callees), budget, policy).run()
    rules = [*frame_bounds(side), *fresh_blocks(side), *result_apart(side, entry), *valid_addresses(side)]
    rules += [*given_apart(side), *valid_numbers(side), *restrict_rules(side)]
    return [term for _, term in rules]
