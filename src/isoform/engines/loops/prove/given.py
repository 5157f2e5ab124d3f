"""What the code and the contract say about the entry, without any run."""

from __future__ import annotations

from isoform.borders.question import Question
from isoform.engines.loops.guess.features import Feature
from isoform.engines.loops.guess.invariant import GivenAtEntry
from isoform.engines.loops.observe.letters import COMPARING
from isoform.engines.loops.tuning import MOST_CONSTANTS, MOST_PART_BITS, MOST_PARTS
from isoform.lift.function import Call, Function, Switch
from isoform.model.microop import Kind, Space
from isoform.model.signature import TypeKind

_WORD = 4


def untouched(function: Function) -> frozenset[str]:
    machine = function.machine
    names = machine.containers
    containers = machine.container_vars()
    by_byte = {b: n for n, v in zip(names, containers, strict=True) for b in range(v.offset, v.offset + v.size)}
    written: set[str] = set()
    for block in function.blocks.values():
        for op in block.ops:
            if op.out is not None and op.out.space is Space.REGISTER:
                written.update(by_byte[b] for b in range(op.out.offset, op.out.offset + op.out.size))
        if isinstance(block.exit, Call | Switch):
            convention = machine.convention
            written.update((*convention.scratch_after_call, *convention.result, *convention.float_result))
            written.update((convention.stack_pointer,) if convention.stack_pointer else ())
    return frozenset(names) - written


def compared_constants(function: Function) -> frozenset[int]:
    """Constants that the code compares with, and their neighbours."""
    found = {0, 1, -1}
    for block in function.blocks.values():
        for op in block.ops:
            if op.kind in COMPARING:
                found.update(var.offset for var in op.ins if var.space is Space.CONST and var.offset < 1 << 32)
    return frozenset(sorted(found)[:MOST_CONSTANTS])


def parts_taken(function: Function) -> frozenset[int]:
    """Numbers of low bits that the code selects, by masks and shifts: the remainder of a count, if loops process
    several at a time."""
    found: set[int] = set()
    for block in function.blocks.values():
        for op in block.ops:
            for var in op.ins:
                if var.space is Space.CONST and op.kind is Kind.INT_AND and var.offset:
                    mask = var.offset
                    found.add((mask & -mask).bit_length() - 1)
                    found.add(mask.bit_length() if mask & (mask + 1) == 0 else 0)
                elif var.space is Space.CONST and op.kind is Kind.INT_RIGHT:
                    found.add(var.offset)
    return frozenset(sorted(bits for bits in found if 1 <= bits <= MOST_PART_BITS)[:MOST_PARTS])


def extends_signs(function: Function) -> bool:
    """Whether the code sign-extends words: only then does it help to know which are not negative."""
    ops = (op for block in function.blocks.values() for op in block.ops)
    return any(op.kind is Kind.INT_SEXT and op.ins[0].size >= _WORD for op in ops)


def given_at_entry(question: Question) -> GivenAtEntry:
    """The arguments and what else is carried along from the entry."""
    contract = question.contract
    machine = contract.machine
    convention = machine.convention
    pointer = None
    if convention.stack_pointer is not None:
        pointer = Feature("", convention.stack_pointer, 0, 8 * machine.registers[convention.stack_pointer].size)
    arguments, kept = [], []
    low = sorted({bits for function in (question.target, question.rewrite) for bits in parts_taken(function)})
    for argument in contract.arguments:
        for place in argument.places:
            if place.register is None:
                whole = Feature("", place.offset, 0, 64)
            else:
                whole = Feature("", place.register, 0, 8 * machine.registers[place.register].size)
            kept.append(whole)
            if whole.bits > 64 or place.size > 8 or (place.register is not None and argument.type.is_float):
                continue
            arguments.append(Feature("", whole.place, 0, 8 * place.size))
            if argument.type.kind is not TypeKind.POINTER:
                arguments += [Feature("", whole.place, 0, bits) for bits in low]
    kept += [Feature("", name, 0, 8 * machine.registers[name].size) for name in convention.callee_saved]
    if convention.return_address_on_stack:
        kept.append(Feature("", 0, 0, 64))
    elif convention.stack_pointer is not None and convention.return_address is not None:
        kept.append(Feature("", convention.return_address, 0, 8 * machine.registers[convention.return_address].size))
    return GivenAtEntry(pointer, tuple(dict.fromkeys(kept)), tuple(dict.fromkeys(arguments)))
