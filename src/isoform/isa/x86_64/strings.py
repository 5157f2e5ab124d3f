"""String instructions. A repeated one is one element, then a branch to itself, so that no instruction contains a
loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from isoform.isa.x86_64.builder import Builder
from isoform.isa.x86_64.flags import DF, ZF, set_subtract_flags
from isoform.isa.x86_64.integer import RAX, RCX, part
from isoform.isa.x86_64.registers import REGISTERS
from isoform.model.microop import Var, const

RSI, RDI = REGISTERS["rsi"], REGISTERS["rdi"]

Element = Callable[[Builder, int], None]
"""One element of so many bytes."""


def _advance(b: Builder, size: int, *pointers: Var) -> None:
    step = b.select(DF, const(-size, 8), const(size, 8))
    for pointer in pointers:
        b.set(pointer, b.add(pointer, step))


def _move(b: Builder, size: int) -> None:
    b.store(RDI, b.load(RSI, size))
    _advance(b, size, RSI, RDI)


def _store(b: Builder, size: int) -> None:
    b.store(RDI, part(RAX, size))
    _advance(b, size, RDI)


def _load(b: Builder, size: int) -> None:
    b.write_register(part(RAX, size), b.load(RSI, size))
    _advance(b, size, RSI)


def _compare(b: Builder, size: int) -> None:
    left, right = b.load(RSI, size), b.load(RDI, size)
    set_subtract_flags(b, left, right, b.sub(left, right))
    _advance(b, size, RSI, RDI)


def _scan(b: Builder, size: int) -> None:
    left, right = part(RAX, size), b.load(RDI, size)
    set_subtract_flags(b, left, right, b.sub(left, right))
    _advance(b, size, RDI)


_ELEMENTS: Mapping[str, Element] = {"MOVS": _move, "STOS": _store, "LODS": _load, "CMPS": _compare, "SCAS": _scan}
_SIZES = {"B": 1, "W": 2, "D": 4, "Q": 8}
_WHILE_EQUAL = {"REPE": True, "REPNE": False}


def find(name: str, rex_wide: bool) -> tuple[Element, int] | None:
    """The element and its size, by a mnemonic such as `MOVSB`. SLEIGH writes `cmpsq` as `CMPSD`: REX.W decides."""
    element = _ELEMENTS.get(name[:-1])
    size = _SIZES.get(name[-1])
    if element is None or size is None:
        return None
    return element, 8 if rex_wide and size > 1 else size


def emit(b: Builder, element: Element, size: int, repeat: str) -> None:
    """`repeat` is empty, `REP`, `REPE` or `REPNE`."""
    if not repeat:
        element(b, size)
        return
    b.branch_if(b.equal(RCX, 0), b.next_address)
    b.set(RCX, b.sub(RCX, 1))
    element(b, size)
    if element not in (_compare, _scan):
        b.branch(b.address)
    else:
        b.branch_if(ZF if _WHILE_EQUAL[repeat] else b.negate(ZF), b.address)
