"""Blocks of micro-ops become Python functions: many times faster than interpreting them one by one.

Generated code reads containers into locals, computes, writes them back and returns the index of the next
block. It agrees with `evaluate.py`, which defines every operator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from typing import Any

from isoform.lift.discovery import Pieces
from isoform.lift.function import Block, BlockId, Branch, Call, Function, Goto, Return, Stop, Switch
from isoform.model.evaluate import mask
from isoform.model.evaluate_floats import FLOAT_RULES
from isoform.model.microop import Kind, MicroOp, Space, Var, number_of
from isoform.model.values import dataclass

ABORTED, RETURNED, UNSUPPORTED, UNRESOLVED, FIRST_CALL = -1, -2, -3, -4, -5
"""What a block function returns instead of a block index. Call number k is FIRST_CALL - k."""

BlockCode = Callable[[list[int], Any], int]


@dataclass(frozen=True, eq=False)
class Program:
    """A function compiled for running."""

    function: Function
    pieces: Pieces
    """Code that its runs reach, in all programs that they go through."""
    ids: tuple[BlockId, ...]
    code: tuple[BlockCode, ...]
    costs: tuple[int, ...]
    """Steps a block takes (at least one, so that every loop uses fuel)."""
    calls: tuple[tuple[Call, int], ...]
    """Outside calls and the index of the block to continue with (-1: none)."""
    index: dict[BlockId, int] = field(default_factory=dict)
    guarded: frozenset[int] = frozenset()
    """Addresses that instructions are fetched from and that can be written: storing there would change the program."""
    compiled: dict[int, Program | None] = field(default_factory=dict)
    """The pieces, by the address that leads there."""
    deeper: Program | None = None
    """What runs where it calls itself, if not the same: who watches a run watches one call of the function."""


Sites = Mapping[tuple[BlockId, int], int]
"""Micro-ops, by block and position in it, whose values a run reports to its memory, under these numbers."""


def compile_function(function: Function, pieces: Pieces | None = None, sites: Sites | None = None) -> Program:
    ids = tuple(function.order)
    index = {block_id: number for number, block_id in enumerate(ids)}
    containers = _Containers(function)
    calls: list[tuple[Call, int]] = []
    shown: dict[BlockId, dict[int, int]] = {}
    for (block, position), site in (sites or {}).items():
        shown.setdefault(block, {})[position] = site
    source = [_BlockWriter(function.blocks[i], containers, index, calls, shown.get(i)).text(index[i]) for i in ids]
    names: dict[str, Any] = {}
    exec(compile("\n".join(source), f"<{function.name}>", "exec"), names)  # our own text, from decoded micro-ops
    code = tuple(names[f"b{number}"] for number in range(len(ids)))
    costs = tuple(max(1, len(function.blocks[block_id].steps)) for block_id in ids)
    return Program(function, pieces or Pieces(function), ids, code, costs, tuple(calls), index, _guarded(function))


def program_at(program: Program, address: int) -> Program | None:
    """The code at an address that a run computed; None if there is none that can be followed."""
    known = program.compiled
    if address not in known:
        piece = program.pieces.at(address)
        known[address] = None if piece is None else replace(compile_function(piece, program.pieces), compiled=known)
    return known[address]


class _Containers:
    """Where in the register list a register's bytes are."""

    def __init__(self, function: Function) -> None:
        self.has_convention = function.machine.convention.stack_pointer is not None
        self._vars = function.machine.container_vars()
        self._by_byte = function.machine.containers_by_byte

    def pieces(self, var: Var) -> list[tuple[int, int, int]]:
        """(container index, byte offset in it, bytes taken), lowest first."""
        found = []
        offset, left = var.offset, var.size
        while left:
            index = self._by_byte[offset]
            container = self._vars[index]
            start = offset - container.offset
            size = min(left, container.size - start)
            found.append((index, start, size))
            offset += size
            left -= size
        return found

    def size(self, index: int) -> int:
        return self._vars[index].size


