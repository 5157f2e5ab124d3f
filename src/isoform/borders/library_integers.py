"""What library functions of integers and characters give for concrete arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from isoform.model.contract import ReadByte

Value = Callable[[tuple[int, ...], ReadByte], tuple[int, ...]]
"""From the arguments, as numbers of the width in which they are passed, to the results."""
WORD = 1 << 64


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def _of_integer(function: Callable[[int], int], bits: int, result_bits: int = 0) -> Value:
    """Of a signed number of `bits`."""
    return lambda a, read: (function(signed(a[0] % (1 << bits), bits)) % (1 << (result_bits or bits)),)


def _first_set(x: int) -> int:
    return (x & -x).bit_length()


def _reversed_bytes(size: int) -> Callable[[int], int]:
    return lambda x: int.from_bytes((x % (1 << (8 * size))).to_bytes(size, "little"), "big")


def _ones(bits: int) -> Callable[[int], int]:
    return lambda x: (x % (1 << bits)).bit_count()


def _character(test: Callable[[str], bool]) -> Value:
    return _of_integer(lambda c: int(0 <= c < 128 and test(chr(c))), 32)


def _changed_case(change: Callable[[str], str]) -> Value:
    return _of_integer(lambda c: ord(change(chr(c))) if 0 <= c < 128 else c, 32)


_CHARACTERS: dict[str, Callable[[str], bool]] = {
    "isalnum": str.isalnum,
    "isalpha": str.isalpha,
    "isblank": lambda c: c in " \t",
    "iscntrl": lambda c: c < " " or c == "\x7f",
    "isdigit": str.isdigit,
    "isgraph": lambda c: "!" <= c <= "~",
    "islower": str.islower,
    "isprint": lambda c: " " <= c <= "~",
    "ispunct": lambda c: "!" <= c <= "~" and not c.isalnum(),
    "isspace": lambda c: c in " \t\n\v\f\r",
    "isupper": str.isupper,
    "isxdigit": lambda c: c in "0123456789abcdefABCDEF",
}


INTEGERS: Mapping[str, Value] = {
    "abs": _of_integer(abs, 32),
    **dict.fromkeys(("labs", "llabs", "imaxabs"), _of_integer(abs, 64)),
    "ffs": _of_integer(_first_set, 32),
    **dict.fromkeys(("ffsl", "ffsll"), _of_integer(_first_set, 64, 32)),
    "__popcountsi2": _of_integer(_ones(32), 32),
    "__popcountdi2": _of_integer(_ones(64), 64, 32),
    **dict.fromkeys(("__bswapsi2", "htonl", "ntohl"), _of_integer(_reversed_bytes(4), 32)),
    "__bswapdi2": _of_integer(_reversed_bytes(8), 64),
    **dict.fromkeys(("htons", "ntohs"), _of_integer(_reversed_bytes(2), 16)),
    "toascii": _of_integer(lambda c: c & 127, 32),
    "isascii": _of_integer(lambda c: int(0 <= c < 128), 32),
    **{name: _character(test) for name, test in _CHARACTERS.items()},
    "toupper": _changed_case(str.upper),
    "tolower": _changed_case(str.lower),
}
