"""Functions that write text to a stream: what counts is the text, not which of them wrote it.

Compilers put `puts` where there was `printf`, and `fwrite` where there was `fprintf`. In runs, and in the encoder where
the text is a constant, a call of one of these is the text that it writes; neighbouring ones to one stream are one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from isoform.borders.library import callees, is_library
from isoform.borders.library_texts import LONGEST_TEXT, text_at
from isoform.lift.function import Function
from isoform.load.objects import PlacedNumber
from isoform.model.contract import NoValueError, OutputCall, ReadByte

_CONVERSION = re.compile(rb"%([-+ 0#]*)(\d*)(\.\d*)?(hh|h|ll|l|z|j|t)?([diuxXocs%])")
_BITS = {b"hh": 8, b"h": 16, b"": 32}
_WIDEST = 4096
"""The largest width of a field in a format."""


def output_calls(target: Function, rewrite: Function) -> tuple[OutputCall, ...]:
    """The callees of either function that write text and are the library's."""
    functions = target, rewrite
    called = {name for function in functions for name in callees(function)}
    return tuple(o for o in _OUTPUTS if o.name in called and is_library(functions, o.name))


Words = tuple[int | None, ...]
"""The integer argument registers of a call; None where it is not known what one holds."""
_Writer = Callable[[Words, ReadByte], bytes]


def _format(place: int) -> _Writer:
    """The text at an argument, with the arguments after it put in."""
    return lambda words, read: _formatted(text_at(read, _known(words[place])), words[place + 1 :], read)


def _text(ending: bytes) -> _Writer:
    return lambda words, read: text_at(read, _known(words[0])) + ending


def _character(words: Words, read: ReadByte) -> bytes:
    return bytes([_number(words[0]) & 0xFF])


def _block(words: Words, read: ReadByte) -> bytes:
    start, size = _known(words[0]), _known(words[1]) * _known(words[2])
    if size > LONGEST_TEXT:
        raise NoValueError
    return bytes(read(start + index) for index in range(size))


def _known(word: int | None) -> int:
    if word is None:
        raise NoValueError
    return word


def _number(word: int | None) -> int:
    """One that a text may show: not an address, which a linker decides."""
    if isinstance(word, PlacedNumber):
        raise NoValueError
    return _known(word)


def _formatted(text: bytes, words: Words, read: ReadByte) -> bytes:
    left = iter(words)
    found, place = bytearray(), 0
    while place < len(text):
        if text[place : place + 1] != b"%":
            found.append(text[place])
            place += 1
            continue
        conversion = _CONVERSION.match(text, place)
        if conversion is None:
            raise NoValueError
        found += _converted(conversion, left, read)
        place = conversion.end()
    return bytes(found)


def _converted(conversion: re.Match[bytes], words: Iterator[int | None], read: ReadByte) -> bytes:
    flags, width, precision, length, kind = conversion.groups(b"")
    if kind == b"%":
        return b"%"
    word = _known(next(words, None)) if kind == b"s" else _number(next(words, None))
    if len(width) > 4 or int(width or b"0") > _WIDEST or len(precision) > 4:
        raise NoValueError
    if length and kind in b"cs":
        raise NoValueError  # wide characters: how they are written depends on the locale
    prefix = b""
    if kind == b"c":
        shown = bytes([word & 0xFF])
    elif kind == b"s":
        shown = text_at(read, word)
        shown = shown if not precision else shown[: int(precision[1:] or b"0")]
    else:
        prefix, shown = _integer(kind, flags, precision, word, _BITS.get(length, 64))
    size = int(width or b"0")
    if b"-" in flags:
        return (prefix + shown).ljust(size)
    if b"0" in flags and kind not in b"cs" and not precision:
        return prefix + shown.rjust(size - len(prefix), b"0")
    return (prefix + shown).rjust(size)


def _integer(kind: bytes, flags: bytes, precision: bytes, word: int, bits: int) -> tuple[bytes, bytes]:
    """Sign or base, and the digits."""
    number = word % (1 << bits)
    signed = kind in b"di"
    if signed and number >> (bits - 1):
        number -= 1 << bits
    base = {b"x": "x", b"X": "X", b"o": "o"}.get(kind, "d")
    digits = format(abs(number), base).zfill(int(precision[1:] or b"0") if precision else 1).encode()
    if precision in (b".", b".0") and number == 0:
        digits = b""
    if b"#" in flags and kind == b"o" and not digits.startswith(b"0"):
        digits = b"0" + digits
    if b"#" in flags and kind in b"xX" and number:
        return b"0" + kind, digits
    sign = b"-" if number < 0 else b"+" if signed and b"+" in flags else b" " if signed and b" " in flags else b""
    return sign, digits


_OUTPUTS = (
    OutputCall("printf", None, True, _format(0)),
    OutputCall("__printf_chk", None, True, _format(1)),
    OutputCall("puts", None, False, _text(b"\n")),
    OutputCall("putchar", None, False, _character),
    OutputCall("fprintf", 0, True, _format(1)),
    OutputCall("__fprintf_chk", 0, True, _format(2)),
    OutputCall("fputs", 1, False, _text(b"")),
    OutputCall("fputc", 1, False, _character),
    OutputCall("putc", 1, False, _character),
    OutputCall("fwrite", 3, False, _block),
)
WRITERS = frozenset(call.name for call in _OUTPUTS)
