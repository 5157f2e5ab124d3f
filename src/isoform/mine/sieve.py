"""Pairs that runs refute, without a solver.

For a target and a rewrite all candidates of the families `substitution` and `width` are put to the test at once: in a
world (`observe.py`) the candidates that give the rewrite the same arguments are one run. Those that do not do what the
target does are dropped, and the rest is divided further in the next world. A pair with no candidate left is refuted.

A candidate with a constant cannot be run for all its values. Two things limit where constants may be. A parameter on
which the target depends, as two runs show, must be in some argument (`observe.depends_on`); so if the rewrite has no
more parameters than there are of these, no argument is a constant. And otherwise usual constants are tried, which may
find a candidate; where they do not, the pair is not refuted but open. So nothing is refuted that has an adaptor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import product

from isoform.adapt.space import argument_space, result_choices
from isoform.lift.liveness import Liveness, byte_of, output_containers
from isoform.mine.observe import WORLDS, Observed, World, depends_on
from isoform.model.adaptor import Family
from isoform.model.expression import RESULT, Constant, Expression, Variable, evaluate
from isoform.model.microop import Space
from isoform.model.mining import Likelihood
from isoform.model.signature import CType, Signature
from isoform.model.values import dataclass

SIEVED = (Family.SUBSTITUTION, Family.WIDTH)
"""Families all of whose candidates are tried."""
MOST_BOXES = 100
"""Groups of candidates of one pair. A pair with more is not refuted."""
MOST_TRIED = 1_000
"""Groups of candidates that are run, in all worlds."""
MOST_WITH_CONSTANTS = 200
"""The same for candidates with constants, which refute nothing."""
USUAL_CONSTANTS = (0, 1, -1, 2, 10, 8)
FEW_CONSTANTS = 3
"""Where several arguments are constants."""
ENOUGH_RUNS = 2
"""That fit, of those that decide: then a pair is worth a solver's time before others."""
MOST_OWN_CONSTANTS = 2
"""Numbers in the target's code that are tried as well."""


class Subject(Observed):
    """A function in the sieve, with what is computed once for it."""

    @cached_property
    def needed(self) -> frozenset[int]:
        """Parameters on which it depends, as runs show."""
        count = len(self.mined.signature.parameters)
        return frozenset(position for position in range(count) if depends_on(self, position))

    @cached_property
    def decided(self) -> tuple[World, ...]:
        """The worlds in which it is certain what it does."""
        return tuple(world for world in WORLDS if self.in_world(world) is not None)

    @cached_property
    def is_idle(self) -> bool:
        """Whether its code reads no argument and no run of it did anything that stays: anything fits that returns the
        same number."""
        if self.needed or not self.decided or self._reads_arguments():
            return False
        seen = [self.in_world(world) for world in self.decided]
        return all(one == seen[0] and one is not None and one.is_without_effects for one in seen)

    def _reads_arguments(self) -> bool:
        question = self.mined.question
        machine, results = question.contract.machine, [result.register for result in question.contract.results]
        live = Liveness(question.target, output_containers(machine, results))
        places = [place for argument in question.contract.arguments for place in argument.places]
        return any(
            p.register is None or live.is_live_at_entry(byte_of(machine.registers[p.register], 0)) for p in places
        )

    @cached_property
    def kinds(self) -> tuple[CType, ...]:
        return tuple(p.type for p in self.mined.signature.parameters)

    @cached_property
    def parameters(self) -> list[tuple[Variable, CType]]:
        return [(Variable(p.name, p.type.bits, p.type.signed), p.type) for p in self.mined.signature.parameters]

    @cached_property
    def constants(self) -> tuple[int, ...]:
        """Those of its own code come first."""
        ops = (op for block in self.mined.question.target.blocks.values() for op in block.ops)
        own = dict.fromkeys(v.offset for op in ops for v in op.ins if v.space is Space.CONST and 1 < v.offset < 1 << 16)
        return (*USUAL_CONSTANTS, *[*own][:MOST_OWN_CONSTANTS])


@dataclass(frozen=True)
class _Box:
    """Candidates: any leaf of each place, and any of the results."""

    leaves: tuple[tuple[Expression, ...], ...]
    results: tuple[Expression, ...]
    confirmed: int = 0
    """Runs that they fit; in others it is not certain what the rewrite does."""


