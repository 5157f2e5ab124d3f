"""What counts as the same result."""

from __future__ import annotations

from isoform.isa.registry import machine
from isoform.model.contract import Contract, Result, SignatureSource, show_float
from isoform.model.outcome import STACK_POINTER, CallRecord, Outcome, Status


def contract(is_float: bool) -> Contract:
    result = Result("xmm0", 32, is_float=is_float)
    return Contract(machine("x86_64"), None, SignatureSource.OPTION, (), (result,))


def returned(bits: int) -> Outcome:
    return Outcome(Status.DONE, registers={"xmm0": bits})


def test_any_nan_result_is_as_good_as_another() -> None:
    quiet, other_nan, infinity = returned(0x7FC00000), returned(0xFFC00001), returned(0x7F800000)
    assert not contract(is_float=True).differences(quiet, other_nan)
    assert contract(is_float=False).differences(quiet, other_nan)
    assert contract(is_float=True).differences(quiet, infinity)


def test_zeros_of_different_sign_differ() -> None:
    assert contract(is_float=True).differences(returned(0x80000000), returned(0))


def test_floats_are_shown_as_numbers() -> None:
    assert show_float(0x3DCCCCCD, 32) == "0.100000001"
    assert show_float(0x3FB999999999999A, 64) == "0.1"
    assert show_float(0x80000000, 32) == "-0"
    assert show_float(1 << 63, 64) == "-0.0"
    assert show_float(0xFF800000, 32) == "-inf"
    assert show_float(0x7FC00005, 32) == "nan (0x7fc00005)"


def _called(address: int, unnoted: int) -> Outcome:
    """A run that calls a function which finds an address in memory; one byte of it was there before."""
    seen = {0x4000 + i: address >> (8 * i) & 0xFF for i in range(8) if i != unnoted}
    return Outcome(Status.DONE, calls=(CallRecord("use", (), sees=seen),))


def test_where_in_a_frame_something_is_does_not_count_even_if_a_byte_of_it_was_there_before() -> None:
    contract = Contract(machine("x86_64"), None, SignatureSource.LIVENESS, (), ())
    one, other = (_called(STACK_POINTER - distance, unnoted=4) for distance in (0x14, 0x0C))
    assert not contract.differences(one, other)
    assert contract.differences(_called(0x1000, 4), _called(0x1008, 4))
