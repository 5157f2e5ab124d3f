"""Micro-ops as a person writes them: `zf = eax == 0`, `rax = load8(rsp + 8)`.

A temp that is read once is written where it is read, as long as nothing its expression depends on was
written in between; others keep a name (`t1`, `t2`, … in each instruction).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from isoform.isa.machine import Machine
from isoform.lift.simplify import overlaps
from isoform.load.image import Image
from isoform.microop import ABORT_REASONS, TRUE, Kind, MicroOp, Space, Var

LONGEST = 60
"""Characters from which an expression gets a name of its own rather than grow further."""
PREFIX = {Kind.INT_2COMP: "-", Kind.INT_NEGATE: "~", Kind.BOOL_NEGATE: "!"}
NAMED = (
    Kind.INT_CARRY,
    Kind.INT_SCARRY,
    Kind.INT_SBORROW,
    Kind.INT_SEXT,
    Kind.INT_ZEXT,
    Kind.POPCOUNT,
    Kind.LZCOUNT,
)
SIGNED = (Kind.INT_SLESS, Kind.INT_SLESSEQUAL, Kind.INT_SDIV, Kind.INT_SREM)


@dataclass
class _Waiting:
    """A temp's expression that has not been written down yet."""

    text: str
    reads: tuple[Var, ...]
    loads: bool


