"""Loads from memory that may be in the file's own objects: constants, tables, and data whose initial contents differ.

`condition` is always the path condition of the load.
"""

from __future__ import annotations

from isoform.load.constants import constants_near
from isoform.load.image import POINTER_BYTES
from isoform.load.objects import PlacedObject
from isoform.model.contract import BoundsRule
from isoform.model.errors import Unsupported
from isoform.model.microop import linked_address
from isoform.model.outcome import THREAD_POINTER
from isoform.smt.terms import Term, Terms
from isoform.sym.chain import Node
from isoform.sym.differing import overlaps
from isoform.sym.path_bounds import bounds, most
from isoform.sym.side import Side
from isoform.sym.table import table_lookup, trailing_zeros

_NEAR = 4096
"""A constant in an address may be meant for an object if it is at most this many bytes away."""
_THREAD_SPAN = 1 << 31
"""Bytes around the thread pointer in which thread-local objects are."""


def load_constant(side: Side, condition: Term, where: int, size: int) -> Term | None:
    """The bytes at a number, if they are never written."""
    known = side.constant(where, size)
    if known is not None and size < POINTER_BYTES and side.image.differing:
        side.differing.tear(condition, _around(side, where, size))
    return known


def with_constants(
    side: Side, condition: Term, address: Term, base: Term, constant: int, size: int, value: Term
) -> Term:
    """The result of a load from `base + constant`; `value` if it is not from an object of constants."""
    for extent in _constants_from(side, condition, address, base, constant, size):
        if not _is_kept_out(side, condition, address, extent, size):
            value = _load_table(side, condition, address, extent, size, value)
    return value


def _is_kept_out(side: Side, condition: Term, address: Term, extent: tuple[int, int], size: int) -> bool:
    """Whether the target is assumed not to reach an object by a distance from another one (`in-bounds`)."""
    terms = side.terms
    found = terms.layout.origin(address)
    is_assumed = side.tag == "a" and side.world.contract.bounds is not BoundsRule.IGNORE
    if found is None or not is_assumed or _is_in(extent, found[0]):
        return False
    index = terms.add(_index(side, address, extent[0]), terms.bv(size - 1, side.width))
    outside = terms.ule(terms.bv(extent[1] - extent[0] + size - 1, side.width), index)
    side.assume_bound(condition, outside, found[0].name)
    return True


def refuse_code(side: Side, address: Term) -> None:
    """What is read by a distance from a function's address need not be the same on both sides, as memory is."""
    found = side.terms.layout.origin(address)
    if found is not None and side.image.code_at(side.image.aliases.get(found[0].start, found[0].start)):
        raise Unsupported(f"memory is read by a distance from the code of {found[0].name}")


def note_reading(side: Side, condition: Term, heap: Node, address: Term, size: int) -> None:
    """Data whose initial contents differ is read, unless it was written before."""
    terms = side.terms
    ranges = side.image.unlike_at_start
    if not ranges or side.heap.is_stored(heap, address, size):
        return
    constants = list(terms.constants_in(address))
    item = _surely_in(side, condition, address, size)
    found = terms.layout.origin(address)
    for low, high in ranges:
        if item is not None and not _is_in((low, high), item):
            continue
        is_counted_from = found is not None and overlaps((low, high), found[0])
        if not is_counted_from and not any(_may_lead(side, number, low, high) for number in constants):
            continue
        index = terms.add(_index(side, address, low), terms.bv(size - 1, side.width))
        inside = terms.ult(index, terms.bv(high - low + size - 1, side.width))
        here = terms.conj(condition, inside)
        if here != terms.false:
            why = f"data at {low:#x} is read, which does not hold the same at first on both sides"
            side.differing.note(here, True, why)


def note_reading_constants(side: Side, condition: Term, address: Term, constant: int, size: int) -> None:
    """Constants that differ may be read by an index from a number with nothing there, in a program at fixed addresses
    (`_constants_from` handles the others)."""
    terms = side.terms
    image = side.image
    if not image.differing or not image.may_be_base(constant) or image.section_at(constant) is not None:
        return
    constants = set(image.differing_constants)
    for low, high in (r for r in image.differing_variables if any(a < r[1] and r[0] < b for a, b in constants)):
        index = terms.add(_index(side, address, low), terms.bv(size - 1, side.width))
        inside = terms.ult(index, terms.bv(high - low + size - 1, side.width))
        here = terms.conj(condition, inside)
        if here != terms.false:
            why = f"constants at {low:#x} may be read, which differ between the two sides"
            side.differing.note(here, False, why)


