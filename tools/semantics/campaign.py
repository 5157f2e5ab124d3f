"""Every form, many states: our micro-ops against the oracles, and what came of it."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from isoform.isa.registry import machine
from isoform.model.microop import Instruction, Kind
from semantics import ours
from semantics.encoding import CODE_ADDRESS, Encoder, Template
from semantics.state import FLAGS, State, draw

STATES_PER_ENCODING = 2
_ADDRESS_SIZE = 0x67
"""32-bit addresses may go without semantics where 64-bit ones have them; SLEIGH does not decode all of them."""


class Oracle(Protocol):
    name: str

    def knows(self, template: Template) -> bool:
        """Whether its answers for this form can be relied on."""

    def run(self, code: bytes, state: State, branch: bool) -> State: ...


class Standing(Enum):
    """What is known of a form, with its sentence for the table."""

    AGREE = "agree with every oracle asked"
    UNSUPPORTED = "have no semantics"
    UNTESTED = "no oracle could be asked"
    WRONG = "differ"


@dataclass
class Report:
    template: Template
    standing: Standing = Standing.UNTESTED
    states: int = 0
    asked: set[str] = field(default_factory=set)
    disagreements: list[str] = field(default_factory=list)
    """What differs from the deciding oracle, one line a state, the first few."""
    oracle_quarrels: list[str] = field(default_factory=list)
    """Where the oracles themselves disagree, and we with one of them."""


def check_form(template: Template, oracles: list[Oracle], states: int, seed: int) -> Report:
    rng = random.Random(f"{seed} {template}")
    report = Report(template)
    known = [oracle for oracle in oracles if oracle.knows(template)]
    while report.states < states and report.standing is not Standing.UNSUPPORTED:
        encoded = Encoder(template, rng).encode()
        instruction = machine("x86_64").decode(encoded.code, CODE_ADDRESS)
        if any(op.kind is Kind.UNSUPPORTED for op in instruction.ops):
            if encoded.code[0] == _ADDRESS_SIZE:
                continue
            report.standing = Standing.UNSUPPORTED
            report.disagreements.append(f"{encoded.code.hex()} {instruction.text}")
            break
        for _ in range(STATES_PER_ENCODING):
            _check_state(report, instruction, encoded.code, draw(template, encoded, rng), known)
    if report.standing is not Standing.UNSUPPORTED and report.asked:
        report.standing = Standing.WRONG if report.disagreements else Standing.AGREE
    return report


def _check_state(report: Report, instruction: Instruction, code: bytes, before: State, oracles: list[Oracle]) -> None:
    report.states += 1
    if instruction.length != len(code):
        _note(report.disagreements, f"{code.hex()} has {len(code)} bytes and decodes as {instruction.length}")
        report.asked.add("encoder")
        return
    branch = report.template.branch
    low, high = (ours.run(instruction, before, undefined, branch) for undefined in (False, True))
    found = {}
    for oracle in oracles:
        after = oracle.run(code, before, branch)
        report.asked.add(oracle.name)
        found[oracle.name] = difference(low, high, after, compare_address=branch and oracle.name == "unicorn")
    text = f"{code.hex()} {instruction.text}"
    # A real processor outranks a model of one.
    deciding = found.get("host", found.get("unicorn"))
    if deciding:
        _note(report.disagreements, f"{text}: {deciding}")
    elif any(found.values()):
        _note(report.oracle_quarrels, f"{text}: {next(v for v in found.values() if v)}")


def _note(lines: list[str], line: str) -> None:
    if len(lines) < 3:
        lines.append(line)


def difference(low: State, high: State, after: State, compare_address: bool) -> str:
    """The first thing on which we differ from an oracle, in bits that do not depend on undefined ones."""
    if low.fault or after.fault:
        return "" if low.fault == after.fault else f"fault '{low.fault}' is '{after.fault}'"
    for name, value in low.general.items():
        defined = ~(value ^ high.general[name])
        if (value ^ after.general[name]) & defined:
            return f"{name} {value:#x} is {after.general[name]:#x}"
    for name in FLAGS:
        if low.flags[name] == high.flags[name] != after.flags[name]:
            return f"{name} {low.flags[name]} is {after.flags[name]}"
    for number, value in enumerate(low.vectors):
        if value != after.vectors[number]:
            return f"ymm{number} {value:064x} is {after.vectors[number]:064x}"
    if low.memory != after.memory:
        return _memory_difference(low.memory, high.memory, after.memory)
    if compare_address and low.next_address != after.next_address:
        return f"goes on at {low.next_address:#x}, is {after.next_address:#x}"
    return ""


def _memory_difference(low: bytes, high: bytes, after: bytes) -> str:
    for offset, (mine, other, theirs) in enumerate(zip(low, high, after, strict=True)):
        if (mine ^ theirs) & ~(mine ^ other):
            return f"byte {offset:#x} of the data {mine:#x} is {theirs:#x}"
    return ""