class _BlockWriter:
    def __init__(
        self,
        block: Block,
        containers: _Containers,
        index: dict[BlockId, int],
        calls: list[tuple[Call, int]],
        shown: Mapping[int, int] | None = None,
    ) -> None:
        self._block = block
        self._shown = shown or {}
        self._containers = containers
        self._index = index
        self._calls = calls
        self._read: set[int] = set()
        self._written: set[int] = set()
        self._lines: list[str] = []

    @property
    def _last_step(self) -> int:
        return self._block.steps[-1] if self._block.steps else self._block.id.address

    def text(self, number: int) -> str:
        skip = False
        ops = self._block.ops
        for position, op in enumerate(ops):
            if skip:
                skip = False
                continue
            if position in self._shown:
                assert op.out is not None
                self._assign(op.out, f"M.show({self._shown[position]}, {self._value(op)})")
                continue
            after = ops[position + 1] if position + 1 < len(ops) and position + 1 not in self._shown else None
            skip = self._fused(op, after)
            if not skip:
                self._op(op, position)
        final = self._exit()
        head = [f"def b{number}(R, M):"]
        head += [f" r{i} = R[{i}]" for i in sorted(self._read | self._written)]
        tail = [*self._write_back(), f"return {final}"]
        return "\n".join([*head, *(f" {line}" for line in self._lines), *(f" {line}" for line in tail)])

    def _write_back(self) -> list[str]:
        return [f"R[{i}] = r{i}" for i in sorted(self._written)]

    def _fused(self, op: MicroOp, after: MicroOp | None) -> bool:
        """A narrow write that the next micro-op zero-extends to the whole container is one assignment."""
        if (
            after is None
            or op.out is None
            or op.kind in _STATEMENTS
            or after.kind is not Kind.INT_ZEXT
            or after.ins != (op.out,)
            or op.out.space is not Space.REGISTER
            or after.out is None
            or after.out.space is not Space.REGISTER
            or after.out.offset != op.out.offset
        ):
            return False
        self._assign(after.out, self._value(op))
        return True

    def _op(self, op: MicroOp, position: int) -> None:
        match op.kind:
            case Kind.STORE:
                where, value = op.ins
                self._lines.append(f"M.store({self.read(where)}, {value.size}, {self.read(value)})")
            case Kind.ABORT:
                why = f"M.reason = {op.ins[1].offset}; M.where = {position}"
                stop = "; ".join([*self._write_back(), why, f"return {ABORTED}"])
                self._lines.append(f"if {self.read(op.ins[0])}: {stop}")
            case Kind.ASSUME:
                self._lines.append(f"if not {self.read(op.ins[0])}: M.leave({op.ins[1].offset})")
            case Kind.UNSUPPORTED:
                address = self._block.addresses[position]
                self._lines.append(f"M.reason = {address}; return {UNSUPPORTED}")
            case _:
                assert op.out is not None
                self._assign(op.out, self._value(op))

    def read(self, var: Var) -> str:
        if var.space in (Space.CONST, Space.CODE):
            return str(var.offset)
        if var.space is Space.ADDRESS:
            return str(number_of(var))
        if var.space is Space.TEMP:
            return f"t{var.offset:x}"
        parts = []
        shift = 0
        for index, start, size in self._containers.pieces(var):
            self._read.add(index)
            part = f"r{index}"
            if start:
                part = f"({part} >> {8 * start})"
            if start + size < self._containers.size(index):
                part = f"({part} & {mask(size):#x})"
            parts.append(f"({part} << {shift})" if shift else part)
            shift += 8 * size
        return parts[0] if len(parts) == 1 else f"({' | '.join(parts)})"

    def _assign(self, out: Var, value: str) -> None:
        if out.space is Space.TEMP:
            self._lines.append(f"t{out.offset:x} = {value}")
            return
        pieces = self._containers.pieces(out)
        if len(pieces) > 1:
            self._lines.append(f"v = {value}")
            value = "v"
        shift = 0
        for index, start, size in pieces:
            part = value if len(pieces) == 1 else f"(v >> {shift}) & {mask(size):#x}"
            shift += 8 * size
            self._written.add(index)
            whole = self._containers.size(index)
            if size == whole:
                self._lines.append(f"r{index} = {part}")
            else:
                self._read.add(index)
                keep = mask(whole) & ~(mask(size) << (8 * start))
                self._lines.append(f"r{index} = (r{index} & {keep:#x}) | (({part}) << {8 * start})")

    def _value(self, op: MicroOp) -> str:
        assert op.out is not None
        if op.kind is Kind.LOAD:
            return f"M.load({self.read(op.ins[0])}, {op.out.size})"
        if op.kind is Kind.UNDEFINED:
            return f"M.undefined({op.out.size})"
        values = [self.read(v) for v in op.ins]
        return _EXPRESSIONS[op.kind](op, values)

    def _exit(self) -> str:
        match self._block.exit:
            case Goto(target):
                return str(self._index[target])
            case Branch(condition, then, otherwise):
                return f"{self._index[then]} if {self.read(condition)} else {self._index[otherwise]}"
            case Switch(value, targets, elsewhere, through):
                table = {address: self._index[target] for address, target in targets}
                self._lines.append(f"M.target = {self.read(value)}")
                self._lines.append(f"M.through = {through!r}")
                self._lines.append(f"M.jump = {self._last_step}")
                return f"{table!r}.get(M.target, {UNRESOLVED if elsewhere is None else self._call(elsewhere)})"
            case Return(value, to):
                self._lines.append(f"M.target = {self.read(value)}")
                if to is None:
                    return str(RETURNED)
                astray = UNRESOLVED
                if self._containers.has_convention:
                    # Liveness assumed a return to the call site: elsewhere, registers may be missing.
                    self._lines.append(f"M.reason = {self._last_step}")
                    astray = UNSUPPORTED
                return f"{self._index[to]} if M.target == {self._block.id.context[-1]} else {astray}"
            case Call() as call:
                self._lines.append(f"M.target = {self.read(call.value)}")
                if call.callee is None:
                    self._lines.append(f"M.jump = {self._last_step}")
                return str(self._call(call))
            case Stop():
                self._lines.append(f"M.reason = {self._block.id.address}")
                return str(UNSUPPORTED)

    def _call(self, call: Call) -> int:
        self._calls.append((call, -1 if call.then is None else self._index[call.then]))
        return FIRST_CALL - (len(self._calls) - 1)


