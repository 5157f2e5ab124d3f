"""The System V ABI of x86-64: registers of the convention, and how each type is passed and returned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import IntEnum
from itertools import pairwise

from isoform.isa.x86_64.registers import FLAGS, MASK_CONTAINERS, VECTOR_CONTAINERS
from isoform.isa.x86_64.system_calls import SYSTEM_READS
from isoform.model.callee import runs
from isoform.model.contract import Argument, Place, Result
from isoform.model.errors import Unsupported, UserError
from isoform.model.machine import Convention
from isoform.model.placement import MOST_STACK_ARGUMENTS, Placement
from isoform.model.signature import LONG_DOUBLE_BITS, CType, Passing, Signature, TypeKind
from isoform.model.verdict import Assumption

X87_EMPTY = Assumption("x87-stack-empty", "the x87 stack is empty at entry, as the convention says")
CANARY_APART = Assumption(
    "canary-apart", "the stack protector's canary at fs:0x28 is reached by instructions that name it, and by no others"
)
DIRECTION_FLAG = Assumption("direction-flag-clear", "the direction flag is clear at entry, as the convention says")
_EIGHTBYTE = 8
_STACK_ALIGNMENT = 16
"""Bytes, of the first argument on the stack."""
_RESULT_POINTER = "result"
"""The name of the hidden argument that holds the address for a large struct."""

CONVENTION = Convention(
    integer_arguments=("rdi", "rsi", "rdx", "rcx", "r8", "r9"),
    result=("rax", "rdx"),
    float_arguments=tuple(f"xmm{n}" for n in range(8)),
    float_result=("xmm0", "xmm1"),
    callee_saved=("rbx", "rbp", "r12", "r13", "r14", "r15", "df", "x87"),
    stack_pointer="rsp",
    stack_arguments_offset=8,
    return_address_on_stack=True,
    stack_adjustment=8,
    scratch_after_call=(
        *("rcx", "rsi", "rdi", "r8", "r9", "r10", "r11"),
        *(name for name in FLAGS if name != "df"),
        *VECTOR_CONTAINERS,
        *MASK_CONTAINERS,
        *(f"mm{n}" for n in range(8)),
    ),
    as_at_entry=("df",),
    stack_alignment=16,
    not_across_calls=("x87",),
    positional_integers=("rcx", "rdx", "r8", "r9"),
    positional_floats=("xmm0", "xmm1", "xmm2", "xmm3"),
    system_arguments=("rax", "rdi", "rsi", "rdx", "r10", "r8", "r9"),
    system_reads=SYSTEM_READS,
    scratch_after_system=("rcx", "r11"),
)


def place(signature: Signature) -> Placement:
    return _SystemV(signature).place()


def gap_assumptions(signatures: Iterable[Signature]) -> Iterator[Assumption]:
    """The assumption that gaps of structures in vector registers are unused. Debug information does not list bit-fields
    without a name, which gcc counts when it chooses registers (and clang does not)."""
    types = [kind for one in signatures for kind in (one.result, *(parameter.type for parameter in one.parameters))]
    names = dict.fromkeys(kind.spelling for kind in types if _has_gap_among_floats(kind))
    if names:
        yield Assumption(
            "no-unnamed-members", f"{', '.join(names)} has no bit-field without a name between its members"
        )


def _has_gap_among_floats(ctype: CType) -> bool:
    if ctype.kind is not TypeKind.STRUCT or ctype.bits > 128 or ctype.passing is Passing.BY_REFERENCE:
        return False
    scalars = list(ctype.scalars())
    for first in range(0, ctype.bits // 8, _EIGHTBYTE):
        eightbyte = range(first, min(first + _EIGHTBYTE, ctype.bits // 8))
        inside = [(start, scalar) for start, scalar in scalars if start in eightbyte]
        taken = sum(scalar.bits // 8 for _, scalar in inside)
        if inside and all(scalar.kind is TypeKind.FLOAT for _, scalar in inside) and taken < len(eightbyte):
            return True
    return False


class _Class(IntEnum):
    """Classes of an eightbyte (x86-64 psABI, section 3.2.3). If two classes meet, the larger wins."""

    NONE = 0
    SSE = 1
    INTEGER = 2
    MEMORY = 3


class _SystemV:
    """One pass over the parameters, taking registers and stack from the front."""

    def __init__(self, signature: Signature) -> None:
        self._signature = signature
        self._integer = list(CONVENTION.integer_arguments)
        self._float = list(CONVENTION.float_arguments)
        self._stack = 0
        """Bytes of stack arguments so far. Their start is a multiple of 16."""

    def place(self) -> Placement:
        results = tuple(self._results())
        arguments = [self._result_pointer()] if self._result_in_memory() else []
        arguments += [Argument(p.name, p.type, self._places(p.name, p.type)) for p in self._signature.parameters]
        space = self._signature.result.bits // 8 if self._result_in_memory() else 0
        beside = "x87" if _is_long_double(self._signature.result) else ""
        return Placement(tuple(arguments), results, self._stack, space, beside)

    def _places(self, name: str, ctype: CType) -> tuple[Place, ...]:
        classes = self._classes(f"parameter {name}", ctype)
        size = ctype.bits // 8
        if _is_wide_float(ctype) and self._float:
            return (Place(self._float.pop(0), 0, 16),)
        fits = classes.count(_Class.INTEGER) <= len(self._integer) and classes.count(_Class.SSE) <= len(self._float)
        if _is_wide_float(ctype) or not fits or _Class.MEMORY in classes:
            return (self._on_stack(name, ctype, size),)
        places = []
        for index, of_class in enumerate(classes):
            register = (self._integer if of_class is _Class.INTEGER else self._float).pop(0)
            places.append(Place(register, 0, min(_EIGHTBYTE, size - _EIGHTBYTE * index)))
        return tuple(places)

    def _on_stack(self, name: str, ctype: CType, size: int) -> Place:
        if self._stack % _STACK_ALIGNMENT and not _alignment_is_known(ctype):
            raise self._unsupported(f"parameter {name}", ctype, "its alignment is not known")
        if _alignment(ctype) > _STACK_ALIGNMENT:
            raise self._unsupported(f"parameter {name}", ctype, f"it is aligned to {_alignment(ctype)} bytes")
        if _alignment(ctype) > _EIGHTBYTE:
            self._stack += self._stack % _STACK_ALIGNMENT
        start = self._stack
        self._stack += -(-size // _EIGHTBYTE) * _EIGHTBYTE
        if self._stack > MOST_STACK_ARGUMENTS:
            why = f"more than {MOST_STACK_ARGUMENTS} bytes of arguments on the stack are not handled"
            raise self._unsupported(f"parameter {name}", ctype, why)
        return Place(None, CONVENTION.stack_arguments_offset + start, size)

    def _result_pointer(self) -> Argument:
        taken = {parameter.name for parameter in self._signature.parameters}
        name = _RESULT_POINTER
        while name in taken:
            name += "_"
        result = self._signature.result
        pointer = CType(TypeKind.POINTER, 64, spelling=f"{result.spelling} *", pointee=result)
        return Argument(name, pointer, (Place(self._integer.pop(0), 0, _EIGHTBYTE),))

    def _result_in_memory(self) -> bool:
        result = self._signature.result
        if result.kind is not TypeKind.STRUCT:
            return False
        return result.passing is Passing.BY_REFERENCE or _Class.MEMORY in self._classes("the result", result)

    def _results(self) -> Iterator[Result]:
        result = self._signature.result
        if result.kind is TypeKind.VOID or _is_long_double(result):
            return
        if result.bits <= 128 and any(_is_long_double(scalar) for _, scalar in result.scalars()):
            raise self._unsupported("the result", result, "it may be on the x87 stack")
        if self._result_in_memory():
            yield Result(CONVENTION.result[0], 64)
        elif _is_wide_float(result):
            yield Result(CONVENTION.float_result[0], 128)
        else:
            yield from self._register_results(result)

    def _register_results(self, result: CType) -> Iterator[Result]:
        """Only bits that belong to a member are compared: padding may hold anything."""
        integer, floating = iter(CONVENTION.result), iter(CONVENTION.float_result)
        classes = self._classes("the result", result)
        registers = [next(integer if of_class is _Class.INTEGER else floating) for of_class in classes]
        pending: Result | None = None
        for start, bits, is_float in self._extents(result):
            part = Result(registers[start // _EIGHTBYTE], bits, start % _EIGHTBYTE, is_float)
            if pending is not None and _adjoin(pending, part):
                pending = replace(pending, bits=pending.bits + part.bits)
                continue
            if pending is not None:
                yield pending
            pending = part
        if pending is not None:
            yield pending

    def _extents(self, result: CType) -> list[tuple[int, int, bool]]:
        """Byte offset, bits and whether it is a float, for every scalar in a result; split at eightbytes, in order."""
        extents: dict[tuple[int, int], bool] = {}
        for first, last, taken in runs(_bit_field_bits(result), result.bits):
            for low in range(first, last, 64) if taken else ():
                if low % 8 or low // 64 != (min(last, low + 64) - 1) // 64:
                    raise self._unsupported("the result", result, "it has bit-fields that do not begin at a byte")
                extents[low // 8, min(64, last - low)] = False
        for start, scalar in result.scalars():
            if scalar.is_bit_field:
                continue
            for low in range(0, scalar.bits, 64):
                extent = (start + low // 8, min(64, scalar.bits - low))
                # A part that is also an integer (in a union) is compared bit by bit.
                extents[extent] = scalar.is_float and extents.get(extent, True)
        ordered = [(*extent, is_float) for extent, is_float in sorted(extents.items())]
        for (start, bits, _), (following, _, _) in pairwise(ordered):
            if 8 * start + bits > 8 * following:
                raise UserError(
                    f"{self._signature.name} returns '{result.spelling}', whose members overlap (a union, or "
                    f"bit-fields); name in --signature what counts as the result."
                )
        return ordered

    def _classes(self, what: str, ctype: CType) -> list[_Class]:
        """The class of each eightbyte of a value."""
        if ctype.bits <= 128 and not ctype.is_spelled_out:
            raise self._unsupported(what, ctype, "not all of its members are known")
        if any(scalar.kind is TypeKind.FLOAT and scalar.bits > 128 for _, scalar in ctype.scalars()):
            raise self._unsupported(what, ctype, "vectors of more than 128 bits are not handled")
        if ctype.kind is TypeKind.STRUCT and any(_is_wide_float(scalar) for _, scalar in ctype.scalars()):
            raise self._unsupported(what, ctype, "128-bit vectors and numbers in a struct are not handled")
        if ctype.bits > 128 or _is_long_double(ctype):
            return [_Class.MEMORY]
        classes = [_Class.NONE] * -(-ctype.bits // 64)
        for start, scalar in ctype.scalars():
            if start * 8 + scalar.low + scalar.bits > ctype.bits:
                raise self._unsupported(what, ctype, "its members lie outside it")
            of_class = _scalar_class(start, scalar)
            for index in range(start // _EIGHTBYTE, -(-(8 * start + scalar.low + scalar.bits) // 64)):
                classes[index] = max(classes[index], of_class)
        if _Class.MEMORY in classes:
            return [_Class.MEMORY]
        if _Class.NONE in classes:
            raise self._unsupported(what, ctype, "eight bytes of it are padding")
        if _Class.SSE in classes and _has_unnamed_members(ctype):
            raise self._unsupported(what, ctype, "it may have a bit-field without a name")
        return classes

    def _unsupported(self, what: str, ctype: CType, why: str) -> Unsupported:
        return Unsupported(
            f"{what} of {self._signature.name} has the type '{ctype.spelling}', which isoform cannot place: {why}"
        )


def _has_unnamed_members(ctype: CType) -> bool:
    """Whether the alignment of its members does not explain a gap. Debug information does not list bit-fields without a
    name, which gcc counts when it chooses registers (and clang does not)."""
    end, most = 0, max(1, ctype.alignment)
    for start, scalar in sorted(ctype.scalars(), key=lambda member: member[0]):
        alignment = max(1, (scalar.bits + 7) // 8)
        if start - end >= alignment:
            return True
        end, most = max(end, start + alignment), max(most, alignment)
    return ctype.bits // 8 - end >= most


def _scalar_class(start: int, scalar: CType) -> _Class:
    if _is_long_double(scalar):
        return _Class.MEMORY
    whole = scalar.bits in (8, 16, 32, 64, 128) and not scalar.is_bit_field
    if whole and start % (scalar.bits // 8):
        return _Class.MEMORY
    return _Class.SSE if scalar.kind is TypeKind.FLOAT else _Class.INTEGER


def _is_long_double(ctype: CType) -> bool:
    return ctype.kind is TypeKind.FLOAT and ctype.bits == LONG_DOUBLE_BITS


def _is_wide_float(ctype: CType) -> bool:
    """A vector or 128-bit number, which takes a whole vector register."""
    return ctype.kind is TypeKind.FLOAT and ctype.bits == 128


def _alignment(ctype: CType) -> int:
    """Alignment in bytes; 1 for the byte of a bit-field."""
    return max((1, ctype.alignment, *(scalar.size for _, scalar in ctype.scalars())))


def _alignment_is_known(ctype: CType) -> bool:
    """False for a struct without members, and for a packed one with a member wide enough to matter."""
    if ctype.kind is not TypeKind.STRUCT:
        return True
    alignment = _alignment(ctype)
    packed = ctype.bits % (8 * alignment) or any(start % max(1, m.size) for start, m in ctype.scalars())
    return bool(ctype.fields) and not (alignment > _EIGHTBYTE and packed)


def _adjoin(before: Result, after: Result) -> bool:
    if before.is_float or after.is_float:
        return False
    return before.register == after.register and 8 * before.offset + before.bits == 8 * after.offset


def _bit_field_bits(ctype: CType) -> int:
    bits = 0
    for start, scalar in ctype.scalars():
        if scalar.is_bit_field:
            bits |= ((1 << scalar.bits) - 1) << (8 * start + scalar.low)
    return bits