@dataclass
class Infix:
    """Writes the micro-ops of one instruction inside one block."""

    machine: Machine
    image: Image
    read_once: frozenset[Var]
    """Temps that may be written where they are read."""
    _names: dict[int, str] = field(default_factory=dict)
    _waiting: dict[Var, _Waiting] = field(default_factory=dict)
    _pending: list[str] = field(default_factory=list)

    def lines(self, ops: Iterable[MicroOp]) -> list[str]:
        return [line for op in ops for line in self._write(op)]

    def operand(self, var: Var) -> str:
        """A variable at the end of the block: the condition of its branch, say."""
        return self._operand(var, False)[0]

    def rest(self) -> list[str]:
        """What was held back and nothing has read."""
        lines = [f"{self._name(var)} = {waiting.text}" for var, waiting in self._waiting.items()]
        self._waiting.clear()
        return lines

    def _write(self, op: MicroOp) -> Iterator[str]:
        operands = [self._operand(v, op.kind in SIGNED) for v in op.ins]
        if op.out is None:
            text = self._effect(op, [text for text, _ in operands])
            if op.kind is Kind.STORE:
                yield from self._settle(op.out)
            yield text
            return
        text, reads, loads = self._expression(op, [text for text, _ in operands])
        for var, (_, waiting) in zip(op.ins, operands, strict=True):
            reads = (*reads, *(waiting.reads if waiting else (var,)))
            loads = loads or (waiting is not None and waiting.loads)
        yield from self._settle(op.out)
        if op.out in self.read_once and len(text) <= LONGEST:
            self._waiting[op.out] = _Waiting(text, reads, loads)
        else:
            target = self._target(op)
            if target != text:
                yield f"{target} = {text}"

    def _settle(self, written: Var | None) -> Iterator[str]:
        """Write down what would change its meaning by a write to `written` (None: to memory)."""
        for var, waiting in list(self._waiting.items()):
            hit = waiting.loads if written is None else any(overlaps(read, written) for read in waiting.reads)
            if hit:
                del self._waiting[var]
                yield f"{self._name(var)} = {waiting.text}"

    def _target(self, op: MicroOp) -> str:
        """A write to a 32-bit register of x86-64 clears the upper half: that is not shown again."""
        assert op.out is not None
        if _clears_upper_half(op, self.machine):
            return self.machine.register_name(op.out._replace(size=4))
        return self._name(op.out)

    def _name(self, var: Var) -> str:
        if var.space is Space.REGISTER:
            return self.machine.register_name(var)
        return self._names.setdefault(var.offset, f"t{len(self._names) + 1}")

    def _operand(self, var: Var, signed: bool) -> tuple[str, _Waiting | None]:
        waiting = self._waiting.pop(var, None)
        if waiting is not None:
            return waiting.text, waiting
        match var.space:
            case Space.CONST:
                return self._constant(var, signed), None
            case Space.CODE | Space.INNER:
                return f"{var.offset:#x}", None
            case _:
                return self._name(var), None

    def _constant(self, var: Var, signed: bool) -> str:
        if var.size == 8 and var.offset > 0xFFF and (name := self.image.name_at(var.offset)):
            return f"&{name}"
        bits = 8 * var.size
        negative = var.offset - (1 << bits)
        return number(negative if signed and var.offset >> (bits - 1) else var.offset)

    def _effect(self, op: MicroOp, operands: list[str]) -> str:
        match op.kind:
            case Kind.STORE:
                return f"store{op.ins[1].size}({operands[0]}, {operands[1]})"
            case Kind.ABORT:
                reason = ABORT_REASONS[op.ins[1].offset]
                return f"abort: {reason}" if op.ins[0] == TRUE else f"if {operands[0]} abort: {reason}"
            case Kind.UNSUPPORTED:
                return "(no semantics)"
            case _:
                return f"{op.kind.value} {', '.join(operands)}"

    def _expression(self, op: MicroOp, operands: list[str]) -> tuple[str, tuple[Var, ...], bool]:
        assert op.out is not None
        one = operands[0] if operands else ""
        match op.kind:
            case Kind.COPY:
                text = one
            case Kind.LOAD:
                return f"load{op.out.size}({one})", (), True
            case Kind.UNDEFINED:
                text = "undefined"
            case Kind.SELECT:
                text = " ".join((grouped(one), "?", grouped(operands[1]), ":", grouped(operands[2])))
            case Kind.SUBPIECE:
                low = 8 * op.ins[1].offset
                text = f"{grouped(one)}[{low + 8 * op.out.size - 1}:{low}]"
            case Kind.PIECE:
                text = f"{grouped(one)}:{grouped(operands[1])}"
            case Kind.INT_ZEXT if _clears_upper_half(op, self.machine):
                text = one
            case kind if kind in PREFIX:
                text = PREFIX[kind] + grouped(one)
            case kind if kind in NAMED:
                text = f"{kind.value}{op.out.size if kind is Kind.INT_SEXT else ''}({', '.join(operands)})"
            case _:
                text = self._binary(op, operands)
        return text, (), False

    def _binary(self, op: MicroOp, operands: list[str]) -> str:
        left, right = op.ins
        if op.kind is Kind.INT_ADD and right.space is Space.CONST and right.offset >> (8 * right.size - 1):
            return f"{grouped(operands[0])} - {number((1 << (8 * right.size)) - right.offset)}"
        return f"{grouped(operands[0])} {op.kind.value} {grouped(operands[1])}"


def _clears_upper_half(op: MicroOp, machine: Machine) -> bool:
    return (
        op.kind is Kind.INT_ZEXT
        and machine.name == "x86_64"
        and op.out is not None
        and op.out.space is Space.REGISTER
        and (op.out.size, op.ins[0].size) == (8, 4)
    )


def number(value: int) -> str:
    return str(value) if -10 < value < 10 else hex(value)


def grouped(text: str) -> str:
    """In brackets if it is more than one word or one call."""
    depth = 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == " " and depth == 0:
            return f"({text})"
    return text


def temps_read_once(ops: Iterable[MicroOp], last: Iterable[Var]) -> frozenset[Var]:
    """Temps written once and read once among these micro-ops and what the block's exit reads."""
    ops = tuple(ops)
    reads = Counter(v for op in ops for v in op.ins)
    reads.update(last)
    writes = Counter(op.out for op in ops if op.out is not None)
    return frozenset(v for v, n in writes.items() if v.space is Space.TEMP and n == 1 and reads[v] == 1)
