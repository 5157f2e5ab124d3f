"""Pairs of paths: wherever the target takes one path and the rewrite another, do they end alike?

Running inputs finds the paths; this finds inputs inside them. And when the paths of both cover all inputs, the same
questions are the proof.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isoform.borders.question import Question
from isoform.engines.concolic.path import End, Path
from isoform.engines.concolic.pointers import Pointers
from isoform.engines.concolic.tree import Tree
from isoform.engines.encoding import Encoding
from isoform.engines.finding import Failed, Found, Proved
from isoform.engines.obligations import NOTHING_VALID, Obligations, Open
from isoform.model.budget import Budget
from isoform.model.errors import Unsupported
from isoform.model.values import dataclass
from isoform.model.verdict import Proof
from isoform.smt.solver import Answer
from isoform.smt.terms import Term
from isoform.sym.compare import Goal, goals
from isoform.sym.side import Side
from isoform.sym.summary import Summary
from isoform.sym.world import World

QUICK_SECONDS = 0.4
"""For one pair of paths."""
SHARE = 0.3
"""The share of the budget for such questions while paths are still being explored; open ones are asked at the end."""

HOW = (
    "Both functions were followed along every path. The obligations named 'covered' show that every input takes one of "
    "the paths found. Those named 'meets' show, for each path of the target, which paths of the rewrite its inputs "
    "take. Those named 'paths' assert the conditions of such a pair of paths, and that some observable differs there. "
    "Each is unsatisfiable. So for every input the contract allows, all observables agree."
)


@dataclass(frozen=True)
class Undecided:
    """Nothing was shown or found about a pair of paths."""

    why: str


class Pairs:
    """Asks about pairs of paths, and keeps what was shown as the obligations of a proof."""

    def __init__(
        self, question: Question, budget: Budget, world: World, sides: tuple[Side, Side], pointers: Pointers
    ) -> None:
        summaries = [Summary(side, aborts=world.terms.false) for side in sides]
        self.encoding = Encoding(world, summaries[0], summaries[1], [])
        # No rules for memory: the conditions of a path say themselves that its accesses are valid.
        self._obligations = Obligations(question, budget, self.encoding, [], self._choose_model)
        self._budget = budget
        self._terms = world.terms
        self._sides = sides
        self._pointers = pointers
        self._bases: list[Term] = []
        self._open: list[tuple[Goal, Goal]] = []
        """Without and with the rules for memory."""
        self.doubts: list[Failed] = []
        """Places of a possible difference that could not be confirmed."""
        self.asked = 0
        self.seconds = 0.0

    def refuse_impossible_preconditions(self) -> None:
        self._obligations.refuse_impossible_preconditions()

    def compare(self, target: Path, rewrite: Path) -> Found | None:
        """Whether the two paths end alike wherever both are taken."""
        name = f"paths-{target.number}-{rewrite.number}"
        taken = f"the target takes its path {target.number} and the rewrite its path {rewrite.number}"
        shows = f"both end alike where {taken}"
        self.asked += 1
        self.encoding.target.calls[:] = target.calls
        self.encoding.rewrite.calls[:] = rewrite.calls
        self._bases = [*target.pointers, *rewrite.pointers]
        try:
            asked = [Goal(name, shows, self._differ(target, rewrite, valid)) for valid in (False, True)]
        except Unsupported as reason:
            self.doubts.append(Failed(str(reason)))
            return None
        # First without the rules for memory: they are seldom needed and make the question harder.
        finding = self._ask_quickly(asked[0])
        if isinstance(finding, Failed):
            finding = self._ask_quickly(asked[1])
        if isinstance(finding, Open):
            self._open.append((asked[0], asked[1]))
        elif isinstance(finding, Failed):
            self.doubts.append(finding)
        return finding if isinstance(finding, Found) else None

    @property
    def is_spent(self) -> bool:
        return self.seconds > SHARE * self._budget.seconds

    def _ask_quickly(self, goal: Goal) -> Found | Failed | Open | None:
        before = self._budget.left
        finding = self._obligations.ask(goal, goal.bad, min(QUICK_SECONDS, self._budget.left / 4))
        self.seconds += before - self._budget.left
        return finding

    def settle(self) -> Found | Undecided | None:
        """Ask the open questions again, as long as there is time. None: nothing is open any more."""
        if not self._open:
            return None
        hard = self._obligations.ask_hard([free for free, _ in self._open])
        if isinstance(hard, Failed) and not self._budget.exhausted:
            hard = self._obligations.ask_hard([full for _, full in self._open])
        return hard if isinstance(hard, Found) else Undecided(hard.why) if isinstance(hard, Failed) else None

    def _choose_model(self, goal: Goal, assertions: Sequence[Term]) -> bool:
        """With pointers as simple as they can be for this goal."""
        solver = self._obligations.solver
        wished = False
        for wish in self._pointers.wishes(self._bases):
            wished = True
            if solver.check([*assertions, *wish], QUICK_SECONDS) is Answer.SAT:
                return True
        return not wished or solver.check(assertions) is Answer.SAT

    def _differ(self, target: Path, rewrite: Path, valid: bool) -> Term:
        """The two paths are taken, and an observable differs."""
        terms = self._terms
        differs = [goal.bad for goal in goals(self.encoding.world, target.summary, rewrite.summary)]
        either = terms.any_of(differs)
        if either == terms.false:
            return either
        conditions = [path.condition if valid else path.free_condition for path in (target, rewrite)]
        return terms.conj(terms.conj(*conditions), either)

    def prove(self, trees: tuple[Tree, Tree], met: Mapping[int, Sequence[Path]]) -> Proved | Undecided:
        """After every pair that meets was shown: are these all, and do the paths cover all inputs? `met` has for each
        path of the target, by its number, those of the rewrite that share inputs with it."""
        self._obligations.valid = self._rules(trees)
        taken = [[path for path in tree.paths if path.is_complete] for tree in trees]
        for name, paths in zip(("target", "rewrite"), taken, strict=True):
            shows = f"every input takes one of the {len(paths)} paths of the {name}"
            if not self._obligations.leaves_nothing_out(Goal(f"covered-{name}", shows, self._none_of(paths))):
                return Undecided(f"some inputs may take other paths of the {name} than the {len(paths)} found")
        for path in taken[0]:
            partners = met[path.number]
            self.encoding.met[str(path.number)] = [partner.number for partner in partners if partner.is_complete]
            if not all(partner.is_complete or partner.end is End.OUTSIDE for partner in partners):
                return Undecided(f"path {path.number} of the target meets one that was not followed to its end")
            shows = f"where the target takes its path {path.number}, the rewrite takes {_one_of(partners)}"
            bad = self._terms.conj(path.condition, self._none_of(partners))
            if not self._obligations.leaves_nothing_out(Goal(f"meets-{path.number}", shows, bad)):
                return Undecided(
                    f"path {path.number} of the target may meet other paths of the rewrite than those found"
                )
        if self._obligations.is_vacuous():
            return Undecided(NOTHING_VALID)
        return Proved(Proof(tuple(self.encoding.obligations)), self.encoding.grounds(HOW))

    def _none_of(self, paths: Sequence[Path]) -> Term:
        return self._terms.negate(self._terms.any_of([path.condition for path in paths]))

    def _rules(self, trees: tuple[Tree, Tree]) -> list[tuple[str, Term]]:
        """The assumptions about memory: every access that is reached is valid."""
        found: dict[Term, str] = {}
        for side, tree in zip(self._sides, trees, strict=True):
            for number, decision in enumerate(tree.accesses(), 1):
                rule = self._terms.implies(decision.before.state.condition, decision.term)
                found.setdefault(rule, f"valid-{side.tag}-{number}")
        return [(label, rule) for rule, label in found.items()]


def _one_of(paths: Sequence[Path]) -> str:
    numbers = [str(path.number) for path in paths]
    return f"path {numbers[0]}" if len(numbers) == 1 else f"one of the paths {', '.join(numbers)}"
