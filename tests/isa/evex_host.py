"""AVX-512 instructions of `evex_cases` on the processor of this machine, in a child process.

Only instructions that the tests generated run here, never code under test.
"""

from __future__ import annotations

import ctypes
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

BEFORE, AFTER = 0x1000_0000, 0x1001_0000
"""Where registers are loaded from before an instruction, and stored to after it."""
MAPPED = 0x2_0000
DATA, DATA_SIZE = 0x2000_0000, 0x1000
"""As in `evex_cases`."""
GENERAL = ("rax", "rcx", "rdx", "rbx", "rbp", "rsi", "rdi", *(f"r{n}" for n in range(8, 16)))
"""Without the stack pointer, which no case uses."""
_KEPT = ("rbx", "rbp", "r12", "r13", "r14", "r15")
MASKS_AT, GENERAL_AT, FLAGS_AT = 32 * 64, 32 * 64 + 8 * 8, 32 * 64 + 8 * 8 + 8 * len(GENERAL)
SIZE = FLAGS_AT + 8
NEEDED = frozenset({"f", "bw", "dq", "vl", "cd", "ifma", "vbmi", "_bitalg", "_vpopcntdq"})
FLAG_BITS = {"cf": 0, "pf": 2, "zf": 6, "sf": 7, "of": 11}


def is_available() -> bool:
    """Whether this is an x86-64 Linux with gcc whose processor has everything that the cases use."""
    if platform.machine() != "x86_64" or sys.platform != "linux" or not shutil.which("gcc"):
        return False
    text = Path("/proc/cpuinfo").read_text()
    flags = next((line for line in text.splitlines() if line.startswith("flags")), "").split()
    return {f"avx512{name}" for name in NEEDED} <= {*flags}


def on_host(codes: Sequence[bytes], states: Sequence[bytes], folder: Path) -> list[bytes]:
    """What each instruction makes of its state: registers as `SIZE` bytes, then the data."""
    source, library = folder / "host.s", folder / "host.so"
    lines = [line for number, code in enumerate(codes) for line in _around(number, code)]
    note = '.section .note.GNU-stack,"",@progbits'
    source.write_text("\n".join([".intel_syntax noprefix", ".text", *lines, note, ""]))
    subprocess.run(["gcc", "-shared", "-nostdlib", "-o", str(library), str(source)], check=True)
    given = folder / "states"
    given.write_bytes(b"".join(states))
    child = subprocess.run(
        [sys.executable, "-I", __file__, str(library), str(given)], check=True, stdout=subprocess.PIPE
    )
    size = SIZE + DATA_SIZE
    return [child.stdout[start : start + size] for start in range(0, len(child.stdout), size)]


def _around(number: int, code: bytes) -> list[str]:
    """A function that loads every register, runs the instruction, and stores every register."""
    load = [f"vmovdqu64 zmm{n}, [{BEFORE + 64 * n:#x}]" for n in range(32)]
    load += [f"kmovq k{n}, [{BEFORE + MASKS_AT + 8 * n:#x}]" for n in range(8)]
    load += [f"push [{BEFORE + FLAGS_AT:#x}]", "popfq"]
    load += [f"mov {name}, [{BEFORE + GENERAL_AT + 8 * n:#x}]" for n, name in enumerate(GENERAL)]
    store = [f"mov [{AFTER + GENERAL_AT + 8 * n:#x}], {name}" for n, name in enumerate(GENERAL)]
    store += ["pushfq", f"pop [{AFTER + FLAGS_AT:#x}]"]
    store += [f"vmovdqu64 [{AFTER + 64 * n:#x}], zmm{n}" for n in range(32)]
    store += [f"kmovq [{AFTER + MASKS_AT + 8 * n:#x}], k{n}" for n in range(8)]
    return [
        f".globl case{number}",
        f"case{number}:",
        *(f"push {name}" for name in _KEPT),
        *load,
        f".byte {', '.join(map(str, code))}",
        *store,
        *(f"pop {name}" for name in reversed(_KEPT)),
        "vzeroupper",
        "ret",
    ]


def _run(library: str, given: str) -> None:
    system = ctypes.CDLL(None)
    system.mmap.restype = ctypes.c_void_p
    system.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    for address, size in ((BEFORE, MAPPED), (DATA, DATA_SIZE)):
        if system.mmap(address, size, 3, 0x32, -1, 0) != address:  # private and anonymous, at this address
            raise OSError(f"no memory at {address:#x}")
    code = ctypes.CDLL(library)
    states = Path(given).read_bytes()
    for number, start in enumerate(range(0, len(states), SIZE + DATA_SIZE)):
        ctypes.memmove(BEFORE, states[start : start + SIZE], SIZE)
        ctypes.memmove(DATA, states[start + SIZE : start + SIZE + DATA_SIZE], DATA_SIZE)
        getattr(code, f"case{number}")()
        sys.stdout.buffer.write(ctypes.string_at(AFTER, SIZE) + ctypes.string_at(DATA, DATA_SIZE))


if __name__ == "__main__":
    _run(*sys.argv[1:])
