"""How far code may count from an address, as far as its own block says."""

from __future__ import annotations

import pytest

from isoform.lift.moving import Largest, Moving
from isoform.model.microop import Kind, MicroOp, Space, Var, const


def register(number: int, size: int = 8) -> Var:
    return Var(Space.REGISTER, 8 * number, size)


def after(*ops: MicroOp) -> Largest:
    known = Largest()
    for op in ops:
        known.step(op)
    return known


MASKED = MicroOp(Kind.INT_AND, register(0), (register(1), const(7, 8)))


@pytest.mark.parametrize(
    ("op", "most"),
    [
        (MicroOp(Kind.COPY, register(2), (register(0),)), 7),
        (MicroOp(Kind.INT_MULT, register(2), (register(0), const(4, 8))), 28),
        (MicroOp(Kind.INT_LEFT, register(2), (register(0), const(2, 8))), 28),
        (MicroOp(Kind.INT_RIGHT, register(2), (register(0), const(1, 8))), 3),
        (MicroOp(Kind.INT_ADD, register(2), (register(0), const(1, 8))), 8),
        (MicroOp(Kind.INT_ADD, register(2), (register(0), const((1 << 64) - 1, 8))), None),
        (MicroOp(Kind.INT_SUB, register(2), (register(0), const(1, 8))), None),
        (MicroOp(Kind.INT_ZEXT, register(2), (register(3, 1),)), 255),
        (MicroOp(Kind.INT_SEXT, register(2), (register(3, 1),)), None),
        (MicroOp(Kind.INT_SEXT, register(2), (register(0, 4),)), 7),
        (MicroOp(Kind.LOAD, register(2), (register(0),)), None),
    ],
)
def test_the_largest_value(op: MicroOp, most: int | None) -> None:
    assert after(MASKED, op).of(register(2)) == most


def test_what_is_overwritten_is_forgotten() -> None:
    part = MicroOp(Kind.COPY, register(0, 1), (register(3, 1),))
    assert after(MASKED, part).of(register(0)) is None


def test_what_is_added_to_a_pointer_adds_up() -> None:
    moving = Moving()
    moving.step(MASKED, [None, None])
    once = MicroOp(Kind.INT_ADD, register(2), (const(0x1000, 8), register(0)))
    again = MicroOp(Kind.INT_ADD, register(2), (register(2), register(0)))
    assert moving.step(once, [False, None]) == 7
    assert moving.step(again, [True, None]) == 14
    moving.begin_block()
    assert moving.step(again, [True, None]) is None


def test_a_base_is_bounded_only_if_every_use_is() -> None:
    moving = Moving()
    moving.note(0x1000, 4)
    moving.note(0x1000, 8)
    moving.note(0x2000, None)
    moving.note(0x2000, 4)
    assert moving.bases == {0x1000: 8, 0x2000: None}
