"""Library functions with a known meaning, executed on concrete memory (see `sym/libc.py`)."""

from __future__ import annotations

from isoform.model.library import library_function
from isoform.model.library_function import Meaning
from isoform.run.memory import Memory, TooMuchMemoryError

MOST_BYTES = 1 << 20


def carry_out(memory: Memory, name: str, arguments: tuple[int, ...]) -> int | None:
    """Execute the call and return its result; None if it is not such a call."""
    meaning = library_function(name).meaning
    if meaning is None or len(arguments) != meaning.arguments:
        return None
    if meaning is Meaning.LENGTH:
        return _length(memory, arguments[0])
    destination, source, size = arguments
    if size > MOST_BYTES:
        raise TooMuchMemoryError
    if meaning is Meaning.FILL:
        data = bytes([source & 0xFF]) * size
    else:
        memory.overlaps |= meaning is Meaning.COPY and 0 < abs(destination - source) < size
        data = bytes(memory.load((source + i) % (1 << 64), 1) for i in range(size))
    memory.store_bytes(destination, data)
    return destination


def _length(memory: Memory, start: int) -> int:
    for length in range(MOST_BYTES):
        if not memory.load((start + length) % (1 << 64), 1):
            return length
    raise TooMuchMemoryError
