"""Small expressions over the parameters and a few constants, smallest first, on all cases at once.

Expressions that agree on every case count as one (observational equivalence). So this finds answers quickly and proves
nothing: what it proposes is checked like any other proposal, and that there is no adaptor only the solver shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from isoform.adapt.bulk import BulkFormula, Numbers, apply_in_bulk
from isoform.adapt.cases import Case
from isoform.adapt.formula import OpenFormula
from isoform.adapt.space import Space
from isoform.model.adaptor import Adaptor
from isoform.model.budget import Budget
from isoform.model.expression import Constant, Expression, Operation, Operator, evaluate, parts_of
from isoform.smt.terms import Term

Words = NDArray[np.uint64]
Places = NDArray[np.int64]

FEW_LEAVES = 12
"""Leaves from which expressions of more than one operator are made."""
MOST_EXPRESSIONS = 150_000
"""Of one size, for one argument."""
MOST_TUPLES = 3_000_000
"""Combinations of arguments of one size that are tried."""
AT_ONCE = 200_000
"""Of these, in one array."""
MOST_OPERATORS = 3
MOST_MATCHES = 200
"""That are sorted by cost before they are proposed."""
_HASH = np.random.default_rng(1).integers(1 << 62, 1 << 63, 256, dtype=np.uint64) | np.uint64(1)
"""Factors with which the values on the cases become one number. A collision only loses a candidate."""


class Expressions:
    """Expressions of one space, with their values on the cases."""

    def __init__(self, space: Space, constants: Sequence[int], cases: Sequence[Mapping[str, int]]) -> None:
        self._space = space
        mask = (1 << space.bits) - 1
        numbers = [Constant(c, space.bits) for c in dict.fromkeys(c & mask for c in constants)]
        self._leaves: list[Expression] = [*space.leaves, *(numbers if space.has_constants else ())]
        rows = [[evaluate(leaf, case) for leaf in self._leaves] for case in cases]
        self.values: Words = np.array(rows, dtype=np.uint64).reshape(len(cases), len(self._leaves))
        self._left = np.arange(len(self._leaves), dtype=np.int64)
        self._right = np.zeros(len(self._leaves), dtype=np.int64)
        self._codes = np.full(len(self._leaves), -1, dtype=np.int8)
        self.depth = np.ones(len(self._leaves), dtype=np.int8)
        self.is_constant = np.array([isinstance(leaf, Constant) for leaf in self._leaves], dtype=bool)
        self._seen = np.sort(self._hashes(self.values))
        """Sorted."""
        self.starts = [0, len(self._leaves)]
        """Where the expressions of each number of operators begin; at last the end of all."""

    @property
    def bits(self) -> int:
        return self._space.bits

    @property
    def operators(self) -> tuple[Operator, ...]:
        return self._space.operators if self._space.depth > 1 else ()

    @property
    def most_depth(self) -> int:
        return self._space.depth

    def of_size(self, size: int) -> Places:
        """The places of all expressions with so many operators."""
        while len(self.starts) <= size + 1:
            self._grow()
        return np.arange(self.starts[size], self.starts[size + 1])

    def leaf(self, number: int) -> Expression | None:
        return self._space.leaves[number] if number < len(self._space.leaves) else None

    def few_leaves(self) -> Places:
        return np.arange(min(len(self._leaves), FEW_LEAVES))

    def _grow(self) -> None:
        """The expressions with one operator more."""
        size = len(self.starts) - 1
        whole = np.arange(self.starts[size - 1], self.starts[size])
        if size > 1:
            whole = whole[:MOST_EXPRESSIONS]
        leaves = np.arange(self.starts[1]) if size == 1 else self.few_leaves()
        for operator in self.operators:
            if operator.is_unary:
                self._add(operator, whole, whole)
                continue
            left, right = (grid.ravel() for grid in np.meshgrid(whole, leaves, indexing="ij"))
            self._add(operator, left, right)
            if not operator.is_commutative and size > 1:
                self._add(operator, right, left)
        self.starts.append(self.values.shape[1])

    def _add(self, operator: Operator, left: Places, right: Places) -> None:
        depth = 1 + np.maximum(self.depth[left], self.depth[right])
        constant = self.is_constant
        useful = (depth <= self._space.depth) & ~(constant[left] & (constant[right] | operator.is_unary))
        left, right, depth = left[useful], right[useful], depth[useful]
        if not len(left) or self.values.shape[1] - self.starts[-1] > MOST_EXPRESSIONS:
            return
        values = apply_in_bulk(operator, self.bits, self.values[:, left], self.values[:, right])
        hashes = self._hashes(values)
        order = np.argsort(hashes, kind="stable")
        sorted_ = hashes[order]
        is_new = np.ones(len(order), dtype=bool)
        is_new[1:] = sorted_[1:] != sorted_[:-1]
        at = np.minimum(np.searchsorted(self._seen, sorted_), len(self._seen) - 1)
        is_new &= self._seen[at] != sorted_
        new = np.sort(order[is_new])
        self._seen = np.sort(np.concatenate([self._seen, sorted_[is_new]]), kind="stable")
        self.values = np.concatenate([self.values, values[:, new]], axis=1)
        self._left = np.concatenate([self._left, left[new]])
        self._right = np.concatenate([self._right, right[new]])
        code = np.int8(list(Operator).index(operator))
        self._codes = np.concatenate([self._codes, np.full(len(new), code, dtype=np.int8)])
        self.depth = np.concatenate([self.depth, depth[new].astype(np.int8)])
        self.is_constant = np.concatenate([self.is_constant, np.zeros(len(new), dtype=bool)])

    def _hashes(self, values: Words) -> Words:
        factors = _HASH[: values.shape[0], None]
        total: Words = (values * factors ^ (values >> np.uint64(29)) * factors).sum(axis=0, dtype=np.uint64)
        return total

    def expression(self, place: int) -> Expression:
        code = int(self._codes[place])
        if code < 0:
            return self._leaves[place]
        operator = list(Operator)[code]
        operands = [self.expression(int(self._left[place]))]
        if not operator.is_unary:
            operands.append(self.expression(int(self._right[place])))
        return Operation(operator, tuple(operands))


class Condition(Protocol):
    """What arguments must satisfy in one case."""

    def holds(self, values: Sequence[Numbers]) -> Numbers: ...


def enumeration(
    formula: OpenFormula, spaces: Sequence[Space], constants: Sequence[int], cases: Sequence[Case], budget: Budget
) -> Enumeration:
    """Of arguments with which the rewrite fits. Raises `NotInBulk` if the formula is not one over numbers alone."""
    terms = formula.terms
    holes = [terms.variable(f"open argument {n}", space.bits) for n, space in enumerate(spaces)]
    formulas = [_in_bulk(formula, case, holes) for case in cases]
    return Enumeration([Expressions(space, constants, [c.values for c in cases]) for space in spaces], formulas, budget)


def _in_bulk(formula: OpenFormula, case: Case, holes: Sequence[Term]) -> BulkFormula:
    """Made once for each case."""
    kept = formula.in_bulk.get(id(case))
    if kept is None or kept[0] is not case:
        kept = formula.in_bulk[id(case)] = case, BulkFormula(formula.terms, formula.fits(case, holes), holes)
    return kept[1]


class Enumeration:
    """Tuples of expressions that fit all cases, fewest operators first."""

    def __init__(self, expressions: Sequence[Expressions], formulas: Sequence[Condition], budget: Budget) -> None:
        self._all = expressions
        self._formulas = formulas
        self._budget = budget

    def proposals(self) -> Iterator[tuple[Expression, ...]]:
        with np.errstate(all="ignore"):
            for size in range(MOST_OPERATORS + 1):
                found = sorted(self._of_size(size), key=self._cost)
                yield from found
                if self._budget.exhausted or not any(one.operators for one in self._all):
                    return

    def _cost(self, arguments: tuple[Expression, ...]) -> tuple[int, ...]:
        """Of equally simple ones, first those in which each argument is made of the parameter in the same place."""
        places = zip(arguments, self._all, range(len(arguments)), strict=True)
        elsewhere = sum(one.leaf(n) not in [*parts_of(argument)] for argument, one, n in places)
        return (*Adaptor(tuple((str(n), e) for n, e in enumerate(arguments))).cost, elsewhere)

    def _of_size(self, total: int) -> list[tuple[Expression, ...]]:
        found: list[tuple[Expression, ...]] = []
        for sizes in product(range(total + 1), repeat=len(self._all)):
            if sum(sizes) != total or any(
                size and not one.operators for size, one in zip(sizes, self._all, strict=True)
            ):
                continue
            if total == MOST_OPERATORS and max(sizes) == total:
                found += self._roots(sizes.index(total)) if len(self._all) == 1 else []
            elif max(sizes) < MOST_OPERATORS:
                found += self._combined(sizes)
            if len(found) > MOST_MATCHES or self._budget.exhausted:
                break
        return found[:MOST_MATCHES]

    def _combined(self, sizes: Sequence[int]) -> Iterator[tuple[Expression, ...]]:
        """One argument's expressions at once, for each choice of the others."""
        if not sizes:
            if all(bool(np.all(formula.holds([]))) for formula in self._formulas):
                yield ()
            return
        places = self._at_most([one.of_size(size) for one, size in zip(self._all, sizes, strict=True)])
        inner = _together([len(p) for p in places])
        grids = [grid.ravel() for grid in np.meshgrid(*(places[n] for n in inner), indexing="ij")]
        others = [n for n in range(len(places)) if n not in inner]
        for chosen in product(*(places[n] for n in others)):
            if self._budget.exhausted:
                return
            fixed = dict(zip(others, chosen, strict=True))
            for match in self._matching(dict(zip(inner, grids, strict=True)), fixed):
                at = {**fixed, **match}
                yield tuple(one.expression(int(at[n])) for n, one in enumerate(self._all))

    def _at_most(self, places: list[Places]) -> list[Places]:
        """So few for each argument that all combinations can be tried: the first ones, which are the simplest."""
        while np.prod([float(len(p)) for p in places]) > MOST_TUPLES:
            largest = max(range(len(places)), key=lambda n: len(places[n]))
            places[largest] = places[largest][: max(1, len(places[largest]) * 3 // 4)]
        return places

    def _matching(self, inner: dict[int, Places], fixed: dict[int, int]) -> Iterator[dict[int, int]]:
        """Of the combinations in `inner`, those that fit with what is fixed."""
        kept = np.arange(len(next(iter(inner.values()))))
        for number, formula in enumerate(self._formulas):
            values: list[Numbers] = [None] * len(self._all)
            for n, place in fixed.items():
                values[n] = self._all[n].values[number, place]
            for n, places in inner.items():
                values[n] = self._all[n].values[number, places[kept]]
            kept = kept[np.broadcast_to(formula.holds(values), kept.shape)]
            if not len(kept):
                break
        for at in kept:
            yield {n: int(places[at]) for n, places in inner.items()}

    def _roots(self, argument: int) -> Iterator[tuple[Expression, ...]]:
        """Expressions of the largest size, of which only those that fit are kept."""
        one = self._all[argument]
        two, single, leaves = one.of_size(2), one.of_size(1), one.few_leaves()
        single = single[:600]
        for operator in one.operators:
            if operator.is_unary:
                continue
            for left, right in ((two, leaves), (single, single)):
                yield from self._rooted(one, operator, left, right, swapped=False)
                if not operator.is_commutative and right is leaves:
                    yield from self._rooted(one, operator, left, right, swapped=True)
            if self._budget.exhausted:
                return

    def _rooted(
        self, one: Expressions, operator: Operator, many: Places, few: Places, swapped: bool
    ) -> Iterator[tuple[Expression, ...]]:
        for place in few:
            kept = many[1 + np.maximum(one.depth[many], one.depth[place]) <= one.most_depth]
            for number, formula in enumerate(self._formulas):
                if not len(kept):
                    break
                sides = one.values[number, kept], one.values[number, place]
                left, right = reversed(sides) if swapped else sides
                values = apply_in_bulk(operator, one.bits, left, right)
                kept = kept[np.broadcast_to(formula.holds([values]), kept.shape)]
            for match in kept:
                operands = one.expression(int(match)), one.expression(int(place))
                yield (Operation(operator, operands[::-1] if swapped else operands),)


class _Wanted:
    """That a number is what a case asks for, or is zero exactly if that is."""

    def __init__(self, number: int, as_truth: bool) -> None:
        self._number = np.uint64(number)
        self._as_truth = as_truth

    def holds(self, values: Sequence[Numbers]) -> Numbers:
        if self._as_truth:
            return (values[0] != 0) == (self._number != 0)
        return values[0] == self._number


def expressions_with(
    space: Space,
    constants: Sequence[int],
    wanted: Sequence[tuple[Mapping[str, int], tuple[int, bool]]],
    budget: Budget,
) -> Iterator[Expression]:
    """Expressions that have the wanted value in each case (or its truth value), fewest operators first."""
    expressions = Expressions(space, constants, [values for values, _ in wanted])
    formulas = [_Wanted(*what) for _, what in wanted]
    for (expression,) in Enumeration([expressions], formulas, budget).proposals():
        yield expression


def _together(lengths: Sequence[int]) -> list[int]:
    """The arguments whose combinations are computed at once: as many as fit."""
    chosen: list[int] = []
    total = 1
    for n in sorted(range(len(lengths)), key=lambda n: -lengths[n]):
        if not chosen or total * lengths[n] <= AT_ONCE:
            chosen.append(n)
            total *= lengths[n]
    return chosen


def constants_to_try(numbers: Sequence[int], bits: int) -> list[int]:
    """Constants that expressions are made with: small ones, those in the code, and others that are frequent."""
    usual = [0, 1, -1, 2, bits - 1, 3, 4, 8, 16, 255]
    few = [n for n in dict.fromkeys(numbers) if -(1 << bits) < n < 1 << bits]
    rare = [-2, 5, 6, 7, 10, 32, 64, 128, 0xFFFF, 1 << (bits - 1), (1 << (bits - 1)) - 1, 100, 1000]
    return list(dict.fromkeys([*usual[:5], *few[:6], *usual[5:], *few[6:20], *rare]))