_STATEMENTS = frozenset({Kind.STORE, Kind.ABORT, Kind.ASSUME, Kind.UNSUPPORTED})

Writer = Callable[[MicroOp, list[str]], str]


def _sign(var: Var) -> int:
    return 1 << (8 * var.size - 1)


def _out_mask(op: MicroOp) -> str:
    assert op.out is not None
    return f"{mask(op.out.size):#x}"


def _masked(operator: str) -> Writer:
    return lambda op, v: f"({v[0]} {operator} {v[1]}) & {_out_mask(op)}"


def _plain(operator: str) -> Writer:
    return lambda op, v: f"{v[0]} {operator} {v[1]}"


def _boolean(operator: str) -> Writer:
    return lambda op, v: f"1 if {v[0]} {operator} {v[1]} else 0"


def _signed_compare(operator: str) -> Writer:
    """Flipping the sign bits turns a signed comparison into an unsigned one."""
    return lambda op, v: f"1 if ({v[0]} ^ {_sign(op.ins[0]):#x}) {operator} ({v[1]} ^ {_sign(op.ins[1]):#x}) else 0"


def _carry(op: MicroOp, v: list[str]) -> str:
    return f"1 if {v[0]} + {v[1]} > {mask(op.ins[0].size):#x} else 0"


def _signed_carry(op: MicroOp, v: list[str]) -> str:
    # Operands of one sign, and a sum of the other.
    sign = 8 * op.ins[0].size - 1
    return f"(~({v[0]} ^ {v[1]}) & ({v[0]} ^ ({v[0]} + {v[1]}))) >> {sign} & 1"


def _signed_borrow(op: MicroOp, v: list[str]) -> str:
    sign = 8 * op.ins[0].size - 1
    return f"(({v[0]} ^ {v[1]}) & ({v[0]} ^ ({v[0]} - {v[1]}))) >> {sign} & 1"


def _sign_extend(op: MicroOp, v: list[str]) -> str:
    sign = _sign(op.ins[0])
    return f"(({v[0]} ^ {sign:#x}) - {sign:#x}) & {_out_mask(op)}"


def _signed_value(text: str, var: Var) -> str:
    return f"(({text} ^ {_sign(var):#x}) - {_sign(var):#x})"


