"""One instruction on our micro-ops, by the defining table of `evaluate`."""

from __future__ import annotations

from collections.abc import Callable

from isoform.isa.x86_64.registers import REGISTERS, X87, X87_AT_ENTRY
from isoform.model.evaluate import evaluate, mask
from isoform.model.microop import ABORT_REASONS, Instruction, Kind, MicroOp, Space, Var
from semantics.encoding import DATA_ADDRESS, DATA_SIZE, GENERAL
from semantics.state import FLAGS, VECTORS, State

MEMORY_FAULT = "memory"
_REGISTER_FILE = 0x3100
_LIMIT = 64
"""Most times that one instruction may branch to itself."""


class _OutsideDataError(Exception):
    """The instruction left the data window."""


class _Run:
    def __init__(self, state: State, undefined: Callable[[int], int]) -> None:
        self._registers = bytearray(_REGISTER_FILE)
        self._memory = bytearray(state.memory)
        self._temps: dict[int, int] = {}
        self._undefined = undefined
        for name in GENERAL:
            self.set(REGISTERS[name], state.general[name])
        for name in FLAGS:
            self.set(REGISTERS[name], state.flags[name])
        for number in VECTORS:
            self.set(REGISTERS[f"ymm{number}"], state.vectors[number])
        self.set(X87, X87_AT_ENTRY)

    def get(self, var: Var) -> int:
        if var.space is Space.REGISTER:
            return int.from_bytes(self._registers[var.offset : var.offset + var.size], "little")
        if var.space is Space.TEMP:
            return self._temps[var.offset]
        return var.offset

    def set(self, var: Var, value: int) -> None:
        if var.space is Space.REGISTER:
            self._registers[var.offset : var.offset + var.size] = value.to_bytes(var.size, "little")
        else:
            self._temps[var.offset] = value

    def step(self, op: MicroOp) -> int | str | None:
        """Where control goes, a fault, or None to go on with the next micro-op."""
        match op.kind:
            case Kind.LOAD:
                assert op.out is not None
                at = self._place(self.get(op.ins[0]), op.out.size)
                self.set(op.out, int.from_bytes(self._memory[at : at + op.out.size], "little"))
            case Kind.STORE:
                at = self._place(self.get(op.ins[0]), op.ins[1].size)
                self._memory[at : at + op.ins[1].size] = self.get(op.ins[1]).to_bytes(op.ins[1].size, "little")
            case Kind.ABORT:
                if self.get(op.ins[0]):
                    return ABORT_REASONS[op.ins[1].offset]
            case Kind.UNDEFINED:
                assert op.out is not None
                self.set(op.out, self._undefined(op.out.size))
            case Kind.CBRANCH:
                if self.get(op.ins[1]):
                    return op.ins[0].offset
            case Kind.BRANCH | Kind.CALL | Kind.BRANCHIND | Kind.CALLIND | Kind.RETURN:
                return self.get(op.ins[0])
            case _:
                assert op.out is not None
                values = [self.get(var) for var in op.ins]
                self.set(op.out, evaluate(op.kind, op.out.size, [var.size for var in op.ins], values))
        return None

    def _place(self, address: int, size: int) -> int:
        at = address - DATA_ADDRESS
        if not 0 <= at <= DATA_SIZE - size:
            raise _OutsideDataError
        return at

    def state(self, next_address: int, fault: str) -> State:
        return State(
            {name: self.get(REGISTERS[name]) for name in GENERAL},
            {name: self.get(REGISTERS[name]) for name in FLAGS},
            [self.get(REGISTERS[f"ymm{number}"]) for number in VECTORS],
            bytes(self._memory),
            next_address,
            fault,
        )


def run(instruction: Instruction, state: State, undefined: bool, branch: bool = False) -> State:
    """One execution with all undefined bits 0 or all 1. What branches to itself without being a branch is a
    repeated instruction, and runs to its end."""
    execution = _Run(state, mask if undefined else lambda size: 0)
    try:
        for _ in range(1 if branch else _LIMIT):
            result = _once(execution, instruction)
            if result != instruction.address:
                break
    except _OutsideDataError:
        result = MEMORY_FAULT
    if isinstance(result, str):
        return execution.state(0, result)
    return execution.state(result, "")


def _once(execution: _Run, instruction: Instruction) -> int | str:
    for op in instruction.ops:
        result = execution.step(op)
        if result is not None:
            return result
    return instruction.next_address
