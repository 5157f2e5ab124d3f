"""The share of instructions with semantics: counted is code, and not what merely lies in an executable section."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from isoform.load.elf import parse_elf
from isoform.load.place import place
from semantics.coverage import Coverage, coverage, report, unwind_ranges

pytestmark = pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")), reason="no compiler here")

_SOURCE = """
    .text
    .globl known
    .type known, @function
known:
    mov %edi, %eax
    call helper
    ret
    .size known, . - known

table:
    .fill 64, 1, 0x06

helper:
    cpuid
    jmp known

unwound:
    .cfi_startproc
    xor %eax, %eax
    rdtsc
    ret
    .cfi_endproc

    .fill 32, 1, 0x06
    .section .note.GNU-stack,"",@progbits
"""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    source, target = tmp_path / "code.s", tmp_path / "code.so"
    source.write_text(_SOURCE)
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler is not None
    flags = ["-shared", "-nostdlib", "-Wl,--strip-all"]
    subprocess.run([compiler, *flags, str(source), "-o", str(target)], check=True)
    return target


def _counted(path: Path, with_unwind_table: bool) -> Coverage:
    data = path.read_bytes()
    image = place([parse_elf(data, str(path))])[0]
    return coverage(image, unwind_ranges(data, image.base) if with_unwind_table else None)


def test_functions_and_what_they_lead_to_are_counted_and_tables_are_not(library: Path) -> None:
    counted = _counted(library, with_unwind_table=False)
    assert (counted.functions, counted.whole_functions) == (1, 1)
    assert (counted.instructions, counted.supported) == (5, 4)
    assert dict(counted.missing) == {"cpuid": 1}
    assert counted.code_bytes + 96 < counted.all_bytes


def test_the_unwind_table_knows_functions_without_a_symbol(library: Path) -> None:
    counted = _counted(library, with_unwind_table=True)
    assert (counted.functions, counted.whole_functions) == (2, 1)
    assert (counted.instructions, counted.supported) == (8, 6)
    assert dict(counted.missing) == {"cpuid": 1, "rdtsc": 1}


def test_a_file_without_an_unwind_table_has_no_ranges() -> None:
    assert unwind_ranges(b"\x7fELF", 0) == []


def test_the_report_names_what_is_missing(library: Path) -> None:
    assert "cpuid 1" in report(library, None)
