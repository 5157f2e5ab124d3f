"""What library functions of texts and blocks of memory give for concrete arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from isoform.borders.library_integers import WORD, Value
from isoform.model.contract import NoValueError, ReadByte

LONGEST_TEXT = 1 << 16


def text_at(read: ReadByte, start: int, limit: int = LONGEST_TEXT) -> bytes:
    """Up to the zero byte, which is not part of it, or to the limit."""
    found = bytearray()
    while len(found) < limit:
        byte = read((start + len(found)) % WORD)
        if not byte:
            return bytes(found)
        found.append(byte)
    if limit >= LONGEST_TEXT:
        raise NoValueError
    return bytes(found)


def _block_at(read: ReadByte, start: int, size: int) -> bytes:
    if size > LONGEST_TEXT:
        raise NoValueError
    return bytes(read((start + index) % WORD) for index in range(size))


def _order(left: bytes, right: bytes) -> int:
    """The sign is what the standard says; the size is that of most libraries, the distance of the first two bytes that
    differ."""
    for a, b in zip(left, right, strict=False):
        if a != b:
            return (a - b) % (1 << 32)
    return 0


def _compare_texts(change: Callable[[bytes], bytes], limited: bool) -> Value:
    """Byte by byte, up to the first difference: most texts differ early, and most of memory is text without an end."""

    def value(a: tuple[int, ...], read: ReadByte) -> tuple[int, ...]:
        for index in range(min(a[2], LONGEST_TEXT) if limited else LONGEST_TEXT):
            left, right = (change(bytes([read((start + index) % WORD)])) for start in a[:2])
            if left != right or left == b"\0":
                return (_order(left, right),)
        if not limited or a[2] >= LONGEST_TEXT:
            raise NoValueError
        return (0,)

    return value


def _compare_blocks(a: tuple[int, ...], read: ReadByte) -> tuple[int, ...]:
    return (_order(_block_at(read, a[0], a[2]), _block_at(read, a[1], a[2])),)


def _place(start: int, index: int) -> tuple[int, ...]:
    return ((start + index) % WORD if index >= 0 else 0,)


def _find_character(a: tuple[int, ...], read: ReadByte) -> tuple[int, ...]:
    return _place(a[0], (text_at(read, a[0]) + b"\0").find(bytes([a[1] & 0xFF])))


def _find_last_character(a: tuple[int, ...], read: ReadByte) -> tuple[int, ...]:
    return _place(a[0], (text_at(read, a[0]) + b"\0").rfind(bytes([a[1] & 0xFF])))


def _find_byte(a: tuple[int, ...], read: ReadByte) -> tuple[int, ...]:
    for index in range(min(a[2], LONGEST_TEXT)):
        if read((a[0] + index) % WORD) == a[1] & 0xFF:
            return _place(a[0], index)
    if a[2] > LONGEST_TEXT:
        raise NoValueError
    return (0,)


def _find_text(a: tuple[int, ...], read: ReadByte) -> tuple[int, ...]:
    return _place(a[0], text_at(read, a[0]).find(text_at(read, a[1])))


def _span(inside: bool) -> Callable[[bytes, bytes], int]:
    def length(text: bytes, members: bytes) -> int:
        return next((n for n, byte in enumerate(text) if (byte in members) != inside), len(text))

    return length


def _span_value(inside: bool) -> Value:
    return lambda a, read: (_span(inside)(text_at(read, a[0]), text_at(read, a[1])),)


def _find_any(a: tuple[int, ...], read: ReadByte) -> tuple[int, ...]:
    text = text_at(read, a[0])
    length = _span(False)(text, text_at(read, a[1]))
    return _place(a[0], length if length < len(text) else -1)


def _parsed(low: int, high: int) -> Value:
    """In base 10; what does not fit becomes the nearest number that does."""

    def value(a: tuple[int, ...], read: ReadByte) -> tuple[int, ...]:
        if a[2] != 10:
            raise NoValueError
        number = _leading_number(read, a[0])
        if low == 0 and abs(number) <= high:
            return (number % WORD,)
        return (max(low, min(high, number)) % WORD,)

    return value


def _leading_number(read: ReadByte, start: int) -> int:
    text = text_at(read, start).lstrip(b" \t\n\v\f\r")
    sign, digits = (text[:1], text[1:]) if text[:1] in (b"-", b"+") else (b"", text)
    digits = digits[: next((n for n, byte in enumerate(digits) if not 48 <= byte <= 57), len(digits))]
    if len(digits) > 4000:
        raise NoValueError
    return int(digits or b"0") * (-1 if sign == b"-" else 1)


def _number_in_text(bits: int) -> Value:
    def value(a: tuple[int, ...], read: ReadByte) -> tuple[int, ...]:
        number = _leading_number(read, a[0])
        if not -(1 << (bits - 1)) <= number < 1 << (bits - 1):
            raise NoValueError  # the standard says nothing
        return (number % (1 << bits),)

    return value


TEXTS: Mapping[str, Value] = {
    "strlen": lambda a, read: (len(text_at(read, a[0])),),
    "strnlen": lambda a, read: (len(text_at(read, a[0], min(a[1], LONGEST_TEXT))),),
    "strcmp": _compare_texts(lambda text: text, limited=False),
    "strncmp": _compare_texts(lambda text: text, limited=True),
    "strcasecmp": _compare_texts(bytes.lower, limited=False),
    "strncasecmp": _compare_texts(bytes.lower, limited=True),
    **dict.fromkeys(("memcmp", "bcmp"), _compare_blocks),
    **dict.fromkeys(("strchr", "index"), _find_character),
    **dict.fromkeys(("strrchr", "rindex"), _find_last_character),
    "memchr": _find_byte,
    "strstr": _find_text,
    "strspn": _span_value(inside=True),
    "strcspn": _span_value(inside=False),
    "strpbrk": _find_any,
    "atoi": _number_in_text(32),
    **dict.fromkeys(("atol", "atoll"), _number_in_text(64)),
    **dict.fromkeys(("strtol", "strtoll"), _parsed(-(1 << 63), (1 << 63) - 1)),
    **dict.fromkeys(("strtoul", "strtoull"), _parsed(0, (1 << 64) - 1)),
}
