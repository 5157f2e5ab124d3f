"""Machine code that nobody would write, in object files that are otherwise sound."""

from __future__ import annotations

import struct
from collections.abc import Callable
from random import Random

from hostile.case import Case, Damaged, Edit
from hostile.elf_map import ElfMap
from hostile.samples import CODE_SIZES, Samples

_ENCODINGS = (
    "4889f8 89f8 01f0 29f0 0faff7 48f7f6 48f7fe 99f7fe 8b07 8907 488b0437 48891437 0fb607 48c1e007 d3e0 48d3e0 "
    "0f44c7 0f94c0 50 58 5f 4883ec18 4883c418 c9 55 4889e5 f3a4 f348ab f2ae ffd0 ffe0 ff2425 ff6007 c3 f3c3 cc f4 "
    "0f0b 0f05 cd80 e9 eb e8 74fe 75fe 7400 e2fe ebfe ebff 668bc7 6690 0f1f4000 480fc8 f00fb10f f0480fc10f 9c 9d fc "
    "fd 660f6fc1 660fefc0 660f38000c24 c5fdefc0 c5fd7f07 62f17c48 f20f58c1 f30f59c1 f20f5ec1 0f2fc1 d9c0 dec1 0fa2 "
    "0f31 0f01d0 0fc7f0 8ed8 64488b042528000000 0f0d07 0fae f8 48b8 66 f2 f3 48 4f 67 2e 0f 0f38 0f3a 4c8d05 488b05 "
    "4883c001 4829c4 4801e4 488d2424 4889fc 488b24d7 c8ffff00 c20800 ca0000 cb cf 6a7f 68ffffff7f 480fbcc7 "
    "f3480fb8c7 c4e2f8f2c7 0fc8 9090"
)
"""Whole instructions, and beginnings of some: what follows becomes part of them."""
_PIECES = tuple(bytes.fromhex(encoding) for encoding in _ENCODINGS.split())
_HEADER = b"\x48\x89\xf8"


def code_case(random: Random, samples: Samples) -> Case:
    ways: tuple[Callable[[Random], tuple[str, bytes]], ...] = (
        *[_garbage] * 4,
        *[_pieces] * 6,
        *[_tangle] * 3,
        _call_chain,
        _diamonds,
        _hard_arithmetic,
        _stores,
        _stack,
        _loops,
        _jump_table,
        _endless,
    )
    what, code = random.choice(ways)(random)
    other_what, other = (what, code) if random.random() < 0.5 else random.choice(ways[:13])(random)
    files = {"a.o": _object(samples, code), "b.o": _object(samples, other)}
    shape = random.randrange(8)
    if shape == 0:
        return Case("code", what, ("show", "a.o:f"), files)
    if shape == 1:
        return Case("code", what, ("run", "a.o:f", "--fuel", "5000", "--signature", "long f(long x)", "7"), files)
    budget = random.choice(("0.3", "0.3", "1", "3"))
    words = ["compare", "a.o:f", "b.o:f", "--budget", budget, "--signature", "long f(long x, long *p, long n)"]
    words += ["--json"] if random.random() < 0.5 else []
    words += ["--calls", "uninterpreted"] if random.random() < 0.2 else []
    words += ["--unroll", str(random.choice((0, 4, 1000)))] if random.random() < 0.3 else []
    return Case("code", f"{what} against {other_what}", tuple(words), files)


def _object(samples: Samples, code: bytes) -> Damaged:
    size = next(size for size in CODE_SIZES if size >= len(code))
    base = samples.code[size]
    elf = ElfMap(base)
    return Damaged(base, (Edit(elf.sections[elf.names.index(".text")].offset, code),))


def _garbage(random: Random) -> tuple[str, bytes]:
    return "random bytes", random.randbytes(random.choice((15, 64, 256, 4096)))


def _pieces(random: Random) -> tuple[str, bytes]:
    """Instructions, and halves of them, one after the other."""
    count = random.choice((4, 10, 30, 100, 800))
    code = b"".join(random.choice(_PIECES) for _ in range(count))
    return f"{count} instructions", code[:4000] + b"\xc3"


def _tangle(random: Random) -> tuple[str, bytes]:
    """Short jumps, forwards, backwards and into the middle of each other."""
    code = bytearray()
    for _ in range(random.choice((5, 20, 60, 200))):
        if random.random() < 0.5:
            code += random.choice(_PIECES[:20])
        else:
            code += bytes(
                [random.choice((0x70, 0x72, 0x74, 0x75, 0x7C, 0x7F, 0xEB, 0xE2, 0xE3)), random.randrange(256)]
            )
    return "tangled jumps", bytes(code) + b"\xc3"


