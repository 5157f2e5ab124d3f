"""Runs micro-ops one by one straight from a decoder, for tests that hold a lifter against an interpreter."""

from __future__ import annotations

from collections.abc import Callable

from isoform.load.image import Image
from isoform.model.machine import Machine
from isoform.model.microop import ABORT_REASONS, Kind, MicroOp, Space, Var
from isoform.model.outcome import RETURN_ADDRESS, Outcome, Status


def _signed(value: int, size: int) -> int:
    return value - (1 << 8 * size) if value >> (8 * size - 1) else value


def _truncated(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


_UNSIGNED: dict[Kind, Callable[..., int]] = {
    Kind.COPY: lambda a: a,
    Kind.INT_ZEXT: lambda a: a,
    Kind.INT_ADD: lambda a, b: a + b,
    Kind.INT_SUB: lambda a, b: a - b,
    Kind.INT_MULT: lambda a, b: a * b,
    Kind.INT_DIV: lambda a, b: a // b,
    Kind.INT_REM: lambda a, b: a % b,
    Kind.INT_AND: lambda a, b: a & b,
    Kind.INT_EQUAL: lambda a, b: a == b,
    Kind.INT_NOTEQUAL: lambda a, b: a != b,
    Kind.INT_LESS: lambda a, b: a < b,
    Kind.INT_LESSEQUAL: lambda a, b: a <= b,
    Kind.SUBPIECE: lambda a, b: a >> 8 * b,
    Kind.SELECT: lambda a, b, c: b if a else c,
}
_SIGNED: dict[Kind, Callable[..., int]] = {
    Kind.INT_SEXT: lambda a: a,
    Kind.INT_SLESS: lambda a, b: a < b,
    Kind.INT_SLESSEQUAL: lambda a, b: a <= b,
    Kind.INT_SDIV: _truncated,
    Kind.INT_SREM: lambda a, b: a - b * _truncated(a, b),
}


class Evaluator:
    def __init__(self, machine: Machine, image: Image, registers: dict[str, int]) -> None:
        self.machine = machine
        self.image = image
        self.values: dict[Var, int] = {}
        for name in machine.containers:
            self.values[machine.registers[name]] = machine.initial.get(name, registers.get(name, 0))
        self.memory = {s.address + n: byte for s in image.sections for n, byte in enumerate(s.data)}
        self.home = self.values[machine.registers[machine.convention.return_address or ""]]

    def run(self, fuel: int) -> Outcome:
        address, steps = 0, 0
        while steps < fuel:
            instruction = self.machine.decode(self.image.code_at(address), address)
            steps += 1
            following = instruction.next_address
            for op in instruction.ops:
                if op.kind is Kind.ABORT:
                    if self.read(op.ins[0]):
                        return self._outcome(Status.ABORTED, steps, ABORT_REASONS[op.ins[1].offset])
                elif op.kind is Kind.BRANCH or (op.kind is Kind.CBRANCH and self.read(op.ins[1])):
                    following = op.ins[0].offset
                elif op.kind in (Kind.BRANCHIND, Kind.CALLIND, Kind.RETURN):
                    following = self.read(op.ins[0])
                elif op.kind is not Kind.CBRANCH:
                    self._execute(op)
            if following == self.home:
                return self._outcome(Status.DONE, steps)
            address = following
        return self._outcome(Status.OUT_OF_FUEL, steps)

    def read(self, var: Var) -> int:
        return var.offset if var.space is Space.CONST else self.values[var]

    def _execute(self, op: MicroOp) -> None:
        ins = [self.read(var) for var in op.ins]
        if op.kind is Kind.STORE:
            self.memory |= dict(enumerate(ins[1].to_bytes(op.ins[1].size, "big"), start=ins[0]))
            return
        assert op.out is not None
        if op.kind is Kind.LOAD:
            loaded = bytes(self.memory.get(ins[0] + n, 0) for n in range(op.out.size))
            result = int.from_bytes(loaded, "big")
        elif op.kind in _SIGNED:
            result = _SIGNED[op.kind](*(_signed(v, var.size) for v, var in zip(ins, op.ins, strict=True)))
        else:
            result = _UNSIGNED[op.kind](*ins)
        self.values[op.out] = int(result) % (1 << 8 * op.out.size)

    def _outcome(self, status: Status, steps: int, reason: str = "") -> Outcome:
        registers = {name: self.values[self.machine.registers[name]] for name in self.machine.containers}
        target = RETURN_ADDRESS if status is Status.DONE else 0
        return Outcome(status, reason=reason, registers=registers, return_target=target, steps=steps)
