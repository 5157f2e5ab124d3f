"""Stations: blocks of a function such that every loop contains one of them. Cuts are pairs of stations."""

from __future__ import annotations

from collections.abc import Iterator

from isoform.engines.loops.tuning import SEVERAL_SINGLE_ITERATIONS
from isoform.lift.function import BlockId, Function
from isoform.model.microop import Kind, Space, Var, number_of

Stations = tuple[frozenset[BlockId], frozenset[BlockId]]


def choices(target: Function, rewrite: Function) -> Iterator[Stations]:
    """Choices of stations for both, most common first: the loop headers, or the blocks after the first test that may
    leave the loop. A compiler that turns a `while` into a `do` moves one to the other. If one side has iterations as
    straight code, too many to follow at once, each of them has a station."""
    left, right = (heads(target), past_tests(target)), (heads(rewrite), past_tests(rewrite))
    single = straight_iterations(target), straight_iterations(rewrite)
    if any(single):
        yield left[0] | single[0], right[0] | single[1]
    yield from dict.fromkeys(((left[0], right[0]), (left[1], right[1]), (left[0], right[1]), (left[1], right[0])))


def heads(function: Function) -> frozenset[BlockId]:
    """Loop headers. A loop with several entries has several headers: no more of them than needed, so that an iteration
    is one station."""
    found = {target for _, target in function.back_edges}
    side_doors = found - {target for source, target in function.back_edges if _dominates(function, target, source)}
    for head in (block for block in function.order if block in side_doors):
        if cut_order(function, frozenset(found - {head})) is not None:
            found.remove(head)
    return frozenset(found)


def _dominates(function: Function, block: BlockId, other: BlockId) -> bool:
    """Whether this block dominates another one."""
    pending, known = [function.entry], {function.entry, block}
    while pending and block != function.entry:
        more = {s for s in function.blocks[pending.pop()].successors if s not in known}
        known |= more
        pending += more
    return block in (other, function.entry) or other not in known


def past_tests(function: Function) -> frozenset[BlockId]:
    """For each loop the block that follows a test that may leave it, if that alone cuts the loop; else its header."""
    first = heads(function)
    chosen = set(first)
    for head in first:
        body = body_of(function, head)
        for block in (b for b in function.order if b in body):
            inside = [s for s in function.blocks[block].successors if s in body]
            outside = [s for s in function.blocks[block].successors if s not in body]
            if len(inside) == 1 and outside and inside[0] not in chosen | first:
                candidate = frozenset((chosen - {head}) | {inside[0]})
                if cut_order(function, candidate) is not None:
                    chosen = set(candidate)
                    break
    return frozenset(chosen)


def straight_iterations(function: Function) -> frozenset[BlockId]:
    """Blocks after all loops that access memory, if there are several in a row: the remainder of an unrolled loop may
    be done one by one in code of its own."""
    pointer = function.machine.convention.stack_pointer
    frame = function.machine.registers[pointer] if pointer is not None else None
    before = _that_reach(function, heads(function))
    found = [
        b
        for b in function.order
        if b not in before
        and not b.part
        and any(op.kind in (Kind.LOAD, Kind.STORE) and _is_computed(op.ins[0], frame) for op in function.blocks[b].ops)
    ]
    return frozenset(found) if len(found) >= SEVERAL_SINGLE_ITERATIONS else frozenset()


def _is_computed(address: Var, frame: Var | None) -> bool:
    return address.space not in (Space.CONST, Space.ADDRESS) and address != frame


def _that_reach(function: Function, wanted: frozenset[BlockId]) -> set[BlockId]:
    """The blocks from which one of these can be reached."""
    found, pending = set(wanted), list(wanted)
    while pending:
        more = [before for before in function.predecessors[pending.pop()] if before not in found]
        found.update(more)
        pending += more
    return found


def body_of(function: Function, head: BlockId) -> set[BlockId]:
    """The natural loop of a header: the blocks that reach one of its back edges without passing the header."""
    body = {head}
    pending = [source for source, target in function.back_edges if target == head]
    while pending:
        block = pending.pop()
        if block not in body:
            body.add(block)
            pending += function.predecessors[block]
    return body


def multiplications(function: Function) -> int:
    """How many multiplications of two values that are no constants its loops contain."""
    inside = {block for head in heads(function) for block in body_of(function, head)}
    ops = (op for block in inside for op in function.blocks[block].ops if op.kind is Kind.INT_MULT)
    return sum(all(number_of(var) is None for var in op.ins) for op in ops)


def cut_order(function: Function, stations: frozenset[BlockId]) -> tuple[BlockId, ...] | None:
    """A topological order of the blocks in which every edge that does not lead to a station goes forward; None if there
    is none, that is, if some loop contains no station."""
    reached = set(function.order)
    waiting = {b: sum(before in reached for before in function.predecessors[b]) for b in function.order}
    ready = [b for b in reversed(function.order) if b in stations or not waiting[b]]
    order: list[BlockId] = []
    placed = set(ready)
    while ready:
        block = ready.pop()
        order.append(block)
        for successor in function.blocks[block].successors:
            if successor in stations:
                continue
            waiting[successor] -= 1
            if not waiting[successor] and successor not in placed:
                placed.add(successor)
                ready.append(successor)
    return tuple(order) if len(order) == len(function.order) else None
