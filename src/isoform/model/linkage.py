"""What a loader must know about a machine: how its relocations are computed, and what its code does with their
fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import Enum, auto
from typing import NamedTuple, Protocol

from isoform.model.values import dataclass


class Formula(Enum):
    """What a field of an object file holds."""

    NOTHING = auto()
    """The relocation changes no field."""
    ABSOLUTE = auto()
    RELATIVE = auto()
    """The distance from the field to an address; the following are distances too, except `THREAD_DISTANCE`."""
    SLOT = auto()
    """To a word of the global offset table that holds the address."""
    THREAD_PAIR = auto()
    """To two words of it: the module and the distance from the thread pointer."""
    THREAD_MODULE = auto()
    """To two words of it: the module and 0."""
    THREAD_SLOT = auto()
    """To a word of it: the distance from the thread pointer."""
    THREAD_DESCRIPTOR = auto()
    """To two words of it: code that returns the distance, and its argument."""
    THREAD_DISTANCE = auto()
    """The distance from the thread pointer to an object."""
    SUM = auto()
    """An address is added to what is there, or subtracted from it."""
    UNKNOWN = auto()


class Part(Enum):
    """What an instruction has of an address that code forms in two instructions."""

    UPPER = auto()
    """The upper bits, rounded. Alone they mean nothing: only a `LOWER` of the same address may use the register."""
    LOWER = auto()
    """The instruction that adds the lower bits to that register, and so has the whole address."""


_THREAD_SLOTS = (Formula.THREAD_PAIR, Formula.THREAD_MODULE, Formula.THREAD_SLOT, Formula.THREAD_DESCRIPTOR)


@dataclass(frozen=True)
class Rule:
    """How one type of relocation is computed."""

    formula: Formula
    width: int
    """Bytes of the field."""
    is_branch: bool = False
    """Whether it can only be the target of a direct call or jump."""
    is_unsigned: bool = False
    """Whether a field of four bytes also takes numbers from 2^31 on."""
    put: Callable[[bytes, int], bytes | None] | None = None
    """The field with a value in it, if it is not a plain number; None if the value does not fit."""
    part: Part | None = None
    """Which part of the address the field has. `formula` is that of the whole address."""
    counts_from_upper: bool = False
    """Whether the two parts together are the distance from the first of the two instructions."""

    @property
    def is_known(self) -> bool:
        return self.formula not in (Formula.UNKNOWN, Formula.SUM)

    @property
    def is_encoded(self) -> bool:
        """Whether the field is part of instructions rather than a number."""
        return self.put is not None

    @property
    def is_slot(self) -> bool:
        return self.formula is Formula.SLOT

    @property
    def is_thread_slot(self) -> bool:
        return self.formula in _THREAD_SLOTS

    @property
    def is_thread(self) -> bool:
        return self.is_thread_slot or self.formula is Formula.THREAD_DISTANCE

    @property
    def is_relative(self) -> bool:
        return self.part is None and self._is_distance

    @property
    def _is_distance(self) -> bool:
        return self.formula is Formula.RELATIVE or self.is_slot or self.is_thread_slot

    @property
    def is_pointer(self) -> bool:
        """Whether the field is a whole address."""
        return self.formula is Formula.ABSOLUTE and self.width == 8


Row = tuple[int, int, int, int]
"""A relocation as the file has it: offset, type, symbol and addend."""


class Joined(NamedTuple):
    """The relocations of a section, each about a whole address."""

    rows: Sequence[Row]
    uppers: Mapping[int, int]
    """By the offset of the instruction with the lower part: that of the instruction with the upper part."""


class Dynamic(Enum):
    """What a relocation of a linked file puts into a word."""

    NOTHING = auto()
    ABSOLUTE = auto()
    """The address of a symbol and a number."""
    GLOBAL_DATA = auto()
    """The address of a symbol."""
    JUMP_SLOT = auto()
    """The address of a function."""
    COPY = auto()
    """The contents of an object of another file."""
    RELATIVE = auto()
    """A number and the address of the file."""
    RESOLVED = auto()
    """What the function at an address returns."""
    MODULE = auto()
    OFFSET = auto()
    """The distance of a thread-local object from the start of its module's."""
    DISTANCE = auto()
    """The same from the thread pointer."""
    DESCRIPTOR = auto()


@dataclass(frozen=True)
class Use:
    """What an instruction does with a relocated field in it."""

    trailing: int
    """Bytes of the instruction after the four of the field."""
    forms_address: bool
    """Whether the address is computed (an immediate, a base of an index) rather than accessed directly."""


class FieldUses(Protocol):
    """Uses of the fields of one code section."""

    def use(self, offset: int) -> Use | None:
        """How the 4-byte field at `offset` is used; None if the code around it cannot be decoded."""


def _none(_: bytes) -> Iterator[tuple[int, int]]:
    return iter(())


@dataclass(frozen=True)
class Linkage:
    """The part of a machine that loading needs. It is a module of its own, quick to import."""

    relocations: Mapping[int, Rule]
    field_uses: Callable[[bytes, Sequence[int]], FieldUses]
    """From the code of a section and the starts of functions in it."""
    is_branch: Callable[[bytes, int], bool]
    """Whether the field at an offset of the code is the target of a direct call or jump."""
    forms_distance: Callable[[bytes, int], bool]
    """Whether it is a distance with which an instruction clearly only forms an address."""
    forms_number: Callable[[bytes, int], bool]
    """Whether it is an address that an instruction clearly only puts into a register."""
    stubs: Callable[[bytes, int], Iterator[tuple[int, int]]]
    """From a section of linkage stubs and the size of its entries: where each stub starts, and the slot of the global
    offset table that it jumps through, both from the start of the section."""
    uses_thread_pointer: Callable[[bytes], bool]
    """Whether code may use the thread pointer."""
    refused_flags: Mapping[int, str] = field(default_factory=dict)
    """Bits of the file's header for another convention, with its name."""
    dynamic: Mapping[int, Dynamic] = field(default_factory=dict)
    """For linked files. Empty: isoform reads only object files of this machine."""
    loader_code: bytes = b""
    """The code that stands for `__tls_get_addr` and, from `descriptor_start` on, for a descriptor."""
    descriptor_start: int = 0
    stack_pointer_base: bytes = b""
    """The expression of debug information for the stack pointer as a frame base: as it is between the code that sets
    the frame up and the code that removes it."""
    frame_bases: Mapping[bytes, int] = field(default_factory=dict)
    """By the frame base of a function in debug information: its distance from the stack pointer at entry."""
    splits_addresses: bool = False
    """Whether code forms an address in several instructions, so that no single field holds it."""
    own_addresses: Callable[[bytes], Iterator[tuple[int, int]]] = _none
    """Where code forms addresses that isoform does not recognise: start and end of the instructions."""

    joined: Callable[[Sequence[Row], Sequence[tuple[int, int]], int], Joined] | None = None
    """From the relocations of a section, the section and the value of each symbol, and the section: relocations that
    only have a meaning together are made into one that has it."""

    def rule(self, kind: int) -> Rule:
        return self.relocations.get(kind, _UNKNOWN)


_UNKNOWN = Rule(Formula.UNKNOWN, 8)
"""The field is assumed to be as wide as any, so that no byte of it counts as known."""
