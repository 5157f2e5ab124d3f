"""A simulation relation in words: places as listings show them, variables by their names, facts joined."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from isoform.engines.loops.align.cuts import Cut
from isoform.engines.loops.guess.facts import AtLeast, Compare, Fact, Linear, OnStack, Relation, Same
from isoform.engines.loops.guess.features import Cell, Column, Feature, ObjectStart
from isoform.engines.loops.observe.untaken import offset
from isoform.engines.loops.prove.node import KnownCut, Pass
from isoform.engines.loops.prove.simulation import Simulation
from isoform.lift.function import BlockId
from isoform.load.described import Local
from isoform.model.contract import Argument, Place, show_number
from isoform.model.signature import TypeKind
from isoform.model.values import dataclass
from isoform.smt.solver import Solver

_MOST_FACTS = 24
_MOST_VALUES = 6
_ORDERS = (Relation.LESS, Relation.LESS_OR_EQUAL, Relation.BELOW, Relation.AT_MOST)
_SIGNED = {Relation.BELOW: Relation.LESS, Relation.AT_MOST: Relation.LESS_OR_EQUAL}
SAME_MEMORY = "memory outside the frames is the same"


def at(simulation: Simulation, cut: Cut) -> str:
    """A cut by its two places, as listings show them; a prime marks the rewrite's."""
    if cut.target is None or cut.rewrite is None:
        return cut.word
    return f"{place(simulation, 0, cut.target)} / {place(simulation, 1, cut.rewrite)}'"


def place(simulation: Simulation, side: int, block: BlockId) -> str:
    return offset(simulation.setting.functions[side], block.address)


def cuts(simulation: Simulation) -> tuple[dict[str, Any], ...]:
    """Each cut: where it is, its invariant for a reader, and all facts that the invariant consists of."""
    return tuple(
        {
            "target": place(simulation, 0, cut.target),
            "rewrite": place(simulation, 1, cut.rewrite),
            "invariant": telling(simulation, node),
            "facts": complete(simulation, node),
        }
        for cut, node in simulation.nodes.items()
        if cut.target is not None and cut.rewrite is not None
    )


def invariants(simulation: Simulation) -> tuple[str, ...]:
    """What holds at each cut, in a line."""
    return tuple(
        f"at {at(simulation, cut)}: {', '.join(telling(simulation, node))}" for cut, node in simulation.nodes.items()
    )


def complete(simulation: Simulation, node: KnownCut) -> list[str]:
    names = FeatureNames(simulation, node)
    return [*dict.fromkeys(fact.text(names.show) for fact in node.invariant.facts), SAME_MEMORY]


def telling(simulation: Simulation, node: KnownCut) -> list[str]:
    """The facts without what every function preserves and what others imply; comparisons that share an operand are
    joined."""
    names = FeatureNames(simulation, node)
    facts = [fact for fact in node.invariant.facts if _is_telling(fact, names)]
    compared = [fact for fact in facts if isinstance(fact, Compare)]
    equations = _equations(f.text(names.show) for f in facts if not isinstance(f, Compare))
    found = [*equations, *joined(without_implied(_comparisons(compared, names)))]
    if len(found) > _MOST_FACTS:
        found = [*found[: _MOST_FACTS - 1], f"… and {len(found) - _MOST_FACTS + 1} more"]
    return found or [SAME_MEMORY]


def model_in_words(simulation: Simulation, solver: Solver, cut: Cut, followed: Pass) -> str:
    """The state in which something goes wrong: the arguments, and the free features at the cut."""

    def value(feature: Feature) -> int:
        return solver.value(followed.value(feature))

    node = simulation.nodes.get(cut)
    names = FeatureNames(simulation, node)
    whole = [f for f in simulation.setting.given.arguments if f.bits >= 8 and not isinstance(f, ObjectStart)]
    shown = [f"{names.show(f)} = {names.number(f, value(f))}" for f in whole]
    if node is not None:
        free = [f for f in node.features if f not in node.invariant.definitions and f.bits > 1]
        shown += [f"{names.show(f)} = {names.number(f, value(f))}" for f in free]
    more = [f"… and {len(shown) - _MOST_VALUES} more"] if len(shown) > _MOST_VALUES else []
    return ", ".join([*shown[:_MOST_VALUES], *more])


