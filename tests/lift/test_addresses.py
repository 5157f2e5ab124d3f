"""Constants of an instruction that a linker fills in are told from numbers by where they come from."""

from __future__ import annotations

from isoform.isa.x86_64.machine import MACHINE
from isoform.lift.addresses import with_addresses
from isoform.lift.simplify import propagate
from isoform.load.image import Image
from isoform.load.objects import PlacedObject, PlacedObjects
from isoform.model.microop import Instruction, Kind, MicroOp, Space, Var, const, linked_address, number_of, origin_of

CODE, OBJECT = 0x0B3A_7000, 0x1000_0040
ITEM = PlacedObject("x", OBJECT, 16, 16, 4)


def decoded(code: bytes, fields: dict[int, int]) -> Instruction:
    image = Image("f.o", "x86_64", (), (), linked_fields=fields, objects=PlacedObjects.of([[ITEM]]))
    return with_addresses(MACHINE, image, code, MACHINE.decode(code, CODE))


def addresses(instruction: Instruction) -> set[int]:
    found = {var for op in instruction.ops for var in op.ins if var.space is Space.ADDRESS}
    assert all(origin_of(var) == OBJECT for var in found)
    return {number_of(var) or 0 for var in found}


def field(value: int) -> bytes:
    return (value % (1 << 32)).to_bytes(4, "little")


def test_a_displacement_that_a_linker_fills_is_an_address() -> None:
    lea = b"\x48\x8d\x05" + field(OBJECT + 4 - CODE - 7)
    assert addresses(decoded(lea, {CODE + 3: OBJECT})) == {OBJECT + 4}
    assert addresses(decoded(lea, {})) == set()


def test_an_equal_number_beside_it_stays_a_number() -> None:
    """movq $0x10000040, x(%rip), with x at 0x10000040"""
    store = b"\x48\xc7\x05" + field(OBJECT - CODE - 11) + field(OBJECT)
    one = decoded(store, {CODE + 3: OBJECT})
    stored = next(op for op in one.ops if op.kind is Kind.STORE)
    assert stored.ins[0].space is Space.ADDRESS
    assert stored.ins[1].space is not Space.ADDRESS
    other = decoded(store, {CODE + 7: OBJECT})
    assert next(op for op in other.ops if op.kind is Kind.STORE).ins[0].space is Space.CONST


def test_only_distances_of_an_address_are_folded() -> None:
    place = linked_address(OBJECT + 4, OBJECT, 8)
    out = Var(Space.TEMP, 0, 8)
    moved = propagate([MicroOp(Kind.INT_ADD, out, (place, const(8, 8)))], None, {})
    assert moved == [MicroOp(Kind.COPY, out, (linked_address(OBJECT + 12, OBJECT, 8),))]
    for kind, other in ((Kind.INT_AND, 15), (Kind.INT_RIGHT, 31), (Kind.INT_MULT, 3), (Kind.INT_LESS, OBJECT)):
        op = MicroOp(kind, out, (place, const(other, 8)))
        assert propagate([op], None, {}) == [op]
