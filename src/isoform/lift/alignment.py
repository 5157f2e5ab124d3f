"""Accesses to the stack with an alignment that is known to be wrong: instructions that fault whenever they are reached.

The alignment of the stack pointer at entry is known (assumption `stack-aligned`), and so is that of every address at a
known distance from it, or from the result of masking it with an `and`. If such an address is not aligned as its
instruction requires, the processor faults, and isoform has no semantics for that. All other accesses are assumed to be
aligned (assumption `valid-memory`).
"""

from __future__ import annotations

from dataclasses import replace

from isoform.lift.function import Block, BlockId, Function, Stop
from isoform.lift.pointers import stack_alignments
from isoform.model.microop import Kind, MicroOp


def with_misaligned_refused(function: Function) -> Function:
    """The function without semantics from such accesses on."""
    needs = {address: function.machine.alignment(found) for address, found in function.instructions.items()}
    if all(need == 1 for need in needs.values()):
        return function
    blocks, refused = dict(function.blocks), {}
    for number, index in _misaligned(function, needs).items():
        address = function.blocks[number].addresses[index]
        name = function.instructions[address].text.partition(" ")[0]
        multiple = f"an address that is a multiple of {needs[address]}"
        refused[address] = f"{name} at {address:#x}, which needs {multiple}; this one on the stack is not"
        blocks[number] = _cut(blocks[number], index, refused[address])
    return replace(function, blocks=blocks, refused=refused) if refused else function


def _misaligned(function: Function, needs: dict[int, int]) -> dict[BlockId, int]:
    """In each block the first micro-op that accesses the stack with the wrong alignment."""
    found: dict[BlockId, int] = {}
    before: tuple[BlockId, int] | None = None
    for number, index, (modulus, rest) in stack_alignments(function):
        current = number, function.blocks[number].addresses[index]
        # The first access of an instruction is at the address of its operand; later ones may be further parts of it.
        if current != before and rest % min(modulus, needs.get(current[1], 1)):
            found.setdefault(number, index)
        before = current
    return found


def _cut(block: Block, index: int, why: str) -> Block:
    ops = (*block.ops[:index], MicroOp(Kind.UNSUPPORTED, None, ()))
    steps = block.steps[: block.steps.index(block.addresses[index]) + 1]
    return replace(block, ops=ops, addresses=block.addresses[: index + 1], steps=steps, exit=Stop(why))
