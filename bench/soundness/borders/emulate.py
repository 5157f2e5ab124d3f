"""Links a side with its harness and runs it on an emulated CPU: the record of what it did. Nothing runs natively."""

from __future__ import annotations

import struct
import subprocess
from io import BytesIO
from pathlib import Path
from typing import Any

from isoform.model.errors import UserError

STEPS = 20_000_000
_PAGE = 0x1000
_STACK, _STACK_SIZE = 0x7000_0000_0000, 0x100_0000
_THREAD = 0x6000_0000_0000
_COMPILED = ("-O1", "-w", "-fno-builtin", "-ffreestanding", "-fno-stack-protector", "-fno-pic", "-fno-strict-aliasing")
_LINKED = ("-static", "-nostdlib", "-no-pie", "-Wl,-z,noexecstack", "-Wl,--no-warn-mismatch", "-Wl,-e,begin")


class Unrunnable(Exception):
    """The emulated run says nothing: it does not link, does not end, or uses memory it may not."""


def built_harness(text: str, folder: Path, name: str = "harness") -> Path:
    source, made = folder / f"{name}.c", folder / f"{name}.o"
    source.write_text(text)
    _run(["gcc", *_COMPILED, "-c", str(source), "-o", str(made)])
    return made


def recorded(harness: Path, side: Path, linker_flags: tuple[str, ...] = ()) -> tuple[int, ...]:
    """What the driver recorded with this side."""
    program = side.with_suffix(".exe")
    _run(["gcc", *_LINKED, *linker_flags, str(harness), str(side), "-lgcc", "-o", str(program)])
    return _emulated(program.read_bytes())


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != 0:
        lines = [
            line for line in done.stderr.splitlines() if "error" in line or "undefined" in line or "multiple" in line
        ]
        raise Unrunnable(f"{command[0]}: {' '.join(lines[:3]) or done.stderr[-300:]}")


def _emulated(program: bytes) -> tuple[int, ...]:
    import unicorn
    from elftools.elf.elffile import ELFFile
    from unicorn import x86_const as x86

    elf = ELFFile(BytesIO(program))
    emulator: Any = unicorn.Uc(unicorn.UC_ARCH_X86, unicorn.UC_MODE_64)
    segments = [segment for segment in elf.iter_segments() if segment["p_type"] == "PT_LOAD"]
    ranges = [(segment["p_vaddr"], segment["p_memsz"]) for segment in segments]
    _map(emulator, [*ranges, (_STACK, _STACK_SIZE), (_THREAD - 0x10000, 0x20000)])
    for segment in segments:
        emulator.mem_write(segment["p_vaddr"], segment.data())
    block = _thread_data(elf)
    head = struct.pack("<Q", _THREAD) + bytes(32) + struct.pack("<Q", 0x1234567800)
    emulator.mem_write(_THREAD - len(block), block + head)
    emulator.reg_write(x86.UC_X86_REG_FS_BASE, _THREAD)
    emulator.reg_write(x86.UC_X86_REG_RSP, _STACK + _STACK_SIZE - 0x10008)
    symbols = _symbols(elf)
    try:
        emulator.emu_start(symbols["begin"], symbols["finished"], count=STEPS)
    except unicorn.UcError as error:
        raise Unrunnable(f"emulated run: {error} at {emulator.reg_read(x86.UC_X86_REG_RIP):#x}") from None
    if emulator.reg_read(x86.UC_X86_REG_RIP) != symbols["finished"]:
        raise Unrunnable("emulated run: not finished")
    (length,) = struct.unpack("<Q", emulator.mem_read(symbols["log_length"], 8))
    return struct.unpack(f"<{length}Q", emulator.mem_read(symbols["log_"], 8 * length))


def _map(emulator: Any, ranges: list[tuple[int, int]]) -> None:
    """Segments may share pages, which can be mapped only once."""
    merged: list[tuple[int, int]] = []
    for start, size in sorted(ranges):
        first, last = start & -_PAGE, -(-(start + size) // _PAGE) * _PAGE
        if merged and first <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    for first, last in merged:
        emulator.mem_map(first, last - first)


def _thread_data(elf: Any) -> bytes:
    """The initial contents of what each thread has of its own, as they lie below the thread pointer."""
    for segment in elf.iter_segments():
        if segment["p_type"] == "PT_TLS":
            size = -(-segment["p_memsz"] // segment["p_align"]) * segment["p_align"]
            return bytes(segment.data().ljust(size, b"\0"))
    return b""


def _symbols(elf: Any) -> dict[str, int]:
    table = elf.get_section_by_name(".symtab")
    if table is None:
        raise UserError("the harness was linked without symbols")
    return {symbol.name: symbol["st_value"] for symbol in table.iter_symbols()}
