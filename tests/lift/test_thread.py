"""The thread pointer in code that the loader did not see."""

from __future__ import annotations

import pytest

from isoform.isa.x86_64.machine import MACHINE
from isoform.lift.thread import with_thread_pointer
from isoform.load.image import Image
from isoform.load.objects import PlacedObject, PlacedObjects
from isoform.model.errors import Unsupported
from isoform.model.microop import Space, origin_of
from isoform.model.outcome import THREAD_POINTER

READS = MACHINE.decode(b"\x64\x8b\x00", 0x1000)  # mov eax, fs:[rax]


def test_an_image_without_a_place_for_it_is_refused() -> None:
    """As where control gets into the middle of an instruction, and the bytes there use it."""
    with pytest.raises(Unsupported, match="the thread pointer of code that was not seen"):
        with_thread_pointer(READS, Image("f.o", "x86_64", (), ()), MACHINE)


def test_it_is_an_address_relative_to_its_object() -> None:
    item = PlacedObject("", THREAD_POINTER, 0, 64, 1)
    image = Image("f.o", "x86_64", (), (), objects=PlacedObjects.of([[item]]), thread_origin=THREAD_POINTER)
    ops = with_thread_pointer(READS, image, MACHINE).ops
    assert {origin_of(var) for op in ops for var in op.ins if var.space is Space.ADDRESS} == {THREAD_POINTER}
