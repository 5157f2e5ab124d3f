"""What is known of the inputs at entry: arguments as terms, and the conditions on them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from isoform.borders.bools import bools_by_value
from isoform.contract import EXTENDED_BYTES, Argument
from isoform.isa.machine import Machine
from isoform.load.signature import TypeKind
from isoform.smt.terms import Term, Terms
from isoform.sym.algebra import TermAlgebra
from isoform.sym.state import State, World

Content = Callable[[str | None, int, int], Term]
"""By register (None: the stack), offset and size: what a callee finds there."""


def argument_term(entry: State, argument: Argument) -> Term:
    """An argument's value at entry."""
    terms = entry.side.terms
    value: Term = None
    for place in argument.places:
        part = content_at_entry(entry, place.register, place.offset, place.size)
        value = part if value is None else terms.concat(part, value)
    return value


def content_at_entry(entry: State, register: str | None, offset: int, size: int) -> Term:
    """What a register holds at entry, or the stack from the stack pointer on."""
    if register is None:
        return entry.frame.load(offset, size)
    return entry.side.terms.extract(entry.container_named(register), 8 * (offset + size) - 1, 8 * offset)


def constrain_entry(world: World, entry: State) -> None:
    """Put the argument rules and the preconditions into the world's constraints."""
    for argument in world.contract.arguments:
        condition = extension(argument, world.machine, world.terms, partial(content_at_entry, entry))
        if condition is not None:
            world.constraints.append((f"argument-{argument.name}-extended", condition))
    for argument, offset in bools_by_value(world.contract.arguments):
        byte = world.terms.extract(argument_term(entry, argument), 8 * offset + 7, 8 * offset)
        holds = world.terms.ult(byte, world.terms.bv(2, 8))
        world.constraints.append((f"bool-in-{argument.name}-{offset}", holds))
    for start, offset in world.contract.bool_variables:
        address = world.terms.add(entry.side.object_start(start), world.terms.bv(offset, entry.side.width))
        holds = world.terms.ult(entry.side.heap.load(entry.heap, address, 1), world.terms.bv(2, 8))
        world.constraints.append((f"bool-at-{start:#x}-{offset}", holds))
    for number, cell in enumerate(world.contract.bools, 1):
        address = world.terms.add(argument_term(entry, cell.argument), world.terms.bv(cell.offset, entry.side.width))
        holds = world.terms.ult(entry.side.heap.load(entry.heap, address, 1), world.terms.bv(2, 8))
        world.constraints.append((f"bool-{number}", holds))
    algebra = TermAlgebra(world.terms, entry)
    values = {a.name: argument_term(entry, a) for a in world.contract.arguments if a.type.kind is not TypeKind.STRUCT}
    for number, precondition in enumerate(world.contract.preconditions, 1):
        world.constraints.append((f"precondition-{number}", precondition.evaluate(algebra, values)))


def extension(argument: Argument, machine: Machine, terms: Terms, content: Content) -> Term | None:
    """Narrow arguments are extended to 32 bits, and a bool is 0 or 1 (both are named assumptions). `content` is what a
    callee finds in a place."""
    kind = argument.type
    place = argument.places[0] if argument.places else None
    if kind.kind not in (TypeKind.INTEGER, TypeKind.BOOL) or kind.bits >= 8 * EXTENDED_BYTES or place is None:
        return None
    if place.register is not None and machine.registers[place.register].size < EXTENDED_BYTES:
        return None
    word = content(place.register, place.offset, EXTENDED_BYTES)
    width = terms.width(word)
    if kind.kind is TypeKind.BOOL:
        return terms.ult(word, terms.bv(2, width))
    low = terms.extract(word, kind.bits - 1, 0)
    return terms.eq(word, terms.sext(low, width) if kind.signed else terms.zext(low, width))
