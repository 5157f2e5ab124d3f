"""What the code around calls shows about the arguments, where no declaration says it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cached_property

from isoform.lift.function import Block, BlockId, Call, Function, Switch
from isoform.lift.simplify import overlaps
from isoform.model.machine import Machine
from isoform.model.microop import Instruction, Kind, Space, Var, number_of


class Evidence:
    """The argument registers of one side at its calls: which may hold an argument, and which were set only for that."""

    def __init__(self, function: Function, at_entry: Collection[str]) -> None:
        self._function = function
        self._machine = function.machine
        convention = self._machine.convention
        self._registers = (*convention.integer_arguments, *convention.float_arguments)
        self._at_entry = frozenset(at_entry)
        self._offsets = {name: self._machine.registers[name].offset for name in self._registers}
        self._lost = frozenset(n for n in self._registers if n not in convention.callee_saved)

    def calls(self, name: str) -> list[Block]:
        """The blocks that end in a call of `name`, or through a pointer of that type ("": of any type)."""
        return self._calls.get(name, [])

    @cached_property
    def pointer_types(self) -> frozenset[str]:
        """The types of the pointers that are called through; "" among them where one is not known."""
        return frozenset(block.exit.through for block in self.calls("") if isinstance(block.exit, (Call, Switch)))

    @cached_property
    def _calls(self) -> dict[str, list[Block]]:
        found: dict[str, list[Block]] = {}
        for block in self._function.blocks.values():
            call = block.exit
            if isinstance(call, Call) and not call.system and call.callee is not None:
                found.setdefault(call.callee, []).append(block)
            elif (isinstance(call, Call) and not call.system) or (isinstance(call, Switch) and _may_be_call(call)):
                for key in {call.through, ""}:
                    found.setdefault(key, []).append(block)
        return found

    def may_hold(self, name: str) -> frozenset[str]:
        """Registers that may hold an argument at every call of `name`. The others hold what an earlier call left in
        them, which a correct caller does not pass on."""
        found = frozenset(self._registers)
        for block in self.calls(name):
            found &= self._held.get(block.id, found)
        return found

    @cached_property
    def _held(self) -> dict[BlockId, frozenset[str]]:
        """By block: registers that may have been set at its end, since the last call or by our own caller."""
        return self._set_since(self._at_entry)

    @cached_property
    def _written(self) -> dict[BlockId, frozenset[str]]:
        return self._set_since(frozenset())

    def _set_since(self, at_entry: frozenset[str]) -> dict[BlockId, frozenset[str]]:
        return self._flow(at_entry, lambda block, held: held | {n for n in self._registers if self._writes(block, n)})

    def _flow(
        self, at_entry: frozenset[str], through: Callable[[Block, frozenset[str]], frozenset[str]]
    ) -> dict[BlockId, frozenset[str]]:
        """By block: registers of which something may be true at its end. A call ends that for those it may change."""
        starts: dict[BlockId, frozenset[str]] = {self._function.entry: at_entry}
        ends: dict[BlockId, frozenset[str]] = {}
        pending = [self._function.entry]
        while pending:
            block = self._function.blocks[pending.pop()]
            ends[block.id] = held = through(block, starts[block.id])
            after = held - self._lost if isinstance(block.exit, Call) and not block.exit.system else held
            for successor in block.successors:
                joined = starts.get(successor, frozenset()) | after
                if successor not in starts or joined != starts[successor]:
                    starts[successor] = joined
                    pending.append(successor)
        return ends

    def _writes(self, block: Block, register: str) -> bool:
        offset = self._offsets[register]
        return any(op.out is not None and _holds(op.out, offset) for op in block.ops)

    def passes_wide_vectors(self, name: str) -> bool:
        """Whether a vector of more than 128 bits may be passed in a call of `name`: something other than zeros was
        written above the lowest 128 bits of an argument register. Before all other calls compilers clear that part
        (vzeroupper)."""
        return any(self._wide.get(block.id) for block in self.calls(name))

    @cached_property
    def _wide(self) -> dict[BlockId, frozenset[str]]:
        """By block: registers with such a vector at its end. Works on the instructions as listed: what lies above 128
        bits is read by no call that isoform follows, and is removed from the function."""

        def through(block: Block, wide: frozenset[str]) -> frozenset[str]:
            for address in block.steps:
                wide = self._after(self._function.instructions[address], wide)
            return wide

        return self._flow(frozenset(), through)

    def _after(self, instruction: Instruction, wide: frozenset[str]) -> frozenset[str]:
        for name in self._machine.convention.float_arguments:
            low = self._machine.registers[name]
            upper = Var(Space.REGISTER, low.offset + low.size, self._machine.vector_bytes - low.size)
            written = [op for op in instruction.ops if op.out is not None and overlaps(op.out, upper)]
            if written:
                cleared = all(op.kind is Kind.COPY and number_of(op.ins[0]) == 0 for op in written)
                wide = wide - {name} if cleared else wide | {name}
        return wide

    def plainly_set(self, name: str) -> frozenset[str]:
        """Registers that are set before every call of `name`, with nothing in between that reads them."""
        sites = self.calls(name)
        found = frozenset(self._registers) if sites else frozenset()
        for block in sites:
            found &= self._set_for_call(block)
        return found

    def set_somewhere(self, name: str) -> frozenset[str]:
        """Registers that are set for at least one call of `name`, with nothing in between that reads them."""
        return frozenset().union(*(self._set_for_call(block) for block in self.calls(name)))

    def written_somewhere(self, name: str) -> frozenset[str]:
        """Registers that are written before one of the calls of `name` at least, since the entry or the last call.
        (What is passed on as it was at entry is the same on both sides.)"""
        return frozenset().union(*(self._written.get(block.id, frozenset()) for block in self.calls(name)))

    def vectors_said(self, name: str) -> list[int | None]:
        """For each call of `name`: the number that the code puts into the low byte of the first result register for
        nothing but the call, if it does. Of functions that may take any number of arguments callers say there how many
        vector registers hold one."""
        return [self._said_for_call(block) for block in self.calls(name)]

    def _said_for_call(self, block: Block) -> int | None:
        offset = self._machine.registers[self._machine.convention.result[0]].offset
        said: int | None = None
        for instruction in self._before(block):
            number = _number_put(instruction, offset)
            if number is not None or _reads(instruction, offset) or _sets(instruction, offset):
                said = number
        return said if said is not None and said <= len(self._machine.convention.float_arguments) else None

    def set_for_untyped(self) -> frozenset[str]:
        """The same of calls through pointers of unknown type."""
        calls = [b for b in self.calls("") if isinstance(b.exit, (Call, Switch)) and not b.exit.through]
        return frozenset().union(*(self._set_for_call(block) for block in calls))

    def _set_for_call(self, block: Block) -> frozenset[str]:
        unread: set[str] = set()
        addresses: set[str] = set()
        """Registers that were used as an address since they were set."""
        for instruction in self._before(block):
            unread -= {name for name in unread if _reads(instruction, self._offsets[name])}
            written = {name for name in self._registers if _sets(instruction, self._offsets[name])}
            unread -= written
            # Unoptimised code moves a pointer on after the last store through it, too.
            moved = {name for name in written & addresses if _reads(instruction, self._offsets[name])}
            addresses -= written - moved
            addresses |= {name for name in self._registers if _is_address(instruction, self._offsets[name])}
            written -= moved
            if len(_words_set(self._machine, instruction)) <= 1:
                # An instruction with several results (a division, a string operation) may have some that are not
                # needed.
                unread |= written
        return frozenset(unread)

    def _before(self, block: Block) -> Iterator[Instruction]:
        """The instructions of the call's block, the call last; of its only predecessor where the block has none."""
        chain = [block]
        while not chain[-1].steps and len(before := self._function.predecessors.get(chain[-1].id, ())) == 1:
            chain.append(self._function.blocks[before[0]])
        for part in reversed(chain):
            for address in part.steps:
                yield self._function.instructions[address]


