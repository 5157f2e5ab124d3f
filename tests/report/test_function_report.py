"""`isoform show`: micro-ops in infix keep their meaning while temps are written where they are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from isoform.api import show
from isoform.isa.registry import machine
from isoform.lift.infix import Infix, grouped, number, rename_temps
from isoform.lift.shown import function_lines
from isoform.load.image import Image
from isoform.model.microop import Kind, MicroOp, Space, Var, const

RAX, RDI = (Var(Space.REGISTER, offset, 8) for offset in (0, 56))
FIRST, SECOND = (Var(Space.TEMP, offset, 8) for offset in (0x40, 0x80))


def infix(*ops: MicroOp) -> list[str]:
    renamed = rename_temps(ops, [0] * len(ops), (), 0, frozenset())
    writer = Infix(machine("x86_64"), Image("none", "x86_64", (), ()), renamed, {})
    return [*writer.lines(renamed.ops), *writer.rest()]


def shown(path: Path, function: str = "f") -> str:
    lines = function_lines(show(f"{path}:{function}"))
    return "\n".join("".join(span.text for span in line) for line in lines)


def test_temp_read_once_is_written_where_it_is_read() -> None:
    add = MicroOp(Kind.INT_ADD, FIRST, (RDI, const(8, 8)))
    assert infix(add, MicroOp(Kind.LOAD, RAX, (FIRST,))) == ["rax = load8(rdi + 8)"]


def test_temp_is_named_when_its_operand_changes_first() -> None:
    add = MicroOp(Kind.INT_ADD, FIRST, (RDI, const(8, 8)))
    clear = MicroOp(Kind.COPY, RDI, (const(0, 8),))
    assert infix(add, clear, MicroOp(Kind.COPY, RAX, (FIRST,))) == ["t1 = rdi + 8", "rdi = 0", "rax = t1"]


def test_load_is_named_when_memory_changes_first() -> None:
    load = MicroOp(Kind.LOAD, FIRST, (RDI,))
    store = MicroOp(Kind.STORE, None, (RDI, RAX))
    assert infix(load, store, MicroOp(Kind.COPY, RAX, (FIRST,))) == ["t1 = load8(rdi)", "store8(rdi, rax)", "rax = t1"]


def test_operand_of_an_operand_counts_too() -> None:
    """The load is inside the sum that is waiting: a store in between must still bring it out."""
    ops = (
        MicroOp(Kind.LOAD, FIRST, (RDI,)),
        MicroOp(Kind.INT_ADD, SECOND, (FIRST, const(1, 8))),
        MicroOp(Kind.STORE, None, (RDI, RAX)),
        MicroOp(Kind.COPY, RAX, (SECOND,)),
    )
    assert infix(*ops) == ["t1 = load8(rdi) + 1", "store8(rdi, rax)", "rax = t1"]


def test_temp_written_twice_has_two_names() -> None:
    ops = (
        MicroOp(Kind.INT_ADD, FIRST, (RDI, RDI)),
        MicroOp(Kind.INT_XOR, RAX, (FIRST, FIRST)),
        MicroOp(Kind.INT_MULT, FIRST, (RDI, RDI)),
        MicroOp(Kind.INT_OR, RAX, (FIRST, FIRST)),
    )
    assert infix(*ops) == ["t1 = rdi + rdi", "rax = t1 ^ t1", "t2 = rdi * rdi", "rax = t2 | t2"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("eax", "eax"), ("load8(rsp + 8)", "load8(rsp + 8)"), ("a + b", "(a + b)"), ("f(a) + b", "(f(a) + b)")],
)
def test_brackets_only_where_needed(text: str, expected: str) -> None:
    assert grouped(text) == expected


def test_numbers() -> None:
    assert [number(value) for value in (0, 9, -9, 10, 255, -16)] == ["0", "9", "-9", "0xa", "0xff", "-0x10"]


def test_value_carried_to_another_instruction_keeps_one_name(tmp_path: Path) -> None:
    source = tmp_path / "carry.s"
    source.write_text("\t.globl f\nf:\tpush %rbx\n\tmov %rdi, %rax\n\tpop %rbx\n\tret\n")
    text = shown(source)
    assert "v1 = rsp - 8" in text
    assert "store8(v1, rbx)" in text
    assert "rbx = load8(v1)" in text


@pytest.mark.compiler("gcc-12")
def test_switch_lists_its_cases(tmp_path: Path) -> None:
    source = tmp_path / "switch.c"
    cases = "".join(f"case {n}: g({n * n + 7}); return {n * n ^ 5};" for n in range(8))
    source.write_text(f"void g(int); int f(int x) {{ switch (x) {{ {cases} }} return -1; }}\n")
    text = shown(source)
    assert "switch v" in text or "switch rax" in text
    assert text.count("call g → block") == 8


def test_instruction_that_repeats_shows_its_loop(tmp_path: Path) -> None:
    source = tmp_path / "fill.s"
    source.write_text("\t.globl f\nf:\trep stosb\n\tret\n")
    text = shown(source)
    assert "if rcx == 0" in text
    assert "store1(rdi, al)" in text
    assert "1 loop" in text
