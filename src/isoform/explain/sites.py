"""The values of a function that a cause can be about, each at a site of its own.

A site is one value of one listed instruction: what it leaves in a register, loads, stores or stores to, a constant that
it computes with, the condition of a branch, an argument or a result of an outside call. A function is *marked* by a
COPY for each of them, of the value onto itself, through which everything later reads it: whoever runs or encodes the
marked function sees the value there, and can put another one in its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from functools import cached_property
from itertools import groupby

from isoform.explain.immediates import computing_with_constant, constant_of, with_operand
from isoform.lift.function import Block, BlockId, Branch, Call, Exit, Function, Goto, Return, outside_call, with_value
from isoform.model.callee import Callees
from isoform.model.machine import Machine
from isoform.model.microop import Kind, MicroOp, Space, Var
from isoform.model.values import dataclass

_FIRST_TEMP = 1 << 24
"""Temps of the COPYs: above those of all instructions."""
_FIRST_OPERAND = 1 << 28
MOVES = frozenset({Kind.COPY, Kind.INT_ZEXT, Kind.INT_SEXT, Kind.LOAD, Kind.PIECE, Kind.SUBPIECE})
"""Micro-ops of an instruction that only moves a value."""

Position = tuple[BlockId, int]
"""A micro-op of a marked function."""


class Role(Enum):
    """What the value of a site is to its instruction."""

    RESULT = "result"
    LOADED = "loaded"
    STORED = "stored"
    ADDRESS = "address"
    CONSTANT = "constant"
    """That the instruction computes with."""
    CONDITION = "condition"
    ARGUMENT = "argument"
    RETURNED = "returned"
    """By an outside call."""
    CALL = "call"
    """No value: an outside call as such."""
    LEFT = "left"
    """In a register of the result, where the function returns."""


@dataclass(frozen=True)
class Site:
    number: int
    block: BlockId
    address: int
    """Of the instruction."""
    role: Role
    register: str
    """The register that holds the value, by the name that fits its size; empty where none does. Of a call: whom."""
    container: str
    """The whole register that that is part of."""
    size: int
    """In bytes."""
    operands: tuple[int, ...] = ()
    """Under which numbers a run shows what the instruction reads, if it was marked with operands."""
    loaded_from: tuple[int, ...] = ()
    """And from which addresses it loads."""
    only_moves: bool = False
    """Whether the instruction moves a value and computes nothing."""
    compared_at: int | None = None
    """Of a condition: the address of the instruction that set the flags which it is made of, if that is another one."""
    is_constant: bool = False
    """Whether the instruction has the value as a constant."""


@dataclass(frozen=True)
class Marked:
    function: Function
    sites: tuple[Site, ...]
    at: dict[Position, int]
    """The site of a COPY; less than 0: an operand."""

    @cached_property
    def contexts(self) -> Mapping[int, tuple[int, ...]]:
        """For each site, the sites of the same value of the same instruction, one for each context that its function is
        inlined in: a function that is called twice is in the listing once. Without a second context: itself."""
        before: Counter[Hashable] = Counter()
        groups: dict[Hashable, list[int]] = {}
        for site in self.sites:
            value = site.address, site.block.part, site.role, site.container, site.size
            groups.setdefault((value, before[site.block.context, value]), []).append(site.number)
            before[site.block.context, value] += 1
        return {number: tuple(group) for group in groups.values() for number in group}


@dataclass(frozen=True)
class Cut:
    """An outside call that is not made."""

    side: int
    block: BlockId


def without_calls(function: Function, blocks: Collection[BlockId]) -> Function:
    """The function with the calls in which some blocks end left out. All else of a marked one stays where it is."""
    changed = {id_: _without_call(function.blocks[id_], function.machine) for id_ in blocks}
    return replace(function, blocks={**function.blocks, **changed})


def _without_call(block: Block, machine: Machine) -> Block:
    """Without what the instruction pushes. A jump in the place of a call is in the block before, and pushes nothing:
    there the stack is left as the callee would leave it."""
    assert isinstance(block.exit, Call)
    assert block.exit.then is not None
    exit_ = Goto(block.exit.then)
    if block.steps:
        kept = next(n for n, address in enumerate((*block.addresses, block.steps[-1])) if address == block.steps[-1])
        return replace(block, ops=block.ops[:kept], addresses=block.addresses[:kept], exit=exit_)
    pointer = machine.convention.stack_pointer
    if pointer is None or not machine.convention.return_address_on_stack:
        return replace(block, exit=exit_)
    register = machine.registers[pointer]
    pop = MicroOp(Kind.INT_ADD, register, (register, Var(Space.CONST, register.size, register.size)))
    return replace(block, ops=(*block.ops, pop), addresses=(*block.addresses, block.id.address), exit=exit_)


def calls_of(function: Function) -> Iterator[Site]:
    """The outside calls that can be left out."""
    for block in function.blocks.values():
        exit_ = block.exit
        if isinstance(exit_, Call) and exit_.callee and exit_.then is not None and not exit_.system:
            address = block.steps[-1] if block.steps else block.id.address
            yield Site(-1, block.id, address, Role.CALL, exit_.callee, "", 0)


def is_callee(function: Function, site: Site) -> bool:
    """Whether the value is the address of the callee, for a call through a pointer at the end of the same block."""
    block = function.as_listed.blocks.get(site.block)
    exit_ = block.exit if block is not None else None
    if block is None or not isinstance(exit_, Call) or exit_.callee is not None:
        return False
    value, containers = exit_.value, function.machine
    if value.space is Space.REGISTER:
        return site.container == containers.containers[containers.containers_by_byte[value.offset]]
    return site.role is Role.LOADED and bool(block.steps) and site.address == block.steps[-1]


def mark(function: Function, callees: Callees, operands: bool = False, results: Sequence[str] = ()) -> Marked:
    """The function as listed, with a COPY for the value of each site; with `operands` also for what each instruction
    reads. `results` are registers of which the value at the end is a site, too."""
    return _Marking(function.as_listed, callees, operands, results).marked()


_Flags = tuple[int, tuple[int, ...], tuple[int, ...]]
"""Of the instruction that set flags: its address, and under which numbers a run shows its operands and from where it
loads."""


class _Marking:
    def __init__(self, function: Function, callees: Callees, with_operands: bool, results: Sequence[str]) -> None:
        self._with_operands = with_operands
        self._results = results
        self._operands = 0
        self._function = function
        self._machine = function.machine
        self._callees = callees
        convention = self._machine.convention
        self._kept = {convention.stack_pointer, convention.return_address, convention.kept_return_address}
        self._sites: list[Site] = []
        self._left: dict[Var, int] = {}
        self._at: dict[Position, int] = {}
        self._returned = _sites_of_results(function)

    def marked(self) -> Marked:
        blocks = {block.id: self._block(block) for block in self._function.blocks.values()}
        return Marked(replace(self._function, blocks=blocks), tuple(self._sites), self._at)

    def _block(self, block: Block) -> Block:
        self._id = block.id
        self._ops: list[MicroOp] = []
        self._addresses: list[int] = []
        self._read: tuple[int, ...] = ()
        self._loaded_from: tuple[int, ...] = ()
        self._of_instruction: Sequence[MicroOp] = ()
        self._flags_from: _Flags | None = None
        self._flags: _Flags | None = None
        for call in self._returned.get(block.id, ()):
            self._results_of(call[0], call[1])
        numbered = list(zip(block.ops, block.addresses, strict=True))
        for address, group in groupby(numbered, key=lambda pair: pair[1]):
            self._instruction(address, [op for op, _ in group])
        exit_ = self._exit(block, block.exit)
        return replace(block, ops=tuple(self._ops), addresses=tuple(self._addresses), exit=exit_)

    def _results_of(self, call: Call, address: int) -> None:
        for given in self._callees(call.callee or call.through).results:
            if given.bits and not given.is_space:
                self._copy_onto_itself(address, self._machine.registers[given.register], Role.RETURNED)

    # -- instructions ---------------------------------------------------------------------------

    def _instruction(self, address: int, ops: Sequence[MicroOp]) -> None:
        last = {self._container(op.out): n for n, op in enumerate(ops) if op.out is not None}
        loads = next((n for n, op in enumerate(ops) if op.kind is Kind.LOAD), len(ops))
        only_moves = all(op.kind in MOVES for op in ops[loads:])
        self._read = tuple(self._operands_of(address, ops)) if self._with_operands else ()
        self._loaded_from = ()
        self._of_instruction = ops
        self._flags = self._flags_from if self._reads_flags(ops) else None
        if any(name is not None and not self._counts(name) and name not in self._kept for name in last):
            self._flags_from = address, self._read, ()
        like, constant = self._constant(address, ops)
        early = self._before_flags(ops, last)
        seen = {self._container(register) for register in early.values()}
        for number, op in enumerate(ops):
            if like is not None and constant is not None:
                op = with_operand(op, like, constant)
            if op.kind is Kind.STORE:
                where = self._copy(address, op.ins[0], Role.ADDRESS)
                op = MicroOp(op.kind, None, (where, self._copy(address, op.ins[1], Role.STORED)))
            elif op.kind is Kind.SELECT and self._flags is not None:
                op = MicroOp(op.kind, op.out, (self._copy(address, op.ins[0], Role.CONDITION), *op.ins[1:]))
            elif op.kind is Kind.LOAD and self._with_operands:
                self._loaded_from += (self._operand(address, op.ins[0]),)
                if self._flags_from is not None and self._flags_from[0] == address:
                    self._flags_from = address, self._read, self._loaded_from
            self._add(op, address)
            if op.out is None:
                continue
            name = self._container(op.out)
            if op.kind is Kind.LOAD and op.out.space is Space.TEMP and not only_moves:
                self._copy_onto_itself(address, op.out, Role.LOADED)
            elif number in early:
                self._copy_onto_itself(address, op.out, Role.RESULT, early[number])
            elif name is not None and last[name] == number and self._counts(name) and name not in seen:
                self._copy_onto_itself(address, op.out, Role.RESULT)

    def _before_flags(self, ops: Sequence[MicroOp], last: Mapping[str | None, int]) -> dict[int, Var]:
        """Results that flags are made of: by the number of the micro-op that computes one, the register that it is for.
        With another value there the flags are those of that value, as they would be if the instruction had computed
        it; carry and overflow come from the operands and stay."""
        found: dict[int, Var] = {}
        for name, number in last.items():
            out = ops[number].out
            if name is None or not self._counts(name) or ops[number].kind not in (Kind.COPY, Kind.INT_ZEXT):
                continue
            assert out is not None
            value = ops[number].ins[0]
            made = next((n for n in range(number) if ops[n].out == value), None)
            if made is None or value.space is not Space.TEMP or ops[made].kind is Kind.LOAD:
                continue
            between = (op for op in ops[made + 1 : number] if value in op.ins)
            if any((flag := self._container(op.out)) is not None and not self._counts(flag) for op in between):
                found[made] = out._replace(size=value.size)
        return found

    def _constant(self, address: int, ops: Sequence[MicroOp]) -> tuple[MicroOp | None, Var | None]:
        """The site of the constant that an instruction computes with, and which micro-op does."""
        found = computing_with_constant(ops)
        if found is None or not all(self._counts(name) for var in found.ins if (name := self._container(var))):
            return None, None
        constant = constant_of(found)
        return found, None if constant is None else self._copy(address, constant, Role.CONSTANT)

    def _reads_flags(self, ops: Sequence[MicroOp]) -> bool:
        """Whether what micro-ops compute depends on flags that an earlier instruction set, as with `cmove` and `sete`.
        Shifts by `cl` only keep flags that they do not set."""
        from_flags: set[Var | str] = set()
        written: set[str] = set()
        for op in ops:
            names = [name for var in op.ins if (name := self._container(var)) is not None]
            is_flag = any(name not in written and name not in self._kept and not self._counts(name) for name in names)
            depends = is_flag or any(var in from_flags for var in op.ins) or any(name in from_flags for name in names)
            name = self._container(op.out)
            if depends and (op.out is None or (name is not None and self._counts(name))):
                return True
            if depends and op.out is not None:
                from_flags.add(name or op.out)
            if name is not None:
                written.add(name)
        return False

    def _operands_of(self, address: int, ops: Sequence[MicroOp]) -> Iterator[int]:
        """The registers that an instruction reads before it writes them."""
        written: set[str] = set()
        for op in ops:
            for var in op.ins:
                name = self._container(var)
                if name is not None and name not in written and self._counts(name):
                    written.add(name)
                    yield self._operand(address, var)
            if (name := self._container(op.out)) is not None:
                written.add(name)

    def _operand(self, address: int, var: Var) -> int:
        """The number under which a run shows a value that is read."""
        self._operands += 1
        self._at[self._id, len(self._ops)] = -self._operands
        out = Var(Space.TEMP, _FIRST_OPERAND + 16 * self._operands, var.size)
        self._add(MicroOp(Kind.COPY, out, (var,)), address)
        return -self._operands

    def _container(self, var: Var | None) -> str | None:
        if var is None or var.space is not Space.REGISTER:
            return None
        return self._machine.containers[self._machine.containers_by_byte[var.offset]]

    def _counts(self, container: str) -> bool:
        """Flags are seen where a branch or an instruction uses them; where the stack is, is nobody's business."""
        return container not in self._kept and self._machine.registers[container].size > 1

    # -- ends of blocks -------------------------------------------------------------------------

    def _exit(self, block: Block, exit_: Exit) -> Exit:
        address = block.steps[-1] if block.steps else block.id.address
        if not block.addresses or block.addresses[-1] != address:  # the end of the block is an instruction of its own
            self._flags, self._read, self._loaded_from = None, (), ()
        if isinstance(exit_, Branch):
            return with_value(exit_, self._copy(address, exit_.condition, Role.CONDITION))
        if isinstance(exit_, Return) and exit_.to is None:
            self._of_instruction, self._read, self._loaded_from, self._flags = (), (), (), None
            for name in self._results:
                self._leave(address, self._machine.registers[name])
        call = outside_call(exit_)
        if call is not None and not call.system:
            parts = self._callees(call.callee or call.through).parts
            for part in parts:
                if part.register is not None and part.reads:
                    self._copy_onto_itself(address, self._machine.registers[part.register], Role.ARGUMENT)
        return exit_

    # -- COPYs ----------------------------------------------------------------------------------

    def _copy(self, address: int, value: Var, role: Role) -> Var:
        out = Var(Space.TEMP, _FIRST_TEMP + 16 * len(self._sites), value.size)
        self._site(address, value, role)
        self._add(MicroOp(Kind.COPY, out, (value,)), address)
        return out

    def _copy_onto_itself(self, address: int, value: Var, role: Role, register: Var | None = None) -> None:
        self._site(address, value, role, register)
        self._add(MicroOp(Kind.COPY, value, (value,)), address)

    def _leave(self, address: int, value: Var) -> None:
        """All returns are one site: a run comes to one of them."""
        known = self._left.get(value)
        if known is None:
            self._left[value] = len(self._sites)
            self._copy_onto_itself(address, value, Role.LEFT)
        else:
            self._at[self._id, len(self._ops)] = known
            self._add(MicroOp(Kind.COPY, value, (value,)), address)

    def _site(self, address: int, value: Var, role: Role, register: Var | None = None) -> None:
        number, read, loaded, compared_at = len(self._sites), self._read, self._loaded_from, None
        flags = self._flags_from if role is Role.CONDITION and not read else self._flags
        if flags is not None:
            compared_at = flags[0]
            own = () if role is Role.CONDITION else read
            read, loaded = (*own, *flags[1]), (*loaded, *flags[2])
        held = value if register is None else register
        name = self._machine.register_name(held) if held.space is Space.REGISTER else ""
        whole = self._container(held) or ""
        self._at[self._id, len(self._ops)] = number
        moves = role is not Role.CONDITION and self._flags is None and _is_moved(self._of_instruction, value)
        constant = role is Role.CONSTANT or (moves and _is_constant(self._of_instruction, value))
        if role is Role.CONSTANT:
            read, loaded, compared_at = (), (), None
        self._sites.append(
            Site(number, self._id, address, role, name, whole, value.size, read, loaded, moves, compared_at, constant)
        )

    def _add(self, op: MicroOp, address: int) -> None:
        self._ops.append(op)
        self._addresses.append(address)