def _shift_left(op: MicroOp, v: list[str]) -> str:
    bits = 8 * op.ins[0].size
    if op.ins[1].space is Space.CONST:
        return f"({v[0]} << {v[1]}) & {_out_mask(op)}" if op.ins[1].offset < bits else "0"
    return f"({v[0]} << {v[1]}) & {_out_mask(op)} if {v[1]} < {bits} else 0"


def _shift_right(op: MicroOp, v: list[str]) -> str:
    return f"{v[0]} >> {v[1]}" if op.ins[1].size <= 2 else f"{v[0]} >> min({v[1]}, 4096)"


def _shift_right_signed(op: MicroOp, v: list[str]) -> str:
    return f"({_signed_value(v[0], op.ins[0])} >> min({v[1]}, 4096)) & {_out_mask(op)}"


def _by_definition(op: MicroOp, v: list[str]) -> str:
    """Rare operators go through the defining table."""
    assert op.out is not None
    sizes = ", ".join(str(i.size) for i in op.ins)
    return f"M.evaluate({op.kind.name!r}, {op.out.size}, ({sizes},), ({', '.join(v)},))"


def _divide(operator: str, by_zero: str) -> Writer:
    return lambda op, v: f"({v[0]} {operator} {v[1]} if {v[1]} else {by_zero.format(v[0])}) & {_out_mask(op)}"


_EXPRESSIONS: dict[Kind, Writer] = {
    Kind.COPY: lambda op, v: v[0],
    Kind.INT_ZEXT: lambda op, v: v[0],
    Kind.SELECT: lambda op, v: f"{v[1]} if {v[0]} else {v[2]}",
    Kind.INT_EQUAL: _boolean("=="),
    Kind.INT_NOTEQUAL: _boolean("!="),
    Kind.INT_LESS: _boolean("<"),
    Kind.INT_LESSEQUAL: _boolean("<="),
    Kind.INT_SLESS: _signed_compare("<"),
    Kind.INT_SLESSEQUAL: _signed_compare("<="),
    Kind.INT_SEXT: _sign_extend,
    Kind.INT_ADD: _masked("+"),
    Kind.INT_SUB: _masked("-"),
    Kind.INT_MULT: _masked("*"),
    Kind.INT_XOR: _plain("^"),
    Kind.INT_AND: _plain("&"),
    Kind.INT_OR: _plain("|"),
    Kind.BOOL_XOR: _plain("^"),
    Kind.BOOL_AND: _plain("&"),
    Kind.BOOL_OR: _plain("|"),
    Kind.BOOL_NEGATE: lambda op, v: f"{v[0]} ^ 1",
    Kind.INT_CARRY: _carry,
    Kind.INT_SCARRY: _signed_carry,
    Kind.INT_SBORROW: _signed_borrow,
    Kind.INT_2COMP: lambda op, v: f"-{v[0]} & {_out_mask(op)}",
    Kind.INT_NEGATE: lambda op, v: f"{v[0]} ^ {_out_mask(op)}",
    Kind.INT_LEFT: _shift_left,
    Kind.INT_RIGHT: _shift_right,
    Kind.INT_SRIGHT: _shift_right_signed,
    Kind.INT_DIV: _divide("//", "-1"),
    Kind.INT_REM: _divide("%", "{}"),
    Kind.INT_SDIV: _by_definition,
    Kind.INT_SREM: _by_definition,
    Kind.PIECE: lambda op, v: f"({v[0]} << {8 * op.ins[1].size}) | {v[1]}",
    Kind.SUBPIECE: lambda op, v: (
        f"({v[0]} >> {8 * op.ins[1].offset}) & {_out_mask(op)}" if op.ins[1].offset else f"{v[0]} & {_out_mask(op)}"
    ),
    Kind.POPCOUNT: lambda op, v: f"({v[0]}).bit_count()",
    Kind.LZCOUNT: lambda op, v: f"{8 * op.ins[0].size} - ({v[0]}).bit_length()",
    **dict.fromkeys(FLOAT_RULES, _by_definition),
}


def expression_kinds() -> Iterable[Kind]:
    return _EXPRESSIONS.keys()


def _guarded(function: Function) -> frozenset[int]:
    return frozenset(byte for low, high in function.writable_code for byte in range(low, high))
