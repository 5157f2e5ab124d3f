"""The parameters of two functions without debug information: what their code reads of the argument registers, and of
the caller's stack."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from isoform.lift.function import Function, outside_call
from isoform.lift.liveness import Liveness, byte_of, output_containers
from isoform.model.contract import Argument, Place, Result
from isoform.model.errors import Unsupported
from isoform.model.machine import Machine
from isoform.model.microop import Kind, MicroOp, Space, Var
from isoform.model.placement import MOST_STACK_ARGUMENTS
from isoform.model.signature import CType, Parameter, TypeKind

FLOATS = {
    4: CType(TypeKind.FLOAT, 32, spelling="float"),
    8: CType(TypeKind.FLOAT, 64, spelling="double"),
    16: CType(TypeKind.FLOAT, 128, spelling="__m128"),
}
"""By bytes."""
_WORD = CType(TypeKind.INTEGER, 64, spelling="unsigned long")
_WORD_BYTES = 8


def register_parameters(
    machine: Machine, functions: Sequence[Function], results: Sequence[Result]
) -> tuple[tuple[Parameter, ...], dict[str, frozenset[int]]]:
    """Registers read before they are written, and those before them in the convention's order; and up to which byte
    each side reads them."""
    convention = machine.convention
    parts = [Var(Space.REGISTER, machine.registers[r.register].offset + r.offset, r.bits // 8) for r in results]
    lives = [Liveness(f, output_containers(machine, ()), parts) for f in functions]
    integers = [[_bytes_read(live, machine.registers[name]) for live in lives] for name in convention.integer_arguments]
    floats = [[_bytes_read(live, machine.registers[name]) for live in lives] for name in convention.float_arguments]
    parameters = [Parameter(name, _WORD) for name in convention.integer_arguments[: _used(integers)]]
    for name, sizes in zip(convention.float_arguments[: _used(floats)], floats, strict=False):
        wanted = max(sizes) or 8
        parameters.append(Parameter(name, FLOATS[next(size for size in FLOATS if size >= wanted)]))
    own = zip(convention.integer_arguments, _own_reads(machine, functions, parts), strict=True)
    reads = {name: frozenset(sizes) - {0} for name, sizes in own}
    # What is read in all its 64 bits is no narrow number.
    for name in (name for name, sizes in reads.items() if max(sizes, default=0) <= 4):
        register = machine.registers[name]
        reads[name] |= {size for function in functions for size in _narrow_reads(function, register)}
    return tuple(parameters), reads


def _narrow_reads(function: Function, register: Var) -> frozenset[int]:
    """Sizes of the reads of 8 or 16 bits from a register, or from those that it is copied to: a copy of 32 bits,
    then an extension of its lowest byte. What else these registers hold in between is not distinguished."""
    ops = [op for block in function.blocks.values() for op in block.ops]
    copies = {register.offset}
    while True:
        more = {op.out.offset for op in ops if op.out is not None and _copies(op, copies)} - copies
        if not more:
            break
        copies |= more
    reads = (var for op in ops for var in op.ins if var.space is Space.REGISTER and var.offset in copies)
    return frozenset(var.size for var in reads if var.size < 4)


def _copies(op: MicroOp, registers: Collection[int]) -> bool:
    whole = op.kind in (Kind.COPY, Kind.INT_ZEXT) and op.out is not None and op.out.space is Space.REGISTER
    return whole and op.ins[0].space is Space.REGISTER and op.ins[0].size >= 4 and op.ins[0].offset in registers


def _own_reads(machine: Machine, functions: Sequence[Function], results: Sequence[Var]) -> list[list[int]]:
    """For each argument register and function: up to which byte the function itself reads it. Reads by the
    function itself decide; a value that merely stays in the register until an outside call, as an argument or a
    leftover, does not, unless there is no other read."""
    names = machine.convention.integer_arguments
    return [[_own_read(machine, function, results, name) for function in functions] for name in names]


def _own_read(machine: Machine, function: Function, results: Sequence[Var], name: str) -> int:
    register = machine.registers[name]
    read = _bytes_read(Liveness(function, output_containers(machine, ()), results), register)
    if read < register.size or not any(outside_call(b.exit) is not None for b in function.blocks.values()):
        return read
    return _bytes_read(Liveness(function, output_containers(machine, ()), results, (name,)), register) or read


def _used(sizes: Sequence[Sequence[int]]) -> int:
    return max((number for number, each in enumerate(sizes, 1) if any(each)), default=0)


def _bytes_read(live: Liveness, register: Var) -> int:
    """Up to which byte a register's value at entry is read."""
    size = min(register.size, 16)
    return max((byte + 1 for byte in range(size) if live.is_live_at_entry(byte_of(register, byte))), default=0)


def stack_arguments(machine: Machine, size: int) -> Iterator[Argument]:
    if size > MOST_STACK_ARGUMENTS:
        raise Unsupported(f"more than {MOST_STACK_ARGUMENTS} bytes of arguments on the stack are not handled")
    first = machine.convention.stack_arguments_offset
    for offset in range(first, first + size, _WORD_BYTES):
        yield Argument(f"stack{offset}", _WORD, (Place(None, offset, _WORD_BYTES),))
