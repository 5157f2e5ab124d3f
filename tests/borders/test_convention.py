"""Placing arguments: the rules one by one, and random signatures against code of a real compiler."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from isoform.borders.convention import argument_assumptions, place_signature
from isoform.isa.registry import machine
from isoform.load.prototype import parse_prototype
from isoform.model.contract import Argument, Contract, Place, Result, SignatureSource
from isoform.model.errors import Unsupported, UserError
from isoform.model.outcome import Outcome, Status
from isoform.model.placement import Placement
from isoform.model.signature import CType, Parameter, Signature, TypeKind

X86 = machine("x86_64")


def place(text: str) -> Placement:
    return place_signature(X86, parse_prototype(text))


def where(placement: Placement) -> dict[str, list[tuple[str | None, int, int]]]:
    return {a.name: [(p.register, p.offset, p.size) for p in a.places] for a in placement.arguments}


def test_integers_fill_registers_then_the_stack() -> None:
    placement = place("long f(int a, char b, short c, bool d, char *e, long g, int h, char i, long j)")
    assert where(placement) == {
        **{"a": [("rdi", 0, 4)], "b": [("rsi", 0, 1)], "c": [("rdx", 0, 2)], "d": [("rcx", 0, 1)]},
        **{"e": [("r8", 0, 8)], "g": [("r9", 0, 8)], "h": [(None, 8, 4)], "i": [(None, 16, 1)]},
        "j": [(None, 24, 8)],
    }
    assert placement.results == (Result("rax", 64),)
    assert placement.stack_argument_bytes == 24


@pytest.mark.parametrize(
    ("result", "results"),
    [
        ("void", ()),
        ("bool", (Result("rax", 8),)),
        ("char", (Result("rax", 8),)),
        ("unsigned short", (Result("rax", 16),)),
        ("int", (Result("rax", 32),)),
        ("enum { A }", (Result("rax", 32),)),
        ("void *", (Result("rax", 64),)),
        ("__int128", (Result("rax", 64), Result("rdx", 64))),
        ("float", (Result("xmm0", 32, is_float=True),)),
        ("double", (Result("xmm0", 64, is_float=True),)),
        ("struct { char a[16]; }", (Result("rax", 64), Result("rdx", 64))),
        ("struct { char a; int b; }", (Result("rax", 8), Result("rax", 32, 4))),
        ("struct { double a; long b; }", (Result("xmm0", 64, is_float=True), Result("rax", 64))),
        (
            "struct { long a; float b, c; }",
            (Result("rax", 64), Result("xmm0", 32, 0, True), Result("xmm0", 32, 4, True)),
        ),
        (
            "struct { float a, b, c; }",
            (Result("xmm0", 32, 0, True), Result("xmm0", 32, 4, True), Result("xmm1", 32, 0, True)),
        ),
        ("struct { float a; int b; }", (Result("rax", 32, 0, True), Result("rax", 32, 4))),
        ("struct { unsigned a : 3, b : 9; }", (Result("rax", 12),)),
        ("union { int a; float b; }", (Result("rax", 32),)),
        ("struct {}", ()),
    ],
)
def test_results(result: str, results: tuple[Result, ...]) -> None:
    assert place(f"{result} f(void)").results == results


def test_large_results_go_where_the_hidden_pointer_says() -> None:
    placement = place("struct s { long a, b, c; }; struct s f(int result)")
    assert where(placement) == {"result_": [("rdi", 0, 8)], "result": [("rsi", 0, 4)]}
    assert placement.results == (Result("rax", 64),)
    hidden = placement.arguments[0].type
    assert hidden.kind is TypeKind.POINTER
    assert hidden.pointee is not None
    assert hidden.pointee.bits == 192


def test_structs_take_registers_all_or_none() -> None:
    five = "int a, int b, int c, int d, int e"
    placement = place(f"struct s {{ long x, y; }}; void f({five}, struct s s, int last)")
    assert where(placement)["s"] == [(None, 8, 16)]
    assert where(placement)["last"] == [("r9", 0, 4)]


def test_wide_integers_are_aligned_on_the_stack() -> None:
    six = "int a, int b, int c, int d, int e, int g"
    placement = place(f"void f({six}, int h, __int128 i)")
    assert where(placement)["h"] == [(None, 8, 4)]
    assert where(placement)["i"] == [(None, 24, 16)]
    assert placement.stack_argument_bytes == 32


def test_misaligned_members_go_to_the_stack() -> None:
    byte, word = CType(TypeKind.INTEGER, 8), CType(TypeKind.INTEGER, 32)
    packed = CType(TypeKind.STRUCT, 40, spelling="struct p", fields=(("a", 0, byte), ("b", 1, word)))
    placement = place_signature(X86, Signature("f", (Parameter("p", packed),), packed))
    assert where(placement) == {"result": [("rdi", 0, 8)], "p": [(None, 8, 5)]}


def test_alignment_is_not_guessed() -> None:
    long = CType(TypeKind.INTEGER, 64, True, "long")
    wide, byte = CType(TypeKind.INTEGER, 128), CType(TypeKind.INTEGER, 8)
    packed = CType(TypeKind.STRUCT, 136, spelling="p", fields=(("a", 0, wide), ("b", 16, byte)))
    opaque = CType(TypeKind.STRUCT, 256, spelling="o")
    for struct in (packed, opaque):
        even, odd = ([*(Parameter(f"a{i}", long) for i in range(n)), Parameter("s", struct)] for n in (6, 7))
        assert place_signature(X86, Signature("f", tuple(even), long)).arguments[-1].places[0].offset == 8
        with pytest.raises(Unsupported, match="alignment"):
            place_signature(X86, Signature("f", tuple(odd), long))


@pytest.mark.parametrize(
    "ctype",
    [
        CType(TypeKind.STRUCT, 64, spelling="struct opaque"),
        CType(TypeKind.FLOAT, 256, spelling="int vector"),
        CType(
            TypeKind.STRUCT,
            64,
            spelling="s",
            fields=(("a", 0, CType(TypeKind.FLOAT, 32)), ("u", 4, CType(TypeKind.STRUCT, 32, spelling="union u"))),
        ),
        CType(TypeKind.STRUCT, 256, spelling="complex", fields=(("real", 0, CType(TypeKind.FLOAT, 128)),)),
        CType(TypeKind.STRUCT, 128, spelling="s", fields=(("a", 0, CType(TypeKind.INTEGER, 8)),)),
        CType(TypeKind.STRUCT, 64, spelling="s", fields=(("a", 8, CType(TypeKind.INTEGER, 64)),)),
    ],
)
def test_what_cannot_be_placed_is_said(ctype: CType) -> None:
    with pytest.raises(Unsupported, match="cannot place"):
        place_signature(X86, Signature("f", (Parameter("x", ctype),), CType(TypeKind.VOID, 0)))


def test_a_long_double_is_the_result_of_a_compared_function_only() -> None:
    signature = Signature("f", (), CType(TypeKind.FLOAT, 80, True, "long double"))
    placed = place_signature(X86, signature, is_compared=True)
    assert (placed.results, placed.result_beside) == ((), "x87")
    with pytest.raises(Unsupported, match="no register for results"):
        place_signature(X86, signature)


def test_which_nan_a_long_double_is_makes_no_difference() -> None:
    contract = Contract(
        machine=X86, signature=None, source=SignatureSource.DWARF, arguments=(), results=(), result_beside="x87"
    )
    in_use, one, nan = 1 << 640, 0x3FFF << 64 | 1 << 63, 0x7FFF << 64 | 3 << 62
    minus_nan, infinity = nan | 1 << 79, 0x7FFF << 64 | 1 << 63

    def differs(left: int, right: int) -> bool:
        return bool(contract.differences(*(Outcome(Status.DONE, registers={"x87": value}) for value in (left, right))))

    assert not differs(in_use | nan, in_use | minus_nan)
    assert differs(in_use | nan, in_use | one)
    assert differs(in_use | infinity, in_use | infinity | 1 << 79)
    assert differs(in_use | nan, nan)


def test_results_that_cannot_be_compared_are_said() -> None:
    for text in ("long double f(void)", "struct s { long double a; }; struct s f(void)"):
        with pytest.raises(Unsupported, match=r"x87|no register for results"):
            place(text)
    with pytest.raises(UserError, match="members overlap"):
        place("union u { char c; long l; }; union u f(void)")


def test_assumptions() -> None:
    def names(text: str) -> list[str]:
        return [assumption.name for assumption in argument_assumptions(X86, place(text).arguments)]

    assert names("int f(int a, long b, char *p, double d)") == []
    assert names("int f(short a)") == ["narrow-arguments-extended"]
    assert names("int f(bool a)") == ["narrow-arguments-extended", "bool-is-0-or-1"]


def test_small_machines() -> None:
    cs241 = place_signature(machine("cs241"), parse_prototype("int f(int a, int *b)", word_bits=32))
    assert [a.places for a in cs241.arguments] == [(Place("$1", 0, 4),), (Place("$2", 0, 4),)]
    assert cs241.results == (Result("$3", 32),)
    toy = machine("toy")
    placed = place_signature(toy, parse_prototype("unsigned char f(int x)"))
    assert placed.results == (Result(toy.convention.result[0], 8),)
    for text, part in (
        ("int f(int a, int b)", "at most 1"),
        ("int f(long a)", "parameter a the type 'long'"),
        ("double f(void)", "the result"),
    ):
        with pytest.raises(UserError, match=part):
            place_signature(toy, parse_prototype(text))


SCALARS = ["char", "short", "int", "long", "_Bool", "void *", "__int128", "float", "double", "long double"]
STRUCTS = {
    "struct ci": "struct ci { char c; int i; };",
    "struct ll": "struct ll { long a, b; };",
    "struct lll": "struct lll { long a, b, c; };",
    "struct fff": "struct fff { float a, b, c; };",
    "struct dl": "struct dl { double a; long b; };",
    "struct id": "struct id { int a; double b; };",
    "struct fi": "struct fi { float a; int b; };",
    "struct c3": "struct c3 { char a[3]; };",
    "struct s5": "struct s5 { short a[5]; };",
    "struct n": "struct n { struct { float x; } a; struct { short y; } b; };",
    "struct q": "struct q { __int128 a; };",
    "struct qc": "struct qc { __int128 a; char b; };",
    "struct ld": "struct ld { long double a; };",
    "union u": "union u { int a; float b; };",
    "struct dd": "struct dd { double a, b; };",
    "struct bits": "struct bits { char a; unsigned b : 5, c : 19; long d : 40; };",
}


def scalars(ctype: CType, start: int = 0) -> Iterator[tuple[int, int]]:
    """Offset and width in bits of every scalar."""
    if ctype.kind is not TypeKind.STRUCT:
        yield start, ctype.bits
    for _, offset, member in ctype.fields:
        yield from scalars(member, start + offset)


def meaning(ctype: CType, data: bytes) -> list[int]:
    """The bits of a value that mean something."""
    number = int.from_bytes(data, "little")
    return [number >> 8 * start & ((1 << bits) - 1) for start, bits in scalars(ctype)]


def build(source: str, folder: Path) -> Path:
    found = shutil.which("gcc") or shutil.which("cc")
    command = [found] if found else [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-linux-gnu"]
    (folder / "code.c").write_text(source)
    flags = ["-O1", "-w", "-nostdlib", "-static", "-fno-stack-protector", "-ffreestanding", "-fno-pic", "-no-pie"]
    program = folder / "code"
    subprocess.run([*command, *flags, "-Wl,-e,f0", str(folder / "code.c"), "-o", str(program)], check=True)
    return program


class Emulated:
    """The built program on Unicorn."""

    STACK = 0x7000_0000

    def __init__(self, program: Path) -> None:
        import unicorn
        from elftools.elf.elffile import ELFFile
        from unicorn import x86_const

        self._unicorn = unicorn.Uc(unicorn.UC_ARCH_X86, unicorn.UC_MODE_64)
        self._constants = x86_const
        with program.open("rb") as file:
            elf = ELFFile(file)
            loaded = [s for s in elf.iter_segments() if s["p_type"] == "PT_LOAD"]
            first = min(s["p_vaddr"] for s in loaded) & ~0xFFF
            last = max(s["p_vaddr"] + s["p_memsz"] for s in loaded) + 0xFFF & ~0xFFF
            self._unicorn.mem_map(first, last - first)
            for segment in loaded:
                self._unicorn.mem_write(segment["p_vaddr"], segment.data())
            table = elf.get_section_by_name(".symtab")
            self.symbols = {s.name: s["st_value"] for s in table.iter_symbols()}
        self._unicorn.mem_map(self.STACK - 0x10000, 0x20000)

    def _register(self, name: str) -> int:
        return int(getattr(self._constants, f"UC_X86_REG_{name.upper()}"))

    def set_place(self, where: Place, data: bytes, noise: random.Random) -> None:
        if where.register is None:
            self._unicorn.mem_write(self.STACK + where.offset, data)
            return
        width = X86.registers[where.register].size
        whole = data + noise.randbytes(width - len(data))
        self._unicorn.reg_write(self._register(where.register), int.from_bytes(whole, "little"))

    def read_register(self, name: str) -> int:
        return int(self._unicorn.reg_read(self._register(name)))

    def write(self, symbol: str, data: bytes) -> None:
        self._unicorn.mem_write(self.symbols[symbol], data)

    def read(self, address: int, size: int) -> bytes:
        return bytes(self._unicorn.mem_read(address, size))

    def call(self, function: str) -> None:
        end = self.STACK - 0x8000
        self._unicorn.mem_write(self.STACK, end.to_bytes(8, "little"))
        self._unicorn.reg_write(self._register("rsp"), self.STACK)
        self._unicorn.emu_start(self.symbols[function], end, count=10000)


def aligned_random(rng: random.Random, ctype: CType) -> bytes:
    """Random bytes that are a valid value: booleans 0 or 1, a long double normalised."""
    if ctype.kind is TypeKind.BOOL:
        return bytes([rng.randrange(2)])
    if ctype.spelling == "long double" or any(m.spelling == "long double" for _, _, m in ctype.fields):
        return (rng.randbytes(7) + b"\x80" + rng.randbytes(1) + b"\x3f").ljust(ctype.bits // 8, b"\0")
    if ctype.kind is TypeKind.FLOAT or "float" in ctype.spelling:
        return bytes(ctype.bits // 8 - 2) + b"\x80\x3f"
    return rng.randbytes(ctype.bits // 8)


def test_random_signatures_against_the_compiler(tmp_path: Path) -> None:
    seed = 31337
    print("seed", seed)
    rng = random.Random(seed)
    kinds = [*SCALARS, *STRUCTS]
    definitions = " ".join(STRUCTS.values())
    functions, source = [], [definitions]
    for number in range(80):
        taken = [rng.choice(kinds) for _ in range(rng.randint(1, 11))]
        result = rng.choice([k for k in kinds if k not in ("long double", "struct ld")])
        parameters = ", ".join(f"{kind} p{index}" for index, kind in enumerate(taken))
        prototype = f"{result} f{number}({parameters})"
        functions.append(parse_prototype(f"{definitions} {prototype}"))
        source += [f"{kind} g{number}_{index};" for index, kind in enumerate(taken)]
        source.append(f"{result} r{number};")
        body = " ".join(f"g{number}_{index} = p{index};" for index in range(len(taken)))
        source.append(f"{prototype} {{ {body} return r{number}; }}")
    emulated = Emulated(build("\n".join(source), tmp_path))
    for number, signature in enumerate(functions):
        check_function(emulated, number, signature, rng)


def check_function(emulated: Emulated, number: int, signature: Signature, rng: random.Random) -> None:
    placement = place_signature(X86, signature)
    values = {}
    for argument in placement.arguments:
        data = aligned_random(rng, argument.type)
        if argument.name == "result":
            data = (emulated.STACK - 0xC000).to_bytes(8, "little")
        values[argument.name] = data
        set_argument(emulated, argument, data, rng)
    returned = aligned_random(rng, signature.result)
    emulated.write(f"r{number}", returned)
    emulated.call(f"f{number}")
    for index, parameter in enumerate(signature.parameters):
        stored = emulated.read(emulated.symbols[f"g{number}_{index}"], parameter.type.bits // 8)
        given = values[parameter.name]
        assert meaning(parameter.type, stored) == meaning(parameter.type, given), (str(signature), parameter.name)
    check_result(emulated, placement, signature, returned)


def set_argument(emulated: Emulated, argument: Argument, data: bytes, rng: random.Random) -> None:
    start = 0
    for place_of in argument.places:
        emulated.set_place(place_of, data[start : start + place_of.size], rng)
        start += place_of.size
    assert start == len(data)


def check_result(emulated: Emulated, placement: Placement, signature: Signature, returned: bytes) -> None:
    ctype = signature.result
    if placement.arguments and placement.arguments[0].name == "result":
        address = emulated.read_register("rax")
        assert address == emulated.STACK - 0xC000
        assert meaning(ctype, emulated.read(address, ctype.bits // 8)) == meaning(ctype, returned)
        return
    found = expected = shift = 0
    for result in placement.results:
        part = emulated.read_register(result.register) >> 8 * result.offset & ((1 << result.bits) - 1)
        found |= part << shift
        shift += result.bits
    shift = 0
    for start, bits in sorted(set(scalars(ctype))):
        expected |= (int.from_bytes(returned, "little") >> 8 * start & ((1 << bits) - 1)) << shift
        shift += bits
    assert found == expected, str(signature)