@dataclass(frozen=True)
class FeatureNames:
    """Names of features at one cut: variables where debug information has them, else registers and slots."""

    simulation: Simulation
    node: KnownCut | None

    def show(self, feature: Feature) -> str:
        if isinstance(feature, Cell):
            return self._cell(feature)
        if isinstance(feature, ObjectStart):
            return feature.text(self.simulation.setting.machine)
        if not feature.tag:
            return self._given(feature)
        mark = "'" if feature.tag == "b" else ""
        name = self._local(feature)
        return name + mark if name is not None else feature.text(self.simulation.setting.machine)

    def number(self, feature: Feature, value: int) -> str:
        found = self._argument(feature)
        if found is not None and found[0].type.kind is TypeKind.POINTER:
            return hex(value)
        if feature.bits == 64 and 1 << 14 <= value < (1 << 64) - (1 << 14):
            return hex(value)
        return show_number(value, feature.bits, found is None or found[0].type.signed)

    def is_argument(self, feature: Feature) -> bool:
        return self._argument(feature) is not None

    def _given(self, feature: Feature) -> str:
        found = self._argument(feature)
        if found is None:
            return f"{feature.text(self.simulation.setting.machine)} at entry"
        argument, at = found
        taken = argument.name in self._changed or argument.name in self.simulation.setting.machine.registers
        name = f"{argument.name} at entry" if taken else argument.name
        if feature.low == 8 * at.offset and feature.bits < 8:
            return f"({name} mod {1 << feature.bits})"
        if feature.bits != 8 * at.size or feature.low != 8 * at.offset:
            return f"{feature.text(self.simulation.setting.machine)} at entry"
        return name

    def _argument(self, feature: Feature) -> tuple[Argument, Place] | None:
        if feature.tag:
            return None
        for argument in self.simulation.setting.question.contract.arguments:
            for at in argument.places:
                if feature.place == (at.register if at.register is not None else at.offset):
                    return argument, at
        return None

    @cached_property
    def _changed(self) -> frozenset[str]:
        """Parameters of the target whose variable no longer holds what it was given."""
        if self.node is None:
            return frozenset()
        names = set()
        for feature in self.node.features:
            name = self._local(feature) if feature.tag == "a" else None
            fact = self.node.invariant.definitions.get(feature, (None, None))[0]
            kept = isinstance(fact, Same) and not fact.right.tag
            if name is not None and not kept:
                names.add(name)
        return frozenset(names)

    def _local(self, feature: Feature) -> str | None:
        """The variable that a slot of the frame is, where the cut is inside its scope."""
        if self.node is None or not isinstance(feature.place, int) or feature.low % 8:
            return None
        side = "ab".index(feature.tag)
        block = (self.node.cut.target, self.node.cut.rewrite)[side]
        visible: dict[str, Local] = {}
        for local in self.simulation.setting.functions[side].image.locals:
            if block is not None and local.start <= block.address < local.end:
                visible[local.name] = local  # an inner one hides an outer one
        where = feature.place + feature.low // 8, feature.bits
        return next((v.name for v in visible.values() if (v.offset, 8 * v.size) == where), None)

    def _cell(self, cell: Cell) -> str:
        modulus = 1 << 64
        parts = [
            column.text(self.show) if k == 1 else f"{k - modulus if k >> 63 else k}·{column.text(self.show)}"
            for k, column in cell.summands
        ]
        if cell.constant:
            parts.append(str(cell.constant - modulus if cell.constant >> 63 else cell.constant))
        mark = "'" if cell.tag == "b" else ""
        return f"mem{cell.bits}{mark}[{' + '.join(parts).replace('+ -', '- ')}]"


def _is_telling(fact: Fact, names: FeatureNames) -> bool:
    """Not what every function preserves: its frame, and callee-saved registers."""
    match fact:
        case OnStack() | AtLeast():
            return False
        case Same(left, right):
            same_cell = _is_same_cell(left, right, names.node)
            return (bool(right.tag) or names.is_argument(right)) and not same_cell
        case Compare(_, Relation.AT_MOST, int(number), bits):
            return number == (1 << (bits - 1)) - 1
        case Compare(_, _, int(number), _):
            return number == 0
        case Linear(0, ((_, Column(Cell() as left)), (_, Column(Cell() as right))), _) if _is_same_cell(
            left, right, names.node
        ):
            return False
        case Linear(_, summands, _):
            # A multiple of an equation: that one is there as well, or says more than a reader can use.
            return len(summands) == 1 or any(k == 1 for k, _ in summands)
    return True


