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
from isoform.smt.shapes import Add, Choice, Concat, Extract
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


def without_distance(terms: Terms, value: Term, distances: frozenset[Term], is_even: bool = False) -> Term:
    """An address of code as the number at which isoform placed it. `is_even`: instructions are at even addresses, so
    that code moves by even distances, which clearing the lowest bit does not change."""
    if not distances:
        return value
    shape = terms.shape(value)
    if isinstance(shape, Choice):
        then, otherwise = (
            without_distance(terms, branch, distances, is_even) for branch in (shape.then, shape.otherwise)
        )
        is_same = then == shape.then and otherwise == shape.otherwise
        return value if is_same else terms.ite(shape.condition, then, otherwise)
    if value in distances:
        return terms.bv(0, terms.width(value))
    if isinstance(shape, Add):
        parts = [without_distance(terms, part, distances, is_even) for part in (shape.left, shape.right)]
        return value if parts == [shape.left, shape.right] else terms.add(*parts)
    if is_even and isinstance(shape, Concat) and terms.value(shape.bottom) == 0 and terms.width(shape.bottom) == 1:
        return _even(terms, shape.top, distances) or value
    return value


def _even(terms: Terms, upper: Term, distances: frozenset[Term]) -> Term | None:
    """Of an address of code whose lowest bit was cleared: without its distance, given all other bits; None if they are
    not plainly those of an address."""
    shape, width = terms.shape(upper), terms.width(upper) + 1
    number = terms.value(upper)
    if number is not None:
        return terms.bv(2 * number, width)
    if isinstance(shape, Choice):
        then, otherwise = _even(terms, shape.then, distances), _even(terms, shape.otherwise, distances)
        return terms.ite(shape.condition, then, otherwise) if then is not None and otherwise is not None else None
    if isinstance(shape, Extract) and shape.low == 1 and terms.width(shape.whole) == width:
        whole = without_distance(terms, shape.whole, distances, is_even=True)
        return terms.and_(whole, terms.bv((1 << width) - 2, width))
    return None
