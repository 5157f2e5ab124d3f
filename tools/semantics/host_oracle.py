"""One instruction on the processor of this machine, in a child process with limits.

Only instructions that this package generated run here, never code under test.
"""

from __future__ import annotations

import contextlib
import platform
import struct
import subprocess
import sys
from functools import cache
from pathlib import Path

from semantics.encoding import DATA_SIZE, GENERAL, Template
from semantics.state import FLAGS, VECTORS, State

_FLAG_BITS = {"cf": 0, "pf": 2, "zf": 6, "sf": 7, "df": 10, "of": 11}
_SIGNALS = {8: "division fault", 4: "undefined instruction", 5: "trap", 11: "memory", 7: "memory"}
REGISTERS_FORMAT = "<16QQ512s"
"""General registers in the order of their numbers, flags, vectors."""
REGISTERS_SIZE = struct.calcsize(REGISTERS_FORMAT)
CODE_SIZE = 16
_NEEDED = frozenset({"avx2", "bmi1", "bmi2", "adx", "pclmulqdq", "movbe", "abm"})


_AT_HAND = "fpu"
_FURTHER = {"AES": "aes", "VAES": "aes", "SHA1": "sha_ni", "SHA256": "sha_ni"}
"""What some instructions need beside it, by the start of their name."""


def _feature(mnemonic: str) -> str:
    return next((needed for start, needed in _FURTHER.items() if mnemonic.startswith(start)), _AT_HAND)


@cache
def _features() -> frozenset[str]:
    text = Path("/proc/cpuinfo").read_text()
    return frozenset(next((line for line in text.splitlines() if line.startswith("flags")), "").split())


@cache
def is_available() -> bool:
    """Whether the host is an x86-64 Linux whose processor has all that the forms use, and which lets us use it."""
    if platform.machine() != "x86_64" or sys.platform != "linux":
        return False
    return _features() >= _NEEDED and _runs()


def _runs() -> bool:
    """Some systems forbid memory that is both written and executed."""
    oracle = HostOracle()
    nothing = State(dict.fromkeys(GENERAL, 0), dict.fromkeys(FLAGS, 0), [0] * len(VECTORS), bytes(DATA_SIZE))
    try:
        return oracle.run(b"\x90", nothing, branch=False) == nothing
    except (OSError, RuntimeError):
        return False
    finally:
        oracle.close()


class HostOracle:
    name = "host"

    def __init__(self) -> None:
        child = Path(__file__).with_name("host_child.py")
        self._child = subprocess.Popen(
            [sys.executable, "-I", str(child)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def close(self) -> None:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        with contextlib.suppress(OSError):
            self._child.stdin.close()
        self._child.stdout.close()
        self._child.wait()

    def knows(self, template: Template) -> bool:
        """Control flow would leave the trampoline; `std`, traps and the like return well."""
        return not template.branch and _feature(template.mnemonic) in _features()

    def run(self, code: bytes, state: State, branch: bool) -> State:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(bytes([len(code)]) + code.ljust(CODE_SIZE, b"\x90") + _packed(state) + state.memory)
        self._child.stdin.flush()
        answer = self._child.stdout.read(4 + REGISTERS_SIZE + DATA_SIZE)
        if len(answer) != 4 + REGISTERS_SIZE + DATA_SIZE:
            raise RuntimeError(f"the host oracle's child process ended on {code.hex()}")
        return _unpacked(answer)


def _packed(state: State) -> bytes:
    flags = 0x202 | sum(state.flags[name] << bit for name, bit in _FLAG_BITS.items())
    vectors = b"".join(value.to_bytes(32, "little") for value in state.vectors)
    return struct.pack(REGISTERS_FORMAT, *(state.general[name] for name in GENERAL), flags, vectors)


def _unpacked(answer: bytes) -> State:
    (signal,) = struct.unpack("<i", answer[:4])
    *general, flags, vectors = struct.unpack(REGISTERS_FORMAT, answer[4 : 4 + REGISTERS_SIZE])
    return State(
        dict(zip(GENERAL, general, strict=True)),
        {name: flags >> bit & 1 for name, bit in _FLAG_BITS.items() if name in FLAGS},
        [int.from_bytes(vectors[32 * n : 32 * n + 32], "little") for n in VECTORS],
        answer[4 + REGISTERS_SIZE :],
        0,
        _SIGNALS.get(signal, f"signal {signal}") if signal else "",
    )
