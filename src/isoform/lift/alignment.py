"""Accesses with an alignment that is known to be wrong: instructions that fault whenever they are reached.

The alignment of the stack pointer at entry is known (assumption `stack-aligned`), and so is that of every address at a
known distance from it, or from the result of masking it with an `and`. In a linked file the alignment of all data is
known, since files are loaded at multiples of a page; in an object file it is known as far as it is declared. If an
address is not aligned as its instruction requires, the processor faults, and isoform has no semantics for that. All
other accesses are assumed to be aligned (assumption `valid-memory`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from isoform.lift.function import Block, BlockId, Function, Stop
from isoform.lift.pointers import stack_alignments
from isoform.load.image import Image
from isoform.model.microop import Kind, MicroOp, number_of

Access = tuple[BlockId, int]
"""A block, and the index of a micro-op in it."""
Residue = tuple[int, int]
"""A modulus, and the remainder of an address."""
_UNKNOWN: Residue = (1, 0)
_PAGE = 4096


def with_misaligned_refused(function: Function) -> Function:
    """The function without semantics from such accesses on."""
    needs = {address: function.machine.alignment(found) for address, found in function.instructions.items()}
    if all(need == 1 for need in needs.values()):
        return function
    accesses, known = list(_accesses(function, needs)), _alignments(function)
    blocks, refused = dict(function.blocks), {}
    for number, index in _misaligned(accesses, known).items():
        address = function.blocks[number].addresses[index]
        name = function.instructions[address].text.partition(" ")[0]
        multiple = f"an address that is a multiple of {needs[address]}"
        refused[address] = f"{name} at {address:#x}, which needs {multiple}; this one is not"
        blocks[number] = _cut(blocks[number], index, refused[address])
    assumes = any(known.get(access, _UNKNOWN)[0] % need for access, need in accesses)
    return replace(function, blocks=blocks, refused=refused, assumes_alignment=assumes)


def _misaligned(accesses: Sequence[tuple[Access, int]], known: Mapping[Access, Residue]) -> dict[BlockId, int]:
    """In each block the first micro-op that accesses memory with the wrong alignment."""
    found: dict[BlockId, int] = {}
    for (number, index), need in accesses:
        modulus, rest = known.get((number, index), _UNKNOWN)
        if rest % min(modulus, need):
            found.setdefault(number, index)
    return found


def _accesses(function: Function, needs: dict[int, int]) -> Iterator[tuple[Access, int]]:
    """The first access of every instruction that needs an alignment: it is at the address of the operand, and later
    ones may be further parts of it."""
    for number, block in function.blocks.items():
        seen: set[int] = set()
        for index, (op, address) in enumerate(zip(block.ops, block.addresses, strict=True)):
            need = needs.get(address, 1)
            if op.kind in (Kind.LOAD, Kind.STORE) and need > 1 and address not in seen:
                seen.add(address)
                yield (number, index), need


def _alignments(function: Function) -> dict[Access, Residue]:
    found = {(number, index): known for number, index, known in stack_alignments(function)}
    for number, block in function.blocks.items():
        for index, op in enumerate(block.ops):
            address = number_of(op.ins[0]) if op.kind in (Kind.LOAD, Kind.STORE) else None
            if address is not None:
                found[number, index] = _of_data(function.image, address)
    return found


def _of_data(image: Image, address: int) -> Residue:
    if image.is_linked:
        return _PAGE, image.own_address(address) % _PAGE
    item = image.objects.around(address)
    return _UNKNOWN if item is None else (item.alignment, (address - item.start) % item.alignment)


def _cut(block: Block, index: int, why: str) -> Block:
    ops = (*block.ops[:index], MicroOp(Kind.UNSUPPORTED, None, ()))
    steps = block.steps[: block.steps.index(block.addresses[index]) + 1]
    return replace(block, ops=ops, addresses=block.addresses[: index + 1], steps=steps, exit=Stop(why))
