"""Real object files for the loader's tests."""

from __future__ import annotations

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from isoform.load.compile import compiler
from isoform.load.elf import parse_elf
from isoform.load.image import Image
from isoform.load.parsed import ParsedFile
from isoform.load.place import place

GCC = ["gcc"]
ZIG = [
    *(compiler("zig") if find_spec("ziglang") else ["zig", "cc"]),
    "-target",
    "x86_64-linux-gnu",
    "-fno-sanitize=undefined",
]


def build(folder: Path, text: str, *flags: str, driver: list[str] = GCC, suffix: str = ".c") -> Path:
    """Compile a text; `-c` unless the flags link."""
    if driver is GCC and shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    number = len(list(folder.iterdir()))
    source, output = folder / f"t{number}{suffix}", folder / f"t{number}.o"
    source.write_text(text)
    links = any(flag in ("-shared", "-pie", "-no-pie", "-nostdlib") for flag in flags)
    command = [*driver, *flags, *([] if links else ["-c"]), str(source), "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return output


def parsed(path: Path) -> ParsedFile:
    return parse_elf(path.read_bytes(), str(path))


def placed(*paths: Path) -> list[Image]:
    return place([parsed(path) for path in paths])


def address_of(image: Image, name: str) -> int:
    (found,) = [s.address for s in image.symbols if s.name == name]
    return found


def references(image: Image, function: str) -> list[tuple[str, int]]:
    """(mnemonic, address) of everything that the instructions of a function refer to, in order."""
    import capstone
    from capstone.x86 import X86_OP_IMM, X86_OP_MEM, X86_REG_RIP

    decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    decoder.detail = True
    symbol = image.functions[function]
    found = []
    for instruction in decoder.disasm(image.code_at(symbol.address, symbol.size), symbol.address):
        for operand in instruction.operands:
            if operand.type == X86_OP_MEM and operand.mem.base == X86_REG_RIP:
                found.append((instruction.mnemonic, instruction.address + instruction.size + operand.mem.disp))
            elif operand.type == X86_OP_MEM and operand.mem.disp > 0x1000 and not operand.mem.base:
                found.append((instruction.mnemonic, operand.mem.disp))
            elif operand.type == X86_OP_IMM and operand.imm > 0x1000:
                found.append((instruction.mnemonic, operand.imm))
    return found


def names_referred_to(image: Image, function: str) -> list[str]:
    """The same, as names: symbol and distance, or the contents of a literal."""
    shown = []
    own = image.functions[function]
    for _, address in references(image, function):
        if not own.address <= address < own.address + own.size:
            shown.append(_name(image, address))
    return shown


def _name(image: Image, address: int) -> str:
    slot = image.section_at(address)
    if slot is not None and slot.name.startswith(".got"):
        address = int.from_bytes(image.constant_bytes(address, 8) or b"", "little")
    if image.name_at(address):
        return str(image.name_at(address))
    for symbol in image.symbols:
        if symbol.size and symbol.address <= address <= symbol.address + symbol.size and not symbol.is_function:
            return f"{symbol.name}+{address - symbol.address}"
    section = image.section_at(address)
    return repr(section.data[address - section.address :].split(b"\0")[0]) if section else hex(address)
