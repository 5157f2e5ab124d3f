"""The instructions of one function, in an order that does not depend on where they are, and what they refer to.

An instruction is kept as its micro-ops with a placeholder for every number that depends on where something is. Two
functions whose walks have equal steps execute the same instructions one by one, as long as what stands behind each
placeholder is the same on both sides.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from isoform.borders.same_code import as_written
from isoform.engines.same_code.tables import Extents, Parts, table_targets
from isoform.isa.sleigh import NOT_DECODED
from isoform.lift.addresses import with_addresses
from isoform.lift.returning import leaves
from isoform.load.image import Image, Symbol
from isoform.model.errors import Unsupported, UserError
from isoform.model.library import is_reserved
from isoform.model.machine import Machine
from isoform.model.microop import Instruction, Kind, MicroOp, Space, Var, number_of
from isoform.model.values import dataclass

MOST_STEPS = 20_000
LONGEST = 15
"""Bytes of an instruction of the machines that this is for."""
_ELSEWHERE = 1 << 24
_CALLS = (Kind.CALL, Kind.CALLIND)
_ON_CODE = ("fnstenv", "fstenv", "fsave", "fnsave", "fxsave", "xsave", "xbegin", "iret", "lret", "ret", "call", "jmp")
"""How the texts of instructions begin that have no semantics here and store or use the address of code."""
_STACK_CHECK = 0x28
"""The offset of the stack protector's number from the thread pointer."""
_WIDE = 16
"""Bytes from which on an access may have to be aligned."""


def is_walked(machine: Machine) -> bool:
    """Whether functions of the machine are walked: an instruction holds a whole address, and a call puts the address to
    which it returns on the stack. Elsewhere an address may be spread over several instructions."""
    return machine.convention.stack_pointer is not None and machine.convention.return_address is None


class Role(Enum):
    """How an instruction uses an address."""

    CALL = "call"
    ACCESS = "access"
    """It reads or writes there, and nowhere else."""
    FORM = "form"
    """It computes with the address, or stores it."""


class Reference(NamedTuple):
    role: Role
    number: int
    size: int
    """Bytes of an access."""
    place: int
    """Of the instruction."""
    operand: tuple[int, int] = (0, 0)
    """The number of the micro-op in the instruction, and the position of the address among what it takes."""


class Step(NamedTuple):
    shape: tuple[object, ...]
    """Equal shapes: the same instruction up to what its references mean."""
    followers: tuple[int, ...]
    """Indices of the steps that may come next."""


@dataclass(frozen=True)
class Walk:
    """`refused` says why nothing can be concluded from it; the references are then those that were found so far."""

    steps: tuple[Step, ...]
    references: tuple[Reference, ...]
    refused: str = ""
    ended: frozenset[str] = frozenset()
    """Callees after which no code follows."""
    ended_at: frozenset[int] = frozenset()
    """Addresses of those in the file."""
    is_undefined: bool = False
    """Whether it computes a value that the manual leaves undefined."""
    is_unsupported: bool = False
    """Whether some instruction has no semantics here."""
    is_wide: bool = False
    """Whether an access may have to be aligned."""
    jumps_anywhere: bool = False
    """Whether it has a computed jump, and no table of its own for it."""
    ops: tuple[tuple[MicroOp, ...], ...] = ()
    places: tuple[int, ...] = ()
    """Of each step: its micro-ops, and its address."""

    tables: tuple[tuple[int, int], ...] = ()
    """Its jump tables: where each is in the file, and how many entries it has."""

    jumps_outside: bool = False
    """Whether it ends in a jump to an outside function, which returns in its place."""

    @property
    def may_return(self) -> bool:
        if self.refused or self.jumps_outside:
            return True
        return any(op.kind in (Kind.RETURN, Kind.BRANCHIND) for ops in self.ops for op in ops)

    @property
    def callees(self) -> list[int]:
        return [one.number for one in self.references if one.role is Role.CALL]


