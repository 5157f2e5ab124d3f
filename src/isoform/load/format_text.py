"""What the format text of printf, scanf and their like says about the arguments that follow it."""

from __future__ import annotations

import re

from isoform.model.library import library_function
from isoform.model.library_function import FormatKind
from isoform.model.signature import VOID, CType, TypeKind

MOST_ARGUMENTS = 64

_DIRECTIVE = re.compile(
    rb"%[-+ #0'I]*(?P<width>\*|\d*)(?:\.(?P<precision>\*|-?\d*))?(?P<length>hh|h|ll|l|q|j|z|t|L)?(?P<kind>.)",
    re.DOTALL,
)
_SCAN = re.compile(rb"%(?P<flags>[*']?)\d*(?P<length>hh|h|ll|l|q|j|z|t|L|m)?(?P<kind>\[\^?\]?[^\]]*\]|.)", re.DOTALL)
_WIDE = (b"l", b"ll", b"q", b"j", b"z", b"t")
_NARROW = {b"hh": 8, b"h": 16}
_POINTER = CType(TypeKind.POINTER, 64, spelling="void *", pointee=VOID)
_DOUBLE = CType(TypeKind.FLOAT, 64, True, "double")
_LONG_DOUBLE = CType(TypeKind.FLOAT, 80, True, "long double")


def promoted_arguments(name: str, text: bytes) -> list[CType] | None:
    """The types of what follows the format of a call of `name`; None where the text does not tell. A character or
    short is passed as an int, but only its own bits are read: it has that width here."""
    rules = library_function(name).format
    if rules is FormatKind.PRINTF:
        return _printed(text)
    return _scanned(text) if rules is FormatKind.SCANF else None


def _printed(text: bytes) -> list[CType] | None:
    found: list[CType] = []
    position = 0
    while (start := text.find(b"%", position)) >= 0:
        match = _DIRECTIVE.match(text, start)
        if match is None or len(found) > MOST_ARGUMENTS:
            return None
        position = match.end()
        if match["kind"] == b"%":
            continue
        found += [_integer(32) for part in ("width", "precision") if match[part] == b"*"]
        if match["kind"] == b"m":
            continue
        kind = _print_type(match["kind"], match["length"] or b"")
        if kind is None:
            return None
        found.append(kind)
    return found


def _print_type(kind: bytes, length: bytes) -> CType | None:
    if kind in b"di" + b"uoxX":
        if length == b"L":
            return None
        return _integer(64 if length in _WIDE else _NARROW.get(length, 32))
    if kind == b"c":
        return _integer(32 if length == b"l" else 8)
    if kind in b"fFeEgGaA":
        return _LONG_DOUBLE if length == b"L" else _DOUBLE
    if kind in b"spn":
        return _POINTER
    return {b"C": _integer(32), b"S": _POINTER}.get(kind)


def _integer(bits: int) -> CType:
    return CType(TypeKind.INTEGER, bits, True, "int")


def _scanned(text: bytes) -> list[CType] | None:
    found: list[CType] = []
    position = 0
    while (start := text.find(b"%", position)) >= 0:
        match = _SCAN.match(text, start)
        if match is None or len(found) > MOST_ARGUMENTS:
            return None
        position = match.end()
        kind = match["kind"]
        if kind == b"%" or match["flags"] == b"*":
            continue
        if kind[:1] not in b"diouxXcspnfFeEgGaA[CS":
            return None
        found.append(_POINTER)
    return found
