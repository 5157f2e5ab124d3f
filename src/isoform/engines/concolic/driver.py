"""One program as driver: its tree, and the inputs that lead to the next unexplored path."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from isoform.borders.question import Question
from isoform.engines.concolic.path import ELSEWHERE, Decision, DecisionKind, End, Key, Path, PathSnapshot
from isoform.engines.concolic.pointers import Pointers
from isoform.engines.concolic.solve import InputSolver
from isoform.engines.concolic.targets import Targets
from isoform.engines.concolic.tree import CALLER, INSIDE, Closed, Flip, Tree, TreeNode
from isoform.engines.concolic.walk import Walker
from isoform.lift.function import Function
from isoform.model.budget import Budget
from isoform.model.outcome import Inputs
from isoform.model.values import dataclass
from isoform.run.compile import Program
from isoform.run.runner import RunOptions, Traced, run_traced
from isoform.smt.solver import Answer
from isoform.sym.side import Side

RUN_SECONDS, STEP_SECONDS = 0.0005, 1e-6
"""The charge for a concrete run: a fixed part, and one for each step."""
MOST_RESTARTS = 64
"""After this many runs that left the predicted path, no more fresh inputs are tried for them."""


@dataclass(frozen=True)
class Proposal:
    """Inputs for a path that no run has taken yet, and which path that is."""

    inputs: Inputs
    node: TreeNode | None = None
    flip: Flip | None = None


@dataclass(frozen=True)
class Explored:
    """The result of one run as driver."""

    path: Path
    is_new: bool
    restart: str = ""
    """How the run left the predicted path, if it did."""


class Driver:
    def __init__(
        self,
        question: Question,
        side: Side,
        function: Function,
        program: Program,
        first: Inputs,
        pointers: Pointers,
        budget: Budget,
    ) -> None:
        self._question = question
        self._terms = side.terms
        self._program = program
        self._budget = budget
        self._first: Inputs | None = first
        self._fresh = False
        targets = Targets(side.world, function)
        self.tree = Tree(side.terms, targets)
        self._walker = Walker(side, function, budget, question.callees, question.options.depth, targets)
        self.solver = InputSolver(question, side, budget, pointers)
        self._options = RunOptions(question.options.fuel, stack_argument_bytes=question.contract.stack_argument_bytes)
        self.restarts: list[str] = []

    def propose(self, fresh: Iterator[Inputs]) -> Proposal | None:
        """Inputs for the next unexplored path; None if there is none."""
        if self._first is not None:
            inputs, self._first = self._first, None
            return Proposal(inputs)
        if self._fresh:
            self._fresh = False
            if len(self.restarts) <= MOST_RESTARTS:
                return Proposal(next(fresh))
        while (place := self.tree.deepest_open()) is not None:
            if self._budget.exhausted:
                return None
            node, flip = place
            answer, found = self.solver.solve(node.edges_to(), flip.condition, node.decision.before, node.inputs)
            if found is not None:
                return Proposal(found, node, flip)
            node.closed[flip.label] = Closed.INFEASIBLE if answer is Answer.UNSAT else Closed.UNKNOWN
        return None

    @property
    def has_unexplored(self) -> bool:
        return self._first is not None or self.tree.deepest_open() is not None

    def run(self, inputs: Inputs) -> Traced:
        traced = run_traced(self._program, inputs, self._options, self._question.callees)
        self._budget.charge(RUN_SECONDS + STEP_SECONDS * traced.outcome.steps)
        return traced

    def path_of(self, inputs: Inputs) -> Path | None:
        """The path of the tree that these inputs take; None if it is not there."""
        return self.tree.known(self._walker.walk(self.run(inputs)))

    def inputs_beside(self, path: Path, others: Sequence[Path]) -> tuple[Answer, Inputs | None]:
        """Inputs that take `path` and none of the other side's paths."""
        terms = self._terms
        assert path.inputs is not None
        # A path that leaves the contract is about the memory that it accesses; for others that does not matter.
        taken = [other.condition if other.end is End.OUTSIDE else other.free_condition for other in others]
        away = terms.all_of([terms.negate(condition) for condition in taken])
        edges = [decision.edge for decision in path.decisions]
        return self.solver.solve(edges, away, path.last, path.inputs)

    def explore(self, proposal: Proposal, traced: Traced) -> Explored:
        """Put the path of a run into the tree."""
        node, flip = proposal.node, proposal.flip
        if node is None or flip is None:
            path = self._walker.walk(traced)
            return Explored(path, self.tree.insert(path, proposal.inputs))
        as_predicted = _same_path(node.decision.before, traced)
        path = self._walker.walk(traced, node.decision.before if as_predicted else None)
        taken = frozenset(node.children)
        is_new = self.tree.insert(path, proposal.inputs)
        restart = path.end.value if path.end is End.ASTRAY else _departure(node, flip, path, taken)
        if restart:
            node.closed[flip.label] = Closed.MISSED
            self.restarts.append(restart)
            self._fresh = True
        return Explored(path, is_new, restart)


def _same_path(before: PathSnapshot, traced: Traced) -> bool:
    """Whether a run took the same path as another one up to one of its decisions."""
    old = before.path.traced
    until = before.visit
    return (
        len(traced.visits) > until
        and traced.visits[until][:2] == old.visits[until][:2]
        and traced.targets[:until] == old.targets[:until]
        and all(one[:2] == other[:2] for one, other in zip(traced.visits[:until], old.visits[:until], strict=True))
    )


def _departure(node: TreeNode, flip: Flip, path: Path, taken: Collection[Key]) -> str:
    """How a run left the path that its inputs were made for; empty if it did not. `taken` are the branches of the
    decision that earlier runs took."""
    predicted = _decisions_to(node)
    for number, (decision, key) in enumerate([*predicted, (node.decision, flip.label)]):
        if number >= len(path.decisions) or path.decisions[number].term != decision.term:
            return f"it did not reach {decision.kind.value} at {decision.address:#x}"
        if not _agrees(decision, key, path.decisions[number].key, taken):
            return f"{decision.kind.value} at {decision.address:#x} took another branch"
    return ""


def _decisions_to(node: TreeNode) -> list[tuple[Decision, Key]]:
    found: list[tuple[Decision, Key]] = []
    while node.parent is not None:
        found.append((node.parent.decision, node.key))
        node = node.parent
    return found[::-1]


def _agrees(decision: Decision, wanted: Key, found: Key, taken: Collection[Key]) -> bool:
    if decision.kind is DecisionKind.TARGET and wanted in (INSIDE, CALLER, ELSEWHERE) and found != wanted:
        return isinstance(found, int) and found not in taken  # a new target of the class that was asked for
    return wanted == found
