"""What isoform must know about a machine: registers, calling convention, and how to decode one instruction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol

from isoform.model.microop import Instruction, Space, Var
from isoform.model.values import dataclass

if TYPE_CHECKING:
    from isoform.model.placement import Placement
    from isoform.model.signature import Signature
    from isoform.model.verdict import Assumption


@dataclass(frozen=True)
class Convention:
    """A calling convention. Register names are those of `Machine.registers`."""

    integer_arguments: tuple[str, ...]
    result: tuple[str, ...]
    """Result registers, lowest part first."""
    float_arguments: tuple[str, ...] = ()
    float_result: tuple[str, ...] = ()
    callee_saved: tuple[str, ...] = ()
    stack_pointer: str | None = None
    stack_arguments_offset: int = 0
    """Bytes from the stack pointer at entry to the first argument passed on the stack."""
    return_address_on_stack: bool = False
    return_address: str | None = None
    """The link register, if the return address is not on the stack."""
    kept_return_address: str | None = None
    """A container that no instruction can name: it holds the link register while a tail call is made."""
    stack_adjustment: int = 0
    """How far above its value at entry the stack pointer must be at exit."""
    scratch_after_call: tuple[str, ...] = ()
    """Containers that a call to outside code leaves undefined (never the result or callee-saved ones)."""
    as_at_entry: tuple[str, ...] = ()
    """Containers that have their value of `Machine.initial` whenever a function is called."""
    stack_alignment: int = 1
    """In bytes: the stack pointer at entry to a callee is congruent to that at entry to its caller, modulo this."""
    not_across_calls: tuple[str, ...] = ()
    """Containers for which the effect of a call to outside code is not known."""
    extended_bytes: int = 4
    """The width to which callers extend narrow integers: to 32 bits by the sign of their type, beyond that with the
    sign."""
    extends_by_rule: bool = False
    """Whether the convention requires that, also for results; otherwise callers do so in practice."""
    positional_integers: tuple[str, ...] = ()
    """Where functions of another convention, available as a compiler attribute, find their first arguments."""
    positional_floats: tuple[str, ...] = ()
    system_arguments: tuple[str, ...] = ()
    """Where a system call finds its number and its arguments. Its result is the first of `result`."""
    system_reads: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """By the number of a system call: how many low bits it reads of each argument; of those it lacks none. Of a call
    that is not listed, all registers count."""
    scratch_after_system: tuple[str, ...] = ()
    """Containers that a system call leaves undefined; all others are unchanged."""

    @cached_property
    def restored(self) -> tuple[str, ...]:
        """Containers that must have their value at entry again at exit."""
        return self.callee_saved if self.stack_pointer is None else (*self.callee_saved, self.stack_pointer)

    @cached_property
    def changeable(self) -> frozenset[str]:
        """Containers whose value may differ from call to call: all but the stack pointer and those that are constant in
        a program."""
        arguments, results = (*self.integer_arguments, *self.float_arguments), (*self.result, *self.float_result)
        return frozenset((*arguments, *results, *self.callee_saved, *self.scratch_after_call))


Order = Literal["little", "big"]
"""The order of the bytes of a number in memory."""


@dataclass(frozen=True)
class MemoryLayout:
    """Memory rules that differ between machines."""

    address_bytes: int
    big_endian: bool = False
    size: int | None = None
    """Number of bytes if it is known (addresses start at 0); None if any address may be valid."""
    zeroed: bool = False
    """Whether memory outside the program starts as zero rather than as an input."""


class Decoder(Protocol):
    def __call__(self, code: bytes, address: int) -> Instruction:
        """Decode the instruction at the start of `code`. Never raises: what cannot be decoded is an
        instruction whose only micro-op is an ABORT ("undefined instruction" / "invalid instruction"), and
        what has no semantics one whose only micro-op is UNSUPPORTED."""


class PartDecoder(Protocol):
    def __call__(self, code: bytes, address: int, whole: Var | None) -> Instruction:
        """Decode an instruction that has a part of an address: with None the upper one, whose value is undefined;
        otherwise the lower one, which then uses this address in place of its register and its number. Its first
        micro-op copies the register into a temporary, so that a reader knows which register that was."""


def _any_address(_: Instruction) -> int:
    return 1


def _nothing_assumed(_: Iterable[Signature]) -> Iterable[Assumption]:
    return ()


@dataclass(frozen=True)
class Machine:
    name: str
    """The word of `--isa` and of the JSON."""
    title: str
    decode: Decoder
    memory: MemoryLayout | None
    """None: the machine has no memory."""
    convention: Convention
    place: Callable[[Signature], Placement]
    """Where the convention puts arguments and results."""
    registers: dict[str, Var]
    """Every name that can be written in a report, sub-registers included (lower case)."""
    containers: tuple[str, ...]
    """Names of the registers that together cover the register file without overlap, smallest offset first."""
    initial: dict[str, int] = field(default_factory=dict)
    """Containers with a fixed value at entry; all others are inputs."""
    fixes_signature: bool = False
    """Whether all of its programs have the same arguments and results."""
    place_assumptions: Callable[[Iterable[Signature]], Iterable[Assumption]] = _nothing_assumed
    """What `place` assumes that debug information does not say about these signatures."""
    boolean: frozenset[str] = frozenset()
    """Containers of one byte that hold 0 or 1."""
    at_entry: Mapping[str, tuple[Assumption, ...]] = field(default_factory=dict)
    """By container: the assumptions under which it has its initial value."""
    char_is_signed: bool = True
    """Whether C's plain `char` is signed."""
    instruction_alignment: int = 1
    alignment: Callable[[Instruction], int] = _any_address
    """The number of bytes that the address of an instruction's memory operand must be a multiple of, or it faults."""
    absent_symbols: str | None = None
    """A container with one bit for each weak symbol that may have no definition (`Image.weak`): set if it has none."""
    thread_pointer: str | None = None
    """A container whose initial value is the address that thread-local objects are relative to."""
    thread_containers: range = range(0)
    """Bytes from the thread pointer that are a container of their own, and not memory, in instructions that name them:
    what reaches them otherwise is outside the contract."""
    decode_part: PartDecoder | None = None
    """For a machine whose code forms an address in two instructions."""
    library: Mapping[str, bytes] = field(default_factory=dict)
    """Library functions that only compute, by name: code without branches that can replace a call."""

    @property
    def byte_order(self) -> Order:
        return "big" if self.memory is not None and self.memory.big_endian else "little"

    @property
    def word_bits(self) -> int:
        """The width of pointers and of `long`."""
        return 64 if self.memory is None else 8 * self.memory.address_bytes

    @cached_property
    def container_positions(self) -> dict[str, int]:
        """The index of a container in `containers`."""
        return {name: position for position, name in enumerate(self.containers)}

    @cached_property
    def containers_by_byte(self) -> dict[int, int]:
        """For each byte of the register file the position of its container."""
        variables = enumerate(self.container_vars())
        return {byte: n for n, var in variables for byte in range(var.offset, var.offset + var.size)}

    @cached_property
    def byte_positions(self) -> dict[int, int]:
        """The bytes of all containers, numbered from 0 on."""
        return {byte: number for number, byte in enumerate(self.containers_by_byte)}

    @cached_property
    def masks(self) -> dict[Var, int]:
        """Registers that were asked for before, as sets of bytes: bits by `byte_positions`."""
        return {}

    @cached_property
    def scratch_bytes(self) -> int:
        """Size of everything that a call to outside code leaves undefined."""
        return sum(self.registers[name].size for name in self.convention.scratch_after_call)

    @cached_property
    def scratch_places(self) -> tuple[tuple[int, int, int], ...]:
        """Of each of these registers: its position, where it begins if all of them are put in a row, and its size."""
        found, start = [], 0
        for name in self.convention.scratch_after_call:
            found.append((self.container_positions[name], start, self.registers[name].size))
            start += self.registers[name].size
        return tuple(found)

    @cached_property
    def vector_bytes(self) -> int:
        """Size in bytes of the widest registers whose lowest parts hold floating-point arguments."""
        names = (*self.convention.float_arguments, *self.convention.float_result)
        starts = {self.registers[name].offset for name in names}
        return max((var.size for var in self.registers.values() if var.offset in starts), default=0)

    def container_vars(self) -> tuple[Var, ...]:
        return tuple(self.registers[name] for name in self.containers)

    def register_name(self, var: Var) -> str:
        """The name of a register or sub-register, for people."""
        return self._names().get((var.offset, var.size)) or self._part_name(var)

    def is_named(self, var: Var) -> bool:
        """Whether these bytes of the register file are a register or sub-register."""
        return (var.offset, var.size) in self._names()

    def _part_name(self, var: Var) -> str:
        """Bits of a container."""
        for name in self.containers:
            start = var.offset - self.registers[name].offset
            if start >= 0 and start + var.size <= self.registers[name].size:
                return f"{name}[{8 * (start + var.size) - 1}:{8 * start}]"
        return f"reg_{var.offset:x}:{var.size}"

    def _names(self) -> dict[tuple[int, int], str]:
        names: dict[tuple[int, int], str] = self.__dict__.get("_name_table", {})
        if not names:
            for name, var in self.registers.items():
                names.setdefault((var.offset, var.size), name)
            self.__dict__["_name_table"] = names
        return names


def registers_of(*groups: tuple[str, int, int]) -> dict[str, Var]:
    """`(name, offset, size)` triples as a register table."""
    return {name: Var(Space.REGISTER, offset, size) for name, offset, size in groups}
