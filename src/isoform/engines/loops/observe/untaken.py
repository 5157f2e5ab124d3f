"""What no test covers: loops that none repeats, and branches in and before loops with an edge that none takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import pairwise

from isoform.borders.question import Question
from isoform.engines.loops.observe.stations import body_of, heads
from isoform.engines.loops.tuning import MOST_UNTAKEN_RUNS
from isoform.lift.function import Block, BlockId, Branch, Function
from isoform.model.outcome import Inputs
from isoform.model.values import dataclass

SIDES = "target", "rewrite"


@dataclass
class _Seen:
    """Instructions that were executed, and which followed which."""

    addresses: set[int] = field(default_factory=set)
    pairs: set[tuple[int, int]] = field(default_factory=set)

    def reached(self, block: Block) -> bool:
        return _first(block) in self.addresses


def untaken(question: Question, inputs: Sequence[tuple[Inputs, Inputs]]) -> list[str]:
    """What none of the inputs makes either function do, as sentences without a full stop; first the branches that keep
    tests out of a whole loop."""
    seen = _Seen(), _Seen()
    for pair in inputs[:MOST_UNTAKEN_RUNS]:
        for sight, outcome in zip(seen, question.run_both(pair, trace=True), strict=True):
            sight.addresses.update(outcome.trace)
            sight.pairs.update(pairwise(outcome.trace))
    functions = question.target, question.rewrite
    loops, branches = [], []
    for side, function, sight in zip(SIDES, functions, seen, strict=True):
        loops += list(_loops(function, side, sight))
        branches += list(_branches(function, side, sight))
    return [*loops, *branches] if inputs else []


def _loops(function: Function, side: str, seen: _Seen) -> Iterator[str]:
    for head in sorted(heads(function)):
        back = [source for source, target in function.back_edges if target == head]
        if any(seen.reached(function.blocks[source]) for source in back):
            continue
        edges = _untaken_edges(function, seen)
        missing = next((edge for edge in edges if _leads_to(function, edge[1], {head, *back}, seen)), None)
        text = f"no test repeats the loop at {offset(function, head.address)} of the {side}"
        yield text + (f", because none takes {_edge_text(function, *missing)}" if missing is not None else "")


def _branches(function: Function, side: str, seen: _Seen) -> Iterator[str]:
    inside = {block for head in heads(function) for block in body_of(function, head)}
    for block, successor in _untaken_edges(function, seen):
        if successor in inside and not seen.reached(function.blocks[successor]):
            yield f"no test takes {_edge_text(function, block, successor)} of the {side}"


def _untaken_edges(function: Function, seen: _Seen) -> Iterator[tuple[Block, BlockId]]:
    """Edges out of branches that tests reach, which no test takes."""
    for name in function.order:
        block = function.blocks[name]
        if isinstance(block.exit, Branch) and block.steps and seen.reached(block):
            for successor in block.successors:
                if (block.steps[-1], _first(function.blocks[successor])) not in seen.pairs:
                    yield block, successor


def _leads_to(function: Function, start: BlockId, wanted: set[BlockId], seen: _Seen) -> bool:
    """Whether blocks that no test reached lead from `start` to one that is wanted."""
    pending, known = [start], {start}
    while pending:
        block = pending.pop()
        if block in wanted:
            return True
        if seen.reached(function.blocks[block]):
            continue
        pending += [s for s in function.blocks[block].successors if s not in known]
        known.update(function.blocks[block].successors)
    return False


def _edge_text(function: Function, block: Block, successor: BlockId) -> str:
    return f"the branch at {offset(function, block.steps[-1])} to {offset(function, successor.address)}"


def offset(function: Function, address: int) -> str:
    """An address as listings show it."""
    return f"{address - function.entry.address:+#x}"


def _first(block: Block) -> int:
    return block.steps[0] if block.steps else block.id.address
