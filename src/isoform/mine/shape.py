"""What the code of a function is like, and how much two functions have in common.

Seed 001 wants pairs with different bugs: the same algorithm compiled twice has the same ones."""

from __future__ import annotations

import re
from collections import Counter
from hashlib import sha256

from isoform.lift.function import Block, BlockId, Call, Function, Switch, exit_value, outside_call
from isoform.model.microop import Kind, Space, Var
from isoform.model.mining import MOST_PATHS, Diversity, Shape

_NUMBER = re.compile(r"\b0x[0-9a-f]+\b|\b\d+\b")
_REGISTER = re.compile(r"\b(?:[re]?[abcd]x|[abcd][lh]|[re]?(?:si|di|bp|sp)l?|r\d+[dwb]?|[xyz]mm\d+|[wxv]\d+)\b")


def shape_of(function: Function) -> Shape:
    kinds = Counter(_normal(i.text) for i in function.instructions.values())
    ops = [op for block in function.blocks.values() for op in block.ops]
    calls = (outside_call(block.exit) for block in function.blocks.values())
    order = _order(function)
    edges = [(block, to) for block in function.blocks.values() for to in block.successors]
    return Shape(
        instructions=dict(sorted(kinds.items())),
        blocks=len(function.blocks),
        loops=len({to for block, to in edges if _goes_back(order, block, to)}),
        paths=_paths(function, order),
        loads=sum(op.kind is Kind.LOAD for op in ops),
        stores=sum(op.kind is Kind.STORE for op in ops),
        calls=tuple(sorted({call.callee or "through a pointer" for call in calls if call is not None})),
    )


def _normal(text: str) -> str:
    """An instruction without its registers and numbers."""
    return _NUMBER.sub("n", _REGISTER.sub("r", text.lower()))


def diversity(left: Shape, right: Shape) -> Diversity:
    common = Counter(left.instructions) & Counter(right.instructions)
    longer = max(left.count, right.count)
    return Diversity(sum(common.values()) / longer if longer else 1.0, (left, right))


# -- the graph ------------------------------------------------------------------------------------


def _order(function: Function) -> dict[BlockId, int]:
    """Reverse postorder from the entry, without recursion."""
    done: list[BlockId] = []
    seen = {function.entry}
    stack = [(function.entry, iter(function.blocks[function.entry].successors))]
    while stack:
        here, rest = stack[-1]
        following = next((to for to in rest if to not in seen and to in function.blocks), None)
        if following is None:
            done.append(here)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(function.blocks[following].successors)))
    return {block: number for number, block in enumerate(reversed(done))}


def _goes_back(order: dict[BlockId, int], block: Block, to: BlockId) -> bool:
    return to in order and block.id in order and order[to] <= order[block.id]


def _paths(function: Function, order: dict[BlockId, int]) -> int:
    """From the entry to an end, backward edges not taken."""
    count: dict[BlockId, int] = {}
    for block_id in sorted(order, key=order.__getitem__, reverse=True):
        block = function.blocks[block_id]
        onward = [to for to in block.successors if to in order and not _goes_back(order, block, to)]
        count[block_id] = min(MOST_PATHS, sum(count[to] for to in onward) or 1)
    return count[function.entry]


# -- the same code --------------------------------------------------------------------------------


def digest_of(function: Function) -> str:
    """Equal only for functions with the same micro-ops in the same graph: only where their code is may differ."""
    order = _order(function)
    temps: dict[int, int] = {}
    words = [str(function.bounds)]
    for block_id in order:
        block = function.blocks[block_id]
        for op in block.ops:
            variables = [_variable(var, temps) for var in ((op.out, *op.ins) if op.out is not None else op.ins)]
            words.append(f"{op.kind.name} {op.out is not None} {variables}")
        words.append(f"{_exit(block, temps)} {[order[to] for to in block.successors if to in order]}")
    return sha256("\n".join(words).encode()).hexdigest()


def _exit(block: Block, temps: dict[int, int]) -> str:
    """How a block ends, apart from where it leads. The values that a switch distinguishes are addresses of its own
    code: such functions have no equals."""
    match block.exit:
        case Switch():
            return f"switch {block.id}"
        case Call(str(callee)):
            return f"call {callee} {block.exit.system} {block.exit.present}"
        case other:
            value = exit_value(other)
            return f"{type(other).__name__} {None if value is None else _variable(value, temps)}"


def _variable(var: Var, temps: dict[int, int]) -> tuple[str, int, int]:
    offset = temps.setdefault(var.offset, len(temps)) if var.space is Space.TEMP else var.offset
    return var.space.name, offset, var.size
