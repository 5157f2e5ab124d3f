"""Which constants lead to others that differ: tables of addresses, in either byte order."""

from __future__ import annotations

import pytest

from isoform.load.differing import leading_to
from isoform.load.image import Image, Section
from isoform.model.machine import Order

TABLE, PLACE = 0x1000_0000, (0x1234_5678, 0x1234_5688)


def leads(machine: str, content: bytes) -> bool:
    image = Image("x", machine, (Section("t", TABLE, content, len(content), False, False),), ())
    return len(leading_to([image], [PLACE])) == 2


@pytest.mark.parametrize(("machine", "order"), [("x86_64", "little"), ("cs241", "big")])
def test_an_address_in_a_table_is_found_in_the_order_of_the_machine(machine: str, order: Order) -> None:
    other: Order = "big" if order == "little" else "little"
    for address in (PLACE[0], PLACE[0] + 3, PLACE[1]):
        for before in range(9):
            assert leads(machine, bytes(before) + address.to_bytes(8, order) + b"\0")
        assert not leads(machine, address.to_bytes(8, other))
        assert leads(machine, b"\0" * 4 + address.to_bytes(4, order))
    for address in (PLACE[0] - 1, PLACE[1] + 1, PLACE[0] << 8):
        assert not leads(machine, address.to_bytes(8, order))


def test_a_distance_from_the_table_or_from_the_entry_is_found() -> None:
    for start in (TABLE, TABLE + 4):
        assert leads("x86_64", b"\0" * 4 + (PLACE[0] - start).to_bytes(4, "little"))
    assert not leads("x86_64", b"\0" * 4 + (PLACE[0] - TABLE - 8).to_bytes(4, "little"))
