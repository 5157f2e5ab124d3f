"""The status flags of x86-64: how results set them, and which the manual leaves undefined.

AF is not computed: the two instructions that read it (`lahf`, `pushf`) see an undefined bit instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from isoform.isa.x86_64.builder import Builder, Value
from isoform.isa.x86_64.registers import REGISTERS
from isoform.model.microop import Var

CF, PF, ZF, SF, OF, DF = (REGISTERS[name] for name in ("cf", "pf", "zf", "sf", "of", "df"))

_LETTERS = {"c": CF, "p": PF, "z": ZF, "s": SF, "o": OF}

UNDEFINED_FLAGS: Mapping[str, str] = {
    # From the "Flags Affected" sections of the manual; AF, undefined in most of them, is left out (see above).
    "MUL": "szp",
    "IMUL": "szp",
    "DIV": "coszp",
    "IDIV": "coszp",
    "BSF": "cosp",
    "BSR": "cosp",
    "TZCNT": "osp",
    "LZCNT": "osp",
    "BT": "osp",
    "BTS": "osp",
    "BTR": "osp",
    "BTC": "osp",
    "ANDN": "p",
    "BEXTR": "sp",
    "BLSI": "p",
    "BLSMSK": "p",
    "BLSR": "p",
    "BZHI": "p",
}
"""Flags that an instruction leaves undefined whatever its operands. For shifts and rotates this depends on the count:
see `shifts.py`."""


def leave_undefined(b: Builder, mnemonic: str) -> None:
    for letter in UNDEFINED_FLAGS[mnemonic]:
        b.set(_LETTERS[letter], b.undefined_boolean())


def set_result_flags(b: Builder, result: Var) -> None:
    """SF, ZF and PF, as nearly every instruction sets them."""
    b.set(SF, b.is_negative(result))
    b.set(ZF, b.equal(result, 0))
    b.set(PF, parity(b, result))


def parity(b: Builder, result: Var) -> Var:
    ones = b.popcount(b.piece(result, 0, 1), 1)
    return b.equal(b.and_(ones, 1), 0)


def set_logic_flags(b: Builder, result: Var) -> None:
    b.set(CF, 0)
    b.set(OF, 0)
    set_result_flags(b, result)


def set_add_flags(b: Builder, left: Var, right: Value, result: Var) -> None:
    b.set(CF, b.carry(left, right))
    b.set(OF, b.signed_carry(left, right))
    set_result_flags(b, result)


def set_subtract_flags(b: Builder, left: Var, right: Value, result: Var) -> None:
    b.set(CF, b.below(left, right))
    b.set(OF, b.signed_borrow(left, right))
    set_result_flags(b, result)


Condition = Callable[[Builder], Var]


def _not(condition: Condition) -> Condition:
    return lambda b: b.negate(condition(b))


def _below_or_equal(b: Builder) -> Var:
    return b.either(CF, ZF)


def _less(b: Builder) -> Var:
    return b.exactly_one(SF, OF)


def _less_or_equal(b: Builder) -> Var:
    return b.either(ZF, b.exactly_one(SF, OF))


CONDITIONS: Mapping[str, Condition] = {
    "O": lambda b: OF,
    "NO": _not(lambda b: OF),
    "C": lambda b: CF,
    "NC": _not(lambda b: CF),
    "Z": lambda b: ZF,
    "NZ": _not(lambda b: ZF),
    "BE": _below_or_equal,
    "A": _not(_below_or_equal),
    "S": lambda b: SF,
    "NS": _not(lambda b: SF),
    "P": lambda b: PF,
    "NP": _not(lambda b: PF),
    "L": _less,
    "GE": _not(_less),
    "LE": _less_or_equal,
    "G": _not(_less_or_equal),
}
"""By the suffix of `jcc`, `setcc` and `cmovcc` as SLEIGH spells it."""
