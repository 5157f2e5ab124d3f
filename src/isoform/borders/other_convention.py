"""Whether the compared functions themselves follow another calling convention than the machine's usual one.

clang's debug information says so; gcc's does not. There the code shows it: a function with the attribute `ms_abi` finds
its first four arguments in other registers, by position, and may use the 32 bytes above its return address as its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from isoform.lift.function import Block, Function, Switch, outside_call
from isoform.lift.liveness import Liveness, byte_of, output_containers
from isoform.lift.pointers import stack_accesses
from isoform.model.errors import Unsupported
from isoform.model.machine import Convention
from isoform.model.placement import Placement
from isoform.model.signature import Signature, TypeKind


def refuse_declared_conventions(*functions: Function) -> None:
    """Ends the question if debug information says that a function follows another convention."""
    for function in functions:
        declared = function.image.signatures.get(function.name)
        if declared is not None and declared.convention:
            raise Unsupported(
                f"{function.name} is declared with the calling convention {declared.convention}, not the usual one"
            )


def refuse_other_conventions(function: Function, signature: Signature, placement: Placement) -> None:
    """Ends the question if the code shows that the function does not find its arguments where the usual convention puts
    them."""
    if signature.variadic:
        return
    function = _without_strays(function)
    declared = {place.register for argument in placement.arguments for place in argument.places}
    elsewhere = [
        name
        for name in _positional_registers(function.machine.convention, signature, placement)
        if name not in declared
    ]
    read = list(_read_by_code(function, elsewhere, placement))
    if read:
        raise Unsupported(_why(function, f"reads {read[0]} before setting it"))
    convention = function.machine.convention
    undeclared = [r for r in (*convention.integer_arguments, *convention.float_arguments) if r not in declared]
    read = list(_read_by_code(function, undeclared, placement))
    if read:
        why = "debug information may be wrong or not complete: give --signature"
        raise Unsupported(f"{function.name} reads {read[0]} before setting it, where it has no argument: {why}")
    first = function.machine.convention.stack_arguments_offset
    if any(end > first + placement.stack_argument_bytes for end in stack_accesses(function)):
        raise Unsupported(_why(function, "uses the caller's stack above its return address"))


def refuse_kept_registers(function: Function) -> None:
    """Ends the question if a function relies on a register that a callee may change by the convention but does not:
    compilers look into static functions for that (gcc's -fipa-ra). What the callee leaves alone is not looked at
    where it is not inlined."""
    calls = [(block, outside_call(block.exit)) for block in function.blocks.values()]
    if not any(call is not None and call.present for _, call in calls):
        return
    convention = function.machine.convention
    results = (*convention.result, *convention.float_result)
    kept = [name for name in convention.scratch_after_call if name not in results]
    live = Liveness(function, output_containers(function.machine, results), calls_read=False)
    returned = live.mask_of(function.machine, results)
    for _, call in calls:
        if call is None or not call.present or call.then is None:
            continue
        for name in kept:
            if live.entry[call.then] & live.mask_of(function.machine, (name,)) & ~returned:
                raise Unsupported(
                    f"{function.name} relies on {name} being as it was before the call of {call.callee}, which is here "
                    "but not inlined"
                )


def _why(function: Function, what: str) -> str:
    no_argument = "though its declaration puts no argument there"
    return f"{function.name} {what}, {no_argument}: it may follow another calling convention, such as ms_abi"


def _positional_registers(convention: Convention, signature: Signature, placement: Placement) -> Iterator[str]:
    integers, floats = convention.positional_integers, convention.positional_floats
    first = 1 if placement.result_space else 0
    yield from integers[:first]
    for number, parameter in enumerate(signature.parameters[: max(0, len(integers) - first)], first):
        is_number = parameter.type.kind is TypeKind.FLOAT and parameter.type.is_float
        yield (floats if is_number else integers)[number]


def _read_by_code(function: Function, names: list[str], placement: Placement) -> Iterator[str]:
    if not names:
        return
    registers = function.machine.registers
    results = dict.fromkeys(result.register for result in placement.results)
    live = Liveness(_without_pushes(function), results, calls_read=False)
    yield from (name for name in names if live.is_live_at_entry(byte_of(registers[name], 0)))


def _without_strays(function: Function) -> Function:
    """Without what a jump table leads to outside the function: it was read beyond its end."""
    own = next((s for s in function.image.symbols if s.is_function and s.address == function.entry.address), None)
    if own is None or not own.size:
        return function
    inside = [
        range(s.address, s.address + s.size)
        for s in function.image.symbols
        if s.is_function and (s.address == own.address or s.name.startswith(f"{own.name}."))
    ]
    blocks = {}
    for number, block in function.blocks.items():
        jump = block.exit
        if isinstance(jump, Switch) and jump.elsewhere is None and not number.context:
            kept = tuple((value, to) for value, to in jump.targets if any(to.address in part for part in inside))
            block = replace(block, exit=replace(jump, targets=kept))
        blocks[number] = block
    return replace(function, blocks=blocks)


def _without_pushes(function: Function) -> Function:
    """Without instructions that push a register: compilers also push one that holds nothing, to move the stack
    pointer."""
    pushes = {i.address for i in function.instructions.values() if i.text.startswith("push")}
    return replace(function, blocks={i: _without(block, pushes) for i, block in function.blocks.items()})


def _without(block: Block, addresses: Collection[int]) -> Block:
    kept = [(op, at) for op, at in zip(block.ops, block.addresses, strict=True) if at not in addresses]
    return replace(block, ops=tuple(op for op, _ in kept), addresses=tuple(at for _, at in kept))
