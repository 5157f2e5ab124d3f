"""Library functions with a known meaning, executed on a symbolic state instead of treated as unknowns.

Compilers replace code by calls of these, and calls by code.
"""

from __future__ import annotations

from isoform.lift.library import MOST_BYTES
from isoform.model.library import library_function
from isoform.model.library_function import Meaning
from isoform.model.verdict import Assumption
from isoform.smt.terms import Term
from isoform.sym.context import disjoint
from isoform.sym.side import Copy
from isoform.sym.state import State

_CHUNK = 8

LIBRARY_MEANING = Assumption(
    "library-meaning",
    "memset, memcpy, memmove, strlen, memcmp and bcmp do what the C standard and POSIX say, memcpy on overlap what "
    "memmove does, and what memcmp returns does not depend on where in the frame a local is",
)
MOST_COMPARED = 64
"""Bytes. Compilers write out comparisons of 16 or 32."""


COPIES_APART = Assumption(
    "copies-apart",
    "the two blocks of a memcpy that the target calls are the same or do not overlap, as the C standard demands",
)


def carry_out(state: State, name: str, arguments: tuple[Term, ...]) -> Term | None:
    """Execute the call and return its result; None if it is not such a call, or its size is not a constant (see
    `lift/library.py` for those)."""
    meaning = library_function(name).meaning
    if meaning is None or meaning is Meaning.LENGTH or len(arguments) != meaning.arguments:
        return None
    destination, source, count = arguments
    size = state.side.terms.value(count)
    if size is None or size > MOST_BYTES:
        return None
    state.side.world.assume(LIBRARY_MEANING)
    pieces = [(start, min(_CHUNK, size - start)) for start in range(0, size, _CHUNK)]
    if meaning is Meaning.COPY:
        _keep_apart(state, destination, source, size)
    if meaning is Meaning.FILL:
        values = [_repeated(state, source, length) for _, length in pieces]
    else:  # everything is read before anything is written: right for memmove, and memcpy must not overlap
        values = [state.load(_at(state, source, start), length) for start, length in pieces]
    for (start, length), value in zip(pieces, values, strict=True):
        state.store(_at(state, destination, start), value, length)
    return destination


def returned(name: str, arguments: tuple[Term, ...]) -> Term | None:
    """The result of a call whose effect is not executed, if the C standard says what it is: the destination. Optimised
    code uses the result in its place. None of any other call."""
    meaning = library_function(name).meaning
    if meaning is None or meaning is Meaning.LENGTH or len(arguments) != meaning.arguments:
        return None
    return arguments[0]


def compared(state: State, name: str, arguments: tuple[Term, ...]) -> tuple[Term, Term] | None:
    """The two blocks that a call compares, each as one number, if their size is a small constant. None of any other
    call."""
    if name not in ("memcmp", "bcmp") or len(arguments) != 3:
        return None
    size = state.side.terms.value(arguments[2])
    if size is None or not 0 < size <= MOST_COMPARED:
        return None
    return _as_number(state, arguments[0], size), _as_number(state, arguments[1], size)


def comparison(state: State, name: str, blocks: tuple[Term, Term], result: Term) -> Term:
    """What such a call returns: zero if and only if the blocks are equal, and for memcmp a sign that is the order of
    the first bytes that differ. Nothing more is said of the number.

    It holds wherever the call is made: of one that is not made, whose arguments and blocks may be those of a call that
    is, nothing may be claimed."""
    terms, zero = state.side.terms, state.side.terms.bv(0, state.side.terms.width(result))
    rules = [terms.raw_equal(terms.eq(result, zero), terms.eq(*blocks))]
    if name == "memcmp":
        rules.append(terms.raw_equal(terms.slt(result, zero), terms.ult(*blocks)))
    return terms.implies(state.condition, terms.all_of(rules))


def _as_number(state: State, start: Term, size: int) -> Term:
    """A block as one number, its first byte on top, so that blocks are ordered as memcmp orders them."""
    terms, found = state.side.terms, None
    for offset in range(size):
        byte = state.load(_at(state, start, offset), 1)
        found = byte if found is None else terms.concat(found, byte)
    assert found is not None
    return found


def _keep_apart(state: State, destination: Term, source: Term, size: int) -> None:
    """Inputs on which the target calls memcpy with blocks that overlap are outside the contract; those on which only
    the rewrite does are not. Runs follow the same rule (`Outcome.overlaps`). Nothing is assumed after an outside call,
    which may not return, nor of deeper calls of a function that calls itself."""
    side, terms = state.side, state.side.terms
    if side.tag != "a" or side.before_calls is not None or side.world.recursive or size <= 1:
        return
    apart = terms.disj(terms.eq(destination, source), disjoint(terms, (destination, size), (source, size)))
    if apart != terms.true:
        side.copies.append(Copy(state.condition, destination, source, apart))
        side.world.assume(COPIES_APART)


def _at(state: State, address: Term, offset: int) -> Term:
    return state.side.terms.add(address, state.side.terms.bv(offset, state.side.width))


def _repeated(state: State, value: Term, length: int) -> Term:
    terms = state.side.terms
    byte = terms.extract(value, 7, 0)
    word = byte
    for _ in range(length - 1):
        word = terms.concat(byte, word)
    return word
