"""Damaged files for a few seconds, that the judge would notice what it looks for, and every failure found so far."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.compiler("cc")

ROOT = Path(__file__).resolve().parents[1]
SEED = 11


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))


@pytest.fixture
def runner() -> Iterator[Any]:
    from hostile.runner import Runner

    made = Runner()
    yield made
    made.close()


@pytest.fixture
def samples(tmp_path: Path) -> Any:
    from hostile.samples import build

    return build(tmp_path)


def test_damaged_files_are_refused_or_answered() -> None:
    print(f"seed {SEED}")
    done = subprocess.run(
        [str(ROOT / "scripts" / "hostile"), "--seconds", "6", "--seed", str(SEED), "--most", "200"],
        env={**os.environ, "ISOFORM_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    totals = next(line for line in done.stdout.splitlines() if line.startswith("all ")).split()
    assert int(totals[1]) >= 8


# -- the judge ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "noticed"),
    [
        ({"code": None, "died": "no answer after 30.0 s"}, "no answer"),
        ({"code": -1, "trace": "Traceback …\nIndexError: 3"}, "IndexError"),
        ({"code": 2, "err": "isoform: a.o is not an ELF file.\n", "peak": 2 << 30}, "memory"),
        ({"code": 2, "err": "isoform: a.o is not an ELF file.\n", "seconds": 11.0, "processor": 11.0}, "processor"),
        ({"code": 2, "err": "one.\ntwo.\n"}, "one line"),
        ({"code": 2, "err": "isoform: no full stop\n"}, "sentence"),
        ({"code": 2, "err": "isoform: \x1b[31mred.\n"}, "control"),
        ({"code": 0, "out": ""}, "no output"),
        ({"code": 7, "out": "x"}, "exit code"),
        ({"code": 0, "out": "equivalent", "executed": ("subprocess.Popen a.o",)}, "executed"),
        ({"code": 0, "out": "equivalent"}, "differ"),
        ({"code": 2, "err": "isoform: a.o is not an ELF file.\n"}, ""),
    ],
)
def test_what_is_wrong_is_noticed(answer: dict[str, Any], noticed: str) -> None:
    from hostile.case import Case, Expect
    from hostile.judge import wrong
    from hostile.runner import Answer

    case = Case("elf", "a test", ("compare", "a.o:f", "b.o:f"), {}, Expect.NEVER_EQUIVALENT)
    found = wrong(case, Answer(**answer))
    assert (noticed in found) if noticed else not found


@pytest.mark.parametrize(
    ("out", "noticed"),
    [
        ('{"error": "a.o is not an ELF file."}\n', ""),
        ("", "one object"),
        ('{"error": "another."}', "one object"),
        ('{"verdict": "unknown"}', "one object"),
    ],
)
def test_a_mistake_with_json_is_an_object_with_the_same_sentence(out: str, noticed: str) -> None:
    from hostile.case import Case
    from hostile.judge import wrong
    from hostile.runner import Answer

    case = Case("elf", "a test", ("compare", "a.o:f", "b.o:f", "--json"))
    found = wrong(case, Answer(code=2, out=out, err="isoform: a.o is not an ELF file.\n"))
    assert (noticed in found) if noticed else not found


def test_damage_to_what_a_function_refers_to_is_noticed(samples: Any) -> None:
    from hostile.elf_map import ElfMap
    from hostile.fingerprint import UNREADABLE, fingerprint
    from hostile.samples import SIGNATURES

    for name, data in samples.files.items():
        elf = ElfMap(data)
        assert all(fingerprint(data, function, data) != UNREADABLE for function in SIGNATURES)
        damaged = data
        for section, title in zip(elf.sections, elf.names, strict=True):
            if title.startswith(".rodata"):
                damaged = damaged[: section.offset] + bytes(section.size) + damaged[section.offset + section.size :]
        assert fingerprint(damaged, "arithmetic", data) == fingerprint(data, "arithmetic", data)
        assert fingerprint(damaged, "lookup", data) != fingerprint(data, "lookup", data), name


def test_the_same_seed_makes_the_same_cases(tmp_path: Path) -> None:
    from hostile.campaign import FORMATS, case_of, makers

    formats = tuple(f for f in FORMATS if f != "certificate")
    ready = makers(tmp_path, formats)
    first, again, other = ([case_of(ready, seed, n) for n in range(14)] for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_process_that_hangs_is_stopped_and_the_next_case_runs(runner: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from hostile import runner as running
    from hostile.case import Case, Damaged

    monkeypatch.setattr(running, "SECONDS_LIMIT", 0.2)
    slow = Case(
        "asm", "a test", ("run", "a.asm", "1", "1", "--fuel", "1000000000"), {"a.asm": Damaged(b"l: beq $0, $0, l\n")}
    )
    assert "no answer" in runner.run(slow).died
    monkeypatch.undo()
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    assert runner.run(Case("elf", "a test", ("show", "missing.o:f"))).code == 2


# -- failures that were found, each fixed ----------------------------------------------------------


def check(runner: Any, words: tuple[str, ...], files: dict[str, bytes], code: int, said: str = "") -> None:
    from hostile.case import Case, Damaged
    from hostile.judge import wrong

    case = Case("regression", "", words, {name: Damaged(content) for name, content in files.items()})
    answer = runner.run(case)
    assert not wrong(case, answer), answer
    assert answer.code == code, answer
    assert said in " ".join((answer.out + answer.err).split()), answer


@pytest.mark.parametrize("count", [100_000, 1 << 28, 1 << 31, 1 << 34])
def test_enormous_struct_by_value(runner: Any, samples: Any, count: int) -> None:
    signature = f"struct s {{ int a[{count}]; }}; int f(struct s v)"
    words = ("compare", "o2.o:lookup", "pic.o:lookup", "--budget", "3", "--signature", signature)
    check(runner, words, dict(samples.files), 3, "on the stack")


def test_lifting_obeys_the_budget(runner: Any) -> None:
    text = b"sw $1, 0($2)\nlw $2, 4($1)\n" * 20_000 + b"jr $31\n"
    words = ("compare", "a.asm", "a.asm", "--budget", "0.5")
    check(runner, words, {"a.asm": text}, 3, "the budget of 0.5 s ran out")


def test_one_long_block_is_shown(runner: Any) -> None:
    check(runner, ("show", "a.asm"), {"a.asm": b"add $1, $1, 5\n" * 8_000}, 0)


def test_code_without_end_is_not_run(runner: Any, samples: Any) -> None:
    from hostile.elf_map import ElfMap

    data = bytearray(samples.code[1 << 20])
    elf = ElfMap(bytes(data))
    section = elf.sections[elf.names.index(".text")]
    data[section.offset : section.offset + section.size] = bytes(section.size)
    words = ("run", "a.o:f", "--fuel", "5000", "--signature", "long f(long x)", "7")
    check(runner, words, {"a.o": bytes(data)}, 2)


def sections_added(data: bytes, name: str, count: int) -> bytes:
    """The file with `count` further copies of a section's header."""
    from hostile.elf_map import HEADER_SIZE, ElfMap

    elf = ElfMap(data)
    header = data[elf.section_table + HEADER_SIZE * elf.names.index(name) :][:HEADER_SIZE]
    table = bytearray(data[elf.section_table :][: HEADER_SIZE * len(elf.sections)] + header * count)
    struct.pack_into("<Q", table, 32, len(elf.sections) + count)
    changed = bytearray(data + table)
    struct.pack_into("<Q", changed, 40, len(data))
    struct.pack_into("<H", changed, 60, 0)
    return bytes(changed)


