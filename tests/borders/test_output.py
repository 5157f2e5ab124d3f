"""Texts that the library's output functions write, and blocks that its allocator gives."""

from __future__ import annotations

import ctypes
from random import Random

import pytest

from isoform.borders.output import _OUTPUTS
from isoform.model.allocation import BLOCKS, Allocating, AllocationCall, Blocks
from isoform.model.contract import NoValueError

WRITERS = {output.name: output.written for output in _OUTPUTS}


def _written(name: str, text: bytes, *words: int | None) -> bytes:
    memory = dict(enumerate(text + b"\0", 0x1000))
    return WRITERS[name]((0x1000, *words), lambda address: memory[address])


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        (b"hit", (), b"hit"),
        (b"100%%", (), b"100%"),
        (b"%d;%5d;%-5d;%05d", (0xFFFFFFFF, 7, 7, 7), b"-1;    7;7    ;00007"),
        (b"%u %x %#X %o", (0x1_FFFFFFFF, 255, 255, 8), b"4294967295 ff 0XFF 10"),
        (b"%ld %hhd %+d % d", (1 << 63, 0x1FF, 3, 4), b"-9223372036854775808 -1 +3  4"),
        (b"%.3d|%.0d", (7, 0), b"007|"),
        (b"% 05d|%#06x|%#.3o|%#.0o", (5, 31, 8, 0), b" 0005|0x001f|010|0"),
    ],
)
def test_format(text: bytes, words: tuple[int, ...], expected: bytes) -> None:
    assert _written("printf", text, *words) == expected


def test_numbers_are_written_as_the_library_writes_them() -> None:
    """The model against the real thing."""
    try:
        library = ctypes.CDLL("libc.so.6")
    except OSError:
        pytest.skip("there is no libc.so.6")
    random = Random(7)
    for _ in range(2000):
        flags = "".join(flag for flag in "-+ 0#" if random.random() < 0.4)
        width, precision = random.choice(("", "1", "3", "12")), random.choice(("", "", ".", ".0", ".1", ".7"))
        text = f"%{flags}{width}{precision}{random.choice(('', 'l', 'h', 'hh', 'll', 'z'))}{random.choice('diuxXo')}"
        number = random.choice((0, 1, 8, 255, 256, 1 << 31, (1 << 32) - 1, 1 << 63, (1 << 64) - 1))
        room = ctypes.create_string_buffer(64)
        size = library.snprintf(room, 64, text.encode(), ctypes.c_ulonglong(number))
        assert _written("printf", text.encode(), number) == room.raw[:size], (text, number)


def test_text_in_format() -> None:
    memory = dict(enumerate(b"<%s|%4.1s|%c>\0hello\0", 0x1000))
    read = memory.__getitem__
    assert WRITERS["printf"]((0x1000, 0x100E, 0x100E, 65), read) == b"<hello|   h|A>"


@pytest.mark.parametrize("text", [b"%f", b"%*d", b"%n", b"%d", b"%ls", b"%lc"])
def test_what_is_not_known(text: bytes) -> None:
    with pytest.raises(NoValueError):
        _written("printf", text, None)


def test_other_writers() -> None:
    assert _written("puts", b"hit") == b"hit\n"
    assert _written("fputs", b"hit", 7) == b"hit"
    assert WRITERS["putchar"]((0x141,), lambda address: 0) == b"A"
    assert _written("fwrite", b"abcdef", 2, 2, 7) == b"abcd"


MALLOC = AllocationCall("malloc", Allocating.GIVES, (0,))
CALLOC = AllocationCall("calloc", Allocating.CLEARS, (0, 1))
FREE = AllocationCall("free", Allocating.TAKES)


def test_blocks() -> None:
    memory: dict[int, int] = {}
    blocks = Blocks(lambda address: memory.get(address, 0), memory.__setitem__)
    first, second = blocks.call(MALLOC, (8,), False), blocks.call(CALLOC, (2, 4), False)
    assert first == BLOCKS
    assert second > first + 8
    assert blocks.call(MALLOC, (8,), True) == 0
    assert CALLOC.shown((2, 4)) == CALLOC.shown((8, 1)) == (8,)
    writes = {0x5000 + i: byte for i, byte in enumerate(second.to_bytes(8, "little"))} | {first: 1, second: 2}
    memory.update(writes)
    changes = {a: b for a, b in writes.items() if b}
    assert first not in blocks.left(changes, ()).observed(changes, ())
    assert first in blocks.left(changes, ()).observed(changes, (first,))
    assert first in blocks.left(changes, (first,)).observed(changes, ())
    assert second in blocks.left(changes, ()).observed(changes, ())
    blocks.call(FREE, (second,), False)
    assert second not in blocks.left(changes, ()).observed(changes, (second,))
