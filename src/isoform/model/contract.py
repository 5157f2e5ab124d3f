"""The contract of a question: what may be assumed at entry and what is compared at exit (DESIGN section 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from isoform.model.callee import ArgumentPart, Callee, Given, whole
from isoform.model.differences import (
    Difference,
    call_differences,
    ending,
    how_it_ended,
    memory_differences,
    returned,
)
from isoform.model.evaluate_floats import canonical_nan, is_nan, to_float
from isoform.model.machine import Machine
from isoform.model.outcome import (
    STACK_POINTER,
    Inputs,
    Outcome,
    Status,
)
from isoform.model.signature import LONG_DOUBLE_BITS, CType, Signature, TypeKind
from isoform.model.values import dataclass

if TYPE_CHECKING:
    from isoform.borders.precondition import Precondition
    from isoform.model.abi import Abi


HIDE_MEMORY_AT_END = frozenset(
    {
        *("abort", "_exit", "_Exit", "__stack_chk_fail", "__stack_chk_fail_local", "__fortify_fail", "__chk_fail"),
        *("__assert_fail", "__assert_perror_fail", "__assert", "__cxa_pure_virtual", "_ZSt9terminatev"),
    }
)
"""Calls that end the program at once. After all others somebody may still read memory: exit handlers, whoever catches
an exception, or the callee itself."""

_UNDECIDED = (Status.OUT_OF_FUEL, Status.UNSUPPORTED)


class ReturnAs(Enum):
    VALUE = "value"
    BOOL = "bool"
    VOID = "void"


class MemoryRule(Enum):
    COMPARE = "compare"
    IGNORE = "ignore"


class AbortRule(Enum):
    EQUAL = "equal"
    REFINE = "refine"


class BoundsRule(Enum):
    ASSUME = "assume"
    """If the target leaves the object that an access is meant for, nothing is compared."""
    IGNORE = "ignore"


class RestrictRule(Enum):
    ASSUME = "assume"
    """If the target uses `restrict` pointers in a way that their declaration rules out, nothing is compared."""
    IGNORE = "ignore"


class TerminationRule(Enum):
    PROVE = "prove"
    ASSUME = "assume"
    """A run that does not end is compared with nothing (`both-end`), where no reason is found why it ends."""


class CallRule(Enum):
    INLINE = "inline"
    UNINTERPRETED = "uninterpreted"
    AUTO = "auto"


class DataRule(Enum):
    """Writable data holds anything at entry, the same on both sides. This says whether its initial contents must be the
    same, too."""

    INITIAL = "initial"
    ANY = "any"


class SignatureSource(Enum):
    OPTION = "--signature"
    DWARF = "debug information"
    MACHINE = "the machine's convention"
    LIVENESS = "liveness"


@dataclass(frozen=True)
class Place:
    """The place of (part of) an argument or result: bytes of a register, or of the stack at entry."""

    register: str | None
    """A container name; None for the stack."""
    offset: int
    """Byte offset in the register, or from the stack pointer at entry."""
    size: int


def system_callee(machine: Machine, number: int | None) -> Callee:
    """What a system call takes: its number, and the arguments that the service reads. If the number, or what the
    service reads, is not known: all of them."""
    convention = machine.convention
    names = convention.system_arguments
    reads = convention.system_reads.get(number) if number is not None else None
    bits = [whole(machine, name) for name in names]
    if reads is not None:
        bits[1:] = [(1 << reads[n]) - 1 if n < len(reads) else 0 for n in range(len(names) - 1)]
    parts = [ArgumentPart(n, 0, machine.registers[n].size, b, b) for n, b in zip(names, bits, strict=True) if b]
    first = convention.result[0]
    return Callee(tuple(parts), (Given(first, whole(machine, first)),))


@dataclass(frozen=True)
class Argument:
    name: str
    type: CType
    places: tuple[Place, ...]
    """Lowest part first."""


class _Unused:
    """The parts of a structure that belong to no member."""

    unused: tuple[tuple[int, int], ...]
    """The bytes of it with bits that belong to no member, and these bits."""
    room: frozenset[int]
    """Bytes that are padding if a `long double` has 80 bits: they make no `different`; proofs compare them."""

    @cached_property
    def offsets(self) -> frozenset[int]:
        """The bytes that are nothing but padding."""
        return frozenset(byte for byte, bits in self.unused if bits == 0xFF)

    @cached_property
    def partly(self) -> dict[int, int]:
        """The bytes that contain part of a bit-field, with the bits that belong to no member."""
        return {byte: bits for byte, bits in self.unused if bits != 0xFF}


@dataclass(frozen=True)
class Padded(_Unused):
    """An argument that points to structures with padding."""

    argument: Argument
    size: int
    """Bytes of one structure."""
    unused: tuple[tuple[int, int], ...]
    spelling: str
    room: frozenset[int] = frozenset()


@dataclass(frozen=True)
class PaddedVariable(_Unused):
    """A variable that is a structure with padding, or an array of them."""

    start: int
    extent: int
    """Bytes of all of it."""
    size: int
    """Bytes of one structure."""
    unused: tuple[tuple[int, int], ...]
    room: frozenset[int] = frozenset()


def argument_value(argument: Argument, inputs: Inputs) -> int:
    """The value of an argument in these inputs."""
    value = shift = 0
    for place in argument.places:
        if place.register is not None:
            part = inputs.registers.get(place.register, 0) >> (8 * place.offset)
        else:
            start = STACK_POINTER + place.offset
            part = sum(inputs.byte(start + i) << (8 * i) for i in range(place.size))
        value |= (part & ((1 << (8 * place.size)) - 1)) << shift
        shift += 8 * place.size
    return value


@dataclass(frozen=True)
class Result:
    register: str
    bits: int
    offset: int = 0
    is_float: bool = False
    """Whether these bits are one float or double: all NaNs then count as the same."""


Reading = tuple[Result, ...]
ResultPart = tuple[Reading, ...]
"""One part of a result of unknown type, as each of the types that it may have."""


ReadByte = Callable[[int], int]
"""Memory as an outside function finds it, by address."""


class NoValueError(Exception):
    """The result of a library function for these arguments is not known (a text without an end)."""


@dataclass(frozen=True)
class PureCall:
    """An outside function that only computes: its results are a function of its arguments (and of memory, if it reads
    any), and it changes nothing. How often and in which order it is called is not observed."""

    name: str
    results: tuple[Result, ...]
    """Bits of registers; the rest of a result register is undefined afterwards."""
    reads_memory: bool = False
    stores: tuple[tuple[int, str], ...] = ()
    """For `sincos` and the like: the argument that says where to store what the named function returns for the first
    argument."""
    value: Callable[[tuple[int, ...], ReadByte], tuple[int, ...]] | None = None
    """The results of the real function, one number for each result, then for each store; None if isoform does not know
    them."""
    only_if_null: int | None = None
    """The argument that must be null for it to only compute: otherwise it stores something there, and is an ordinary
    call."""
    code: bytes = b""
    """Machine code without branches that does the same, with arguments and results where they are in a call."""


def stored_size(function: str) -> int:
    """Bytes of a number that the named function of `math.h` gives."""
    return 4 if function.endswith("f") else 8


@dataclass(frozen=True)
class OutputCall:
    """An outside function that writes text to a stream."""

    name: str
    stream: int | None
    """The integer argument that is the stream; None: the standard output."""
    counts: bool
    """Whether it returns how many bytes it wrote."""
    written: Callable[[tuple[int | None, ...], ReadByte], bytes]
    """The text, from memory and the integer argument registers whose values are known. NoValueError: the text is not
    known."""


@dataclass(frozen=True)
class BoolCell:
    """A byte of memory that is declared to hold a `bool`."""

    argument: Argument
    """A pointer."""
    offset: int
    """From where that points to."""
    stride: int
    """Bytes from there to the next one, if the argument points to an array."""


@dataclass(frozen=True)
class Contract:
    machine: Machine
    signature: Signature | None
    source: SignatureSource
    arguments: tuple[Argument, ...]
    results: tuple[Result, ...]
    stack_argument_bytes: int = 0
    result_space: int = 0
    """Bytes of the space to which the first argument points if the result is returned in memory; else 0."""
    result_beside: str = ""
    """A register that is compared anyway, whose low 80 bits are a `long double` result, or may be one if the result is
    inferred; "" if there is none."""
    return_as: ReturnAs = ReturnAs.VALUE
    memory: MemoryRule = MemoryRule.COMPARE
    aborts: AbortRule = AbortRule.EQUAL
    calls: CallRule = CallRule.AUTO
    data: DataRule = DataRule.INITIAL
    data_names: tuple[str, ...] = ()
    """Writable data that the two can get at."""
    pure: tuple[str, ...] = ()
    """Outside functions that the user says only compute."""
    idempotent: tuple[str, ...] = ()
    """Outside functions of which the user says that a call right after the same call does nothing more."""
    bounds: BoundsRule = BoundsRule.ASSUME
    restrict: RestrictRule = RestrictRule.ASSUME
    restricted: tuple[int, ...] = ()
    """Positions of the arguments that the target declares `restrict`, if that counts."""
    termination: TerminationRule = TerminationRule.PROVE
    preconditions: tuple[Precondition, ...] = ()
    certain: tuple[ResultPart, ...] | None = None
    """If `results` are inferred from the code: what certainly is the result. None if all of it is."""
    padded_behind: tuple[Padded, ...] = ()
    """The arguments that point to pointers to structures with padding; used in runs only."""
    padded_variables: tuple[PaddedVariable, ...] = ()
    """The variables that are structures with padding; used in runs only."""
    padded: tuple[Padded, ...] = ()
    """The arguments that point to structures with padding, where both sides declare them so."""
    bools: tuple[BoolCell, ...] = ()
    possible: ResultPart = ()
    """If the type of the result is inferred and only zero or nonzero counts: everything that may be the result, as each
    of the types that it may have. A difference in any of them leaves the question open."""
    bool_variables: tuple[tuple[int, int], ...] = ()
    """Places of variables that are declared to hold a `bool`: the variable's address, and the distance from it."""
    bytes_read: tuple[str, ...] = ()
    """Without debug information: argument registers of which a side reads one byte only, so that it may be a bool."""
    narrow: tuple[tuple[str, int], ...] = ()
    """Argument registers that may hold numbers of only this many bits, if types are inferred from the code."""
    abis: tuple[Abi, Abi] | None = None
    """If the two sides are for two machines: the contract as each of them sees it. The fields of the contract itself
    are then those of the target."""

    def of(self, side: int) -> Contract:
        """The contract as one side finds it, the other being for the same machine."""
        if self.abis is None:
            return self
        own = self.abis[side]
        return replace(
            self,
            machine=own.machine,
            arguments=own.arguments,
            results=own.results,
            stack_argument_bytes=own.stack_argument_bytes,
            result_space=own.result_space,
            abis=None,
        )

    def differences(self, target: Outcome, rewrite: Outcome) -> list[Difference]:
        """Every observable on which the two outcomes differ. Empty when they agree or when either decides
        nothing (out of fuel, no semantics)."""
        return list(self._differences(target, rewrite))

    def differ(self, target: Outcome, rewrite: Outcome) -> bool:
        """Whether there is such an observable."""
        return next(self._differences(target, rewrite), None) is not None

    def _differences(self, target: Outcome, rewrite: Outcome) -> Iterator[Difference]:
        if target.status in _UNDECIDED or rewrite.status in _UNDECIDED:
            return
        if target.outside and self.bounds is BoundsRule.ASSUME:
            return
        if target.status is Status.ABORTED and self.aborts is AbortRule.REFINE:
            return
        if ending(target) != ending(rewrite):
            yield Difference("how it ends", how_it_ended(target), how_it_ended(rewrite))
        elif target.status is Status.ABORTED:
            yield from call_differences(target, rewrite)
        else:
            yield from self._state_differences(target, rewrite)

    def _state_differences(self, target: Outcome, rewrite: Outcome) -> Iterator[Difference]:
        yield from call_differences(target, rewrite)
        if target.status is Status.DONE:
            if self.results_differ(target, rewrite):
                values = self.of(0).result_value(target), self.of(1).result_value(rewrite)
                yield Difference("return value", *map(self.show_result, values))
            yield from self._convention_differences(target, rewrite)
        if self._shows_memory(target):
            yield from memory_differences(self.of(0).observed_writes(target), self.of(1).observed_writes(rewrite))

    def _shows_memory(self, outcome: Outcome) -> bool:
        """`--memory ignore` concerns what a function leaves to its caller. What a call that ends the program finds is
        part of the call."""
        if outcome.status is Status.DONE:
            return self.memory is MemoryRule.COMPARE
        return outcome.reason not in HIDE_MEMORY_AT_END

    def observed_writes(self, outcome: Outcome) -> dict[int, int]:
        """What a run leaves in memory that others can find."""
        return outcome.blocks.observed(outcome.writes, (outcome.registers.get(r.register, 0) for r in self.results))

    def _convention_differences(self, target: Outcome, rewrite: Outcome) -> Iterator[Difference]:
        """What a callee must restore is compared between the sides: a target that itself breaks the convention (an
        assembly fragment) is still the reference. If there is nothing to compare, each is compared with its own state
        at entry."""
        if self.abis is not None:
            broken = [", ".join(o.broken_duties) or "nothing" for o in (target, rewrite)]
            if target.broken_duties or rewrite.broken_duties:
                yield Difference("what was not restored", broken[0], broken[1])
            return
        registers = target.registers, rewrite.registers
        for name in self.machine.convention.restored:
            left, right = registers[0].get(name, 0), registers[1].get(name, 0)
            if name == self.result_beside and left != right:
                yield from _extended_differences(left, right)
            elif left != right:
                yield Difference(f"{name}, which must be restored", hex(left), hex(right))
        if target.return_target != rewrite.return_target:
            yield Difference("where it returns to", *(returned(o) for o in (target, rewrite)))

    def results_differ(self, target: Outcome, rewrite: Outcome) -> bool:
        """Whether the results differ, whichever of its possible types the result has. A function that returns a `long
        double` returns nothing else, so that the result registers then hold leftovers."""
        if self.certain is not None and any(self._returns_beside(outcome) for outcome in (target, rewrite)):
            return False
        if self.certain is None or self.return_as is ReturnAs.VOID:
            return self.of(0).result_value(target) != self.of(1).result_value(rewrite)
        return any(
            all(self.result_value(target, reading) != self.result_value(rewrite, reading) for reading in part)
            for part in self.certain
        )

    def _returns_beside(self, outcome: Outcome) -> bool:
        at_entry = self.machine.initial.get(self.result_beside)
        return at_entry is not None and outcome.registers.get(self.result_beside, at_entry) != at_entry

    def result_value(self, outcome: Outcome, reading: Reading | None = None) -> int:
        """The compared bits of the result as one number, with the same NaN for all NaNs."""
        value = shift = 0
        for result in self.results if reading is None else reading:
            part = outcome.registers.get(result.register, 0) >> (8 * result.offset)
            part &= (1 << result.bits) - 1
            if result.is_float and is_nan(part, result.bits // 8):
                part = canonical_nan(result.bits // 8)
            if result.is_float and self.return_as is ReturnAs.BOOL:
                part &= (1 << (result.bits - 1)) - 1  # -0.0 compares equal to 0
            value |= part << shift
            shift += result.bits
        if self.return_as is ReturnAs.BOOL:
            return int(value != 0)
        return 0 if self.return_as is ReturnAs.VOID else value

    def result_bits(self) -> int:
        return sum(r.bits for r in self.results)

    def show_result(self, value: int) -> str:
        if self.return_as is ReturnAs.BOOL:
            return "nonzero" if value else "0"
        bits = self.result_bits()
        kind = self.signature.result if self.signature else None
        if kind is not None and kind.kind is TypeKind.POINTER:
            return hex(value)
        if kind is not None and kind.is_float:
            return show_float(value, bits)
        signed = kind.signed if kind is not None else True
        is_wide_integer = kind is not None and kind.kind is TypeKind.INTEGER and bits > max(32, kind.bits)
        if kind is not None and is_wide_integer and value >> 31 in (0, (1 << (bits - 31)) - 1):
            bits = max(32, kind.bits)  # the rest is its extension
        return show_number(value & ((1 << bits) - 1), bits, signed)


def _extended_differences(left: int, right: int) -> Iterator[Difference]:
    """The differences of two registers that begin with a `long double` result. Which NaN it is does not count:
    compilers may negate one, or swap two."""
    results = [value & _EXTENDED for value in (left, right)]
    if left ^ results[0] != right ^ results[1]:
        yield Difference("what is left beside the result", hex(left), hex(right))
    elif not all(value & _EXPONENT == _EXPONENT and value & _FRACTION for value in results):
        yield Difference("return value", *map(hex, results))


_EXTENDED, _EXPONENT, _FRACTION = (1 << LONG_DOUBLE_BITS) - 1, 0x7FFF << 64, (1 << 63) - 1


def show_number(value: int, bits: int, signed: bool) -> str:
    """A number as a person would write it: decimal while short, else hex with the decimal beside it."""
    decimal = value - (1 << bits) if signed and bits and value >> (bits - 1) else value
    return str(decimal) if -10000 <= decimal <= 10000 else f"{decimal} ({value:#x})"


def show_float(value: int, bits: int) -> str:
    """The shortest decimal with this value; for a NaN also its bits."""
    if is_nan(value, bits // 8):
        return f"nan ({value:#x})"
    number = to_float(value, bits // 8)
    return f"{number:.9g}" if bits == 32 else repr(number)


def bools_by_value(arguments: Iterable[Argument]) -> Iterator[tuple[Argument, int]]:
    """The places of type `bool` in structures that are passed by value, in bytes from their start."""
    for argument in arguments:
        if argument.type.kind is TypeKind.STRUCT:
            yield from ((argument, offset) for offset in argument.type.bool_offsets())
