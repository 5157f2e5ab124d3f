"""The parts of the concolic engine by themselves: the solver that stays on a path, the runs, the tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from isoform.borders.question import Options
from isoform.borders.settle import settle
from isoform.engines.answer import lifted
from isoform.engines.concolic import Search
from isoform.engines.concolic.path import DecisionKind, End
from isoform.engines.concolic.tree import TreeNode
from isoform.engines.finding import Proved
from isoform.load.open import open_pair
from isoform.model.budget import Budget
from isoform.model.outcome import Inputs, Status
from isoform.run.runner import RunOptions, run, run_traced
from isoform.smt.incremental import PathSolver
from isoform.smt.solver import Answer
from isoform.smt.terms import Terms

CONCOLIC = Path(__file__).parents[1] / "pairs" / "concolic"


class _Counting:
    """A solver that counts what is asserted."""

    def __init__(self, solver: Any) -> None:
        self._solver = solver
        self.asserted: list[Any] = []

    def assert_formula(self, term: Any) -> None:
        self.asserted.append(term)
        self._solver.assert_formula(term)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._solver, name)


def test_a_shared_prefix_is_asserted_once() -> None:
    terms = Terms()
    x = terms.variable("x", 32)
    path = [terms.ult(terms.bv(n, 32), x) for n in range(5)]
    solver = PathSolver(terms, Budget(10))
    counting = _Counting(solver._solver)
    solver._solver = cast(Any, counting)
    assert solver.check_after(path, [terms.ult(x, terms.bv(100, 32))]) is Answer.SAT
    assert 4 < solver.value(x) < 100
    assert solver.check_after(path, [terms.ult(x, terms.bv(3, 32))]) is Answer.UNSAT
    assert len(counting.asserted) == 5 + 2
    assert solver.check_after(path[:2], [terms.eq(x, terms.bv(3, 32))]) is Answer.SAT
    assert len(counting.asserted) == 5 + 3
    assert solver.check_after([*path[:2], terms.eq(x, terms.bv(7, 32))], [path[4]]) is Answer.SAT
    assert solver.value(x) == 7
    assert len(counting.asserted) == 5 + 5


def engine(target: str, rewrite: str, **options: Any) -> Search:
    sides = [lifted(side) for side in open_pair(str(CONCOLIC / target), str(CONCOLIC / rewrite))]
    return Search(settle(sides[0], sides[1], Options(**options)), Budget(20))


def test_each_decision_has_a_run_or_a_reason_on_both_sides() -> None:
    search = engine("nested.asm", "nested-rewrite.asm")
    assert isinstance(search.answer(), Proved)
    for driver in search._drivers:
        nodes = list(driver.tree.nodes())
        assert nodes
        assert all(len(node.children) + len(node.closed) == 2 for node in nodes)
        assert all(node.done for node in nodes)
        assert driver.tree.deepest_open() is None


def test_the_deepest_decision_is_tried_first() -> None:
    search = engine("nested.asm", "nested-rewrite.asm")
    driver = search._drivers[0]
    depths = []
    while (proposal := driver.propose(search._fresh)) is not None:
        if proposal.node is not None:
            node: TreeNode | None = proposal.node
            depth = 0
            while node is not None and node.parent is not None:
                node, depth = node.parent, depth + 1
            open_below = [n for n in proposal.node.children.values() if isinstance(n, TreeNode) and not n.done]
            assert not open_below
            depths.append(depth)
        driver.explore(proposal, driver.run(proposal.inputs))
    assert max(depths) >= 3


def test_conditions_are_solved_along_the_path_only() -> None:
    """Each condition of a path that is extended is asserted once, though every flip is a question."""
    search = engine("while.asm", "while-rewrite.asm")
    driver = search._drivers[1]
    counting = _Counting(driver.solver.solver._solver)
    driver.solver.solver._solver = cast(Any, counting)
    while (proposal := driver.propose(search._fresh)) is not None:
        driver.explore(proposal, driver.run(proposal.inputs))
    checks = driver.solver.solver.checks
    assert len(driver.tree.paths) == 22
    assert len(counting.asserted) < 4 * checks  # asserting whole paths would take about ten for each


def test_a_traced_run_is_the_same_run() -> None:
    search = engine("stack-rewrite.asm", "fun-rewrite.asm")
    for program in search._question.programs:
        for inputs in (Inputs({"$1": 3, "$2": 5}), Inputs({"$1": 5, "$2": 3}), Inputs({"$1": 7, "$2": 7})):
            plain = run(program, inputs, RunOptions())
            traced = run_traced(program, inputs, RunOptions())
            assert traced.outcome == plain
            assert plain.status is Status.DONE
            blocks = [visit.block for visit in traced.visits]
            assert sum(max(1, len(block.steps)) for block in blocks) == plain.steps


def test_faults_are_decisions() -> None:
    search = engine("div0.asm", "div0-rewrite.asm")
    assert isinstance(search.answer(), Proved)
    tree = search._drivers[0].tree
    assert {node.decision.kind for node in tree.nodes()} == {DecisionKind.FAULT}
    assert {path.end for path in tree.paths} == {End.RETURNED, End.ABORTED}
