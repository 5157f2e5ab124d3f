"""C types and function signatures, as far as a calling convention needs them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from enum import Enum
from operator import attrgetter

from isoform.model.values import dataclass


class TypeKind(Enum):
    VOID = "void"
    BOOL = "bool"
    INTEGER = "integer"
    POINTER = "pointer"
    FLOAT = "float"
    STRUCT = "struct"


LONG_DOUBLE_BITS = 80
"""Of the 16 bytes that a `long double` takes."""
_LONG_DOUBLE_ROOM = 16
"""Bytes that it takes in memory."""


class Passing(Enum):
    """How a structure is passed and returned."""

    BY_VALUE = "by value"
    BY_REFERENCE = "by reference"
    """The caller makes a copy and passes its address; a result is in memory, whatever its size. C++ does so with
    classes that have a copy constructor or a destructor of their own."""
    NOT_SAID = "not said"
    """Languages other than C and C++ have rules of their own."""


@dataclass(frozen=True)
class CType:
    kind: TypeKind
    bits: int
    """Width; of a struct, eight times its size in bytes; 0 for void."""
    signed: bool = False
    spelling: str = ""
    pointee: CType | None = None
    """The pointee of a pointer, if known (at most two levels deep, void otherwise); the element of a vector."""
    fields: tuple[tuple[str, int, CType], ...] = ()
    """Of a struct: (name, byte offset, type); arrays are spelled out element by element."""
    padding: tuple[tuple[int, int], ...] = ()
    """For a struct of C in debug information: the bytes with bits that belong to no member, and these bits, as far as
    known."""
    perhaps_padding: tuple[int, ...] = ()
    """Bytes that may be padding, or used by an array at the end beyond its size."""
    is_bit_field: bool = False
    low: int = 0
    """Of a bit-field: how many bits of its first byte are below it."""
    function: Signature | None = None
    """Of a pointer to a function: what that takes and returns, where it is declared."""
    alignment: int = 0
    """Of a struct: bytes that it or a member is declared to be aligned to (`aligned(16)`), where that is said."""
    passing: Passing = Passing.BY_VALUE
    """Of a struct."""
    is_restrict: bool = False
    """Whether it is a pointer that is declared `restrict`."""

    def __hash__(self) -> int:
        """Computed once: structures share members, and members of members (a `FILE` has pointers to functions that take
        a `FILE`), so that all paths through a type are far more than its parts."""
        known: int | None = self.__dict__.get(_HASH)
        if known is None:
            known = self.__dict__[_HASH] = hash(_parts(self))
        return known

    def __eq__(self, other: object) -> bool:
        """Types of two files are found to be equal once, for the same reason."""
        if not isinstance(other, CType):
            return NotImplemented
        left, right = _representative(self), _representative(other)
        if left is right:
            return True
        if hash(left) != hash(right) or _parts(left) != _parts(right):
            return False
        right.__dict__[_SAME] = left
        return True

    def __getstate__(self) -> dict[str, object]:
        """Hashes are those of one process."""
        return {name: value for name, value in self.__dict__.items() if name not in (_HASH, _SAME)}

    @property
    def leads_to_functions(self) -> bool:
        """Whether it is a pointer to a function of known type, or has a member that is."""
        return self.function is not None or any(member.leads_to_functions for _, _, member in self.fields)

    def room_offsets(self) -> Iterator[int]:
        """Bytes that may be padding, without debug information to decide it: those after the ten of the 80-bit format
        in every `long double` (another format has sixteen), and those after an array at the end."""
        yield from self.perhaps_padding
        if self.is_long_double:
            yield from range(LONG_DOUBLE_BITS // 8, _LONG_DOUBLE_ROOM)
        for _, start, member in self.fields:
            yield from (start + offset for offset in member.room_offsets())

    def bool_offsets(self) -> Iterator[int]:
        """Where in it there is a `bool`, in bytes from its start."""
        if self.kind is TypeKind.BOOL and not self.is_bit_field:
            yield 0
        for _, start, member in self.fields:
            yield from (start + offset for offset in member.bool_offsets())

    @property
    def size(self) -> int:
        """Bytes of memory that a value of this type takes."""
        return _LONG_DOUBLE_ROOM if self.is_long_double else self.bits // 8

    @property
    def is_long_double(self) -> bool:
        return self.kind is TypeKind.FLOAT and self.bits == LONG_DOUBLE_BITS

    def scalars(self, start: int = 0) -> Iterator[tuple[int, CType]]:
        """Every scalar in a value with its byte offset."""
        if self.kind is not TypeKind.STRUCT:
            yield start, self
            return
        for _, offset, member in self.fields:
            yield from member.scalars(start + offset)

    @property
    def is_spelled_out(self) -> bool:
        """Whether every struct inside has its members listed. A union without them would go unnoticed."""
        if self.kind is not TypeKind.STRUCT or not self.bits:
            return True
        return bool(self.fields) and all(member.is_spelled_out for _, _, member in self.fields)

    @property
    def is_float(self) -> bool:
        """Whether it is one number in single or double format, not a vector of them."""
        return self.kind is TypeKind.FLOAT and self.bits in (32, 64) and self.pointee is None


_HASH, _SAME = "_hash", "_same"
_parts = attrgetter(*(field.name for field in fields(CType)))


def _representative(ctype: CType) -> CType:
    """Of all types that were found to be equal to this one, always the same."""
    while (other := ctype.__dict__.get(_SAME)) is not None:
        ctype = other
    return ctype


@dataclass(frozen=True)
class Parameter:
    name: str
    type: CType


@dataclass(frozen=True)
class Signature:
    name: str
    parameters: tuple[Parameter, ...]
    result: CType
    variadic: bool = False
    returns: bool = True
    """Whether it may return: not if it is declared `noreturn`."""
    convention: str = ""
    """The calling convention that it is declared with, if it is not the machine's usual one."""

    def __str__(self) -> str:
        parameters = ", ".join(f"{p.type.spelling} {p.name}".replace("* ", "*") for p in self.parameters)
        if self.variadic:
            parameters += ", ..."
        convention = f"{self.convention} " if self.convention else ""
        return f"{convention}{self.result.spelling} {self.name}({parameters or 'void'})".replace("* ", "*")


VOID = CType(TypeKind.VOID, 0, spelling="void")
