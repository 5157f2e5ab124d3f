"""How one instruction moves bytes between registers: which lanes of a vector it makes, and which it leaves alone."""

from __future__ import annotations

from collections.abc import Mapping

from isoform.lift.liveness import sources
from isoform.model.machine import Machine
from isoform.model.microop import Kind, MicroOp, Space, Var, number_of

MOVES = frozenset({Kind.COPY, Kind.PIECE, Kind.INT_ZEXT, Kind.SUBPIECE})
"""Every byte of the result is one byte of an input, or zero."""
ZERO = -1
"""In the place of a byte of the register file: a zero."""
Lanes = Mapping[int, int]
"""For each byte of the vector registers its place in its register."""


def lanes_of(machine: Machine) -> Lanes:
    size = machine.vector_bytes
    wide = [var for var in machine.registers.values() if size and var.size == size]
    return {var.offset + lane: lane for var in wide for lane in range(size)}


class Trace:
    """Where the bytes come from that an instruction writes, micro-op by micro-op."""

    def __init__(self) -> None:
        self.registers: dict[int, int | None] = {}
        """For each byte that was written: the byte of the register file that it was before the instruction, `ZERO` for
        a zero, None for everything else."""
        self._temps: dict[int, int | None] = {}

    def step(self, op: MicroOp) -> list[int | None]:
        if op.out is None:
            return []
        came: list[int | None] = [None] * op.out.size
        if op.kind in MOVES:
            came = [self._source(source) for source in sources(op)]
        elif op.kind is Kind.INT_XOR and op.ins[0] == op.ins[1]:
            came = [ZERO] * op.out.size
        places = self.registers if op.out.space is Space.REGISTER else self._temps
        places |= {op.out.offset + byte: source for byte, source in enumerate(came)}
        return came

    def _source(self, source: Var | None) -> int | None:
        if source is None or number_of(source) == 0:
            return ZERO
        if source.space is Space.REGISTER:
            return self.registers.get(source.offset, source.offset)
        return self._temps.get(source.offset) if source.space is Space.TEMP else None


def sets_above(trace: Trace, lanes: Lanes, first: int, size: int) -> bool:
    """Whether an instruction leaves a scalar of `size` bytes at the start of a vector register as it is, or copies it
    there, and sets as many bytes above it. What copies a scalar leaves above it what a register had in that place, or
    zeros. `first` is the register's first byte."""
    came = [trace.registers.get(byte, byte) for byte in range(first, first + 2 * size)]
    lowest = came[0]
    if lowest is None or lanes.get(lowest) != 0 or came[:size] != list(range(lowest, lowest + size)):
        return False
    if lowest == first:
        return came != list(range(first, first + 2 * size))
    return any(byte != ZERO and (byte is None or lanes.get(byte) != lane) for lane, byte in enumerate(came))