def _may_be_call(jump: Switch) -> bool:
    return jump.elsewhere is not None or bool(jump.through) or not jump.targets


def _holds(var: Var, offset: int) -> bool:
    return var.space is Space.REGISTER and var.offset <= offset < var.offset + var.size


def _reads(instruction: Instruction, offset: int) -> bool:
    return any(_holds(var, offset) for op in instruction.ops for var in op.ins)


def _number_put(instruction: Instruction, offset: int) -> int | None:
    """The low byte of the number that an instruction puts into a register, whatever was there."""
    written = [op for op in instruction.ops if op.out is not None and _holds(op.out, offset)]
    if not written or written[-1].kind not in (Kind.COPY, Kind.INT_ZEXT):
        return None
    source = written[-1].ins[0]
    number = number_of(source)
    cleared = any(op.out == source and op.kind is Kind.INT_XOR and op.ins[0] == op.ins[1] for op in instruction.ops)
    return 0 if cleared else None if number is None else number & 0xFF


def _is_address(instruction: Instruction, offset: int) -> bool:
    """Whether memory is read or written at the address in a register."""
    return any(op.kind in (Kind.LOAD, Kind.STORE) and _holds(op.ins[0], offset) for op in instruction.ops)


def _sets(instruction: Instruction, offset: int) -> bool:
    return any(op.out is not None and _holds(op.out, offset) for op in instruction.ops)


def _words_set(machine: Machine, instruction: Instruction) -> set[str]:
    """The general registers that an instruction sets, except the stack pointer."""
    assert machine.memory is not None
    found = set()
    for op in instruction.ops:
        if op.out is not None and op.out.space is Space.REGISTER and op.out.offset in machine.containers_by_byte:
            found.add(machine.containers[machine.containers_by_byte[op.out.offset]])
    skipped = machine.convention.stack_pointer
    return {name for name in found if name != skipped and machine.registers[name].size == machine.memory.address_bytes}
