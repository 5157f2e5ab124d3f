"""Where isoform places a linked file, its stubs and its functions decides nothing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from isoform.api import compare
from isoform.model.verdict import Different, Equivalent, Unknown, Verdict

SOURCE = """
        .text
        .macro asks name
        .globl \\name
        .type \\name, @function
        \\name:
        .endm
        .macro answers name
        shr $31, %rax
        ret
        .size \\name, . - \\name
        .endm
        asks stub
        lea outside@PLT(%rip), %rax
        answers stub
        asks function
        mov stub@GOTPCREL(%rip), %rax
        answers function
        asks label
        lea 1f(%rip), %rax
        1:
        answers label
        asks popped
        call 1f
        1: pop %rax
        answers popped
        asks filled
        movabs $outside, %rax
        answers filled
        asks filled_own
        movabs $own, %rax
        answers filled_own
        .data
        .globl own
        own: .long 5
        .section .note.GNU-stack, "", @progbits
"""
NUMBERS = """
        .text
        .globl zero, one
        .type zero, @function
        .type one, @function
        zero: xor %eax, %eax
        ret
        .size zero, . - zero
        one: mov $1, %eax
        ret
        .size one, . - one
        .section .note.GNU-stack, "", @progbits
"""
QUESTIONS = ("stub", "function", "label", "popped", "filled", "filled_own")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    folder = tmp_path_factory.mktemp("placement")
    for name, text in (("asks", SOURCE), ("numbers", NUMBERS)):
        (folder / f"{name}.s").write_text(text)
        command = ["gcc", "-shared", "-nostdlib", "-Wl,-z,notext", f"{name}.s", "-o", f"{name}.so"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("function", QUESTIONS)
def test_no_address_is_a_number(folder: Path, function: str) -> None:
    verdicts = [
        compare(
            f"{folder}/asks.so:{function}",
            f"{folder}/numbers.so:{number}",
            signature="long f(void)",
            engine="loopfree",
            budget=5,
        )
        for number in ("zero", "one")
    ]
    assert all(isinstance(verdict, Unknown | Different) for verdict in verdicts), verdicts
    assert any(isinstance(verdict, Unknown) for verdict in verdicts), verdicts


BEHIND = """
        .text
        .globl f
        .type f, @function
f:      lea f(%rip), %rax
        mov (1f - f)(%rax,%rdi,4), %eax
        ret
        .size f, . - f
1:      .long KEPT
        .section .note.GNU-stack, "", @progbits
"""


def test_what_lies_behind_a_function_is_no_memory_of_both(tmp_path: Path) -> None:
    paths = []
    for kept in ("1", "2"):
        source = tmp_path / f"{kept}.s"
        source.write_text(BEHIND.replace("KEPT", kept))
        paths.append(source.with_suffix(".o"))
        subprocess.run(["cc", "-c", str(source), "-o", str(paths[-1])], check=True)
    verdict = compare(f"{paths[0]}:f", f"{paths[1]}:f", signature="int f(long i)")
    assert isinstance(verdict, Unknown)
    assert "by a distance from the code of f" in verdict.why


PASSED = """
        .intel_syntax noprefix
        .text
        .globl f
f:      and edi, 1
        lea rdx, table[rip]
        movsxd rax, DWORD PTR [rdx + 4 * rdi]
        mov esi, eax
        add rax, rdx
        jmp rax
1:      mov edi, ENTRY
        mov esi, 1
        jmp out
2:      xor edi, edi
        mov esi, 1
        jmp out
        .section .rodata
        .balign 4
table:  .long 1b - table, 2b - table
        .section .note.GNU-stack, "", @progbits
"""


def test_an_entry_of_a_table_that_is_passed_on_is_no_number(tmp_path: Path) -> None:
    """A run would show the number that isoform's own layout gives it."""
    paths = [tmp_path / f"{name}.o" for name in ("entry", "number", "plain")]
    for path, entry in zip(paths, ("esi", "7", "8"), strict=True):
        source = path.with_suffix(".s")
        text = PASSED.replace("ENTRY", entry)
        source.write_text(text if entry != "8" else text.replace("mov esi, eax", "nop; nop"))
        subprocess.run(["cc", "-c", str(source), "-o", str(path)], check=True)

    def ask(target: Path, rewrite: Path) -> Verdict:
        return compare(f"{target}:f", f"{rewrite}:f", signature="int f(int i)", explain="none")

    refused = ask(paths[0], paths[1])
    assert isinstance(refused, Unknown)
    assert "a linker decides" in refused.why
    assert isinstance(ask(paths[1], paths[2]), Different)
    assert isinstance(ask(paths[0], paths[0]), Equivalent)


GIVEN = """
        .intel_syntax noprefix
        .text
        .globl f
f:      lea rdi, table[rip]
        movsxd rdi, DWORD PTR [rdi]
        jmp out
        .section .rodata
        .balign 4
table:  .long f - table
        .section .note.GNU-stack, "", @progbits
"""


def test_an_entry_that_is_loaded_as_an_argument_is_no_number(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.o" for name in ("entry", "number")]
    for path, text in zip(paths, (GIVEN, GIVEN.replace("movsxd rdi, DWORD PTR [rdi]", "mov edi, 7")), strict=True):
        path.with_suffix(".s").write_text(text)
        subprocess.run(["cc", "-c", str(path.with_suffix(".s")), "-o", str(path)], check=True)
    assert isinstance(compare(f"{paths[0]}:f", f"{paths[1]}:f", signature="int f(int i)"), Unknown)


WRITABLE_CODE = """
        .section .both, "awx", @progbits
v:      .long NUMBER
        .text
        .globl f
        .type f, @function
f:      mov v(%rip), %eax
        ret
        .size f, . - f
        .section .note.GNU-stack, "", @progbits
"""


def test_variables_in_code_that_may_be_written(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.so" for number in (1, 2)]
    for number, path in enumerate(paths, 1):
        path.with_suffix(".s").write_text(WRITABLE_CODE.replace("NUMBER", str(number)))
        subprocess.run(["cc", "-shared", "-nostdlib", str(path.with_suffix(".s")), "-o", str(path)], check=True)
    assert isinstance(compare(f"{paths[0]}:f", f"{paths[1]}:f", signature="int f(void)"), Unknown)
