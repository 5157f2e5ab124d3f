"""One function for a person: its blocks in order, and beside each instruction what it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property

from isoform.lift.function import Block, BlockId, Branch, Call, Exit, Function, Goto, Return, Stop, Switch
from isoform.lift.infix import Infix, rename_temps
from isoform.lift.listing import view_of
from isoform.model.listing import ListingRow
from isoform.model.microop import MicroOp, Space, Var
from isoform.model.values import dataclass
from isoform.report.terminal import Span, Spans, print_lines

NARROWEST_CODE, WIDEST_CODE = 18, 44
MOST_CASES = 16
"""Cases of a switch that are spelled out."""


def print_function(function: Function) -> None:
    print_lines(function_lines(function))


def function_lines(function: Function) -> list[Spans]:
    return list(_Page(function).lines())


@dataclass(frozen=True)
class _Page:
    function: Function

    def lines(self) -> Iterator[Spans]:
        yield from self._title()
        for block in self.function.order:
            yield ()
            yield from self._block(self.function.blocks[block])
        yield ()
        yield (Span(_totals(self.function), "dim"),)

    @cached_property
    def _rows(self) -> dict[int, ListingRow]:
        function = self.function
        instructions = [function.instructions[address] for address in sorted(function.instructions)]
        view = view_of(instructions, function.image, function.name, function.entry.address)
        return {row.address: row for row in view.rows}

    @cached_property
    def _numbers(self) -> dict[BlockId, int]:
        return {block: number for number, block in enumerate(self.function.order, 1)}

    @cached_property
    def _code_width(self) -> int:
        longest = max((len(row.text) for row in self._rows.values()), default=0)
        return min(max(longest, NARROWEST_CODE), WIDEST_CODE)

    @cached_property
    def _offset_width(self) -> int:
        return max((len(self._offset(address)) for address in self._rows), default=4)

    @cached_property
    def _shared(self) -> frozenset[tuple[int, Var]]:
        """Temps, by address of their instruction, that several blocks mention."""
        blocks = Counter(
            key
            for block in self.function.blocks.values()
            for key in {
                (address, var)
                for op, address in zip(block.ops, block.addresses, strict=True)
                for var in (*op.ins, op.out)
                if var is not None and var.space is Space.TEMP
            }
        )
        return frozenset(key for key, count in blocks.items() if count > 1)

    def _offset(self, address: int) -> str:
        return f"{address - self.function.entry.address:+#x}"

    def _title(self) -> Iterator[Spans]:
        function = self.function
        signature = function.image.signatures.get(function.name)
        yield (
            Span(str(signature) if signature else function.name, "name"),
            Span(f"   {function.machine.title}, {function.image.path}", "dim"),
        )

    def _block(self, block: Block) -> Iterator[Spans]:
        yield (Span(f"block {self._numbers[block.id]}", "label"), Span(f"   {self._origin(block)}", "dim"))
        last = block.steps[-1] if block.steps else block.id.address
        renamed = rename_temps(block.ops, block.addresses, _read_by(block.exit), last, self._shared)
        groups = _groups(block, renamed.ops)
        travelling: dict[Var, str] = {}
        steps = frozenset(block.steps)
        for position, (address, ops) in enumerate(groups):
            infix = Infix(self.function.machine, self.function.image, renamed, travelling)
            meaning = [Span(line) for line in infix.lines(ops)]
            if position == len(groups) - 1:
                leaving = [Span(line, "marker") for line in self._leaving(block.exit, infix)]
                meaning += [*(Span(line) for line in infix.rest()), *leaving]
            yield from self._instruction(address, meaning, begins=address in steps)

    def _origin(self, block: Block) -> str:
        function = self.function
        back = {source for source, target in function.back_edges if target == block.id}
        before = sorted(function.predecessors[block.id], key=self._numbers.__getitem__)
        sources = [f"{self._numbers[b]}{' (loop)' if b in back else ''}" for b in before]
        parts = ["entry"] if block.id == function.entry else []
        parts += [f"from {', '.join(sources)}"] if sources else []
        if block.id.context:
            parts.append(f"inlined, called before {self._offset(block.id.context[-1])}")
        if block.id.part:
            parts.append(f"inside the instruction at {self._offset(block.id.address)}")
        return ", ".join(parts)

    def _instruction(self, address: int, meaning: list[Span], begins: bool) -> Iterator[Spans]:
        row = self._rows[address]
        if begins and row.source is not None:
            yield (Span(" " * (self._offset_width + 4) + row.source.expandtabs(2), "source"),)
        text = row.text + (f"  {row.note}" if row.note else "") if begins else "…"
        offset, code = self._offset(address).rjust(self._offset_width), text.ljust(self._code_width)
        for line in meaning or [Span("")]:
            yield (Span(f"  {offset}  ", "dim"), Span(f"{code}   "), line)
            offset, code = " " * len(offset), " " * self._code_width

    def _leaving(self, exit_: Exit, infix: Infix) -> Iterator[str]:
        match exit_:
            case Goto(target):
                yield f"→ {self._at(target)}"
            case Branch(condition, then, otherwise):
                yield f"if {infix.operand(condition)} → {self._at(then)}, else → {self._at(otherwise)}"
            case Switch(value, targets, elsewhere):
                yield f"{'switch' if elsewhere is None else 'call through'} {infix.operand(value)}"
                yield from self._cases(targets)
                if elsewhere is not None and elsewhere.then is not None:
                    yield f"  elsewhere: call through {infix.operand(value)} → {self._at(elsewhere.then)}"
            case Return(value, to):
                yield f"return to {infix.operand(value)}" if to is None else f"return → {self._at(to)}"
            case Call(callee, value, then):
                called = callee if callee is not None else f"through {infix.operand(value)}"
                yield f"call {called}" + (f" → {self._at(then)}" if then is not None else ", which does not return")
            case Stop(why):
                yield f"stop: {why}" if why else "stop"

    def _cases(self, targets: tuple[tuple[int, BlockId], ...]) -> Iterator[str]:
        for address, target in targets[:MOST_CASES]:
            yield f"  {self._offset(address)} → {self._at(target)}"
        if len(targets) > MOST_CASES:
            yield f"  … and {len(targets) - MOST_CASES} more"

    def _at(self, block: BlockId) -> str:
        return f"block {self._numbers[block]}"


def _groups(block: Block, ops: tuple[MicroOp, ...]) -> list[tuple[int, tuple[MicroOp, ...]]]:
    """The micro-ops by instruction. Instructions left without any stay; the block may begin inside one."""
    found: dict[int, list[MicroOp]] = {}
    if block.addresses and block.addresses[0] not in block.steps:
        found[block.addresses[0]] = []
    found |= {address: [] for address in block.steps} or ({} if found else {block.id.address: []})
    for op, address in zip(ops, block.addresses, strict=True):
        found.setdefault(address, []).append(op)
    return [(address, tuple(ops)) for address, ops in found.items()]


def _read_by(exit_: Exit) -> tuple[Var, ...]:
    match exit_:
        case Branch(condition, _, _):
            return (condition,)
        case Switch(value, _) | Return(value, None):
            return (value,)
        case Call(None, value, _):
            return (value,)
        case _:
            return ()


def _totals(function: Function) -> str:
    micro_ops = sum(len(block.ops) for block in function.blocks.values())
    loops = len({target for _, target in function.back_edges})
    parts = [
        _count(len(function.instructions), "instruction"),
        _count(micro_ops, "micro-op"),
        _count(len(function.blocks), "block"),
        _count(loops, "loop") if loops else "no loops",
    ]
    if function.inlined:
        parts.append(f"inlined: {', '.join(dict.fromkeys(function.inlined))}")
    return ", ".join(parts)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