def _is_same_cell(left: Feature, right: Feature, node: KnownCut | None) -> bool:
    """Whether two words of memory were always at one address: then equal memory implies that they are equal."""
    if not isinstance(left, Cell) or not isinstance(right, Cell) or node is None or left.bits != right.bits:
        return False
    return all(
        (left.constant + sum(k * column.of_row(row, 64) for k, column in left.summands)) % (1 << 64)
        == (right.constant + sum(k * column.of_row(row, 64) for k, column in right.summands)) % (1 << 64)
        for row in node.rows
    )


def _equations(texts: Iterable[str]) -> list[str]:
    """Without those that say nothing, and with one of those that differ only in the extension."""
    found: dict[str, str] = {}
    for text in texts:
        left, _, right = text.partition(" = ")
        if left != right:
            found.setdefault(re.sub(r"sext\(([^()]*)\)", r"\1", text), text)
    return list(found.values())


Comparison = tuple[str, Relation, str]


def _comparisons(facts: Sequence[Compare], names: FeatureNames) -> list[Comparison]:
    found: dict[Comparison, None] = {}
    for fact in facts:
        left = fact.left.text(names.show)
        if fact.less is not None:
            left = f"{left} - {fact.less.text(names.show)}"
        if isinstance(fact.right, int) and fact.relation is Relation.AT_MOST:
            found["0", Relation.LESS_OR_EQUAL, left] = None
        elif isinstance(fact.right, int):
            found[left, fact.relation, str(fact.right)] = None
        else:
            found[left, fact.relation, fact.right.text(names.show)] = None
    return list(_without_weaker(found))


def _without_weaker(facts: Iterable[Comparison]) -> Iterator[Comparison]:
    """Of a signed and an unsigned form of the same comparison, the signed one; `≠` only if no order is known."""
    known = {(_plain(left), relation, _plain(right)) for left, relation, right in facts}
    ordered = {frozenset((left, right)) for left, relation, right in known if relation in _ORDERS}
    seen = set()
    for left, relation, right in facts:
        plain = _plain(left), relation, _plain(right)
        signed = (plain[0], _SIGNED.get(relation, relation), plain[2])
        weaker = (signed != plain and signed in known) or (
            relation is Relation.DIFFERENT and frozenset((plain[0], plain[2])) in ordered
        )
        if not weaker and plain not in seen:
            seen.add(plain)
            yield plain


def _plain(text: str) -> str:
    return text.removeprefix("sext(").removesuffix(")") if text.startswith("sext(") else text


def without_implied(facts: Sequence[Comparison]) -> list[Comparison]:
    """Without `0 ≤ n` where there are `0 ≤ i` and `i < n`."""
    orders = [f for f in facts if f[1] in _ORDERS]

    def is_implied(fact: Comparison) -> bool:
        left, relation, right = fact
        middles = [f for f in orders if f[0] == left and f[2] != right and _is_signed(f[1]) == _is_signed(relation)]
        seconds = [(one, other) for one in middles for other in orders if _meet(one, other) and other[2] == right]
        return any(_is_weak(relation) or not (_is_weak(one[1]) and _is_weak(other[1])) for one, other in seconds)

    return [f for f in facts if f[1] not in _ORDERS or not is_implied(f)]


def _is_weak(relation: Relation) -> bool:
    return relation in (Relation.LESS_OR_EQUAL, Relation.AT_MOST)


def joined(facts: Sequence[Comparison]) -> list[str]:
    """`0 ≤ i` and `i < n` as `0 ≤ i < n`: each fact is used once."""
    left = list(facts)
    found = []
    while left:
        ends = {(right, _is_signed(relation)) for _, relation, right in left if relation in _ORDERS}
        start = next((f for f in left if (f[0], _is_signed(f[1])) not in ends), left[0])
        left.remove(start)
        text = f"{start[0]} {start[1].value} {start[2]}"
        last = start
        while last[1] in _ORDERS:
            follow = next((f for f in left if f[1] in _ORDERS and _meet(last, f)), None)
            if follow is None:
                break
            left.remove(follow)
            text, last = f"{text} {follow[1].value} {follow[2]}", follow
        found.append(text)
    return found


def _meet(one: Comparison, other: Comparison) -> bool:
    return one[2] == other[0] and _is_signed(one[1]) == _is_signed(other[1])


def _is_signed(relation: Relation) -> bool:
    return relation in (Relation.LESS, Relation.LESS_OR_EQUAL)
