"""Forms with prefixes that they do not need: repeated, contradicting, in unusual order.

Compilers write few of these, but a decoder that misreads one gives an instruction a wrong meaning without a word.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from isoform.isa.registry import machine
from isoform.model.microop import Kind
from semantics import ours
from semantics.campaign import difference
from semantics.encoding import CODE_ADDRESS, Encoder, Template
from semantics.host_oracle import HostOracle
from semantics.state import draw

_LEGACY = b"\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3"
_ADDED = tuple(bytes([n]) for n in (0x66, 0xF2, 0xF3, 0x2E, 0x3E, 0x26, 0x36, 0x67, 0xF0, *range(0x40, 0x50)))
_LONGEST = 15


@dataclass
class PrefixReport:
    agree: int = 0
    unsupported: int = 0
    disagreements: list[str] = field(default_factory=list)

    def and_(self, other: PrefixReport) -> PrefixReport:
        return PrefixReport(
            self.agree + other.agree,
            self.unsupported + other.unsupported,
            self.disagreements + other.disagreements,
        )


def check_prefixes(forms: Iterable[Template], oracle: HostOracle, tries: int, seed: int | str) -> PrefixReport:
    rng = random.Random(seed)
    candidates = [form for form in forms if oracle.knows(form)]
    report = PrefixReport()
    for _ in range(tries):
        _check_one(report, rng.choice(candidates), oracle, rng)
    return report


def _check_one(report: PrefixReport, template: Template, oracle: HostOracle, rng: random.Random) -> None:
    encoded = Encoder(template, rng).encode()
    code = _with_noise(encoded.code, rng)
    instruction = machine("x86_64").decode(code, CODE_ADDRESS)
    if any(op.kind is Kind.UNSUPPORTED for op in instruction.ops):
        report.unsupported += 1
        return
    # What runs on the host is known to end where we think it does.
    if len(code) > _LONGEST or _length(code) != len(code) or instruction.length != len(code):
        return
    state = draw(template, encoded, rng)
    low, high = (ours.run(instruction, state, undefined) for undefined in (False, True))
    after = oracle.run(code, state, branch=False)
    found = "" if after.fault == ours.MEMORY_FAULT else difference(low, high, after, compare_address=False)
    if found:
        report.disagreements.append(f"{code.hex()} {instruction.text}: {found}")
    else:
        report.agree += 1


def _with_noise(code: bytes, rng: random.Random) -> bytes:
    for _ in range(rng.choice((1, 1, 2))):
        prefixes = next(n for n, byte in enumerate(code) if byte not in _LEGACY)
        at = rng.randrange(prefixes + 1)
        code = code[:at] + rng.choice(_ADDED) + code[at:]
    return code


def _length(code: bytes) -> int:
    return next((size for _, size, _, _ in _disassembler().disasm_lite(code, CODE_ADDRESS, 1)), 0)


@cache
def _disassembler() -> Any:
    import capstone

    return capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
