"""Library functions that only compute (`pure-functions`), and what each of them reads.

How often such a function is called, in which order, or whether at all is not observed: what it gives depends on its
arguments and, for some, on memory, and it changes nothing. Functions that are a few machine instructions
(`Machine.library`) are replaced by them; of the others nothing more is known.

A name stands for the library function only where nothing says otherwise: not where the file defines it, or declares it
with other types.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from isoform.borders.convention import place_signature
from isoform.borders.library_values import VALUES
from isoform.lift.function import Call, Function
from isoform.lift.known_calls import with_known_calls
from isoform.lift.refusals import taken_names
from isoform.load.known import known_signature
from isoform.model.contract import PureCall, ReadByte, Result
from isoform.model.errors import Unsupported
from isoform.model.library import library_function
from isoform.model.library_function import Computes, ResultRange
from isoform.model.machine import Machine
from isoform.model.signature import Signature, TypeKind
from isoform.model.verdict import Assumption

_COUNT = 2
"""Which argument of `read` and the like says how much at most."""


def pure_calls(target: Function, rewrite: Function, more: Iterable[str]) -> tuple[PureCall, ...]:
    """The callees of either function that only compute, those that the user names (`--pure`) among them."""
    functions = target, rewrite
    called = {name for function in functions for name in callees(function)}
    found = [_named_by_user(functions, name) for name in sorted(called & set(more))]
    computing = {name for name in called - set(more) if library_function(name).computes is not None}
    known = sorted(computing - _in_doubt(called))
    found += [_from_table(target.machine, name) for name in known if is_library(functions, name)]
    return tuple(found)


def assumptions(pure: Iterable[PureCall]) -> Iterator[Assumption]:
    names = [call.name for call in pure]
    if names:
        shown = ", ".join(names[:6]) + (", …" if len(names) > 6 else "")
        verb = "only computes its result" if len(names) == 1 else "only compute their results"
        why = (
            f"{shown} {verb}, as the C standard says, from arguments and the memory they point to; errno, floating-"
            "point flags and the locale do not count"
        )
        yield Assumption("pure-functions", why)


def callees(function: Function) -> Iterator[str]:
    """The names of the outside functions that it calls, and if it calls any through a pointer, of those whose addresses
    it takes: compilers keep the address of a function in a register over several calls."""
    calls = [block.exit for block in function.blocks.values() if isinstance(block.exit, Call) and not block.exit.system]
    yield from (call.callee for call in calls if call.callee)
    if any(call.callee is None for call in calls):
        yield from taken_names(function)


def looks_at_errno(called: Collection[str]) -> bool:
    """Whether code that calls these functions reads or sets errno."""
    return any(library_function(name).is_errno_place for name in called)


def _in_doubt(called: set[str]) -> set[str]:
    """Functions that do more than compute here: the code also reads or changes errno, the rounding mode or the
    locale."""
    functions = [library_function(name) for name in called]
    errno = looks_at_errno(called)
    rounding = any(
        name.startswith("fe") and name[2:5] in ("get", "set", "tes", "cle", "rai", "hol", "upd") for name in called
    )
    locale = any(function.sets_locale for function in functions)
    return {
        function.name
        for function in functions
        if (errno and function.sets_errno)
        or (rounding and function.computes is Computes.NUMBER)
        or (locale and function.uses_locale)
    }


def is_library(functions: tuple[Function, Function], name: str) -> bool:
    """Whether nothing says that a name is another function than the library's."""
    known = known_signature(name)
    if known is None or any(name in function.image.functions for function in functions):
        return False
    declared = [function.image.signatures[name] for function in functions if name in function.image.signatures]
    return all(is_declared_as(functions[0].machine, signature, known) for signature in declared)


def with_signs_only(function: Function) -> Function:
    """The function with comparisons of texts and blocks that give -1, 0 or 1."""
    known = [_sign_only(call) if isinstance(call, PureCall) else call for call in function.library]
    return with_known_calls(function, known)


def _sign_only(call: PureCall) -> PureCall:
    whole = call.value
    if whole is None or not library_function(call.name).only_sign:
        return call

    def value(arguments: tuple[int, ...], read: ReadByte) -> tuple[int, ...]:
        (number,) = whole(arguments, read)
        return ((1 << 32) - 1 if number >> 31 & 1 else min(number, 1),)

    return replace(call, value=value)


def may_return(name: str, arguments: tuple[int, ...], value: int) -> bool:
    """Whether a library function that does more than compute may return this, as far as known."""
    number = value % (1 << 32)
    number -= number >> 31 << 32
    match library_function(name).result:
        case ResultRange.NOT_NEGATIVE:
            return number >= 0
        case ResultRange.TEXT_LENGTH:
            return number < 0  # it counts what it writes, unless it fails
        case ResultRange.LENGTH_IN_MEMORY:
            return False  # it counts what it writes, and compilers know how much that is
        case ResultRange.CHARACTER_OR_END:
            return -1 <= number <= 255
        case ResultRange.AT_MOST_COUNT if len(arguments) > _COUNT:
            whole = value - (value >> 63 << 64)
            return -1 <= whole <= arguments[_COUNT]
    return True


def is_declared_as(machine: Machine, declared: Signature, known: Signature) -> bool:
    """Whether two declarations agree on arguments and results. An empty one agrees with any: compilers emit those for
    their built-in functions."""
    if not declared.parameters and declared.result.kind is TypeKind.VOID:
        return True
    return _places(machine, declared) == _places(machine, known)


def _places(machine: Machine, signature: Signature) -> tuple[object, ...]:
    placed = place_signature(machine, signature)
    return [argument.places for argument in placed.arguments], placed.results, signature.variadic


def _from_table(machine: Machine, name: str) -> PureCall:
    signature, function = known_signature(name), library_function(name)
    assert signature is not None
    return PureCall(
        name,
        place_signature(machine, signature).results,
        reads_memory=function.computes in (Computes.TEXT, Computes.PARSER),
        only_if_null=1 if function.computes is Computes.PARSER else None,
        stores=function.stores,
        value=VALUES.get(name),
        code=machine.library.get(name, b""),
    )


def _named_by_user(functions: tuple[Function, Function], name: str) -> PureCall:
    """As far as is known it may read any memory, and leave its result wherever results are."""
    convention, registers = functions[0].machine.convention, functions[0].machine.registers
    known = known_signature(name)
    declared = [f.image.signatures[name] for f in functions if name in f.image.signatures]
    declared = declared or ([] if known is None else [known])
    placed = [place_signature(functions[0].machine, signature) for signature in declared]
    if any(placement.result_space for placement in placed):
        raise Unsupported(f"--pure {name}: {name} returns its result in memory; drop --pure {name}")
    if declared and declared[0].result.kind is not TypeKind.VOID:
        results = placed[0].results
    else:
        every = (*convention.result, *convention.float_result)
        results = tuple(Result(register, 8 * registers[register].size) for register in every)
    return PureCall(name, results, reads_memory=True)