def _may_lead(side: Side, number: int, low: int, high: int) -> bool:
    """Whether a number in an address may be the base from which an index leads to a range."""
    image = side.image
    if low - _NEAR <= number < high + _NEAR or image.may_be_base(number):
        return True
    if abs(low - THREAD_POINTER) < _THREAD_SPAN:
        return abs(number - THREAD_POINTER) < _THREAD_SPAN
    in_file = any(start <= number < end for start, end, _ in image.spans)
    return in_file and image.is_beside_variables(number)


def _constants_from(
    side: Side, condition: Term, address: Term, base: Term, constant: int, size: int
) -> list[tuple[int, int]]:
    """Objects that an address `base + constant` may be in. From one object of the file a distance may lead to any
    other; there, what the two sides share is ordinary memory, but what differs between them is not."""
    image, terms = side.image, side.terms
    found = terms.layout.origin(address)
    if found is not None:
        constant = (found[0].start + terms.split_sum(found[1])[1]) % (1 << side.width)
        near = [extent for extent in constants_near(image, constant) if _is_in(extent, found[0])]
        if _surely_in(side, condition, address, size) is not None:
            return near
        # Also what only the other side has there: the target must not reach that either.
        other = image.differing if side.tag == "a" else ()
        return list(dict.fromkeys([*near, *image.differing_constants, *other]))
    near = constants_near(image, constant)
    if image.differing and image.section_at(image.own_address(constant)) is not None:
        end = constant + (1 << _bits_used(terms, base)) + size
        wraps = end > 1 << side.width
        reached = [r for r in image.differing_constants if wraps or (constant < r[1] and r[0] < end)]
        near = list(dict.fromkeys([*near, *reached]))
    return near


def _surely_in(side: Side, condition: Term, address: Term, size: int) -> PlacedObject | None:
    """The object that an access is in for all inputs that lead to it, if that is clear. Its result is used nowhere
    else, so it does not matter where it would be for other inputs."""
    terms = side.terms
    found = terms.layout.origin(address)
    if found is None or not found[0].size:
        return None
    base, least = terms.split_sum(found[1])
    span = 0 if base is None else (1 << _bits_used(terms, base)) - (1 << trailing_zeros(terms, base))
    if found[0].holds(least, span + size):
        return found[0]
    first, last = bounds(terms, condition, found[1])
    return found[0] if found[0].holds(first, last - first + size) else None


def _load_table(side: Side, condition: Term, address: Term, extent: tuple[int, int], size: int, rest: Term) -> Term:
    """base + constant with the constant in a read-only object: the object's contents if the address is inside it, and
    ordinary memory if it is not."""
    terms = side.terms
    start, end = extent
    if end - start < size:
        return rest
    index = _index(side, address, start)
    data = side.image.constant_bytes(start, end - start)
    if data is None:
        return rest
    inside = terms.ult(index, terms.bv(end - start - size + 1, side.width))
    if size < POINTER_BYTES:
        side.differing.tear(terms.conj(condition, inside), data)
    pointers = side.image.pointers_in(start, end - start)
    touched = {distance + n for distance, _ in pointers for n in range(1 - size, POINTER_BYTES)}

    def linked(position: int) -> Term | None:
        return side.constant(start + position, size) if position in touched else None

    found = table_lookup(terms, data, index, size, side.big_endian, linked)
    # A pointer to a function is called by name or through a pointer, whichever way the code uses it: it stays a choice
    # with memory in it on both sides.
    is_inside = not pointers and most(terms, condition, index) <= end - start - size
    return found if is_inside else terms.ite(inside, found, rest)


def _index(side: Side, address: Term, start: int) -> Term:
    """The distance of an address from what was placed at `start`."""
    terms = side.terms
    found = terms.layout.origin(address)
    item = side.image.objects.around(start)
    if found is None or item is None:
        return terms.sub(address, terms.bv(start, side.width))
    if found[0].start == item.start:
        return terms.add(found[1], terms.bv(item.start - start, side.width))
    return terms.sub(address, side.linked_address(linked_address(start, item.start, POINTER_BYTES)))


def _around(side: Side, where: int, size: int) -> bytes:
    """The constants at an address, and around it as far as an address that overlaps it may go."""
    found = b""
    for address in range(where - POINTER_BYTES + 1, where + size + POINTER_BYTES - 1):
        found += side.image.constant_bytes(address, 1) or b"\0"
    return found


def _is_in(extent: tuple[int, int], item: PlacedObject) -> bool:
    return item.holds(extent[0] - item.start, extent[1] - extent[0])


def _bits_used(terms: Terms, term: Term) -> int:
    """How many low bits of a term may be nonzero, if that is clear."""
    width = terms.width(term)
    return next((k for k in range(1, width) if terms.value(terms.extract(term, width - 1, k)) == 0), width)