def _call_chain(random: Random) -> tuple[str, bytes]:
    """Each function calls the next one, once or twice; the last returns or calls the first."""
    count = random.choice((20, 200, 3000))
    twice = random.random() < 0.5
    step = 16
    code = bytearray()
    for _ in range(count):
        body = b""
        for _ in range(2 if twice else 1):
            body += b"\xe8" + struct.pack("<i", step - len(body) - 5)
        code += (body + b"\xc3").ljust(step, b"\x90")
    code += b"\xc3" if random.random() < 0.7 else b"\xe8" + struct.pack("<i", -count * step - 5) + b"\xc3"
    return f"{count} calls deep", bytes(code)


def _diamonds(random: Random) -> tuple[str, bytes]:
    """A branch and a join, many times: as many paths as there are subsets."""
    count = random.choice((30, 500, 4000))
    code = b"".join(b"\xa9" + struct.pack("<I", 1 << (i % 31)) + b"\x74\x03\x48\xff\xc0" for i in range(count))
    return f"{count} diamonds", _HEADER + code + b"\xc3"


def _hard_arithmetic(random: Random) -> tuple[str, bytes]:
    pieces = (
        b"\x48\x0f\xaf\xc7",
        b"\x48\x0f\xaf\xc6",
        b"\x48\x31\xd2\x48\xf7\xf6",
        b"\x48\x01\xf0",
        b"\x48\xd3\xc0",
        b"\x48\x99\x48\xf7\xff",
    )
    count = random.choice((20, 300, 3000))
    return f"{count} multiplications and divisions", _HEADER + b"".join(
        random.choice(pieces) for _ in range(count)
    ) + b"\xc3"


def _stores(random: Random) -> tuple[str, bytes]:
    """Loads and stores through addresses that may all be the same."""
    pieces = (
        b"\x48\x89\x04\x3e",
        b"\x48\x8b\x04\x3e",
        b"\x48\x8b\x36",
        b"\x88\x07",
        b"\x48\x89\x07",
        b"\x48\x8b\x3f",
        b"\x48\x01\xc7",
    )
    count = random.choice((30, 300, 3000))
    return f"{count} stores that may overlap", _HEADER + b"".join(random.choice(pieces) for _ in range(count)) + b"\xc3"


def _stack(random: Random) -> tuple[str, bytes]:
    """The stack pointer moved by inputs, aligned, or run far away."""
    pieces = (
        b"\x48\x29\xfc",
        b"\x48\x83\xe4\xf0",
        b"\x50",
        b"\x58",
        b"\x48\x81\xec" + struct.pack("<i", 1 << 30),
        b"\x48\x89\xfc",
        b"\x48\x8b\x24\x24",
        b"\x48\x87\xe7",
        b"\x8b\x04\x24",
    )
    count = random.choice((5, 40, 2000))
    return f"{count} stack instructions", b"".join(random.choice(pieces) for _ in range(count)) + b"\xc3"


def _loops(random: Random) -> tuple[str, bytes]:
    """Loops in loops, with a fixed count or one that depends on the input."""
    depth = random.choice((1, 3, 12, 60))
    code = _HEADER
    for level in range(depth):
        count = b"\xb9" + struct.pack("<I", random.choice((2, 3, 1000, 0xFFFFFFFF))) if level else b"\x89\xf9"
        body = b"\x51" + code + b"\x59\x48\xff\xc0\xff\xc9"
        code = count + body + b"\x0f\x85" + struct.pack("<i", -len(body) - 6)
    return f"loops {depth} deep", code[: 1 << 16] + b"\xc3"


def _jump_table(random: Random) -> tuple[str, bytes]:
    """A computed jump through a table that lies in the code, with entries that lead anywhere."""
    count = random.choice((4, 200, 4000))
    limit = random.choice((count - 1, 0x7FFFFFFF))
    code = (
        b"\x89\xf8\x3d"
        + struct.pack("<I", limit)
        + b"\x77\x11\x48\x8d\x15\x0b\x00\x00\x00\x48\x63\x04\x82\x48\x01\xd0\xff\xe0\x90\xc3\x90"
    )
    table = b"".join(
        struct.pack("<i", random.choice((random.randrange(-40, 4 * count), -12, 1 << 30))) for _ in range(count)
    )
    return f"a jump table of {count} entries", code + table + b"\xc3"


def _endless(random: Random) -> tuple[str, bytes]:
    """A very long function, with or without an end."""
    size = random.choice((1 << 16, (1 << 20) - 8))
    piece = random.choice(
        (b"\x90", b"\x48\xff\xc0", b"\x00\x00", b"\xcc", b"\x48\x0f\xaf\xc7", b"\x75\x00", b"\x50", b"\xe8\0\0\0\0")
    )
    return f"{size} bytes of {piece.hex()}", (piece * (size // len(piece)))[: size - 8]