def test_very_many_sections(runner: Any, samples: Any) -> None:
    data = samples.files["o2.o"]
    words = ("compare", "a.o:choose", "b.o:choose", "--budget", "8")
    check(runner, words, {"a.o": sections_added(data, ".bss", 200_000), "b.o": data}, 2)
    check(runner, words, {"a.o": sections_added(data, ".note.GNU-stack", 60_000), "b.o": data}, 0)


def test_sections_that_share_bytes_of_the_file(runner: Any, samples: Any) -> None:
    damaged = sections_added(samples.files["o2.o"], ".rodata", 1)
    check(runner, ("show", "a.o:choose"), {"a.o": damaged}, 2, "overlap in the file")


def test_common_symbol_without_a_name(runner: Any, samples: Any) -> None:
    from hostile.elf_map import ElfMap

    data = bytearray(samples.files["o0.o"])
    elf = ElfMap(bytes(data))
    # Whichever symbol it is, some relocation refers to one of them.
    for field in elf.symbol_fields():
        if re.search(r"symbol [1-9]\d* name$", field.name):
            struct.pack_into("<IBBHQQ", data, field.offset, 0, 0x11, 0, 0xFFF2, 16, 64)
    check(runner, ("show", "a.o:0x0"), {"a.o": bytes(data)}, 2)