class _Known(NamedTuple):
    """What the same bytes are everywhere, up to the targets of jumps in them, which move with the instruction."""

    instruction: Instruction
    is_fixed: bool
    """Whether nothing in it moves."""

    def at(self, address: int) -> Instruction:
        found = self.instruction
        ops = found.ops if self.is_fixed else tuple(self._moved(op, address) for op in found.ops)
        return Instruction(address, found.length, found.text, ops, found.masks_memory)

    def _moved(self, op: MicroOp, address: int) -> MicroOp:
        if not any(self._moves(var) for var in op.ins):
            return op
        by = address - self.instruction.address
        ins = (Var(var.space, var.offset + by, var.size) if self._moves(var) else var for var in op.ins)
        return MicroOp(op.kind, op.out, tuple(ins))

    def _moves(self, var: Var) -> bool:
        return var.space is Space.CODE or (var.space is Space.CONST and var.offset == self.instruction.next_address)


def _known(plain: Instruction, moved: Instruction) -> _Known | None:
    """From the same bytes at two addresses; None if something else in them depends on the address."""
    if plain.ops == moved.ops and plain.text == moved.text:
        return _Known(plain, is_fixed=True)
    if any(op.kind is Kind.UNSUPPORTED for op in plain.ops):
        return None
    found = _Known(plain, is_fixed=False)
    return found if found.at(moved.address).ops == moved.ops else None


