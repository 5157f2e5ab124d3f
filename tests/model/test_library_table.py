"""The table of library functions: each of them once, and with an implementation where the table promises one."""

from __future__ import annotations

import pytest

from isoform.borders.library_values import VALUES
from isoform.borders.output import WRITERS
from isoform.isa.x86_64.machine import MACHINE
from isoform.model.library import every_library_function, in_table_order, is_reserved, library_function
from isoform.model.library_function import Computes, FormatKind, Meaning, Replaced
from isoform.model.library_table import TABLE

EVERY = {function.name: function for function in every_library_function()}


def test_every_function_is_in_the_table_once() -> None:
    lines = [line for _, text in TABLE for line in text.strip().split("\n")]
    declared = [line for line in lines if "(" in line]
    names = [name for line in lines if "(" not in line for name in line.split()]
    assert len(EVERY) == len(declared) + len(names)


def test_an_unknown_name_has_no_properties() -> None:
    unknown = library_function("no_such_function")
    assert unknown.name == "no_such_function"
    assert unknown.prototype == ""
    assert unknown.computes is None
    assert not unknown.never_returns
    assert library_function("") == library_function("").__class__()


@pytest.mark.parametrize("name", ["abort", "exit", "__stack_chk_fail", "longjmp", "err", "__cxa_throw"])
def test_functions_that_never_return(name: str) -> None:
    assert library_function(name).never_returns


def test_functions_of_floats_stand_beside_those_of_doubles() -> None:
    assert library_function("sqrtf").prototype == "float sqrtf(float x);"
    assert library_function("sqrtf").sets_errno
    assert library_function("floorf").computes is Computes.NUMBER
    assert not library_function("floorf").sets_errno


def test_values_and_code_are_of_functions_that_only_compute() -> None:
    computing = {name for name, function in EVERY.items() if function.computes is not None}
    assert set(VALUES) == computing
    assert set(MACHINE.library) <= computing


def test_stores_name_functions_that_only_compute() -> None:
    stored = [name for function in EVERY.values() for _, name in function.stores]
    assert stored
    assert all(library_function(name).computes is Computes.NUMBER for name in stored)


def test_writers_are_implemented() -> None:
    assert {name for name, function in EVERY.items() if function.writes_text} == WRITERS


def test_meanings_have_the_arguments_of_their_prototypes() -> None:
    for meaning in Meaning:
        function = library_function(meaning.value)
        assert function.meaning is meaning
        assert function.prototype.count(",") + 1 == meaning.arguments


def test_formats_and_replacements() -> None:
    assert library_function("__isoc99_sscanf").format is FormatKind.SCANF
    assert library_function("warnx").format is FormatKind.PRINTF
    assert library_function("strcpy").replaced is Replaced.BY_CODE
    assert library_function("puts").replaced is Replaced.BY_CALL


def test_order_and_reserved_names() -> None:
    assert in_table_order({"free", "unknown", "calloc", "malloc"}) == ["malloc", "calloc", "free"]
    assert is_reserved("__memcpy_chk")
    assert is_reserved("_Exit")
    assert not is_reserved("_exit")
