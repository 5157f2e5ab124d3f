"""What counts as the same result."""

from __future__ import annotations

from isoform.isa.registry import machine
from isoform.model.contract import Contract, Result, SignatureSource, show_float
from isoform.model.outcome import Outcome, Status


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
