"""Integer and character constants of C: value and type."""

from __future__ import annotations

import re
from typing import Any

from isoform.load.c_text import Source
from isoform.model.signature import CType, TypeKind

_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)([uUlL]*)\Z")
_SUFFIXES = {"": (False, False), "u": (True, False), "l": (False, True), "ul": (True, True), "lu": (True, True)}
_ESCAPES = {"n": 10, "t": 9, "r": 13, "0": 0, "a": 7, "b": 8, "f": 12, "v": 11, "\\": 92, "'": 39, '"': 34, "?": 63}


def constant_value(source: Source, node: Any, word_bits: int) -> tuple[int, CType]:
    """Value and type of an integer or character constant."""
    text: str = node.value
    if text.startswith("'"):
        return character_value(source, text), _integer(32, True, "int")
    match = _INTEGER.match(text)
    suffix = match[2].lower().replace("ll", "l") if match else ""
    if match is None or suffix not in _SUFFIXES:
        raise source.error(f"has the constant {text[:40]}, which is no integer")
    digits = match[1].lower()
    octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
    if octal and not set(digits) <= set("01234567"):
        raise source.error(f"has the constant {text[:40]}, which is no octal number")
    value = int(digits, 8) if octal else int(digits, 0)
    unsigned, long = _SUFFIXES[suffix]
    for bits in (32, word_bits, 64):
        if long and bits == 32 and (word_bits != 32 or "ll" in match[2].lower()):
            continue
        if not unsigned and value < 1 << (bits - 1):
            return value, _integer(bits, True, "int" if bits == 32 else "long")
        if (unsigned or digits[0] == "0") and value < 1 << bits:
            return value, _integer(bits, False, "unsigned" if bits == 32 else "unsigned long")
    if value < 1 << 64:
        raise source.error(f"has the constant {text[:40]}, which only an unsigned type can hold; write {digits}u")
    raise source.error(f"has the constant {text[:40]}, which does not fit 64 bits")


def character_value(source: Source, text: str) -> int:
    body = text[1:-1]
    if len(body) == 1 and ord(body) < 128:
        return ord(body)
    if len(body) == 2 and body[0] == "\\" and body[1] in _ESCAPES:
        return _ESCAPES[body[1]]
    code = re.fullmatch(r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3}))", body)
    value = int(code[1], 16) if code and code[1] else int(code[2], 8) if code else 256
    if value > 255:
        raise source.error(f"has the character constant {text[:20]}, which isoform does not understand")
    return value - 256 if value > 127 else value


def _integer(bits: int, signed: bool, spelling: str) -> CType:
    return CType(TypeKind.INTEGER, bits, signed, spelling)


_LIMITS: dict[str, tuple[int, int, bool]] = {
    **{f"INT{b}_MAX": ((1 << (b - 1)) - 1, max(b, 32), True) for b in (8, 16, 32, 64)},
    **{f"INT{b}_MIN": (-(1 << (b - 1)), max(b, 32), True) for b in (8, 16, 32, 64)},
    **{f"UINT{b}_MAX": ((1 << b) - 1, max(b, 32), b < 32) for b in (8, 16, 32, 64)},
    **{f"{n}_MAX": ((1 << (b - 1)) - 1, max(b, 32), True) for n, b in (("SCHAR", 8), ("CHAR", 8), ("SHRT", 16))},
    **{f"{n}_MIN": (-(1 << (b - 1)), max(b, 32), True) for n, b in (("SCHAR", 8), ("CHAR", 8), ("SHRT", 16))},
    **{f"{n}_MAX": ((1 << (b - 1)) - 1, b, True) for n, b in (("INT", 32), ("LLONG", 64))},
    **{f"{n}_MIN": (-(1 << (b - 1)), b, True) for n, b in (("INT", 32), ("LLONG", 64))},
    "UCHAR_MAX": (255, 32, True),
    "USHRT_MAX": (65535, 32, True),
    "UINT_MAX": ((1 << 32) - 1, 32, False),
    "ULLONG_MAX": ((1 << 64) - 1, 64, False),
    "true": (1, 32, True),
    "false": (0, 32, True),
    "NULL": (0, 32, True),
}
"""Value, width and sign of the constants of <limits.h>, <stdint.h> and <stdbool.h> of fixed width."""

_WORD_LIMITS = {"LONG_MAX": True, "LONG_MIN": True, "SSIZE_MAX": True, "ULONG_MAX": False, "SIZE_MAX": False}
"""Those as wide as an address, and whether they are signed."""


def named_constant(name: str, word_bits: int) -> tuple[int, CType] | None:
    """Value and type of a constant of the standard headers."""
    if name in _LIMITS:
        value, bits, signed = _LIMITS[name]
        return value, _integer(bits, signed, name)
    if name not in _WORD_LIMITS:
        return None
    signed = _WORD_LIMITS[name]
    if name.endswith("_MIN"):
        return -(1 << (word_bits - 1)), _integer(word_bits, signed, name)
    return (1 << (word_bits - signed)) - 1, _integer(word_bits, signed, name)
