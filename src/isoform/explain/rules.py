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
from isoform.sym.scope import Scope
from isoform.sym.side import Side
from isoform.sym.state import initial_state
from isoform.sym.validity import frame_bounds, fresh_blocks, reserve_result, result_apart, valid_addresses

_KINDS = ("frame", "block", "result-space", "valid")
"""How the labels of rules begin that are about the accesses of one side; `-a-` or `-b-` follows."""

Unchanged = tuple[str, Function, Policy]
"""The tag of a side that is changed, and how it is executed without the change."""


def admits_as_before(
    question: Question, budget: Budget, obligations: Obligations, unchanged: tuple[Unchanged, ...]
) -> bool:
    """Whether the rules that the changed sides must keep to hold wherever those of the unchanged ones do."""
    encoding = obligations.encoding
    terms = encoding.world.terms
    tags = [tag for tag, _, _ in unchanged]
    every = [*encoding.world.constraints, *(obligations.valid or ())]
    changed = [term for label, term in every if any(label.startswith(f"{k}-{tag}-") for k in _KINDS for tag in tags)]
    if not changed:
        return True
    kept = [term for _, term in every if term not in changed]
    broken = terms.negate(terms.all_of(changed))
    if obligations.solver.check([*kept, broken]) is Answer.UNSAT:
        return True
    before = [term for side in unchanged for term in _rules(question, budget, encoding, side, bool(obligations.valid))]
    return obligations.solver.check([*kept, *before, broken]) is Answer.UNSAT


def _rules(question: Question, budget: Budget, encoding: Encoding, unchanged: Unchanged, valid: bool) -> list[Term]:
    """What is assumed of a side as it is."""
    tag, function, policy = unchanged
    side = Side(encoding.world, function.image, tag)
    side.differing.met = []
    entry = initial_state(side)
    reserve_result(side, entry)
    Execution(Scope(side, function, question.callees), budget, policy).run()
    rules = [*frame_bounds(side), *fresh_blocks(side), *result_apart(side, entry)]
    rules += valid_addresses(side) if valid else []
    return [term for _, term in rules]