def _is_moved(ops: Sequence[MicroOp], value: Var) -> bool:
    """Whether micro-ops only move what a variable has behind them: from a register, from memory, or a constant."""
    made = next((n for n in reversed(range(len(ops))) if ops[n].out == value), None)
    if made is None or ops[made].kind is Kind.LOAD:
        return True
    return ops[made].kind in MOVES and all(_is_moved(ops[:made], var) for var in ops[made].ins)


def _is_constant(ops: Sequence[MicroOp], value: Var) -> bool:
    """Whether what micro-ops move is a constant."""
    if value.space is Space.CONST:
        return True
    made = next((n for n in reversed(range(len(ops))) if ops[n].out == value), None)
    if made is None or ops[made].kind not in (Kind.COPY, Kind.INT_ZEXT, Kind.INT_SEXT):
        return False
    return _is_constant(ops[:made], ops[made].ins[0])


def _sites_of_results(function: Function) -> dict[BlockId, list[tuple[Call, int]]]:
    """For each block that only one call leads to: the call, and where it is."""
    found: dict[BlockId, list[tuple[Call, int]]] = {}
    for block in function.blocks.values():
        call = outside_call(block.exit)
        if call is not None and call.then is not None and len(function.predecessors[call.then]) == 1:
            found[call.then] = [(call, block.steps[-1] if block.steps else block.id.address)]
    return found
