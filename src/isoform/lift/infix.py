"""Micro-ops as a person writes them: `flag = x == 0`, `x = load8(stack + 8)`.

A temp that is read once is written where it is read, as long as nothing its expression depends on was
written in between; others keep a name: `t1`, `t2`, … inside one instruction, `v1`, `v2`, … if they are read
beyond it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from isoform.lift.simplify import overlaps
from isoform.load.image import Image
from isoform.model.machine import Machine
from isoform.model.microop import ABORT_REASONS, TRUE, Kind, MicroOp, Space, Var, const, number_of
from isoform.model.values import dataclass

LONGEST = 60
"""An expression of this many characters gets a name of its own."""
WIDEST = 64
"""Bytes of the widest temporary: renamed ones are this far apart."""
PREFIX = {Kind.INT_2COMP: "-", Kind.INT_NEGATE: "~", Kind.BOOL_NEGATE: "!"}
NAMED = (
    Kind.INT_CARRY,
    Kind.INT_SCARRY,
    Kind.INT_SBORROW,
    Kind.INT_SEXT,
    Kind.INT_ZEXT,
    Kind.POPCOUNT,
    Kind.LZCOUNT,
    Kind.FLOAT_SQRT,
    Kind.FLOAT_NAN,
    Kind.FLOAT_FROM_FLOAT,
    Kind.FLOAT_FROM_INT,
    Kind.FLOAT_TO_INT,
    Kind.FLOAT_ROUND_TO_INT,
    Kind.FLOAT_ROUND,
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
    """Writes the micro-ops of one instruction inside one block, after `rename_temps`."""

    machine: Machine
    image: Image
    renamed: Renamed
    travelling: dict[Var, str]
    """Names of temporaries that are read beyond their instruction; updated in place."""
    _names: dict[Var, str] = field(default_factory=dict)
    _waiting: dict[Var, _Waiting] = field(default_factory=dict)

    def lines(self, ops: Iterable[MicroOp]) -> list[str]:
        return [line for op in ops for line in self._write(op)]

    def operand(self, var: Var) -> str:
        """A variable at the end of the block: the condition of its branch, say."""
        return self._operand(self.renamed.last.get(var, var), False)[0]

    def rest(self) -> list[str]:
        """Pending expressions that nothing has read."""
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
        if op.out in self.renamed.read_once and len(text) <= LONGEST:
            self._waiting[op.out] = _Waiting(text, reads, loads)
        else:
            target = self._target(op)
            if target != text:
                yield f"{target} = {text}"

    def _settle(self, written: Var | None) -> Iterator[str]:
        """Write down the expressions whose meaning a write to `written` would change (None: a write to memory)."""
        for var, waiting in list(self._waiting.items()):
            hit = waiting.loads if written is None else any(overlaps(read, written) for read in waiting.reads)
            if hit:
                del self._waiting[var]
                yield f"{self._name(var)} = {waiting.text}"

    def _target(self, op: MicroOp) -> str:
        """A write to the lower half of a register that clears the upper half is shown as just that."""
        assert op.out is not None
        if _clears_upper_half(op, self.machine):
            return self.machine.register_name(op.out._replace(size=4))
        return self._name(op.out)

    def _name(self, var: Var) -> str:
        if var.space is Space.REGISTER:
            return self.machine.register_name(var)
        if var in self.renamed.travelling:
            return self.travelling.setdefault(var, f"v{len(self.travelling) + 1}")
        return self._names.setdefault(var, f"t{len(self._names) + 1}")

    def _operand(self, var: Var, signed: bool) -> tuple[str, _Waiting | None]:
        waiting = self._waiting.pop(var, None)
        if waiting is not None:
            return waiting.text, waiting
        match var.space:
            case Space.CONST:
                return self._constant(var, signed), None
            case Space.ADDRESS:
                return self._constant(const(number_of(var) or 0, var.size), signed), None
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
            case Kind.ASSUME:
                return f"assume {operands[0]}"
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
        right = op.ins[1]
        if op.kind is Kind.INT_ADD and right.space is Space.CONST and right.offset >> (8 * right.size - 1):
            return f"{grouped(operands[0])} - {number((1 << (8 * right.size)) - right.offset)}"
        return f"{grouped(operands[0])} {op.kind.value} {grouped(operands[1])}"


def _clears_upper_half(op: MicroOp, machine: Machine) -> bool:
    return (
        op.kind is Kind.INT_ZEXT
        and op.out is not None
        and op.out.space is Space.REGISTER
        and (op.out.size, op.ins[0].size) == (8, 4)
        and machine.is_named(op.out._replace(size=4))
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


@dataclass(frozen=True)
class Renamed:
    """A block's micro-ops with one temporary per definition, so that each stands for one value."""

    ops: tuple[MicroOp, ...]
    last: Mapping[Var, Var]
    """What the block's exit reads, renamed."""
    read_once: frozenset[Var]
    """Temps that are read once, in the instruction that writes them, and in this block only."""
    travelling: frozenset[Var]
    """Temps that another instruction or another block reads."""


def rename_temps(
    ops: Sequence[MicroOp],
    addresses: Sequence[int],
    last: Iterable[Var],
    last_address: int,
    shared: Container[tuple[int, Var]],
) -> Renamed:
    """`last` is what the block's exit reads, at the instruction at `last_address`; `shared` are the temps, by address
    of their instruction, that more than one block mentions."""
    current: dict[Var, Var] = {}
    home: dict[Var, int] = {}
    reads: Counter[Var] = Counter()
    travelling: set[Var] = set()

    def read(var: Var, address: int) -> Var:
        if var.space is not Space.TEMP:
            return var
        new = current.setdefault(var, var._replace(offset=-WIDEST - var.offset))
        reads[new] += 1
        if home.get(new) != address or (address, var) in shared:
            travelling.add(new)
        return new

    renamed = []
    for position, (op, address) in enumerate(zip(ops, addresses, strict=True)):
        ins = tuple(read(var, address) for var in op.ins)
        out = op.out
        if out is not None and out.space is Space.TEMP:
            is_shared = (address, out) in shared
            new = out._replace(offset=-WIDEST - out.offset if is_shared else WIDEST * position)
            home[new] = address
            current[out] = out = new
            if is_shared:
                travelling.add(new)
        renamed.append(MicroOp(op.kind, out, ins))
    final = {var: read(var, last_address) for var in last}
    once = frozenset(var for var in home if reads[var] == 1 and var not in travelling)
    return Renamed(tuple(renamed), final, once, frozenset(travelling))
