"""The tree of one program's paths: a node for each decision, a leaf for each path (seed 000, section 4.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from enum import Enum

from isoform.engines.concolic.path import ELSEWHERE, Decision, DecisionKind, End, Key, Path
from isoform.engines.concolic.targets import Targets
from isoform.model.outcome import Inputs
from isoform.model.values import dataclass
from isoform.smt.terms import Term, Terms

MOST_TARGETS = 64
"""Targets of one computed jump that are followed."""


class Closed(Enum):
    """Why one branch of a decision is not followed (any longer)."""

    INFEASIBLE = "no input takes it"
    UNKNOWN = "the solver could not say whether any input takes it"
    MISSED = "the input for it took another path"
    TOO_MANY = "a computed jump has more targets than are followed"


@dataclass(frozen=True)
class Flip:
    """A branch of a decision that no run has taken yet."""

    label: Key
    """The key that a run must have there; for a class of jump targets, its name."""
    condition: Term


INSIDE, CALLER = "inside", "caller"


@dataclass(eq=False)
class TreeNode:
    decision: Decision
    inputs: Inputs
    """Of the first run that reached it."""
    parent: TreeNode | None
    key: Key
    """Which branch of the parent leads here."""
    children: dict[Key, TreeNode | Path] = field(default_factory=dict)
    closed: dict[Key, Closed] = field(default_factory=dict)
    edges: dict[Key, Term] = field(default_factory=dict)
    """The condition of each branch that was taken."""
    done: bool = False
    """Whether nothing here or below is left to try."""

    def edges_to(self) -> list[Term]:
        """The conditions of getting here, from the root."""
        found: list[Term] = []
        node = self
        while node.parent is not None:
            found.append(node.parent.edges[node.key])
            node = node.parent
        return found[::-1]


class Tree:
    """Paths are added by `insert`; `deepest_open` says where a search continues."""

    def __init__(self, terms: Terms, targets: Targets) -> None:
        self._terms = terms
        self._targets = targets
        self.root: TreeNode | Path | None = None
        self.paths: list[Path] = []

    def insert(self, path: Path, inputs: Inputs) -> bool:
        """Whether the path is a new one."""
        if path.end is End.ASTRAY:
            return False
        parent: TreeNode | None = None
        key: Key = None
        place = self.root
        for decision in path.decisions:
            if place is None:
                place = self._put(parent, key, TreeNode(decision, inputs, parent, key))
            if isinstance(place, Path) or place.decision.term != decision.term:
                return False  # the run diverges from another one without a decision, so nothing can be learned from it
            place.edges.setdefault(decision.key, decision.edge)
            parent, key = place, decision.key
            place = place.children.get(key)
        if place is not None:
            return False
        self._put(parent, key, path)
        path.inputs = inputs
        self.paths.append(path)
        path.number = len(self.paths)
        return True

    def known(self, path: Path) -> Path | None:
        """The leaf with the same path."""
        place = self.root
        for decision in path.decisions:
            if not isinstance(place, TreeNode) or place.decision.term != decision.term:
                return None
            place = place.children.get(decision.key)
        return place if isinstance(place, Path) else None

    def _put(self, parent: TreeNode | None, key: Key, what: TreeNode | Path) -> TreeNode:
        if parent is None:
            self.root = what
        else:
            parent.children[key] = what
            above: TreeNode | None = parent
            while above is not None and above.done:
                above.done = False
                above = above.parent
        return what  # type: ignore[return-value]

    def deepest_open(self) -> tuple[TreeNode, Flip] | None:
        """The deepest decision on the latest path that has an untried branch, and that branch."""
        node = self.root if isinstance(self.root, TreeNode) else None
        while node is not None and not node.done:
            below = next((c for c in reversed(node.children.values()) if isinstance(c, TreeNode) and not c.done), None)
            if below is not None:
                node = below
                continue
            flip = self._flip(node)
            if flip is not None:
                return node, flip
            node.done = True
            node.decision.before.forget_the_rest()
            node = node.parent if node.parent is not None else None
        return None

    def _flip(self, node: TreeNode) -> Flip | None:
        if node.decision.kind is DecisionKind.TARGET:
            return self._other_target(node)
        for key in (True, False):
            if key in node.children or key in node.closed:
                continue
            if node.decision.kind is DecisionKind.VALID and not key:
                continue  # not an input that the contract is about
            term = node.decision.term
            return Flip(key, term if key else self._terms.negate(term))
        return None

    def _other_target(self, node: TreeNode) -> Flip | None:
        value = node.decision.term
        explored = [key for key in node.children if isinstance(key, int)]
        if INSIDE not in node.closed:
            if len(explored) < MOST_TARGETS:
                return Flip(INSIDE, self._targets.inside(value, explored))
            node.closed[INSIDE] = Closed.TOO_MANY
        if CALLER not in node.closed and self._targets.caller not in node.children:
            condition = self._targets.to_caller(value)
            if condition != self._terms.false:
                return Flip(CALLER, condition)
        if ELSEWHERE in node.closed or ELSEWHERE in node.children:
            return None
        if self._targets.faults:  # the same everywhere
            return Flip(ELSEWHERE, self._targets.elsewhere(value))
        if len(explored) >= MOST_TARGETS:
            node.closed[ELSEWHERE] = Closed.TOO_MANY
            return None
        return Flip(ELSEWHERE, self._targets.elsewhere(value, explored))

    def nodes(self) -> Iterator[TreeNode]:
        pending = [self.root]
        while pending:
            node = pending.pop()
            if isinstance(node, TreeNode):
                yield node
                pending += node.children.values()

    def accesses(self) -> Iterator[Decision]:
        """The decisions whether an access is to memory that may be used."""
        for node in self.nodes():
            if node.decision.kind is DecisionKind.VALID:
                yield node.decision

    def closed(self) -> dict[Closed, int]:
        """How many branches were not followed, by reason."""
        found: dict[Closed, int] = {}
        for node in self.nodes():
            for reason in node.closed.values():
                found[reason] = found.get(reason, 0) + 1
        return found
