"""Addresses of code as values: where a call returns to.

isoform places code at numbers so that it can run. A linker or loader puts it elsewhere, so nothing may be proved from
such a number. A return address is therefore the number plus an unknown distance, one for all code that moves as a
whole: a section of an object file, or a linked file. A jump or return there arrives at the same instruction wherever
the code is, so that the number serves to find it.
"""

from __future__ import annotations

from isoform.lift.function import Block, Call
from isoform.load.image import Image
from isoform.model.machine import Machine
from isoform.model.microop import Kind, MicroOp, Space
from isoform.smt.shapes import Add, Choice
from isoform.smt.terms import Term, Terms

_MOVING = (Kind.STORE, Kind.COPY)
_NOTHING: frozenset[int] = frozenset()


def distance_name(image: Image, machine: Machine, tag: str, number: int) -> str:
    """The name of the unknown distance of the code at a number; "" if its place is known: in a program at fixed
    addresses, and on a machine whose program is all of its memory."""
    if image.is_fixed or machine.memory is None or machine.memory.zeroed:
        return ""
    section = image.section_at(number)
    start = image.base or (section.address if section is not None else 0)
    return f"place of code at {start:#x} of {tag}"


def return_addresses(block: Block) -> frozenset[int]:
    """The addresses of code that the end of a block may have put away: where an inlined callee returns to, or what
    follows a call of the next instruction."""
    if not block.successors or not block.ops or (isinstance(block.exit, Call) and block.exit.unfolded is None):
        return _NOTHING  # outside code returns to where it is told, and nothing reads the address afterwards
    depth = len(block.id.context)
    return frozenset(s.context[-1] if len(s.context) > depth else s.address for s in block.successors)


def stored_address(op: MicroOp, addresses: frozenset[int]) -> int | None:
    """The one of some addresses that a micro-op puts away."""
    if op.kind not in _MOVING:
        return None
    value = op.ins[-1]
    return value.offset if value.space is Space.CONST and value.offset in addresses else None


def without_distance(terms: Terms, value: Term, distances: frozenset[Term]) -> Term:
    """An address of code as the number at which isoform placed it."""
    if not distances:
        return value
    shape = terms.shape(value)
    if isinstance(shape, Choice):
        then, otherwise = (without_distance(terms, branch, distances) for branch in (shape.then, shape.otherwise))
        is_same = then == shape.then and otherwise == shape.otherwise
        return value if is_same else terms.ite(shape.condition, then, otherwise)
    if value in distances:
        return terms.bv(0, terms.width(value))
    if isinstance(shape, Add):
        parts = [without_distance(terms, part, distances) for part in (shape.left, shape.right)]
        return value if parts == [shape.left, shape.right] else terms.add(*parts)
    return value
