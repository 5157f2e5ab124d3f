"""The same instructions, on the same inputs, do the same.

Where the two functions and all that they call are the same code, instruction by instruction, with every name in it
resolved to the same thing, and nothing that they can reach by address differs between the two files, there is nothing
left to prove: both compute the same function of the same state, whatever loops or arithmetic are in it. That no name
stands for different things is what the border found (`borders/companions.py`). Where the address of a function is
taken, the engines are asked.

With a certificate wanted, the other engines prove the same as formulas that another solver can check.
"""

from __future__ import annotations

from collections.abc import Iterator

from isoform.borders.linking import same_code_assumptions
from isoform.borders.question import Engine, Question
from isoform.borders.reach import reach
from isoform.borders.same_code import is_same_code, is_same_kind
from isoform.engines.finding import Proved
from isoform.engines.grounds import Grounds
from isoform.lift.function import Function
from isoform.load.image import Image
from isoform.model.contract import CallRule
from isoform.model.machine import Machine
from isoform.model.microop import Kind
from isoform.model.verdict import Assumption, Obligation, Proof
from isoform.smt.terms import Terms
from isoform.sym.state import VALID_MEMORY

SAME_CODE = "same-code"
"""The engine, in reports."""
HOW = "Both functions are the same instructions, and what these name is the same on both sides."
SAME_UNDEFINED = Assumption(
    "same-undefined", "where the manual leaves a value undefined, the same instruction on the same state gives the same"
)
_OBLIGATION = Obligation("same-code", "both are the same instructions, and all that they name is the same")


def same_code(question: Question) -> Proved | None:
    """The proof, where there is one; None says nothing about the two. It has no formulas for a certificate, and would
    hold for a precondition that admits nothing: with these, or with an engine that the user asks for, there is none."""
    options, contract, border = question.options, question.contract, question.border
    asked_otherwise = options.engine is not Engine.AUTO or options.cert is not None or options.tests is not None
    if asked_otherwise or contract.preconditions or contract.abis:
        return None
    if border.apart or border.unclear or border.companions or contract.calls is CallRule.UNINTERPRETED:
        return None
    target, rewrite = question.target, question.rewrite
    if target.inlined or rewrite.inlined:
        return None  # a callee may return elsewhere, or read what is behind its call: the engines follow that
    if _may_mean_other_things(target.image, rewrite.image, target.machine):
        return None
    images, entries = (target.image, rewrite.image), (target.entry.address, rewrite.entry.address)
    if not is_same_code(target.machine, images, entries):
        return None
    uses = reach(target), reach(rewrite)
    if not all(one.complete and not one.functions and is_same_kind(images, one.data) for one in uses):
        return None
    return Proved(
        Proof((_OBLIGATION,)),
        Grounds(Terms(), (), HOW, returns=True, calls=False),
        said="the code is the same, and so is all that it names",
        assumptions=(*same_code_assumptions(target, rewrite), *_assumptions(target, any(u.data for u in uses))),
    )


def _assumptions(function: Function, reaches_data: bool) -> Iterator[Assumption]:
    # Two files may align an object differently, and an instruction may need the alignment.
    if reaches_data:
        yield VALID_MEMORY
    if any(op.kind is Kind.UNDEFINED for block in function.blocks.values() for op in block.ops):
        yield SAME_UNDEFINED


def _may_mean_other_things(left: Image, right: Image, machine: Machine) -> bool:
    """Whether the same code may do different things: where exceptions are handled by tables beside it, and on machines
    whose programs find themselves in memory."""
    if left.has_handlers or right.has_handlers:
        return True
    is_program = machine.memory is None or machine.memory.zeroed
    return is_program and left.sections != right.sections
