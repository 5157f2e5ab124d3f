"""Where the calling convention puts the arguments and results of a signature."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import IntEnum
from itertools import pairwise

from isoform.load.layout import LONG_DOUBLE_BITS, size_of
from isoform.model.callee import Given, Part, runs
from isoform.model.contract import EXTENDED_BYTES, Argument, Place, Result, bools_by_value
from isoform.model.errors import Unsupported, UserError
from isoform.model.machine import Machine
from isoform.model.signature import CType, Passing, Signature, TypeKind
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption

_EIGHTBYTE = 8
_STACK_ALIGNMENT = 16
"""Bytes, of the first argument on the stack."""
MOST_STACK_ARGUMENTS = 1 << 14
"""Bytes of arguments on the stack: each of them is an input of its own."""
_RESULT_POINTER = "result"
"""The name of the hidden argument that says where a large struct goes."""


@dataclass(frozen=True)
class Placement:
    arguments: tuple[Argument, ...]
    results: tuple[Result, ...]
    stack_argument_bytes: int
    """Bytes of the caller's stack that hold arguments, from `stack_arguments_offset` on."""
    result_space: int = 0
    """Bytes of a result in memory: the first argument then says where."""


def place_signature(machine: Machine, signature: Signature) -> Placement:
    """Arguments and results of a function with this signature on this machine."""
    if signature.convention:
        what = "a function called through a pointer" if signature.name == "(*)" else signature.name
        raise Unsupported(f"{what} is declared with the calling convention {signature.convention}, not the usual one")
    if machine.name == "x86_64":
        return _SystemV(machine, signature).place()
    return _place_in_order(machine, signature)


def argument_assumptions(arguments: Sequence[Argument]) -> list[Assumption]:
    """What callers do in practice though the convention does not ask it of them (DESIGN section 4)."""
    scalars = [a.type for a in arguments if a.type.kind in (TypeKind.INTEGER, TypeKind.BOOL)]
    found = []
    if any(scalar.bits < 32 for scalar in scalars):
        why = "callers extend 8- and 16-bit arguments to 32 bits, as compilers do in practice"
        found.append(Assumption("narrow-arguments-extended", why))
    if any(scalar.kind is TypeKind.BOOL for scalar in scalars) or any(bools_by_value(arguments)):
        found.append(
            Assumption(
                "bool-is-0-or-1", "an argument of type bool, or a member of one, is 0 or 1, as compilers rely on"
            )
        )
    return found


def gap_assumptions(signatures: Iterable[Signature]) -> Iterator[Assumption]:
    """That nothing is in the gaps of structures in vector registers. Debug information does not list bit-fields without
    a name, which gcc counts when it chooses registers (and clang does not)."""
    types = [kind for one in signatures for kind in (one.result, *(parameter.type for parameter in one.parameters))]
    names = dict.fromkeys(kind.spelling for kind in types if _has_gap_among_floats(kind))
    if names:
        yield Assumption(
            "no-unnamed-members", f"{', '.join(names)} has no bit-field without a name between its members"
        )


