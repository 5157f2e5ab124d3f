"""Where the calling convention puts the arguments and results of a signature."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from isoform.model.callee import ArgumentPart, Given
from isoform.model.contract import Argument, Result, bools_by_value
from isoform.model.errors import Unsupported
from isoform.model.machine import Machine
from isoform.model.placement import Placement
from isoform.model.signature import CType, Signature, TypeKind
from isoform.model.verdict import Assumption

_EIGHTBYTE = 8


def place_signature(machine: Machine, signature: Signature, is_compared: bool = False) -> Placement:
    """Arguments and results of a function with this signature on this machine. `is_compared`: it is one of the two
    compared functions. Only of these may the result be in a register that is compared whole when they return; what
    a callee leaves there is not followed."""
    if signature.convention:
        what = "a function called through a pointer" if signature.name == "(*)" else signature.name
        raise Unsupported(f"{what} is declared with the calling convention {signature.convention}, not the usual one")
    placement = machine.place(signature)
    if placement.result_beside and not is_compared:
        raise Unsupported(
            f"the result of {signature.name} has the type '{signature.result.spelling}', which isoform cannot place: "
            "no register for results holds it"
        )
    return placement


def argument_assumptions(machine: Machine, arguments: Sequence[Argument]) -> list[Assumption]:
    """What callers do in practice though the convention does not ask it of them (DESIGN section 4)."""
    scalars = [a.type for a in arguments if a.type.kind in (TypeKind.INTEGER, TypeKind.BOOL)]
    found = []
    if not machine.convention.extends_by_rule and any(scalar.bits < 32 for scalar in scalars):
        why = "callers extend 8- and 16-bit arguments to 32 bits, as compilers do in practice"
        found.append(Assumption("narrow-arguments-extended", why))
    if any(scalar.kind is TypeKind.BOOL for scalar in scalars) or any(bools_by_value(arguments)):
        found.append(
            Assumption(
                "bool-is-0-or-1", "an argument of type bool, or a member of one, is 0 or 1, as compilers rely on"
            )
        )
    return found


def argument_parts(machine: Machine, arguments: Iterable[Argument]) -> Iterator[ArgumentPart]:
    """The parts of an outside call with these arguments. A narrow integer is known to be read only in its own bits;
    some callees rely on the caller extending it. Padding is not read."""
    extended = machine.convention.extended_bytes
    for argument in arguments:
        bits = _value_bits(argument.type)
        done = 0
        for place in argument.places:
            size, every = place.size, (1 << (8 * place.size)) - 1
            read = 0 if bits is None else bits >> (8 * done) & every
            may = every if bits is None else read
            if argument.type.kind in (TypeKind.INTEGER, TypeKind.BOOL) and size < extended:
                size, may = extended, (1 << (8 * extended)) - 1
            yield ArgumentPart(place.register, place.offset, size, may, read)
            done += _EIGHTBYTE if place.register is not None and size <= _EIGHTBYTE else size


def given_results(machine: Machine, results: Iterable[Result], ctype: CType) -> Iterator[Given]:
    """What a function with this result leaves in the result registers."""
    found: dict[str, int] = {}
    for result in results:
        found[result.register] = found.get(result.register, 0) | ((1 << result.bits) - 1) << (8 * result.offset)
    zeros = _zero_bits(machine, ctype) if ctype.bits <= 64 * len(found) else 0  # else the result is in memory
    for index, (register, bits) in enumerate(found.items()):
        yield Given(register, bits, zeros >> (64 * index) & bits, _extended_from(machine, ctype))


def _extended_from(machine: Machine, ctype: CType) -> int:
    """How many bits of a result are extended with the highest of them, 0 where none are: above a narrow one without a
    sign there are zeros."""
    convention = machine.convention
    if not convention.extends_by_rule or ctype.kind is not TypeKind.INTEGER:
        return 0
    is_extended = ctype.bits < 8 * convention.extended_bytes and (ctype.signed or ctype.bits >= 32)
    return ctype.bits if is_extended else 0


def _zero_bits(machine: Machine, ctype: CType) -> int:
    """The bits of a value that are 0, as a bool is 0 or 1, and where the convention says so."""
    zeros = 0
    is_plain = ctype.kind is TypeKind.BOOL or (ctype.kind is TypeKind.INTEGER and not ctype.signed and ctype.bits < 32)
    if machine.convention.extends_by_rule and is_plain:
        zeros |= (1 << (8 * machine.convention.extended_bytes)) - (1 << ctype.bits)
    for start, scalar in ctype.scalars():
        if scalar.kind is TypeKind.BOOL and not scalar.is_bit_field:
            zeros |= ((1 << scalar.bits) - 2) << (8 * start)
    return zeros


def _value_bits(ctype: CType) -> int | None:
    """The bits of a value that hold some part of it, the others being padding; None where that is not known."""
    if ctype.kind is not TypeKind.STRUCT:
        return (1 << ctype.bits) - 1
    if not ctype.is_spelled_out:
        return None
    bits = 0
    for start, scalar in ctype.scalars():
        bits |= ((1 << scalar.bits) - 1) << (8 * start + scalar.low)
    return bits
