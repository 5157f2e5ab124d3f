"""From an entry address to a function: decode what is reachable, find the blocks, inline present callees."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial

from isoform.lift.addresses import with_addresses
from isoform.lift.function import (
    Block,
    BlockId,
    Branch,
    Call,
    Exit,
    Function,
    Goto,
    Hints,
    Return,
    Stop,
    Switch,
    outside_call,
)
from isoform.lift.returning import Returning, leaves
from isoform.lift.simplify import Known, known_value, propagate
from isoform.lift.tables import jump_targets
from isoform.lift.thread import with_thread_pointer
from isoform.lift.weak import null_guard, with_weak_addresses
from isoform.load.image import Image, Symbol
from isoform.model.budget import Budget
from isoform.model.errors import Unsupported, UserError
from isoform.model.machine import Machine
from isoform.model.microop import CONTROL, Instruction, Kind, MicroOp, Space, Var, const, number_of
from isoform.model.values import dataclass

MOST_INSTRUCTIONS = 50_000
MOST_BLOCKS = 100_000
MOST_DEPTH = 12

Position = tuple[int, int]
"""Instruction address and index of a micro-op in it."""

_MOST_FETCHED = 16
"""Bytes that a decoder is shown at once, as `Image.code_at` gives them."""


@dataclass(frozen=True)
class _Raw:
    """A block of one routine, before inlining: positions instead of block ids."""

    ops: tuple[MicroOp, ...]
    addresses: tuple[int, ...]
    steps: tuple[int, ...]
    last: MicroOp | None
    """The control micro-op that ends it; None where it runs on, or stops (`next` is then None too)."""
    next: Position | None
    why: str = ""


@dataclass(frozen=True)
class _Routine:
    entry: int
    blocks: dict[Position, _Raw]
    targets: dict[Position, tuple[int, ...]]
    """Resolved targets of the computed jump or call at the end of a block."""
    certain: frozenset[Position]
    """Where such a target is plainly the only one."""


def control_flow_graph(
    image: Image,
    machine: Machine,
    name: str,
    entry: int,
    inline: bool = True,
    hints: Hints | None = None,
    budget: Budget | None = None,
) -> Function:
    """The function at `entry`. With `inline`, calls to code that is present become part of it."""
    return _with_calls_refused(_Lifter(image, machine, name, inline, hints or {}, budget).function(entry))


class _Lifter:
    def __init__(
        self, image: Image, machine: Machine, name: str, inline: bool, hints: Hints, budget: Budget | None = None
    ) -> None:
        self.budget = budget
        self.image = image
        self.machine = machine
        self.name = name
        self.inline = inline
        self.hints = hints
        self.returning = Returning(image, lambda address: machine.decode(image.code_at(address), address))
        self.instructions: dict[int, Instruction] = {}
        self.blocks: dict[BlockId, Block] = {}
        self.inlined: list[str] = []
        self._routines: dict[int, _Routine] = {}
        self._routine_entries: set[int] = set()
        self._guessed = False
        """Whether a jump table was followed. Its end is a guess, so that what is no instruction at all may have been
        taken for one; an engine must then show that it is never reached."""

    # -- decoding -------------------------------------------------------------------------------

    def decode(self, address: int) -> Instruction:
        found = self.instructions.get(address)
        if found is None:
            found = self._decode(address)
            self.instructions[address] = found
        return found

    def _decode(self, address: int) -> Instruction:
        if len(self.instructions) >= MOST_INSTRUCTIONS:
            raise Unsupported(f"{self.name} has more than {MOST_INSTRUCTIONS} instructions")
        if len(self.instructions) % 256 == 0:
            self._spend()
        code = self.image.code_at(address)
        if self.machine.memory is not None and self.machine.memory.zeroed:
            # Zeros follow the program, so an instruction at its end may reach into them. Arriving in the zeros is a
            # fault of the program, unless it wrote there (`Function.writable_code`).
            return self.machine.decode(code and code.ljust(_MOST_FETCHED, b"\0"), address)
        if not code and self._guessed:
            return _nowhere(address)
        if not code:
            raise UserError(
                f"{self.name} in {self.image.path} runs off its code at {address:#x}: "
                "there are no instructions there; name a whole function."
            )
        instruction = with_addresses(self.machine, self.image, code, self.machine.decode(code, address))
        instruction = with_weak_addresses(instruction, self.image, self.machine)
        instruction = with_thread_pointer(instruction, self.image, self.machine)
        if instruction.length > len(code) and self._guessed:
            return _nowhere(address)
        if instruction.length > len(code):
            raise UserError(f"{self.name} in {self.image.path} ends in the middle of an instruction at {address:#x}.")
        if self.image.broken:
            for byte in range(address, instruction.next_address):
                if byte in self.image.broken:
                    raise Unsupported(f"{self.name} at {address:#x}: {self.image.broken[byte]}")
        return instruction

    def _spend(self) -> None:
        if self.budget is not None:
            self.budget.require(f"lifting {self.name}")

    # -- one routine ----------------------------------------------------------------------------

    def routine(self, entry: int) -> _Routine:
        if entry not in self._routines:
            self._routine_entries.add(entry)
            self._routines[entry] = self._build_routine(entry)
        return self._routines[entry]

    def _build_routine(self, entry: int) -> _Routine:
        """Discover leaders, cut blocks, resolve computed jumps; again while that finds new code."""
        targets: dict[Position, tuple[int, ...]] = {}
        extra: set[Position] = set()
        while True:
            self._spend()
            leaders = self._leaders(entry, extra)
            blocks = {leader: self._cut(leader, leaders) for leader in sorted(leaders)}
            found, certain = self._resolve(blocks, {(entry, 0), *extra})
            new = {
                (self._real(target), 0)
                for position, resolved in found.items()
                for target in resolved
                if self._is_jump(blocks[position]) and self.image.code_at(self._real(target))
            }
            targets = found
            if new <= extra:
                return _Routine(entry, blocks, targets, certain)
            extra |= new

    def _is_jump(self, raw: _Raw) -> bool:
        return raw.last is not None and raw.last.kind is Kind.BRANCHIND

    def _leaders(self, entry: int, extra: set[Position]) -> set[Position]:
        leaders = {(entry, 0), *extra}
        pending = list(leaders)
        walked: set[Position] = set()
        while pending:
            position: Position | None = pending.pop()
            while position is not None and position not in walked:
                walked.add(position)
                found, position = self._walk(position)
                for leader in found:
                    if leader not in leaders:
                        leaders.add(leader)
                        pending.append(leader)
        return leaders

    def _walk(self, position: Position) -> tuple[list[Position], Position | None]:
        """Leaders made by the rest of one instruction, and where control falls through to."""
        address, index = position
        instruction = self.decode(address)
        leaders: list[Position] = []
        for number in range(index, len(instruction.ops)):
            op = instruction.ops[number]
            after = self._after(instruction, number + 1)
            if op.kind is Kind.BRANCH:
                if (target := self._target(instruction, op.ins[0])) is not None:
                    leaders.append(target)
                return leaders, None
            if op.kind is Kind.CBRANCH:
                if (target := self._target(instruction, op.ins[0])) is not None:
                    leaders.append(target)
                leaders.append(after)
                return leaders, None
            if op.kind in (Kind.CALL, Kind.CALLIND, Kind.SYSTEM):
                if not self._never_returns(op, address, after):
                    leaders.append(after)
                return leaders, None
            if op.kind in (Kind.RETURN, Kind.BRANCHIND, Kind.UNSUPPORTED) or _stops(op):
                return leaders, None
        return leaders, (instruction.next_address, 0)

    def _after(self, instruction: Instruction, index: int) -> Position:
        if index >= len(instruction.ops):
            return instruction.next_address, 0
        return instruction.address, index

    def _target(self, instruction: Instruction, target: Var) -> Position | None:
        """Where a branch goes inside present code; None where it leaves it (a tail call)."""
        if target.space is Space.INNER:
            return self._after(instruction, target.offset)
        return None if self._outside_name(target.offset) is not None else (self._real(target.offset), 0)

    def _real(self, address: int) -> int:
        """Where the code is that is known under `address`."""
        return self.image.aliases.get(address, address)

    def _outside_name(self, address: int) -> str | None:
        """The function that a jump to `address` leaves this one for; None if it stays."""
        address = self._real(address)
        if address in self.image.externals:
            return self.image.externals[address]
        symbol = None if self.inline else self._function_around(address)
        if symbol is None or symbol.address != address or address in self._routine_entries:
            return None
        return None if _is_part(symbol, self.name) else symbol.name

    def _never_returns(self, op: MicroOp, address: int, after: Position) -> bool:
        if op.kind is Kind.SYSTEM or self.machine.convention.stack_pointer is None:
            return False
        name = self.image.externals.get(self._real(op.ins[0].offset)) if op.kind is Kind.CALL else None
        if name is None:
            return self.returning.nothing_follows(address, after[0])
        return not self.returning.comes_back(name, address, after[0])

    def _cut(self, leader: Position, leaders: set[Position]) -> _Raw:
        """The block from `leader` to the next control micro-op or leader."""
        ops: list[MicroOp] = []
        addresses: list[int] = []
        steps: list[int] = []
        position = leader
        while True:
            instruction = self.decode(position[0])
            if position[1] == 0:
                steps.append(instruction.address)
            for number in range(position[1], len(instruction.ops)):
                op = instruction.ops[number]
                if number != position[1] and (instruction.address, number) in leaders:
                    return _Raw(tuple(ops), tuple(addresses), tuple(steps), None, (instruction.address, number))
                if op.kind in CONTROL:
                    after = self._after(instruction, number + 1)
                    return _Raw(tuple(ops), tuple(addresses), tuple(steps), op, after)
                ops.append(op)
                addresses.append(instruction.address)
                if op.kind is Kind.UNSUPPORTED or _stops(op):
                    return _Raw(tuple(ops), tuple(addresses), tuple(steps), None, None, instruction.text)
            position = (instruction.next_address, 0)
            if position in leaders:
                return _Raw(tuple(ops), tuple(addresses), tuple(steps), None, position)

    # -- computed jumps -------------------------------------------------------------------------

    def _resolve(
        self, blocks: dict[Position, _Raw], entries: set[Position]
    ) -> tuple[dict[Position, tuple[int, ...]], frozenset[Position]]:
        computed = {
            position: raw
            for position, raw in blocks.items()
            if raw.last is not None and raw.last.kind in (Kind.BRANCHIND, Kind.CALLIND)
        }
        if not computed:
            return {}, frozenset()
        constants = self._constants_at_entry(blocks, entries)
        found = {position: self._resolve_one(raw, constants.get(position, {})) for position, raw in computed.items()}
        certain = frozenset(position for position, (_, is_certain) in found.items() if is_certain)
        return {position: targets for position, (targets, _) in found.items()}, certain

    def _resolve_one(self, raw: _Raw, known: Known) -> tuple[tuple[int, ...], bool]:
        """The targets, and whether the address is a constant, so that there is no other."""
        assert raw.last is not None
        given = [MicroOp(Kind.COPY, var, (value,)) for var, value in known.items()]
        after = dict(known)
        ops = [*given, *propagate(raw.ops, self.image, after)]
        constant = known_value(raw.last.ins[0], after)
        number = number_of(constant)
        if number is not None:
            return (number,), True
        plausible = partial(self._plausible_target, raw.steps[0] if raw.steps else raw.addresses[0])
        found = jump_targets(ops, raw.last.ins[0], self.image, plausible) or []
        self._guessed = self._guessed or len(found) > 1
        hinted = sorted(self.hints.get(raw.steps[-1] if raw.steps else raw.addresses[-1], ()))
        return tuple(dict.fromkeys([*found, *hinted])), False

    def _plausible_target(self, here: int, target: int) -> bool:
        """Whether a table of the function around `here` may well hold `target`. The next table in the file often
        follows with no gap, and its entries are nonsense when read as entries of this one."""
        section = self.image.section_at(here)
        if section is None or not section.address <= target < section.end:
            return False
        own, other = self._function_around(here), self._function_around(target)
        if own is None or other is None or own == other or other.address == target:
            return True
        return _is_part(other, own.name)

    @cached_property
    def _functions(self) -> tuple[list[int], list[Symbol]]:
        ordered = sorted((s for s in self.image.symbols if s.is_function), key=lambda s: s.address)
        return [s.address for s in ordered], ordered

    def _function_around(self, address: int) -> Symbol | None:
        starts, ordered = self._functions
        index = bisect_right(starts, address) - 1
        found = ordered[index] if index >= 0 else None
        return found if found is not None and address < found.address + max(found.size, 1) else None

    def _constants_at_entry(self, blocks: dict[Position, _Raw], starts: set[Position]) -> dict[Position, Known]:
        """Registers that hold the same constant whichever way a block is reached (forward data flow).
        Nothing is known at `starts`: the entry and the targets of computed jumps."""
        entries: dict[Position, Known] = {position: {} for position in starts}
        pending = list(starts)
        while pending:
            position = pending.pop()
            raw = blocks[position]
            known = dict(entries[position])
            propagate(raw.ops, self.image, known)
            if raw.last is not None and raw.last.kind in (Kind.CALL, Kind.CALLIND, Kind.SYSTEM):
                known = {}
            known = {v: c for v, c in known.items() if number_of(c) is not None and v.space is Space.REGISTER}
            for successor in self._raw_successors(raw):
                if successor not in blocks:
                    continue
                merged = _meet(entries.get(successor), known)
                if merged != entries.get(successor):
                    entries[successor] = merged
                    pending.append(successor)
        return entries

    def _raw_successors(self, raw: _Raw) -> Iterator[Position]:
        if raw.last is None:
            if raw.next is not None:
                yield raw.next
            return
        if raw.last.kind in (Kind.BRANCH, Kind.CBRANCH) and raw.next is not None:
            instruction = self.decode(raw.steps[-1] if raw.steps else raw.addresses[-1])
            target = self._target(instruction, raw.last.ins[0])
            if target is not None:
                yield target
        if raw.last.kind in (Kind.CBRANCH, Kind.CALL, Kind.CALLIND, Kind.SYSTEM) and raw.next is not None:
            yield raw.next

    # -- inlining -------------------------------------------------------------------------------

    def function(self, entry: int) -> Function:
        start = BlockId((), entry, 0)
        pending: list[_Visit] = [(start, (entry,))]
        while pending:
            block_id, chain = pending.pop()
            if block_id in self.blocks:
                continue
            if len(self.blocks) >= MOST_BLOCKS:
                raise Unsupported(f"{self.name} with everything it calls is larger than {MOST_BLOCKS} blocks")
            if len(self.blocks) % 256 == 0:
                self._spend()
            raw = self.routine(chain[-1]).blocks.get((block_id.address, block_id.part), _AFTER_END)
            exit_, follow = self._exit(block_id, raw, chain)
            guard = null_guard(exit_, self.image, self.machine)
            where = (_last_address(block_id, raw),) * len(guard)
            block = Block(block_id, (*raw.ops, *guard), (*raw.addresses, *where), raw.steps, exit_)
            self.blocks[block_id] = block
            pending += [(successor, chain) for successor in block.successors] if follow is None else follow
        inlined = tuple(dict.fromkeys(self.inlined))
        return Function(
            self.name,
            self.image,
            self.machine,
            start,
            self.blocks,
            self.instructions,
            inlined,
            inlines=self.inline,
            hints=self.hints,
        )

    def _exit(self, block_id: BlockId, raw: _Raw, chain: tuple[int, ...]) -> tuple[Exit, list[_Visit] | None]:
        """The exit, and the blocks to visit next with their chains (None: the successors, same chain)."""
        last = raw.last
        if last is None:
            return (Stop(raw.why), []) if raw.next is None else (Goto(_here(block_id, raw.next)), None)
        assert raw.next is not None
        after = _here(block_id, raw.next)
        routine, position = self.routine(chain[-1]), (block_id.address, block_id.part)
        computed = routine.targets.get(position, ())
        match last.kind:
            case Kind.BRANCH | Kind.CBRANCH:
                return self._branch(block_id, raw, last, after, chain)
            case Kind.RETURN:
                return self._return(block_id, last.ins[0], chain)
            case Kind.CALL:
                return self._call(last.ins[0].offset, last.ins[0], _last_address(block_id, raw), after, chain)
            case Kind.SYSTEM:
                return Call(SYSTEM_CALL, const(0, 8), after, system=True), None
            case Kind.CALLIND if position not in routine.certain:
                return self._pointer_call(computed, last.ins[0], _last_address(block_id, raw), after, chain)
            case Kind.CALLIND:
                return self._call(computed[0], last.ins[0], _last_address(block_id, raw), after, chain)
            case _:
                return self._jump(block_id, raw, computed, last.ins[0], chain)

    def _branch(
        self, block_id: BlockId, raw: _Raw, last: MicroOp, after: BlockId, chain: tuple[int, ...]
    ) -> tuple[Exit, list[_Visit] | None]:
        instruction = self.decode(_last_address(block_id, raw))
        target = self._target(instruction, last.ins[0])
        if target is not None:
            taken, follow = _here(block_id, target), [(_here(block_id, target), chain)]
        else:
            goal = last.ins[0]
            taken, follow = self._tail_call(block_id.context, instruction.address, goal.offset, goal, chain)
        if last.kind is Kind.BRANCH:
            return Goto(taken), follow
        return Branch(last.ins[1], taken, after), [*follow, (after, chain)]

    def _jump(
        self, block_id: BlockId, raw: _Raw, targets: tuple[int, ...], value: Var, chain: tuple[int, ...]
    ) -> tuple[Exit, list[_Visit] | None]:
        if len(targets) == 1 and self._outside_name(targets[0]) is not None:
            # The value is a temp of this block, which the call's own block does not have.
            value = const(targets[0], value.size)
            taken, follow = self._tail_call(block_id.context, _last_address(block_id, raw), targets[0], value, chain)
            return Goto(taken), follow
        present = tuple((t, _here(block_id, (self._real(t), 0))) for t in targets if self.image.code_at(self._real(t)))
        return Switch(value, present), None

    def _return(self, block_id: BlockId, value: Var, chain: tuple[int, ...]) -> tuple[Exit, list[_Visit]]:
        if not block_id.context:
            return Return(value), []
        to = BlockId(block_id.context[:-1], block_id.context[-1], 0)
        return Return(value, to), [(to, chain[:-1])]

    def _pointer_call(
        self, targets: tuple[int, ...], value: Var, address: int, after: BlockId, chain: tuple[int, ...]
    ) -> tuple[Exit, list[_Visit] | None]:
        """A call to a computed address: what it may be to and is present becomes part of the function, each for the
        value that leads there; any other address is outside code."""
        if self.machine.convention.stack_pointer is None:
            return Switch(value, ()), None  # no convention, so nothing can be said of an unknown callee
        if self._nothing_follows(address, after):
            return Call(None, value, None), None
        inner = {}
        for pointer in targets if self.inline and len(chain) <= MOST_DEPTH else ():
            real = self._real(pointer)
            function = self._function_around(real)
            if function is not None and function.address == real and self.image.code_at(real) and real not in chain:
                inner[pointer] = BlockId((*after.context, after.address), real, 0)
                self.inlined.append(function.name)
        call = Call(None, value, after)
        if not inner:
            return call, None
        visits = [(block, (*chain, block.address)) for block in inner.values()]
        return Switch(value, tuple(inner.items()), call), [*visits, (after, chain)]

    def _nothing_follows(self, address: int, after: BlockId) -> bool:
        has_convention = self.machine.convention.stack_pointer is not None
        return has_convention and self.returning.nothing_follows(address, after.address)

    def _call(
        self, target: int, value: Var, address: int, after: BlockId, chain: tuple[int, ...]
    ) -> tuple[Exit, list[_Visit] | None]:
        target = self.image.aliases.get(target, target)
        name = self.image.name_at(target)
        if target in self.image.externals or not self.image.code_at(target):
            back = self.returning.comes_back(name, address, after.address)
            return Call(name, value, after if back else None), None
        if target == chain[0] and self.machine.convention.stack_pointer is not None:
            return Call(SELF, value, after), None
        if not self.inline and not self._is_loader_code(target):
            called, back = name or f"function at {target:#x}", not self._nothing_follows(address, after)
            return Call(called, value, after if back else None, present=True), None
        if target in chain and self.machine.convention.stack_pointer is None:
            return Switch(value, ()), None  # a jump like any other: engines that follow runs can follow it
        if target in chain:
            raise Unsupported(f"{name or hex(target)}, which {self.name} calls, is recursive")
        if len(chain) > MOST_DEPTH:
            raise Unsupported(f"{self.name} calls more than {MOST_DEPTH} functions deep")
        if not self._is_loader_code(target):
            self.inlined.append(name or hex(target))
        inner = BlockId((*after.context, after.address), target, 0)
        return Goto(inner), [(inner, (*chain, target))]

    def _is_loader_code(self, address: int) -> bool:
        return self.image.loader_code[0] <= address < self.image.loader_code[1]

    def _tail_call(
        self, context: tuple[int, ...], address: int, target: int, value: Var, chain: tuple[int, ...]
    ) -> tuple[BlockId, list[_Visit]]:
        """A jump to another function is a call, then a return to our own caller."""
        name, present = self._outside_name(target) or "", self._real(target) not in self.image.externals
        call, back = BlockId(context, address, _TAIL), BlockId(context, address, _TAIL + 1)
        gone = not present and leaves(self.image, name)
        exit_ = Call(name, value, None if gone else back, present=present)
        guard = null_guard(exit_, self.image, self.machine)
        kept = (*guard, *self._keep_return_address())
        self.blocks[call] = Block(call, kept, (address,) * len(kept), (), exit_)
        if gone:
            return call, []
        ops, caller = self._return_ops()
        leave, follow = self._return(back, caller, chain)
        self.blocks[back] = Block(back, ops, (address,) * len(ops), (), leave)
        return call, follow

    def _keep_return_address(self) -> tuple[MicroOp, ...]:
        """The callee returns to where the link register says, and need not leave it there."""
        convention, registers = self.machine.convention, self.machine.registers
        if convention.return_address is None or convention.kept_return_address is None:
            return ()
        return (MicroOp(Kind.COPY, registers[convention.kept_return_address], (registers[convention.return_address],)),)

    def _return_ops(self) -> tuple[tuple[MicroOp, ...], Var]:
        """What finds the return address once the callee has come back and popped it."""
        convention, registers = self.machine.convention, self.machine.registers
        if convention.return_address is not None:
            return (), registers[convention.kept_return_address or convention.return_address]
        assert convention.stack_pointer is not None
        pointer = registers[convention.stack_pointer]
        place, target = Var(Space.TEMP, _TAIL, pointer.size), Var(Space.TEMP, _TAIL + 16, pointer.size)
        below = const(convention.stack_adjustment, pointer.size)
        return (MicroOp(Kind.INT_SUB, place, (pointer, below)), MicroOp(Kind.LOAD, target, (place,))), target


_AFTER_END = _Raw((), (), (), None, None, "the end of its code after a call")
_Visit = tuple[BlockId, tuple[int, ...]]
"""A block to visit and the entries of the routines it is nested in, outermost first."""
_TAIL = 1 << 20
"""Micro-op index of the blocks made for a tail call: no instruction has so many."""
SELF = "(itself)"
"""Callee name of a recursive call of the compared function: equal on both sides whatever its symbol is."""
SYSTEM_CALL = "(system call)"
"""Callee name of the operating system."""


def _with_calls_refused(function: Function) -> Function:
    """A function that uses what is not known after calls, without semantics from its calls to outside code on."""
    registers, names = function.machine.registers, function.machine.convention.not_across_calls
    unknown, used = [registers[name] for name in names], " and ".join(names)
    if not any(_touches(op, unknown) for block in function.blocks.values() for op in block.ops):
        return function
    return replace(function, blocks={number: _stopped(block, used) for number, block in function.blocks.items()})


def _touches(op: MicroOp, registers: list[Var]) -> bool:
    used = (var for var in (*op.ins, op.out) if var is not None and var.space is Space.REGISTER)
    return any(r.offset < var.offset + var.size and var.offset < r.offset + r.size for var in used for r in registers)


def _stopped(block: Block, used: str) -> Block:
    call = outside_call(block.exit)
    if call is None or call.then is None or call.system:
        return block
    address = block.steps[-1] if block.steps else block.id.address
    ops = (*block.ops, MicroOp(Kind.UNSUPPORTED, None, ()))
    why = f"a call of {call.callee or 'a function'} beside {used} instructions is not followed"
    return replace(block, ops=ops, addresses=(*block.addresses, address), exit=Stop(why))


def _is_part(symbol: Symbol, name: str) -> bool:
    """Whether a compiler split this off from the function `name` (`f.cold`, `f.part.0`)."""
    return symbol.name.startswith(f"{name}.")


def _here(block_id: BlockId, position: Position) -> BlockId:
    return BlockId(block_id.context, *position)


def _last_address(block_id: BlockId, raw: _Raw) -> int:
    """The address of the instruction that ends the block."""
    if raw.steps:
        return raw.steps[-1]
    return raw.addresses[-1] if raw.addresses else block_id.address


def _stops(op: MicroOp) -> bool:
    return op.kind is Kind.ABORT and op.ins[0] == const(1, 1)


def _meet(old: Known | None, new: Known) -> Known:
    if old is None:
        return dict(new)
    return {var: value for var, value in old.items() if new.get(var) == value}


def _nowhere(address: int) -> Instruction:
    """What stands where there is no code."""
    return Instruction(address, 1, "(no code)", (MicroOp(Kind.UNSUPPORTED, None, ()),))
