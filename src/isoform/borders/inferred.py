"""The signature of two functions without debug information: what their code shows of parameters and results.

A register at return is the result, or it is what a computation left behind. Compilers write no register for
nothing, so a value that nothing but the caller can read was computed for the caller: that register is (part of) the
result. Where the code also uses the value itself, both are possible. What may be the result is compared, so that
`equivalent` holds either way; but a difference counts only if it shows in what certainly is the result, at every width
and in every format that the code allows (`Contract.certain`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from isoform.borders.at_entry import FLOATS, register_parameters, stack_arguments
from isoform.borders.at_return import HARMLESS, MADE, VECTOR, WIDE, AtReturn, ForCaller, Left, Origin
from isoform.lift.function import Function
from isoform.lift.pointers import stack_argument_bytes
from isoform.model.contract import Argument, Reading, Result, ResultPart
from isoform.model.errors import Unsupported
from isoform.model.machine import Machine
from isoform.model.signature import VOID, CType, Parameter, Signature, TypeKind
from isoform.model.values import dataclass

_INTEGER_BITS = (8, 16, 32, 64)


@dataclass(frozen=True)
class Inferred:
    signature: Signature
    results: tuple[Result, ...]
    """Everything that may be the result."""
    certain: tuple[ResultPart, ...]
    """What certainly is."""
    narrow: tuple[tuple[str, int], ...]
    """Argument registers of which one side reads only so many low bits: the caller may have extended them, or not."""
    bytes_read: tuple[str, ...] = ()
    """Argument registers of which a side reads one byte only."""
    stack: tuple[Argument, ...] = ()
    """Arguments on the stack, word by word, whichever registers are used: a large structure is passed there."""


def infer(target: Function, rewrite: Function, inline: bool, no_return: Collection[str]) -> Inferred:
    """What two functions take and give back, from their code alone. Functions in `no_return` do not return."""
    machine = target.machine
    functions = target, rewrite
    sides = [AtReturn(function, inline, no_return) for function in functions]
    _refuse_wide_vectors(machine, sides)
    found = _result_registers(machine, sides)
    results = tuple(result for part in found for result in part.results)
    certain = tuple(part.certain for part in found if part.certain)
    parameters, reads = register_parameters(machine, functions, results)
    stack = tuple(stack_arguments(machine, max(stack_argument_bytes(function) for function in functions)))
    parameters += tuple(Parameter(argument.name, argument.type) for argument in stack)
    narrow = tuple((name, 8 * min(sizes)) for name, sizes in reads.items() if len(sizes) > 1 and min(sizes) < 4)
    bytes_read = tuple(name for name, sizes in reads.items() if 1 in sizes)
    signature = Signature(target.name, parameters, _result_type(results))
    return Inferred(signature, results, certain, narrow, bytes_read, stack)


def refuse_unlikely_void(function: Function, inline: bool, no_return: Collection[str]) -> None:
    """Ends the question if a function that is said to return nothing sets a result register for nobody but its caller:
    what was read of its type is not true then."""
    convention = function.machine.convention
    if not convention.result or not convention.float_result:
        return
    at_return = AtReturn(function, inline, no_return)
    for name in (convention.result[0], convention.float_result[0]):
        left = at_return.left_in(name)
        if left.always and left.for_caller is ForCaller.STRONG:
            raise Unsupported(
                f"debug information says that {function.name} returns nothing, but it sets {name} for its caller: give "
                "--signature"
            )


def readings_as_bool(machine: Machine, found: Inferred) -> tuple[tuple[ResultPart, ...], ResultPart]:
    """What is certainly and what is possibly the result where only zero or nonzero counts. Equal values are equal in
    every type, but what is nonzero in one type may be zero in another: 256 in a `char`, -0.0 in a `double`. So the
    readings in all possible types are compared. Of two registers that may both be the result, either may also be a
    leftover: then no difference is certain. (If each register is zero on both sides or on neither, so is the pair.)"""
    possible = tuple(
        dict.fromkeys(reading for result in found.results for reading in _bool_readings(machine, found, result))
    )
    is_one = len(found.results) == 1 and found.certain
    return (possible,) if is_one else (), possible


def _bool_readings(machine: Machine, found: Inferred, whole: Result) -> Iterator[Reading]:
    certain = [
        reading for part in found.certain for reading in part if any(r.register == whole.register for r in reading)
    ]
    if whole.register not in machine.convention.float_result:
        least = min((reading[0].bits for reading in certain), default=8)
        widths = [bits for bits in _INTEGER_BITS if least <= bits < whole.bits]
        yield from ((replace(whole, bits=bits),) for bits in (*widths, whole.bits))
        return
    if not whole.is_float:
        raise Unsupported("the result may be a vector, which has no truth value: give --signature")
    yield (whole,)
    if whole.bits == 64:
        low, high = (replace(whole, bits=32, offset=whole.offset + offset) for offset in (0, 4))
        yield from certain or ((low,), (low, high))


# -- results --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Found:
    """A register that is, or may be, part of the result."""

    results: tuple[Result, ...]
    certain: ResultPart
    """Empty if it may as well be a leftover."""
    guess: ResultPart
    """What is certain once it is known not to be one."""


def _result_registers(machine: Machine, sides: Sequence[AtReturn]) -> list[_Found]:
    convention = machine.convention
    found: list[_Found] = []
    for number, name in enumerate(convention.result):
        if number == 0 or (found and found[-1].certain):  # the second register of a pair is only used with the first
            found += _integer_result(machine, name, number == 0, sides)
        elif found:
            # The first one may be both: part of the result, and used to compute the second.
            found += _beside_uncertain(machine, name, sides)
    certainly_integer = any(part.certain for part in found)
    for number, name in enumerate(convention.float_result):
        pieces = list(_float_result(name, number == 0 and not certainly_integer, sides))
        # The first register of a pair may hold what was passed in it.
        if number == 0 or any(part.certain for part in (*found, *pieces)):
            found += pieces
    if any(part.certain for part in found if part.results[0].register in convention.float_result):
        # Beside a floating-point result, what is used elsewhere in the integer registers is a leftover.
        found = [part for part in found if part.certain or part.results[0].register in convention.float_result]
    if len(found) == 1 and not any(side.has_effects for side in sides):
        found = [replace(found[0], certain=found[0].guess)]  # a function without other effects returns something
    return found


def _integer_result(machine: Machine, name: str, is_first: bool, sides: Sequence[AtReturn]) -> Iterator[_Found]:
    left = [side.left_in(name) for side in sides]
    strong = any(each.for_caller is ForCaller.STRONG for each in left)
    size = min(min(each.always for each in left), machine.registers[name].size)
    if strong and not size:
        silent = next(side.name for side, each in zip(sides, left, strict=True) if not each.always)
        raise Unsupported(f"{silent} does not always set {name}, which looks like its result: give --signature")
    weak = all(each.for_caller is ForCaller.WEAK for each in left)
    if not size or not (strong or weak or is_first):
        return
    part: ResultPart = ((Result(name, 8 * _certain_bytes(size, left, sides)),),)
    # Unoptimised code computes both halves of a wide number of which it returns one: one side alone proves nothing.
    certain = strong if is_first else all(each.for_caller is ForCaller.STRONG for each in left)
    yield _Found((Result(name, 8 * size),), part if certain else (), part)


def _beside_uncertain(machine: Machine, name: str, sides: Sequence[AtReturn]) -> Iterator[_Found]:
    """The second register of a pair whose first one may be a leftover: compared if it is written for someone."""
    left = [side.left_in(name) for side in sides]
    size = min(min(each.always for each in left), machine.registers[name].size)
    if size and any(each.for_caller is ForCaller.STRONG for each in left):
        part: ResultPart = ((Result(name, 8 * _certain_bytes(size, left, sides)),),)
        yield _Found((Result(name, 8 * size),), (), part)


def _certain_bytes(size: int, left: Sequence[Left], sides: Sequence[AtReturn]) -> int:
    """Bytes that belong to an integer result whatever its type is. The register is undefined above a `char`; if the
    code handles no `char` or `short`, above an `int`; where a side leaves a truth value with something undefined above
    it, above that byte."""
    if any(each.is_byte for each in left):
        return 1
    narrowest = min(side.narrowest for side in sides)
    if narrowest < 4:
        return min(size, narrowest)
    wide = all(WIDE in each.widths and not each.widths & {1, 2, 4} for each in left)
    return min(size, WIDE if wide or any(each.is_extended for each in left) else 4)


def _refuse_wide_vectors(machine: Machine, sides: Sequence[AtReturn]) -> None:
    """Ends the question if a result may be a vector of more than 128 bits. A function that returns no such vector
    leaves the upper parts of the registers as they were, or zero: VEX instructions on 128 bits and vzeroupper clear
    them."""
    for name in machine.convention.float_result:
        for side in sides:
            if side.above(name) & ~HARMLESS:
                what = f"a vector of more than 128 bits in {name.replace('x', 'y', 1)}"
                raise Unsupported(
                    f"{side.name} may return {what}, which is not handled: if it does not, give --signature"
                )


def _float_result(name: str, may_be_used: bool, sides: Sequence[AtReturn]) -> Iterator[_Found]:
    left = [side.left_in(name) for side in sides]
    strong = any(each.for_caller is ForCaller.STRONG for each in left)
    written = all(side.may_return(name) for side in sides) and any(side.writes(name) for side in sides)
    weak = all(each.for_caller is ForCaller.WEAK for each in left)
    if not (strong or (written and (weak or may_be_used))):
        return
    size = _float_bytes(left)
    low, high = Result(name, 32, 0, True), Result(name, 32, 4, True)
    double = Result(name, 64, 0, True)
    if size == 4:
        yield _Found((low,), ((low,),) if strong else (), ((low,),))
        return
    # Two floats may be as possible as one double, and which NaN it is differs from compiler to compiler.
    certain: ResultPart = ((double,), (low, high))
    doubles = any(side.has_numbers(8) for side in sides)
    if any(side.has_numbers(4) for side in sides):
        computed = all(Origin.COMPUTED in each.origins[4] for each in left)
        certain = certain if computed else ((low,),)
    elif not any(each.origins[4] & (MADE if doubles else Origin.COMPUTED) for each in left):
        certain = ((low,),)
    whole = (double,) if size == 8 else (Result(name, 64), Result(name, 64, 8))
    yield _Found(whole, certain if strong else (), certain)


def _float_bytes(left: Sequence[Left]) -> int:
    """Bytes of a vector register that may belong to the result: a float, a double, or all of it. Above a scalar at
    least one side leaves zeros or what was there before; a vector is made whole by both sides, or one of them has an
    instruction that sets nothing but what lies above the scalar."""
    if all(each.makes_vector for each in left) or any(each.adds(8, VECTOR) for each in left):
        return VECTOR
    beyond_float = [each.origin(4, 8) for each in left]
    if any(each.adds(4, 8) for each in left):
        return 8
    if any(not origin & (MADE | Origin.ENTRY) and origin & Origin.ZEROED for origin in beyond_float):
        return 4
    if not any(origin & (MADE | Origin.ENTRY) for origin in beyond_float):
        return 4 if any(origin & Origin.ZEROED for origin in beyond_float) else 8
    return 8


def _result_type(results: Sequence[Result]) -> CType:
    if not results:
        return VOID
    if len(results) == 1 and not results[0].is_float:
        return CType(TypeKind.INTEGER, results[0].bits, spelling=f"uint{results[0].bits}_t")
    if len({result.register for result in results}) == 1:
        return FLOATS[sum(result.bits for result in results) // 8]
    fields = tuple((r.register, 8 * n, _member(r)) for n, r in enumerate(results))
    registers = " and ".join(dict.fromkeys(result.register for result in results))
    return CType(TypeKind.STRUCT, 64 * len(results), spelling=f"({registers})", fields=fields)


def _member(result: Result) -> CType:
    if result.is_float:
        return FLOATS[result.bits // 8]
    return CType(TypeKind.INTEGER, result.bits, spelling=f"uint{result.bits}_t")
