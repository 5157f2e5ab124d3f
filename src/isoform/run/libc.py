"""Library functions with a known meaning, carried out on concrete memory (see `sym/libc.py`)."""

from __future__ import annotations

from isoform.lift.library import ARGUMENTS
from isoform.run.memory import Memory, TooMuchMemoryError

MOST_BYTES = 1 << 20


def carry_out(memory: Memory, name: str, arguments: tuple[int, ...]) -> int | None:
    """The result of the call, its effect done; None if it is no such call."""
    if name not in ARGUMENTS or len(arguments) != ARGUMENTS[name]:
        return None
    if name == "strlen":
        return _length(memory, arguments[0])
    destination, source, size = arguments
    if size > MOST_BYTES:
        raise TooMuchMemoryError
    if name == "memset":
        data = bytes([source & 0xFF]) * size
    else:
        memory.overlaps |= name == "memcpy" and 0 < abs(destination - source) < size
        data = bytes(memory.load((source + i) % (1 << 64), 1) for i in range(size))
    for index, byte in enumerate(data):
        memory.store((destination + index) % (1 << 64), 1, byte)
    return destination


def _length(memory: Memory, start: int) -> int:
    for length in range(MOST_BYTES):
        if not memory.load((start + length) % (1 << 64), 1):
            return length
    raise TooMuchMemoryError
