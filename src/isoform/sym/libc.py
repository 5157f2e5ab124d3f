"""Library functions with a known meaning, executed on a symbolic state instead of treated as unknowns.

Compilers replace code by calls of these, and calls by code.
"""

from __future__ import annotations

from isoform.lift.library import MOST_BYTES
from isoform.model.library import library_function
from isoform.model.library_function import Meaning
from isoform.model.verdict import Assumption
from isoform.smt.terms import Term
from isoform.sym.state import State

_CHUNK = 8

LIBRARY_MEANING = Assumption(
    "library-meaning",
    "memset, memcpy, memmove and strlen do what the C standard says, and memcpy on overlap what memmove does",
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
    if meaning is Meaning.FILL:
        values = [_repeated(state, source, length) for _, length in pieces]
    else:  # everything is read before anything is written: right for memmove, and memcpy must not overlap
        values = [state.load(_at(state, source, start), length) for start, length in pieces]
    for (start, length), value in zip(pieces, values, strict=True):
        state.store(_at(state, destination, start), value, length)
    return destination


def _at(state: State, address: Term, offset: int) -> Term:
    return state.side.terms.add(address, state.side.terms.bv(offset, state.side.width))


def _repeated(state: State, value: Term, length: int) -> Term:
    terms = state.side.terms
    byte = terms.extract(value, 7, 0)
    word = byte
    for _ in range(length - 1):
        word = terms.concat(byte, word)
    return word