class Sieve:
    def __init__(self, families: Sequence[Family]) -> None:
        self._sieved = [family for family in families if family in SIEVED]
        self._is_whole = len(self._sieved) == len(families)
        """Whether all families are tried: else only those that fit at once are found here."""
        self._leaves: dict[tuple[tuple[tuple[Variable, CType], ...], CType], tuple[Expression, ...]] = {}
        self._results: dict[tuple[CType, CType], tuple[Expression, ...]] = {}

    def judge(self, target: Subject, rewrite: Subject) -> Likelihood | None:
        """None if runs refute every candidate."""
        results = self._result_choices(target.mined.signature, rewrite.mined.signature)
        if not results:
            return None if self._is_whole else Likelihood.OPEN
        if self._is_whole and len(target.needed) > len(rewrite.kinds):
            return None  # an argument is made of one parameter at most, so that one that matters is left out
        if not target.decided or not rewrite.decided:
            return Likelihood.OPEN
        plain = _Box(tuple(self._leaves_of(target, kind) for kind in rewrite.kinds), results)
        found = self._left(target, rewrite, [plain] if all(plain.leaves) else [], MOST_TRIED)
        if found is Likelihood.FITS:
            return found
        most = len(rewrite.kinds) - len(target.needed) if self._is_whole else len(rewrite.kinds)
        if most <= 0:
            return found if self._is_whole else Likelihood.OPEN
        tried = self._left(target, rewrite, [*self._with_constants(target, rewrite, plain, most)], MOST_WITH_CONSTANTS)
        return Likelihood.FITS if tried is Likelihood.FITS else Likelihood.OPEN

    def _leaves_of(self, target: Subject, wanted: CType) -> tuple[Expression, ...]:
        key = tuple(target.parameters), wanted
        if key not in self._leaves:
            spaces = [argument_space(target.parameters, wanted, family, 1, ()) for family in self._sieved]
            self._leaves[key] = tuple(dict.fromkeys(leaf for space in spaces for leaf in space.leaves))
        return self._leaves[key]

    def _result_choices(self, target: Signature, rewrite: Signature) -> tuple[Expression, ...]:
        key = target.result, rewrite.result
        if key not in self._results:
            families = self._sieved or [Family.SUBSTITUTION]
            found = [choice for family in families for choice in result_choices((target, rewrite), family)]
            self._results[key] = tuple(dict.fromkeys(found))
        return self._results[key]

    def _with_constants(self, target: Subject, rewrite: Subject, plain: _Box, most: int) -> Iterator[_Box]:
        """With usual constants in one place or in several, at most so many."""
        for places in product((False, True), repeat=len(rewrite.kinds)):
            if not 0 < sum(places) <= most:
                continue
            numbers = target.constants if sum(places) == 1 else USUAL_CONSTANTS[:FEW_CONSTANTS]
            leaves = [
                tuple(dict.fromkeys(Constant(c % (1 << kind.bits), kind.bits) for c in numbers)) if is_constant else own
                for is_constant, own, kind in zip(places, plain.leaves, rewrite.kinds, strict=True)
            ]
            if all(leaves):
                yield _Box(tuple(leaves), plain.results)

    # -- runs -------------------------------------------------------------------------------------

    def _left(self, target: Subject, rewrite: Subject, boxes: list[_Box], most: int) -> Likelihood | None:
        """Whether a candidate in these boxes fits all runs: one that some runs confirm, or one about which runs of the
        rewrite decide nothing; None if there is none."""
        tried = 0
        for world in target.decided:
            left = []
            for box in self._fitting(target, rewrite, world, boxes):
                tried += 1
                if box is not None:
                    left.append(box)
                if len(left) > MOST_BOXES or tried > most:
                    return Likelihood.OPEN
            if not left:
                return None
            boxes = left
        confirmed = max(box.confirmed for box in boxes)
        return Likelihood.FITS if confirmed >= min(ENOUGH_RUNS, len(target.decided)) else Likelihood.OPEN

    def _fitting(self, target: Subject, rewrite: Subject, world: World, boxes: Sequence[_Box]) -> Iterator[_Box | None]:
        """What is left of each part of the boxes after one world; None if nothing is."""
        seen = target.in_world(world)
        assert seen is not None
        values = dict(zip((v.name for v, _ in target.parameters), target.values_in(world), strict=True))
        for box in boxes:
            for leaves, arguments in _parts(box, values):
                done = rewrite.run(world.fill, arguments)
                results = box.results
                if done is not None and done.effects != seen.effects:
                    results = ()
                elif done is not None and seen.result is not None:
                    results = tuple(r for r in results if _gives(r, done.result, seen.result))
                yield _Box(leaves, results, box.confirmed + (done is not None)) if results else None


def _gives(choice: Expression, result: int | None, wanted: int) -> bool:
    return result is None or evaluate(choice, {RESULT: result}) == wanted


def _parts(box: _Box, values: dict[str, int]) -> Iterator[tuple[tuple[tuple[Expression, ...], ...], tuple[int, ...]]]:
    """The candidates of a box by the arguments that they give."""
    places = []
    for leaves in box.leaves:
        by_value: dict[int, list[Expression]] = {}
        for leaf in leaves:
            by_value.setdefault(evaluate(leaf, values), []).append(leaf)
        places.append([(value, tuple(own)) for value, own in by_value.items()])
    for chosen in product(*places):
        yield tuple(own for _, own in chosen), tuple(value for value, _ in chosen)