def test_compressed_debug_information_that_grows_without_end(runner: Any, samples: Any) -> None:
    from hostile.elf_map import HEADER_SIZE, ElfMap

    data = bytearray(samples.files["lib.so"])
    elf = ElfMap(bytes(data))
    packer = zlib.compressobj(1)
    packed = b"".join(packer.compress(bytes(1 << 24)) for _ in range(80)) + packer.flush()
    content = struct.pack("<QQQ", 1, 80 << 24, 1) + packed
    at = elf.section_table + HEADER_SIZE * elf.names.index(".debug_str")
    struct.pack_into("<Q", data, at + 8, 0x800)
    struct.pack_into("<QQ", data, at + 24, len(data), len(content))
    check(runner, ("compare", "a.so:paint", "a.so:paint", "--budget", "3"), {"a.so": bytes(data + content)}, 0)


def test_debug_section_without_bytes_that_claims_much(runner: Any, samples: Any) -> None:
    from hostile.elf_map import HEADER_SIZE, NO_BITS, ElfMap

    data = bytearray(samples.files["lib.so"])
    elf = ElfMap(bytes(data))
    at = elf.section_table + HEADER_SIZE * elf.names.index(".debug_str")
    struct.pack_into("<I", data, at + 4, NO_BITS)
    struct.pack_into("<Q", data, at + 32, 1 << 30)
    check(runner, ("compare", "a.so:paint", "a.so:paint", "--budget", "3"), {"a.so": bytes(data)}, 0)


def test_relocations_that_refer_to_no_symbol_table(runner: Any, samples: Any) -> None:
    from hostile.elf_map import HEADER_SIZE, ElfMap

    data = bytearray(samples.files["o2.o"])
    elf = ElfMap(bytes(data))
    index = elf.names.index(".rela.text")
    struct.pack_into("<I", data, elf.section_table + HEADER_SIZE * index + 40, index)
    check(runner, ("show", "a.o:store"), {"a.o": bytes(data)}, 2, "refers to no symbol table")


def test_names_stay_on_one_line_and_apart() -> None:
    from isoform.load.elf import readable

    names = [
        b"plain",
        b"new\nline",
        b"new\\nline",
        b"\xff",
        b"\\xff",
        b"\\\\xff",
        b"\x1b[31m",
        "größe".encode(),
        b"\\udcff",
    ]
    shown = [readable(name) for name in names]
    assert shown[0] == "plain"
    assert "größe" in shown
    assert all(name.isprintable() for name in shown)
    assert len(set(shown)) == len(names)


@pytest.mark.parametrize("table", [".rela.text", ".symtab"])
def test_table_that_ends_in_the_middle_of_an_entry(runner: Any, samples: Any, table: str) -> None:
    from hostile.elf_map import HEADER_SIZE, ElfMap

    data = bytearray(samples.files["o2.o"])
    elf = ElfMap(bytes(data))
    index = elf.names.index(table)
    struct.pack_into("<Q", data, elf.section_table + HEADER_SIZE * index + 32, elf.sections[index].size - 8)
    check(runner, ("show", "a.o:store"), {"a.o": bytes(data)}, 2, "ends in the middle of")