class Decoder:
    """Instructions of one machine. Bytes whose meaning does not depend on their address, but for the targets of jumps,
    are decoded once for all files."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._known: dict[bytes, _Known | None] = {}

    def at(self, image: Image, address: int) -> tuple[Instruction, Instruction, bool]:
        """The instruction as it is, with the addresses that both sides share, and whether it depends on its address."""
        code = image.code_at(address)
        if address in image.address_parts:
            raise Unsupported("it forms an address in two instructions")
        known, is_new = self._look_up(code)
        if known is not None and not self._is_filled(image, address, known.instruction.length):
            here = known.at(address)
            return here, here, not known.is_fixed
        plain = self.machine.decode(code, address)
        if plain.length > len(code):
            raise Unsupported("it ends in the middle of an instruction")
        if is_new and not self._is_filled(image, address, plain.length):
            known = _known(plain, self.machine.decode(code, address + _ELSEWHERE))
            self._known[code[: plain.length]] = known
            if known is not None:
                return plain, plain, not known.is_fixed
        return plain, with_addresses(self.machine, image, code, plain), True

    def _look_up(self, code: bytes) -> tuple[_Known | None, bool]:
        """What is known of the instruction that begins there, and whether it was never seen. (No instruction is the
        beginning of another one.)"""
        for length in range(1, LONGEST + 1):
            if code[:length] in self._known:
                return self._known[code[:length]], False
        return None, True

    def _is_filled(self, image: Image, address: int, length: int) -> bool:
        """Whether a relocation says what is in there."""
        return any(place in image.relocated for place in range(address, address + length))


class Walker:
    """The functions of one file."""

    def __init__(self, image: Image, decoder: Decoder, most: int | None = None) -> None:
        """`most`: instructions that may be looked at, in all functions together."""
        self.image = image
        self._left = most
        self._decoder = decoder
        self.machine = decoder.machine
        self._walks: dict[int, Walk] = {}
        thread = self.machine.thread_pointer
        self._thread_register = None if thread is None else self.machine.registers[thread]
        self._functions = {s.address: s for s in image.symbols if s.is_function}
        self.parts = Parts(image)

    def walk(self, entry: int) -> Walk:
        if entry not in self._walks:
            self._walks[entry] = _Walking(self, entry).walk()
        return self._walks[entry]

    def function_at(self, address: int) -> Symbol | None:
        return self._functions.get(address)

    def real(self, address: int) -> int:
        return self.image.aliases.get(address, address)

    def elsewhere(self, code: bytes, plain: Instruction) -> Instruction:
        """The same bytes at another address."""
        found = self.machine.decode(code, plain.address + _ELSEWHERE)
        if [len(op.ins) for op in found.ops] != [len(op.ins) for op in plain.ops]:
            raise Unsupported("an instruction in it has another meaning elsewhere")
        return found

    def decoded(self, address: int) -> tuple[Instruction, Instruction, bool]:
        if not self.image.code_at(address):
            raise Unsupported("it leads to where there is no code")
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise Unsupported("there is too much code to be looked at")
        plain, instruction, depends = self._decoder.at(self.image, address)
        if self.image.broken and any(b in self.image.broken for b in range(address, instruction.next_address)):
            raise Unsupported("a relocation in it is not understood")
        self._refuse_threads(plain)
        return plain, instruction, depends

    def _refuse_threads(self, instruction: Instruction) -> None:
        """Distances from the thread pointer are numbers, and do not say which variable they lead to."""
        register = self._thread_register
        if register is None or not self.image.thread_origin:
            return
        for op in instruction.ops:
            numbers = [number_of(var) for var in op.ins]
            if register in op.ins and not (op.kind is Kind.INT_ADD and _STACK_CHECK in numbers):
                raise Unsupported("it uses thread-local data")


class _Walking:
    def __init__(self, walker: Walker, entry: int) -> None:
        self._walker = walker
        self._image = walker.image
        self._entry = entry
        self._index: dict[int, int] = {entry: 0}
        self._order = [entry]
        self._references: list[Reference] = []
        self._jumps_outside = False
        self._ended: set[str] = set()
        self._ended_at: set[int] = set()
        self._is_undefined = self._is_unsupported = self._is_wide = False
        self._has_table = self._has_jump = False
        self._tables: dict[int, int] = {}

    def walk(self) -> Walk:
        steps: list[Step] = []
        ops: list[tuple[MicroOp, ...]] = []
        refused = ""
        try:
            for address in self._order:
                if len(steps) >= MOST_STEPS:
                    raise Unsupported(f"it has more than {MOST_STEPS} instructions")
                step, done = self._step(address)
                steps.append(step)
                ops.append(done)
            if self._has_table and not self._has_jump:
                raise Unsupported("it refers to what looks like a jump table, and has no such jump")
        except (Unsupported, UserError) as reason:
            refused = str(reason)
        return Walk(
            tuple(steps),
            tuple(self._references),
            refused,
            frozenset(self._ended),
            frozenset(self._ended_at),
            self._is_undefined,
            self._is_unsupported,
            self._is_wide,
            self._has_jump and not self._has_table,
            tuple(ops),
            tuple(self._order[: len(steps)]),
            tuple(self._tables.items()),
            self._jumps_outside,
        )

    def _step(self, address: int) -> tuple[Step, tuple[MicroOp, ...]]:
        plain, instruction, depends = self._walker.decoded(address)
        shape: list[object] = [instruction.length, as_written(self._image, instruction)]
        followers: list[int] = []
        is_end = False
        calls = any(op.kind in _CALLS for op in plain.ops)
        is_reference = self._references_in(instruction, plain) if depends else lambda var, raw: False
        for number, (op, raw) in enumerate(zip(instruction.ops, plain.ops, strict=True)):
            self._note(op, instruction)
            if op.kind is Kind.UNSUPPORTED:
                shape.append(self._bytes(instruction, depends))
            ins = []
            for position, var in enumerate(op.ins):
                if var.space is Space.CODE:
                    ins.append(self._code(op, var.offset, address, followers))
                elif depends and calls and number_of(raw.ins[position]) == plain.next_address:
                    ins.append("after")
                elif is_reference(var, raw.ins[position]):
                    ins.append(self._address(op, (number, position), var, instruction, followers))
                else:
                    ins.append(var)
            shape.append((op.kind, op.out, tuple(ins)))
            is_end = is_end or self._ends(op, instruction)
        if not is_end:
            followers.insert(0, self._reached(instruction.next_address))
        shape.append(is_end)
        return Step(tuple(shape), tuple(followers)), plain.ops

    def _bytes(self, instruction: Instruction, depends: bool) -> bytes:
        """Of an instruction without semantics: only they say which one it is, and not which part is an address."""
        if depends or instruction.text.startswith(NOT_DECODED):
            raise Unsupported(f"it has `{instruction.text}`, which may use an address")
        return self._image.code_at(instruction.address)[: instruction.length]

    def _note(self, op: MicroOp, instruction: Instruction) -> None:
        self._has_jump |= op.kind is Kind.BRANCHIND
        self._is_undefined |= op.kind is Kind.UNDEFINED
        if op.kind is Kind.UNSUPPORTED:
            if instruction.text.lower().startswith(_ON_CODE):
                raise Unsupported(f"it has `{instruction.text}`")
            self._is_unsupported = self._is_wide = True
        if op.kind in (Kind.LOAD, Kind.STORE):
            var = op.out if op.kind is Kind.LOAD else op.ins[1]
            self._is_wide |= var is not None and var.size >= _WIDE

    def _references_in(self, instruction: Instruction, plain: Instruction) -> Callable[[Var, Var], bool]:
        """Which of its numbers depend on where something is: those that relocations fill, and those that move with the
        instruction. Another number may happen to be an address, and is one on neither side."""
        code = self._image.code_at(plain.address)
        elsewhere = self._walker.elsewhere(code, plain)
        pairs = [
            (var, raw, other)
            for op, before, after in zip(instruction.ops, plain.ops, elsewhere.ops, strict=True)
            for var, raw, other in zip(op.ins, before.ins, after.ins, strict=True)
        ]
        moving = {raw for _, raw, other in pairs if raw != other and number_of(raw) is not None}
        if moving & {raw for _, raw, other in pairs if raw == other}:
            raise Unsupported("a number in it is also an address in it")
        places = range(instruction.address, instruction.next_address)
        filled = sum(place in self._image.relocated for place in places)
        known = len(moving | {raw for var, raw, _ in pairs if var.space is Space.ADDRESS})

        def is_reference(var: Var, raw: Var) -> bool:
            if var.space is Space.ADDRESS:
                return True
            number = number_of(raw)
            if number is None or raw.size < 4 or not self._leads(number):
                return False
            return raw in moving or known < filled

        return is_reference

    def _leads(self, number: int) -> bool:
        image = self._image
        own = image.own_address(number)
        return number in image.externals or number in image.aliases or image.section_at(own) is not None

    def _code(self, op: MicroOp, target: int, address: int, followers: list[int]) -> object:
        real = self._walker.real(target)
        name = self._image.externals.get(real)
        self._jumps_outside |= name is not None and op.kind is not Kind.CALL
        if name is not None or op.kind is Kind.CALL:
            self._references.append(Reference(Role.CALL, real, 0, address))
            return Role.CALL
        followers.append(self._reached(real))
        return "jump"

    def _reached(self, address: int) -> int:
        if address not in self._index:
            self._index[address] = len(self._order)
            self._order.append(address)
        return self._index[address]

    def _address(
        self, op: MicroOp, operand: tuple[int, int], var: Var, instruction: Instruction, followers: list[int]
    ) -> object:
        number = number_of(var)
        assert number is not None
        is_access = op.kind in (Kind.LOAD, Kind.STORE) and operand[1] == 0
        accessed = (op.out if op.kind is Kind.LOAD else op.ins[1]) if is_access else None
        if not is_access:
            targets = self._targets(number, instruction.address)
            if targets:
                self._has_table = True
                self._tables[self._image.own_address(number)] = len(targets)
                followers += [self._reached(target) for target in targets]
                return ("table", len(targets))
        size = 0 if accessed is None else accessed.size
        role = Role.ACCESS if is_access else Role.FORM
        self._references.append(Reference(role, number, size, instruction.address, operand))
        return (role, op.kind, size)

    def _targets(self, number: int, place: int) -> tuple[int, ...]:
        """Where the entries of a jump table lead, if there is one. Code after a jump into another function has that
        one's tables."""
        parts = self._walker.parts
        found = table_targets(self._image, number, self._entry, parts)
        other = parts.around(place)
        return found if found or other is None else table_targets(self._image, number, other, parts)

    def _ends(self, op: MicroOp, instruction: Instruction) -> bool:
        """Whether control does not continue after the instruction. After a call it does, unless the callee is known not
        to return, or there is no more code of the function: that is noted."""
        if op.kind in (Kind.RETURN, Kind.BRANCH, Kind.BRANCHIND):
            return not any(var.space is Space.INNER for var in op.ins)
        if op.kind not in _CALLS:
            return False
        name = self._image.externals.get(self._walker.real(op.ins[0].offset)) if op.kind is Kind.CALL else None
        if name is not None and (name in self._image.signatures or is_reserved(name)) and leaves(self._image, name):
            return True
        if any(instruction.next_address == high for _, high in self._extents):
            self._ended.add(name or "a function")
            if name is None and op.kind is Kind.CALL:
                self._ended_at.add(self._walker.real(op.ins[0].offset))
            return True
        return False

    @cached_property
    def _extents(self) -> Extents:
        return self._walker.parts.of(self._entry)
