"""What a function does with addresses of local variables that it gives to outside functions.

A variable is in the frame until its address leaves the function: in an argument, or in a value that is stored outside
the frame. From then on it is in memory, at an address that stands for it (`given.py`). In registers and in the frame
its address remains what it is, a distance from the stack pointer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoform.lift.function import BlockId
from isoform.load.image import POINTER_BYTES
from isoform.model.errors import Unsupported
from isoform.smt.rules.widths import signed
from isoform.smt.shapes import Add, Choice, Concat, Subtract
from isoform.smt.terms import Term, Terms
from isoform.sym.given import GivenLocal, NotALocalError
from isoform.sym.side import Side

if TYPE_CHECKING:
    from isoform.sym.state import State

_MIXED = "an address of the frame is compared with what an outside function may have made of one"

_OFFSET_BITS = 32
"""Frames are smaller than so many bits of an address count."""


# -- which variables are in memory ----------------------------------------------------------------


def enter(state: State, block: BlockId) -> None:
    """A block is to be executed. Variables of functions that have returned no longer exist."""
    side = state.side
    assert side.locals is not None
    side.locals.enter(block, _stack_top(state))
    for local in state.given:
        if block.context[: len(local.context)] != local.context:
            _forget(state, local)


def end_before_call(state: State) -> None:
    """An outside function is called, maybe in the place of a return. Variables below the stack pointer no longer exist:
    its own frame is there. Nor do those whose block has just been left."""
    top, described = _stack_top(state), state.side.locals
    assert described is not None
    for local in state.given:
        if (top is not None and local.offset < top) or described.has_left(local):
            _forget(state, local)


def _stack_top(state: State) -> int | None:
    """How far the stack pointer is from its value at entry, if that is known."""
    side = state.side
    assert side.machine.convention.stack_pointer is not None
    base, constant = side.terms.split_sum(state.container_named(side.machine.convention.stack_pointer))
    return signed(constant, side.width) if side.is_stack_pointer(base) else None


def _forget(state: State, local: GivenLocal) -> None:
    """A variable no longer exists: its place in the frame holds anything."""
    state.given = tuple(other for other in state.given if other != local)
    for start, size in _words(local):
        state.frame.store(start, state.side.undefined(8 * size), size)
    _end(state, local)


def _end(state: State, local: GivenLocal) -> None:
    """An outside function that has kept the address of a variable that no longer exists finds anything there. Where the
    variable no longer exists on either side, that counts as the same, as before it was written. Where it still exists
    on the other side, memory has to differ; one byte is enough for that."""
    heap = state.side.heap
    state.heap = heap.store(heap.without(state.heap, local.address), local.address, local.ended, 1)


def _words(local: GivenLocal) -> list[tuple[int, int]]:
    """Offset and size of parts of a variable."""
    return [(at, min(POINTER_BYTES, local.end - at)) for at in range(local.offset, local.end, POINTER_BYTES)]


def _take_back(state: State, local: GivenLocal) -> None:
    """Another variable takes the place of one that no longer exists. What is there stays there: compilers merge a
    variable with one that is copied to it."""
    side = state.side
    held = [(at, size, state.side.heap.load(state.heap, _at(side, local, at), size)) for at, size in _words(local)]
    state.given = tuple(other for other in state.given if other != local)
    for start, size, value in held:
        state.frame.store(start, value, size)
    _end(state, local)


def give(state: State, local: GivenLocal) -> None:
    """From here on a variable is in memory that outside functions may read and write, with what it holds."""
    side = state.side
    if local in state.given:
        return
    for other in state.given:
        if other.overlaps(local.offset, local.size):
            if side.locals is None or side.locals.is_open(other):
                raise NotALocalError(f"{local.name} shares its place with another variable")
            _take_back(state, other)
    side.note_given(local)
    held = state.frame.contents(local.offset, local.size)
    state.given += (local,)
    for start, size, value in held:
        state.store_heap(_at(side, local, start), value, size)


def give_alike(state: State, other: State) -> None:
    """Two paths join: what either gave away is given away. If they have different variables in one place, which no
    longer exist, that place holds anything."""
    for one, two in ((state, other), (other, state)):
        for local in two.given:
            rivals = [o for o in one.given if o != local and o.overlaps(local.offset, local.size)]
            for each in (local, *rivals) if rivals else ():
                if state.side.locals is None or state.side.locals.is_open(each):
                    raise Unsupported(f"{each.name}, given to outside functions, shares its place with {local.name}")
                for path in (one, two):
                    if each in path.given:
                        _forget(path, each)
    for one, two in ((state, other), (other, state)):
        for local in two.given:
            give(one, local)


# -- addresses ------------------------------------------------------------------------------------


def in_memory(side: Side, local: GivenLocal, offset: Term) -> Term:
    """The address in memory of what is at an offset from the stack pointer at entry, in a given variable."""
    return side.terms.add(local.address, side.terms.sub(offset, side.terms.bv(local.offset, side.width)))


def _at(side: Side, local: GivenLocal, offset: int) -> Term:
    return in_memory(side, local, side.terms.bv(offset, side.width))


def given_away(state: State, value: Term, pushed: int | None = 0) -> Term:
    """A value as outside functions see it: addresses of variables in the frame are those that stand for them in memory.
    The variables are given away by this. `pushed` is how far the stack pointer was moved for a call, if that is
    known."""
    side, terms = state.side, state.side.terms
    if not side.mentions_stack(value):
        return value
    if side.locals is None:
        raise NotALocalError("this is not followed here")
    shape = terms.shape(value)
    if isinstance(shape, Concat):
        return terms.concat(given_away(state, shape.top, pushed), given_away(state, shape.bottom, pushed))
    choice = state.choice(value) if terms.width(value) == side.width else None
    if choice is not None:
        condition, then, otherwise = choice
        return terms.ite(condition, given_away(state, then, pushed), given_away(state, otherwise, pushed))
    if isinstance(shape, Choice):
        then, otherwise = (given_away(state, one, pushed) for one in (shape.then, shape.otherwise))
        return terms.ite(shape.condition, then, otherwise)
    rest = _distance(side, value)
    if rest is None:
        raise NotALocalError("it is computed in a way isoform cannot follow")
    base, constant = terms.split_sum(rest)
    top = _stack_top(state)
    local = side.locals.at(signed(constant, side.width), None if top is None or pushed is None else top + pushed)
    give(state, local)
    if base is not None:
        _stay_inside(state, local, rest, local.size, f"gives an address away that may not be one of {local.name}")
    return in_memory(side, local, rest)


def _distance(side: Side, value: Term) -> Term | None:
    """How far an address is from the stack pointer at entry, if it is a sum with that."""
    pointer = side.entry.stack_pointer
    if pointer is None or side.terms.width(value) != side.width:
        return None
    rest = without_summand(side.terms, value, pointer)
    return None if rest is None or side.mentions_stack(rest) else rest


def without_summand(terms: Terms, total: Term, part: Term) -> Term | None:
    """`total - part` if `part` is a summand of it."""
    if total == part:
        return terms.bv(0, terms.width(total))
    shape = terms.shape(total)
    if isinstance(shape, Add):
        for one, other in ((shape.left, shape.right), (shape.right, shape.left)):
            rest = without_summand(terms, one, part)
            if rest is not None:
                return terms.add(rest, other)
    if isinstance(shape, Subtract):
        rest = without_summand(terms, shape.left, part)
        if rest is not None:
            return terms.sub(rest, shape.right)
    return None


# -- accesses and comparisons ---------------------------------------------------------------------


def indexed_local(state: State, offset: Term, size: int) -> GivenLocal | None:
    """The given variable that an access at a computed offset is counted from. The access must then be inside of it, and
    one that is counted from another place outside of all given variables."""
    if not state.given:
        return None
    terms, width = state.side.terms, state.side.width
    constant = signed(terms.split_sum(offset)[1], width)
    found = next((local for local in state.given if local.holds(constant)), None)
    if found is not None:
        why = f"indexes {found.name}, which it gave to an outside function, and may leave it"
        _stay_inside(state, found, offset, found.size - size, why)
        return found
    for local in state.given:
        start = terms.sub(offset, terms.bv(local.offset - size + 1, width))
        hits = terms.ult(start, terms.bv(local.size + size - 1, width))
        _leave_out(state, hits, f"indexes its frame and may reach {local.name}, which it gave to an outside function")
    return None


def _stay_inside(state: State, local: GivenLocal, offset: Term, most: int, why: str) -> None:
    """An offset from the stack pointer at entry is at most so far from the start of a variable."""
    terms, width = state.side.terms, state.side.width
    distance = terms.sub(offset, terms.bv(local.offset, width))
    _leave_out(state, terms.true if most < 0 else terms.ult(terms.bv(most, width), distance), why)


def _leave_out(state: State, condition: Term, why: str) -> None:
    terms, found = state.side.terms, state.side.locals
    left_out = terms.conj(state.condition, condition)
    if left_out != terms.false and found is not None:
        found.leave_out(left_out, why)
        state.condition = terms.conj(state.condition, terms.negate(condition))


def compared(state: State, values: list[Term], is_equality: bool) -> list[Term]:
    """Two values that are compared or subtracted. If one may come from the address that stands for a given variable in
    memory and the other is an address of the frame, both are taken as outside functions see them. An equality needs
    that only for addresses of given variables: no other address of the frame is ever one that comes from outside."""
    side, (left, right) = state.side, values
    assert side.locals is not None
    if side.mentions_stack(left) == side.mentions_stack(right):
        return values
    own, other = (left, right) if side.mentions_stack(left) else (right, left)
    roots = side.locals.addresses_in(other)
    if not roots:
        return values
    seen = _seen(state, own, roots)
    if seen is None and not is_equality:
        raise Unsupported(_MIXED)
    if seen is None:
        return values
    return [seen, right] if own is left else [left, seen]


def _widened(side: Side, part: Term) -> Term | None:
    """The address of the frame of which a value is the low bits, if the frame is not larger than these count."""
    terms, pointer, width = side.terms, side.entry.stack_pointer, side.terms.width(part)
    base, constant = terms.split_sum(part)
    if pointer is None or base is None or base != terms.extract(pointer, width - 1, 0) or width < _OFFSET_BITS:
        return None
    return terms.add(pointer, terms.bv(signed(constant, width), side.width))


def _seen(state: State, own: Term, roots: frozenset[Term]) -> Term | None:
    """An address of the frame as one of a given variable, or of its end, preferably one from which something was
    computed that it is compared with. None: it is not an address of a given variable."""
    side, terms = state.side, state.side.terms
    width = terms.width(own)
    if width < side.width:
        whole = _widened(side, own)
        seen = None if whole is None else _seen(state, whole, roots)
        if seen is None:
            raise Unsupported(_MIXED)
        return terms.extract(seen, width - 1, 0)
    choice = state.choice(own)
    if choice is not None:
        condition, then, otherwise = choice
        sides = [_seen(state, one, roots) if side.mentions_stack(one) else one for one in (then, otherwise)]
        if sides[0] is None or sides[1] is None:
            raise Unsupported(_MIXED)
        return terms.ite(condition, sides[0], sides[1])
    rest = _distance(side, own)
    if rest is None:
        raise Unsupported(_MIXED)
    base, constant = terms.split_sum(rest)
    offset = signed(constant, side.width)
    near = [local for local in state.given if local.offset <= offset <= local.end]
    near = [local for local in near if local.address in roots] or near
    near = [local for local in near if local.holds(offset)] or near
    if not near:
        return None
    if base is not None:
        why = f"compares an address that may not be one of {near[0].name}"
        _stay_inside(state, near[0], rest, near[0].size, why)
    return in_memory(side, near[0], rest)
