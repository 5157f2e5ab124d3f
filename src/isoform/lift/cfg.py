"""From an entry address to a function: the blocks of all routines that are reached, present callees inlined."""

from __future__ import annotations

from dataclasses import replace

from isoform.lift.address_parts import refuse_lone_parts
from isoform.lift.decoding import Decoding
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
from isoform.lift.returning import leaves
from isoform.lift.routines import Position, RawBlock, Routines
from isoform.lift.weak import null_guard
from isoform.load.image import Image
from isoform.model.budget import Budget
from isoform.model.errors import Unsupported
from isoform.model.machine import Machine
from isoform.model.microop import Kind, MicroOp, Space, Var, const

MOST_BLOCKS = 100_000
MOST_DEPTH = 12


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
    function = _Inliner(Decoding(image, machine, name, budget), inline, hints or {}).function(entry)
    refuse_lone_parts(function)
    return _with_calls_refused(function)


class _Inliner:
    """Combines the routines of a function: each call of a present callee has blocks of its own."""

    def __init__(self, decoding: Decoding, inline: bool, hints: Hints) -> None:
        self._decoding = decoding
        self._routines = Routines(decoding, inline, hints)
        self._image = decoding.image
        self._machine = decoding.machine
        self._name = decoding.name
        self._inline = inline
        self._hints = hints
        self._blocks: dict[BlockId, Block] = {}
        self._inlined: list[str] = []

    def function(self, entry: int) -> Function:
        start = BlockId((), entry, 0)
        pending: list[_Visit] = [(start, (entry,))]
        while pending:
            block_id, chain = pending.pop()
            if block_id in self._blocks:
                continue
            if len(self._blocks) >= MOST_BLOCKS:
                raise Unsupported(f"{self._name} with everything it calls is larger than {MOST_BLOCKS} blocks")
            if len(self._blocks) % 256 == 0:
                self._decoding.spend()
            raw = self._routines.routine(chain[-1]).blocks.get((block_id.address, block_id.part), _AFTER_END)
            exit_, follow = self._exit(block_id, raw, chain)
            guard = null_guard(exit_, self._image, self._machine)
            where = (_last_address(block_id, raw),) * len(guard)
            block = Block(block_id, (*raw.ops, *guard), (*raw.addresses, *where), raw.steps, exit_)
            self._blocks[block_id] = block
            pending += [(successor, chain) for successor in block.successors] if follow is None else follow
        inlined = tuple(dict.fromkeys(self._inlined))
        return Function(
            self._name,
            self._image,
            self._machine,
            start,
            self._blocks,
            self._decoding.instructions,
            inlined,
            inlines=self._inline,
            hints=self._hints,
        )

    def _exit(self, block_id: BlockId, raw: RawBlock, chain: tuple[int, ...]) -> tuple[Exit, list[_Visit] | None]:
        """The exit, and the blocks to visit next with their chains (None: the successors, same chain)."""
        last = raw.last
        if last is None:
            return (Stop(raw.why), []) if raw.next is None else (Goto(_here(block_id, raw.next)), None)
        assert raw.next is not None
        after = _here(block_id, raw.next)
        routine, position = self._routines.routine(chain[-1]), (block_id.address, block_id.part)
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
        self, block_id: BlockId, raw: RawBlock, last: MicroOp, after: BlockId, chain: tuple[int, ...]
    ) -> tuple[Exit, list[_Visit] | None]:
        instruction = self._decoding.decode(_last_address(block_id, raw))
        target = self._routines.target(instruction, last.ins[0])
        if target is not None:
            taken, follow = _here(block_id, target), [(_here(block_id, target), chain)]
        else:
            goal = last.ins[0]
            taken, follow = self._tail_call(block_id.context, instruction.address, goal.offset, goal, chain)
        if last.kind is Kind.BRANCH:
            return Goto(taken), follow
        return Branch(last.ins[1], taken, after), [*follow, (after, chain)]

    def _jump(
        self, block_id: BlockId, raw: RawBlock, targets: tuple[int, ...], value: Var, chain: tuple[int, ...]
    ) -> tuple[Exit, list[_Visit] | None]:
        if len(targets) == 1 and self._routines.outside_name(targets[0]) is not None:
            # The value is a temporary of this block, which the call's own block does not have.
            value = const(targets[0], value.size)
            taken, follow = self._tail_call(block_id.context, _last_address(block_id, raw), targets[0], value, chain)
            return Goto(taken), follow
        real = self._routines.real
        present = tuple((t, _here(block_id, (real(t), 0))) for t in targets if self._image.code_at(real(t)))
        return Switch(value, present), None

    def _return(self, block_id: BlockId, value: Var, chain: tuple[int, ...]) -> tuple[Exit, list[_Visit]]:
        if not block_id.context:
            return Return(value), []
        to = BlockId(block_id.context[:-1], block_id.context[-1], 0)
        return Return(value, to), [(to, chain[:-1])]

    def _pointer_call(
        self, targets: tuple[int, ...], value: Var, address: int, after: BlockId, chain: tuple[int, ...]
    ) -> tuple[Exit, list[_Visit] | None]:
        """A call to a computed address. Possible callees that are present become part of the function, each for the
        value that leads there; any other address is outside code."""
        if self._machine.convention.stack_pointer is None:
            return Switch(value, ()), None  # without a convention nothing is known about an unknown callee
        if self._nothing_follows(address, after):
            return Call(None, value, None), None
        inner = {}
        for pointer in targets if self._inline and len(chain) <= MOST_DEPTH else ():
            real = self._routines.real(pointer)
            function = self._routines.function_around(real)
            if function is not None and function.address == real and self._image.code_at(real) and real not in chain:
                inner[pointer] = BlockId((*after.context, after.address), real, 0)
                self._inlined.append(function.name)
        call = Call(None, value, after)
        if not inner:
            return call, None
        visits = [(block, (*chain, block.address)) for block in inner.values()]
        return Switch(value, tuple(inner.items()), call), [*visits, (after, chain)]

    def _nothing_follows(self, address: int, after: BlockId) -> bool:
        has_convention = self._machine.convention.stack_pointer is not None
        return has_convention and self._routines.returning.nothing_follows(address, after.address)

    def _call(
        self, target: int, value: Var, address: int, after: BlockId, chain: tuple[int, ...]
    ) -> tuple[Exit, list[_Visit] | None]:
        target = self._image.aliases.get(target, target)
        name = self._image.name_at(target)
        if self._machine.convention.stack_pointer is None and not self._image.code_at(target):
            return Switch(value, ()), None  # out of the program: there is no code but the program's own
        if target in self._image.externals or not self._image.code_at(target):
            back = self._routines.returning.comes_back(name, address, after.address)
            return Call(name, value, after if back else None), None
        if name == STACK_CHECK and not self._routines.returning.comes_back(name, address, after.address):
            return Call(name, value, None), None
        if target == chain[0] and self._machine.convention.stack_pointer is not None:
            return Call(SELF, value, after), None
        if not self._inline and not self._is_loader_code(target):
            called, back = name or f"function at {target:#x}", not self._nothing_follows(address, after)
            return Call(called, value, after if back else None, present=True), None
        if target in chain and self._machine.convention.stack_pointer is None:
            return Switch(value, ()), None  # an ordinary jump: engines that follow runs can follow it
        if target in chain:
            raise Unsupported(f"{name or hex(target)}, which {self._name} calls, is recursive")
        if len(chain) > MOST_DEPTH:
            raise Unsupported(f"{self._name} calls more than {MOST_DEPTH} functions deep")
        if not self._is_loader_code(target):
            self._inlined.append(name or hex(target))
        inner = BlockId((*after.context, after.address), target, 0)
        return Goto(inner), [(inner, (*chain, target))]

    def _is_loader_code(self, address: int) -> bool:
        return self._image.loader_code[0] <= address < self._image.loader_code[1]

    def _tail_call(
        self, context: tuple[int, ...], address: int, target: int, value: Var, chain: tuple[int, ...]
    ) -> tuple[BlockId, list[_Visit]]:
        """A jump to another function is a call, then a return to our own caller."""
        name = self._routines.outside_name(target) or ""
        present = self._routines.real(target) not in self._image.externals
        call, back = BlockId(context, address, _TAIL), BlockId(context, address, _TAIL + 1)
        never_returns = not present and leaves(self._image, name)
        exit_ = Call(name, value, None if never_returns else back, present=present)
        guard = null_guard(exit_, self._image, self._machine)
        kept = (*guard, *self._keep_return_address())
        self._blocks[call] = Block(call, kept, (address,) * len(kept), (), exit_)
        if never_returns:
            return call, []
        convention = self._machine.convention
        if context and convention.return_address is None and convention.stack_pointer is not None:
            back_to = const(context[-1], self._machine.word_bits // 8)
            leave, follow = self._return(back, back_to, chain)
            self._blocks[back] = Block(back, (), (), (), leave)
            return self._with_known_caller(call, context[-1]), follow
        ops, caller = self._return_ops()
        leave, follow = self._return(back, caller, chain)
        self._blocks[back] = Block(back, ops, (address,) * len(ops), (), leave)
        return call, follow

    def _with_known_caller(self, call: BlockId, caller: int) -> BlockId:
        """A tail call of an inlined function: the callee returns to the address that is on the stack before the call.
        Afterwards the stack there may hold anything, so it is looked at before. Another address is not followed."""
        convention, registers = self._machine.convention, self._machine.registers
        assert convention.stack_pointer is not None
        pointer = registers[convention.stack_pointer]
        target = Var(Space.TEMP, _TAIL + 16, pointer.size)
        first = BlockId(call.context, call.address, _TAIL + 2)
        load = MicroOp(Kind.LOAD, target, (pointer,))
        self._blocks[first] = Block(first, (load,), (call.address,), (), Switch(target, ((caller, call),)))
        return first

    def _keep_return_address(self) -> tuple[MicroOp, ...]:
        """The callee returns to the address in the link register, and need not preserve that register."""
        convention, registers = self._machine.convention, self._machine.registers
        if convention.return_address is None or convention.kept_return_address is None:
            return ()
        return (MicroOp(Kind.COPY, registers[convention.kept_return_address], (registers[convention.return_address],)),)

    def _return_ops(self) -> tuple[tuple[MicroOp, ...], Var]:
        """Locates the return address after the callee has returned and popped it."""
        convention, registers = self._machine.convention, self._machine.registers
        if convention.return_address is not None:
            return (), registers[convention.kept_return_address or convention.return_address]
        assert convention.stack_pointer is not None
        pointer = registers[convention.stack_pointer]
        place, target = Var(Space.TEMP, _TAIL, pointer.size), Var(Space.TEMP, _TAIL + 16, pointer.size)
        below = const(convention.stack_adjustment, pointer.size)
        return (MicroOp(Kind.INT_SUB, place, (pointer, below)), MicroOp(Kind.LOAD, target, (place,))), target


_AFTER_END = RawBlock((), (), (), None, None, "the end of its code after a call")
_Visit = tuple[BlockId, tuple[int, ...]]
"""A block to visit and the entries of the routines it is nested in, outermost first."""
_TAIL = 1 << 20
"""Micro-op index of the blocks made for a tail call: no instruction has so many."""
SELF = "(itself)"
"""Callee name of a recursive call of the compared function: equal on both sides whatever its symbol is."""
STACK_CHECK = "__stack_chk_fail"
"""Compilers call it when they find the frame overwritten, and it ends the program, in the C library itself too. Its
code, which prints a message by functions that check their own frames, is not inlined."""
SYSTEM_CALL = "(system call)"
"""Callee name of the operating system."""


def _with_calls_refused(function: Function) -> Function:
    """A function that uses what is unknown after calls, without semantics from its first call to outside code on."""
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


def _here(block_id: BlockId, position: Position) -> BlockId:
    return BlockId(block_id.context, *position)


def _last_address(block_id: BlockId, raw: RawBlock) -> int:
    """The address of the instruction that ends the block."""
    if raw.steps:
        return raw.steps[-1]
    return raw.addresses[-1] if raw.addresses else block_id.address
