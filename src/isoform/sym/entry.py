"""What is known about the inputs at entry: arguments as terms, and the conditions on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from isoform.model.contract import Argument, bools_by_value
from isoform.model.machine import Machine
from isoform.model.placement import extended_size
from isoform.model.signature import TypeKind
from isoform.smt.terms import Term, Terms
from isoform.sym.algebra import TermAlgebra
from isoform.sym.state import State
from isoform.sym.world import World

_EXTENDED_BITS = 32
"""Up to this width an integer is extended by the sign of its type; beyond it, with the sign."""
Content = Callable[[str | None, int, int], Term]
"""By register (None: the stack), offset and size: what a callee finds there."""


def argument_term(entry: State, argument: Argument) -> Term:
    """An argument's value at entry."""
    return _value(argument, entry.side.terms, partial(content_at_entry, entry))


def _value(argument: Argument, terms: Terms, content: Content) -> Term:
    """An argument's value, from the places in which a callee finds it."""
    value: Term | None = None
    for place in argument.places:
        part = content(place.register, place.offset, place.size)
        value = part if value is None else terms.concat(part, value)
    assert value is not None
    return value


def with_arguments(entry: State, arguments: Iterable[Argument], values: Mapping[str, Term]) -> State:
    """The state at entry with other values for some of the arguments, by name. Narrow integers are extended as callers
    do; bits that the convention leaves undefined are unchanged."""
    state = entry.fork(entry.condition)
    for argument in arguments:
        if argument.name in values:
            _put(state, argument, values[argument.name])
    return state


def _put(state: State, argument: Argument, value: Term) -> None:
    machine, terms, low = state.side.machine, state.side.terms, 0
    for place in argument.places:
        part = terms.extract(value, low + 8 * place.size - 1, low)
        size = extended_size(machine, argument.type, place)
        has_sign = argument.type.signed or 8 * place.size >= _EXTENDED_BITS
        part = terms.sext(part, 8 * size) if has_sign else terms.zext(part, 8 * size)
        if place.register is None:
            state.frame.store(place.offset, part, size)
        else:
            register = machine.registers[place.register]
            size = min(size, register.size - place.offset)
            where = register._replace(offset=register.offset + place.offset, size=size)
            state.write_register(where, terms.extract(part, 8 * size - 1, 0))
        low += 8 * place.size


def content_at_entry(entry: State, register: str | None, offset: int, size: int) -> Term:
    """The value at entry of a register, or of the stack from the stack pointer on."""
    if register is None:
        return entry.frame.load(offset, size)
    return entry.side.terms.extract(entry.container_named(register), 8 * (offset + size) - 1, 8 * offset)


def content_at_call(state: State, register: str | None, offset: int, size: int) -> Term:
    """What the callee of a call finds in a register, or on the stack from its stack pointer at entry on."""
    terms = state.side.terms
    if register is not None:
        return terms.extract(state.container_named(register), 8 * (offset + size) - 1, 8 * offset)
    convention = state.side.machine.convention
    assert convention.stack_pointer is not None
    pointer = state.container_named(convention.stack_pointer)
    return state.load(terms.add(pointer, terms.bv(offset, terms.width(pointer))), size)


def constrain_entry(world: World, entry: State) -> None:
    """Put the argument rules and the preconditions into the world's constraints, as a side finds the arguments."""
    mark = "" if entry.side.tag == "a" else "-of-rewrite"
    conditions = entry_conditions(world, entry, partial(content_at_entry, entry))
    world.constraints += [(label + mark, condition) for label, condition in conditions]


def entry_conditions(world: World, state: State, content: Content) -> Iterator[tuple[str, Term]]:
    """Everything that a proof assumes about arguments and memory, each with a label. `constrain_entry` asserts it at
    entry; a deeper call must satisfy it (`recursion.py`), because the induction hypothesis holds only for inputs that
    the contract allows. `state` has the memory, and `content` is what a callee finds in a place."""
    contract, terms = state.side.contract, world.terms
    for argument in contract.arguments:
        condition = extension(argument, contract.machine, terms, content)
        if condition is not None:
            yield f"argument-{argument.name}-extended", condition
    for argument, offset in bools_by_value(contract.arguments):
        byte = terms.extract(_value(argument, terms, content), 8 * offset + 7, 8 * offset)
        yield f"bool-in-{argument.name}-{offset}", terms.ult(byte, terms.bv(2, 8))
    yield from _bools_in_memory(world, state, content)
    algebra = TermAlgebra(terms, state)
    scalars = (a for a in contract.arguments if a.type.kind is not TypeKind.STRUCT)
    values = {a.name: _value(a, terms, content) for a in scalars} if contract.preconditions else {}
    for number, precondition in enumerate(contract.preconditions, 1):
        yield f"precondition-{number}", precondition.evaluate(algebra, values)


def _bools_in_memory(world: World, state: State, content: Content) -> Iterator[tuple[str, Term]]:
    side, terms = state.side, world.terms

    def is_bool(start: Term, offset: int) -> Term:
        address = terms.add(start, terms.bv(offset, side.width))
        return terms.ult(side.heap.load(state.heap, address, 1), terms.bv(2, 8))

    for start, offset in world.contract.bool_variables:
        yield f"bool-at-{start:#x}-{offset}", is_bool(side.object_start(start), offset)
    for number, cell in enumerate(world.contract.bools, 1):
        yield f"bool-{number}", is_bool(_value(cell.argument, terms, content), cell.offset)


def extension(argument: Argument, machine: Machine, terms: Terms, content: Content) -> Term | None:
    """Narrow arguments are extended, and a bool is 0 or 1, by the convention or as a named assumption. `content` is
    what a callee finds in a place."""
    kind, size = argument.type, machine.convention.extended_bytes
    place = argument.places[0] if argument.places else None
    if kind.kind not in (TypeKind.INTEGER, TypeKind.BOOL) or kind.bits >= 8 * size or place is None:
        return None
    if place.register is not None and machine.registers[place.register].size < size:
        return None
    word = content(place.register, place.offset, size)
    width = terms.width(word)
    if kind.kind is TypeKind.BOOL:
        return terms.ult(word, terms.bv(2, width))
    low = terms.extract(word, kind.bits - 1, 0)
    has_sign = kind.signed or kind.bits >= _EXTENDED_BITS
    return terms.eq(word, terms.sext(low, width) if has_sign else terms.zext(low, width))
