"""Whether two functions are the same instructions, with every reference to a name resolved to the same thing.

This settles most functions of two builds without a solver. A negative answer says nothing: the engines are asked then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from isoform.lift.addresses import with_addresses
from isoform.lift.returning import leaves
from isoform.load.image import Image
from isoform.model.errors import Unsupported, UserError
from isoform.model.library import is_reserved
from isoform.model.machine import Machine
from isoform.model.microop import Instruction, Kind, MicroOp, Space, Var

MOST_INSTRUCTIONS = 20_000
_ADDRESS = re.compile(r"0x[0-9a-f]{4,}")
"""In the text of an instruction. Micro-ops tell longer numbers apart that are no addresses."""
_ALIGNED = 64
"""Bytes to which the operand of an instruction may have to be aligned."""

Pair = tuple[int, int]


def is_same_code(machine: Machine, images: tuple[Image, Image], entries: Pair) -> bool:
    """Whether the two, and all that they call directly, are the same instruction by instruction. The data that they
    name is then at the same addresses; whether its contents are the same is for the caller to check."""
    pending = [entries]
    seen: set[Pair] = set()
    while pending:
        pair = pending.pop()
        if pair in seen:
            continue
        seen.add(pair)
        if len(seen) > MOST_INSTRUCTIONS:
            return False
        following = _following(machine, images, pair)
        if following is None:
            return False
        pending += following
    return True


def is_same_kind(images: tuple[Image, Image], ranges: Iterable[tuple[int, int]]) -> bool:
    """Whether both files have the same kind of thing at addresses that they share: constants, variables, or nothing,
    placed alike within a line of memory. The same contents are not enough: a variable may be written later, a symbol
    that only one file defines may be absent, and an instruction may fault on an object that is not aligned."""
    return all(_kind(images[0], low) == _kind(images[1], low) for low, _ in ranges)


def _kind(image: Image, address: int) -> tuple[bool, bool, int] | None:
    own = image.own_address(address)
    section = image.section_at(own)
    return None if section is None else (section.writable, section.executable, own % _ALIGNED)


def _following(machine: Machine, images: tuple[Image, Image], pair: Pair) -> list[Pair] | None:
    """Where control may go after two instructions that are alike; None if they are not."""
    decoded = [_decode(machine, image, address) for image, address in zip(images, pair, strict=True)]
    left, right = decoded
    if left is None or right is None or len(left.ops) != len(right.ops) or left.length != right.length:
        return None
    if as_written(images[0], left) != as_written(images[1], right):
        return None
    after: Pair = (left.next_address, right.next_address)
    # A call stores where it returns to. Code that gets at that number otherwise may read itself.
    stored = after if any(op.kind in (Kind.CALL, Kind.CALLIND) for op in left.ops) else None
    found: list[Pair] = []
    for one, other in zip(left.ops, right.ops, strict=True):
        if one.kind is not other.kind or one.out != other.out or one.kind in (Kind.UNSUPPORTED, Kind.BRANCHIND):
            return None
        for a, b in zip(one.ins, other.ins, strict=False):
            where = _operands(images, a, b, stored)
            if where is None:
                return None
            found += where
        if len(one.ins) != len(other.ins):
            return None
    if not any(_ends(op, images) for op in left.ops):
        found.append(after)
    return found


def as_written(image: Image, instruction: Instruction) -> bytes | str:
    """The instruction without addresses. Micro-ops leave out whether an operand has to be aligned, and whether the
    instruction rounds as the control word says or in a mode of its own."""
    if _ADDRESS.search(instruction.text):
        return _ADDRESS.sub("", instruction.text)
    return image.code_at(instruction.address)[: instruction.length]


def _decode(machine: Machine, image: Image, address: int) -> Instruction | None:
    code = image.code_at(address)
    if address in image.address_parts:
        return None  # what its upper part leaves in a register depends on where the code is
    if not code or any(byte in image.broken for byte in range(address, address + len(code)) if image.broken):
        return None
    try:
        return with_addresses(machine, image, code, machine.decode(code, address))
    except (Unsupported, UserError):
        return None


def _operands(images: tuple[Image, Image], a: Var, b: Var, after: Pair | None) -> list[Pair] | None:
    """Code that two operands lead to; None if they are not alike."""
    if a.space is not b.space or a.size != b.size:
        return None
    if a.space is Space.CODE:
        real = [image.aliases.get(var.offset, var.offset) for image, var in zip(images, (a, b), strict=True)]
        names = [image.externals.get(address) for image, address in zip(images, real, strict=True)]
        if names[0] is not None or names[1] is not None:
            return [] if names[0] == names[1] else None
        return [(real[0], real[1])]
    if a.offset == b.offset:
        return []
    return [] if (a.offset, b.offset) == after else None


def _ends(op: MicroOp, images: tuple[Image, Image]) -> bool:
    """Whether control does not continue after the instruction. For a call only a declaration or a reserved name counts:
    that other names are the library's is an assumption, which the engines list."""
    if op.kind is Kind.CALL:
        name = images[0].externals.get(images[0].aliases.get(op.ins[0].offset, op.ins[0].offset))
        return name is not None and all(_certainly_leaves(image, name) for image in images)
    return op.kind in (Kind.RETURN, Kind.BRANCH) and not any(v.space is Space.INNER for v in op.ins)


def _certainly_leaves(image: Image, name: str) -> bool:
    is_told = name in image.signatures or is_reserved(name)
    return is_told and leaves(image, name)