def _has_gap_among_floats(ctype: CType) -> bool:
    if ctype.kind is not TypeKind.STRUCT or ctype.bits > 128 or ctype.passing is Passing.BY_REFERENCE:
        return False
    scalars = list(_scalars(ctype))
    for first in range(0, ctype.bits // 8, _EIGHTBYTE):
        eightbyte = range(first, min(first + _EIGHTBYTE, ctype.bits // 8))
        inside = [(start, scalar) for start, scalar in scalars if start in eightbyte]
        taken = sum(scalar.bits // 8 for _, scalar in inside)
        if inside and all(scalar.kind is TypeKind.FLOAT for _, scalar in inside) and taken < len(eightbyte):
            return True
    return False


def argument_parts(arguments: Iterable[Argument]) -> Iterator[Part]:
    """The parts of an outside call with these arguments. Of a narrow integer only its own bits are known to be read;
    that the caller extends it to 32 is something that some callees rely on. Padding is not read."""
    for argument in arguments:
        bits = _value_bits(argument.type)
        done = 0
        for place in argument.places:
            size, every = place.size, (1 << (8 * place.size)) - 1
            read = 0 if bits is None else bits >> (8 * done) & every
            may = every if bits is None else read
            if argument.type.kind in (TypeKind.INTEGER, TypeKind.BOOL) and size < EXTENDED_BYTES:
                size, may = EXTENDED_BYTES, (1 << (8 * EXTENDED_BYTES)) - 1
            yield Part(place.register, place.offset, size, may, read)
            done += _EIGHTBYTE if place.register is not None and size <= _EIGHTBYTE else size


def given_results(results: Iterable[Result], ctype: CType) -> Iterator[Given]:
    """What a function with this result leaves in the result registers."""
    found: dict[str, int] = {}
    for result in results:
        found[result.register] = found.get(result.register, 0) | ((1 << result.bits) - 1) << (8 * result.offset)
    zeros = _zero_bits(ctype) if ctype.bits <= 64 * len(found) else 0  # else the result is in memory
    for index, (register, bits) in enumerate(found.items()):
        yield Given(register, bits, zeros >> (64 * index) & bits)


def _zero_bits(ctype: CType) -> int:
    """The bits of a value that are 0 as a bool is 0 or 1."""
    zeros = 0
    for start, scalar in _scalars(ctype):
        if scalar.kind is TypeKind.BOOL and not scalar.is_bit_field:
            zeros |= ((1 << scalar.bits) - 2) << (8 * start)
    return zeros


def _value_bits(ctype: CType) -> int | None:
    """The bits of a value that hold some part of it, the others being padding; None where that is not known."""
    if ctype.kind is not TypeKind.STRUCT:
        return (1 << ctype.bits) - 1
    if not _is_spelled_out(ctype):
        return None
    bits = 0
    for start, scalar in _scalars(ctype):
        bits |= ((1 << scalar.bits) - 1) << (8 * start + scalar.low)
    return bits


def _bit_field_bits(ctype: CType) -> int:
    bits = 0
    for start, scalar in _scalars(ctype):
        if scalar.is_bit_field:
            bits |= ((1 << scalar.bits) - 1) << (8 * start + scalar.low)
    return bits


def _place_in_order(machine: Machine, signature: Signature) -> Placement:
    """One register an argument, and no other kind of argument than an integer or pointer."""
    registers = machine.convention.integer_arguments
    if len(signature.parameters) > len(registers):
        raise UserError(
            f"The signature of {signature.name} has {len(signature.parameters)} parameters, but {machine.title} "
            f"takes at most {len(registers)}; shorten --signature."
        )
    arguments = []
    for parameter, register in zip(signature.parameters, registers, strict=False):
        size = _whole_register(machine, signature, f"parameter {parameter.name}", parameter.type, register)
        arguments.append(Argument(parameter.name, parameter.type, (Place(register, 0, size),)))
    results = []
    if signature.result.kind is not TypeKind.VOID:
        register = machine.convention.result[0]
        size = _whole_register(machine, signature, "the result", signature.result, register)
        results.append(Result(register, 8 * size))
    return Placement(tuple(arguments), tuple(results), 0)


def _whole_register(machine: Machine, signature: Signature, what: str, ctype: CType, register: str) -> int:
    """Bytes of the register that hold the value."""
    size = machine.registers[register].size
    if ctype.kind in (TypeKind.FLOAT, TypeKind.STRUCT) or ctype.bits > 8 * size:
        raise UserError(
            f"The signature of {signature.name} gives {what} the type '{ctype.spelling}', which does not fit a "
            f"{8 * size}-bit register of {machine.title}; use int or unsigned in --signature."
        )
    return ctype.bits // 8


class _Class(IntEnum):
    """Classes of an eightbyte (x86-64 psABI, section 3.2.3). The larger wins where two meet."""

    NONE = 0
    SSE = 1
    INTEGER = 2
    MEMORY = 3


class _SystemV:
    """One pass over the parameters, taking registers and stack from the front."""

    def __init__(self, machine: Machine, signature: Signature) -> None:
        self._convention = machine.convention
        self._signature = signature
        self._integer = list(machine.convention.integer_arguments)
        self._float = list(machine.convention.float_arguments)
        self._stack = 0
        """Bytes of stack arguments so far. Their start is a multiple of 16."""

    def place(self) -> Placement:
        results = tuple(self._results())
        arguments = [self._result_pointer()] if self._result_in_memory() else []
        arguments += [Argument(p.name, p.type, self._places(p.name, p.type)) for p in self._signature.parameters]
        space = self._signature.result.bits // 8 if self._result_in_memory() else 0
        return Placement(tuple(arguments), results, self._stack, space)

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
        return Place(None, self._convention.stack_arguments_offset + start, size)

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
        if result.kind is TypeKind.VOID:
            return
        if result.bits <= 128 and any(_is_long_double(scalar) for _, scalar in _scalars(result)):
            raise self._unsupported("the result", result, "it may be on the x87 stack")
        if self._result_in_memory():
            yield Result(self._convention.result[0], 64)
        elif _is_wide_float(result):
            yield Result(self._convention.float_result[0], 128)
        else:
            yield from self._register_results(result)

    def _register_results(self, result: CType) -> Iterator[Result]:
        """Only bits that belong to a member are compared: padding may hold anything."""
        integer, floating = iter(self._convention.result), iter(self._convention.float_result)
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
        for start, scalar in _scalars(result):
            if scalar.is_bit_field:
                continue
            for low in range(0, scalar.bits, 64):
                extent = (start + low // 8, min(64, scalar.bits - low))
                # What is also an integer (a union) is compared bit for bit.
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
        if ctype.bits <= 128 and not _is_spelled_out(ctype):
            raise self._unsupported(what, ctype, "not all of its members are known")
        if any(scalar.kind is TypeKind.FLOAT and scalar.bits > 128 for _, scalar in _scalars(ctype)):
            raise self._unsupported(what, ctype, "vectors of more than 128 bits are not handled")
        if ctype.kind is TypeKind.STRUCT and any(_is_wide_float(scalar) for _, scalar in _scalars(ctype)):
            raise self._unsupported(what, ctype, "128-bit vectors and numbers in a struct are not handled")
        if ctype.bits > 128 or _is_long_double(ctype):
            return [_Class.MEMORY]
        classes = [_Class.NONE] * -(-ctype.bits // 64)
        for start, scalar in _scalars(ctype):
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


def _scalars(ctype: CType, start: int = 0) -> Iterator[tuple[int, CType]]:
    """Every scalar in a value with its byte offset."""
    if ctype.kind is not TypeKind.STRUCT:
        yield start, ctype
        return
    for _, offset, member in ctype.fields:
        yield from _scalars(member, start + offset)


def _has_unnamed_members(ctype: CType) -> bool:
    """Whether the alignment of its members does not explain a gap. Debug information does not list bit-fields without
    a name, which gcc counts when it chooses registers (and clang does not)."""
    end, most = 0, max(1, ctype.alignment)
    for start, scalar in sorted(_scalars(ctype), key=lambda member: member[0]):
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
    """A vector or a 128-bit number: what takes a vector register as a whole."""
    return ctype.kind is TypeKind.FLOAT and ctype.bits == 128


def _is_spelled_out(ctype: CType) -> bool:
    """Whether every struct inside has its members listed. A union without them would go unseen."""
    if ctype.kind is not TypeKind.STRUCT or not ctype.bits:
        return True
    return bool(ctype.fields) and all(_is_spelled_out(member) for _, _, member in ctype.fields)


def _alignment(ctype: CType) -> int:
    """Bytes; of a bit-field's byte 1."""
    return max((1, ctype.alignment, *(size_of(scalar) for _, scalar in _scalars(ctype))))


def _alignment_is_known(ctype: CType) -> bool:
    """Not of a struct without members, nor of a packed one that has a member wide enough to matter."""
    if ctype.kind is not TypeKind.STRUCT:
        return True
    alignment = _alignment(ctype)
    packed = ctype.bits % (8 * alignment) or any(start % max(1, size_of(m)) for start, m in _scalars(ctype))
    return bool(ctype.fields) and not (alignment > _EIGHTBYTE and packed)


def _adjoin(before: Result, after: Result) -> bool:
    if before.is_float or after.is_float:
        return False
    return before.register == after.register and 8 * before.offset + before.bits == 8 * after.offset
