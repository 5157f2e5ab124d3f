"""Where a computed jump can go: constants, and the jump tables that compilers make of a `switch`.

Nothing here needs to be complete to be sound: a target that is missed makes the jump `unresolved` for the
inputs that take it, and an engine claims nothing about those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from isoform.lift.simplify import overlaps
from isoform.load.image import Image
from isoform.model.microop import Kind, MicroOp, Var, number_of
from isoform.model.values import dataclass

MOST_ENTRIES = 4096
_EVEN = (1 << 64) - 2
"""What some machines clear in the target of a jump: the lowest bit, which instructions there never have."""


@dataclass(frozen=True)
class _Scaled:
    """constant + scale * (something unknown)"""

    constant: int
    scale: int


@dataclass(frozen=True)
class _Entry:
    """constant + an entry of a table; `signed` once it was sign-extended."""

    table: _Scaled
    size: int
    signed: bool = False
    constant: int = 0


_Value = int | _Scaled | _Entry | None


def jump_targets(
    ops: Iterable[MicroOp], value: Var, image: Image, plausible: Callable[[int], bool]
) -> list[int] | None:
    """Possible targets of the jump to `value` at the end of `ops`, None if they cannot be determined. The first entry
    that is not `plausible` ends a table."""
    known: dict[Var, _Value] = {}
    for op in ops:
        if op.out is not None:
            result = _weak_address(op, image) or _evaluate(op, known)
            for var in [v for v in known if overlaps(v, op.out)]:
                del known[var]
            known[op.out] = result
    target = _look_up(value, known)
    if isinstance(target, int):
        return [target]
    if isinstance(target, _Entry):
        return _table_entries(target, image, plausible) or None
    return None


def _weak_address(op: MicroOp, image: Image) -> int | None:
    """The address of a weak symbol, if the micro-op chooses between that and null. Only a reference to the symbol does
    so with two constants, and a separate check stops a jump to null."""
    if op.kind is not Kind.SELECT or number_of(op.ins[1]) != 0:
        return None
    address = number_of(op.ins[2])
    return address if address is not None and image.externals.get(address) in image.weak else None


def _look_up(var: Var, known: dict[Var, _Value]) -> _Value:
    number = number_of(var)
    if number is not None:
        return number
    if var in known:
        return known[var]
    for whole, value in known.items():
        covers = whole.offset == var.offset and whole.size > var.size and whole.space is var.space
        if covers and isinstance(value, int):
            return value & ((1 << (8 * var.size)) - 1)
        if covers and isinstance(value, _Entry) and value.size <= var.size:
            return value
    return _Scaled(0, 1)


def _evaluate(op: MicroOp, known: dict[Var, _Value]) -> _Value:
    values = [_look_up(v, known) for v in op.ins]
    assert op.out is not None
    match op.kind:
        case Kind.COPY | Kind.INT_ZEXT:
            return values[0]
        case Kind.INT_SEXT:
            return replace(values[0], signed=True) if isinstance(values[0], _Entry) else values[0]
        case Kind.INT_ADD:
            return _add(values[0], values[1])
        case Kind.INT_MULT | Kind.INT_LEFT:
            return _scale(op.kind, values[0], values[1])
        case Kind.INT_AND if isinstance(values[0], _Entry) and values[1] == _EVEN:
            return values[0]
        case Kind.LOAD:
            if isinstance(values[0], _Scaled) and values[0].constant:
                return _Entry(values[0], op.out.size)
            return _Scaled(0, 1)
        case _:
            return _Scaled(0, 1)


def _add(a: _Value, b: _Value) -> _Value:
    if isinstance(b, int):
        a, b = b, a
    if isinstance(a, int):
        if isinstance(b, int):
            return a + b
        if isinstance(b, (_Scaled, _Entry)):
            return replace(b, constant=b.constant + a)
    if isinstance(a, _Scaled) and isinstance(b, _Scaled) and not (a.constant and b.constant):
        # base + index: the operand with the constant is the table, the other's scale is the stride
        return _Scaled(a.constant + b.constant, b.scale if a.constant else a.scale)
    return _Scaled(0, 1)


def _scale(kind: Kind, a: _Value, b: _Value) -> _Value:
    if kind is Kind.INT_MULT and isinstance(a, int):
        a, b = b, a
    if not isinstance(b, int):
        return _Scaled(0, 1)
    factor = 1 << (b & 63) if kind is Kind.INT_LEFT else b
    if isinstance(a, int):
        return a * factor
    return _Scaled(a.constant * factor, a.scale * factor) if isinstance(a, _Scaled) else _Scaled(0, 1)


def _table_entries(entry: _Entry, image: Image, plausible: Callable[[int], bool]) -> list[int]:
    targets = []
    stride = entry.table.scale if entry.table.scale >= entry.size else entry.size
    for index in range(MOST_ENTRIES):
        data = image.constant_bytes(entry.table.constant + index * stride, entry.size)
        if data is None:
            break
        target = (int.from_bytes(data, image.byte_order, signed=entry.signed) + entry.constant) & 0xFFFFFFFFFFFFFFFF
        if not plausible(target):
            break
        targets.append(target)
    return targets
