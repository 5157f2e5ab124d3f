"""Concolic disequivalence (seed 000): two programs alternate in finding an input that separates them.

The driver's next unexplored path gives inputs, both run on them, and the outcomes are compared; then the two change
places (figure 4). Beyond that, every pair of paths found is compared for all inputs that take it (`pairs.py`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import Any

from isoform.borders.question import Question
from isoform.engines.concolic.driver import Driver, Proposal
from isoform.engines.concolic.first import fresh_inputs, solved_first_inputs, usual_inputs
from isoform.engines.concolic.pairs import Pairs
from isoform.engines.concolic.path import End, Path
from isoform.engines.concolic.pointers import Pointers
from isoform.engines.concolic.rows import row
from isoform.engines.concolic.tree import Closed
from isoform.engines.encoding import Encoding
from isoform.engines.finding import Failed, Finding, Found, Proved, WithinBound, not_confirmed
from isoform.engines.separate import NOT_COMPARED, differs
from isoform.engines.witness import NotConfirmed, confirm
from isoform.model.budget import Budget
from isoform.model.outcome import Inputs, Outcome, Status
from isoform.model.values import dataclass
from isoform.model.verdict import SearchStep
from isoform.run.runner import RunOptions, run
from isoform.smt.solver import Answer
from isoform.smt.terms import Terms
from isoform.sym.entry import constrain_entry
from isoform.sym.side import Side
from isoform.sym.state import initial_state
from isoform.sym.world import World

FIRST_MEETING = 32
"""Runs after which pairs of paths are compared for the first time; then whenever that has doubled."""
MOST_PARTNERS = 64
"""Paths of the rewrite that one path of the target is compared with."""
MOST_ROWS = 1000
"""Steps of the search that a report can show."""


@dataclass
class Counts:
    runs: int = 0
    compared: int = 0
    """Runs in which both ended, on inputs that the contract allows."""
    undecided: Counter[str] = field(default_factory=Counter)
    out_of_fuel: int = 0


class Search:
    def __init__(self, question: Question, budget: Budget) -> None:
        self._question = question
        self._budget = budget
        world = World(Terms(), question.contract)
        sides = [Side(world, f.image, tag) for f, tag in zip((question.target, question.rewrite), "ab", strict=True)]
        constrain_entry(world, initial_state(sides[0]))
        self._world = world
        pointers = Pointers(sides[0])
        self._pairs = Pairs(question, budget, world, (sides[0], sides[1]), pointers)
        self._pairs.refuse_impossible_preconditions()
        first = self._first_inputs(sides[0], pointers)
        functions = question.target, question.rewrite
        self._drivers = [
            Driver(question, side, function, program, first, pointers, budget)
            for side, function, program in zip(sides, functions, question.programs, strict=True)
        ]
        self._fresh = fresh_inputs(question)
        self._met: dict[int, list[Path]] = {}
        """For a path of the target, by its number: the paths of the rewrite that share inputs with it, all of them."""
        self._next_driver = 0
        self.rows: list[SearchStep] = []
        self.counts = Counts()
        self._unconfirmed: NotConfirmed | None = None
        self._options = RunOptions(question.options.fuel, stack_argument_bytes=question.contract.stack_argument_bytes)

    @property
    def encoding(self) -> Encoding:
        return self._pairs.encoding

    def _first_inputs(self, side: Side, pointers: Pointers) -> Inputs:
        first = usual_inputs(self._question)
        if self._question.admits(first):
            return first
        return solved_first_inputs(self._question, side, self._budget, pointers, first)

    # -- figure 4 -------------------------------------------------------------------------------

    def answer(self) -> Finding:
        """First only by runs; at intervals, and at the end, also for all inputs of a path at once."""
        meet_at = FIRST_MEETING
        while not self._budget.exhausted:
            finding = self._explore(meet_at)
            if finding is None:
                done = not any(driver.has_unexplored for driver in self._drivers)
                finding = self._meet(last=done)
                meet_at = 2 * self.counts.runs
                if finding is None and done and not any(driver.has_unexplored for driver in self._drivers):
                    break
            if finding is not None:
                return finding
        return self._conclude()

    def _explore(self, runs: int) -> Found | Failed | None:
        """Let the two alternate until this many runs, or until nothing is left to explore."""
        finished = [False, False]
        while not all(finished) and self.counts.runs < runs and not self._budget.exhausted:
            driving = self._next_driver
            self._next_driver = 1 - driving
            proposal = None if finished[driving] else self._drivers[driving].propose(self._fresh)
            if proposal is None:
                finished[driving] = True
                continue
            finding = self._step(driving, proposal)
            if finding is not None:
                return finding
        return None

    def _step(self, driving: int, proposal: Proposal) -> Found | Failed | None:
        driver = self._drivers[driving]
        inputs = proposal.inputs
        traced = driver.run(inputs)
        other = run(self._question.programs[1 - driving], inputs, self._options, self._question.callees)
        explored = driver.explore(proposal, traced)
        self.counts.runs += 1
        if self._question.options.narrate and len(self.rows) < MOST_ROWS:
            self.rows.append(row(self._question, len(self.rows) + 1, driving, inputs, explored, traced.outcome, other))
        if self.counts.runs % 16 == 0:
            self._question.options.progress(self._progress())
        outcomes = (traced.outcome, other) if driving == 0 else (other, traced.outcome)
        return self._compare(inputs, outcomes, explored.path)

    def _progress(self) -> str:
        target, rewrite = self.paths
        return f"explored {target} paths of the target and {rewrite} of the rewrite"

    def _compare(self, inputs: Inputs, outcomes: tuple[Outcome, Outcome], path: Path) -> Found | Failed | None:
        """Only two runs that stopped decide anything (seed 000, section 2)."""
        if path.end in (End.OUTSIDE, End.ASTRAY):
            return None
        for outcome in outcomes:
            if outcome.status in (Status.OUT_OF_FUEL, Status.UNSUPPORTED):
                self.counts.undecided[outcome.reason or outcome.status.value] += 1
                self.counts.out_of_fuel += outcome.status is Status.OUT_OF_FUEL
                return None
        pair = (inputs, inputs)
        outcomes_differ = self._question.differ(*outcomes)
        if outcomes_differ and not differs(self._question, pair):
            self.counts.undecided[NOT_COMPARED] += 1
            return None
        self.counts.compared += 1
        if not outcomes_differ:
            return None
        result = confirm(self._question, pair, self._budget)
        if not isinstance(result, NotConfirmed):
            return Found(result)
        if result.is_bug:
            return not_confirmed(result)
        self._unconfirmed = self._unconfirmed or result
        return None

    # -- pairs of paths -------------------------------------------------------------------------

    def _meet(self, last: bool) -> Found | Failed | None:
        """Compare each new path of the target with every path of the rewrite that shares inputs with it."""
        for path in list(self._drivers[0].tree.paths):
            if path.number in self._met or not path.is_complete:
                continue
            if self._budget.exhausted or (self._pairs.is_spent and not last):
                return None
            finding = self._meet_one(path)
            if finding is not None:
                return finding
        return None

    def _meet_one(self, path: Path) -> Found | Failed | None:
        partners: list[Path] = []
        for _ in range(MOST_PARTNERS):
            answer, inputs = self._drivers[0].inputs_beside(path, partners) if partners else (Answer.SAT, path.inputs)
            if answer is Answer.UNSAT:
                self._met[path.number] = partners
                return None
            if inputs is None:
                return None
            partner = self._drivers[1].path_of(inputs)
            if partner is None:
                finding = self._step(1, Proposal(inputs))
                if finding is not None:
                    return finding
                partner = self._drivers[1].path_of(inputs)
            if partner is None or partner in partners:
                return None
            partners.append(partner)
            found = self._pairs.compare(path, partner) if partner.is_complete else None
            if found is not None:
                return found
        return None

    # -- the answer -----------------------------------------------------------------------------

    def _conclude(self) -> Finding:
        if self._pairs.doubts:
            return self._pairs.doubts[0]
        cut = self._cut()
        still_open = self._pairs.settle()
        if isinstance(still_open, Found):
            return still_open
        if still_open is not None:
            cut.append(still_open.why)
        if not cut:
            finding = self._pairs.prove((self._drivers[0].tree, self._drivers[1].tree), self._met)
            if isinstance(finding, Proved):
                return finding
            cut.append(finding.why)
        if self._unconfirmed is not None:
            return not_confirmed(self._unconfirmed)
        lost = self._why_all_was_lost()
        if lost:
            return Failed(lost)
        if self.counts.compared == 0 and not self.counts.out_of_fuel:
            return Failed(self._why_nothing_was_compared())
        return WithinBound(self._bound(cut), self._sentence(cut))

    def _cut(self) -> list[str]:
        """What was left out, in words. Empty: every path of both was explored to its end."""
        found: list[str] = []
        if self._budget.exhausted:
            found.append(self._budget.why_exhausted())
        unmet = sum(p.is_complete and p.number not in self._met for p in self._drivers[0].tree.paths)
        if unmet:
            found.append(f"{_many(unmet, 'path')} of the target not compared with all they meet in the rewrite")
        for name, driver in zip(("target", "rewrite"), self._drivers, strict=True):
            found += [
                f"{_many(count, 'path')} of the {name} {_NOT_COMPLETE[end]}"
                for end, count in _ends(driver.tree.paths).items()
            ]
            lost = [p.why for p in driver.tree.paths if p.why]
            found += [f"the {name}: {why}" for why in dict.fromkeys(lost)]
            closed = driver.tree.closed()
            found += [
                f"{_many(count, 'branch')} of the {name} not followed: {reason.value}"
                for reason, count in closed.items()
                if reason is not Closed.INFEASIBLE
            ]
        return found

    def _why_all_was_lost(self) -> str:
        """If no path of a side could be followed: a few runs are not enough for a bound."""
        for driver in self._drivers:
            ends = [path.end for path in driver.tree.paths if path.end is not End.OUTSIDE]
            if ends and all(end is End.LOST for end in ends):
                return next(path.why for path in driver.tree.paths if path.end is End.LOST)
        return ""

    def _why_nothing_was_compared(self) -> str:
        if self.counts.undecided:
            why, _ = self.counts.undecided.most_common(1)[0]
            return f"no run of both functions ended ({why})"
        if any(driver.tree.paths for driver in self._drivers):
            return "every input makes one of them use memory that it may not use, so nothing can be compared"
        return "no run of both functions ended"

    def _sentence(self, cut: list[str]) -> str:
        target, rewrite = self.paths
        left = f"; left out: {'; '.join(cut[:3])}" if cut else ""
        return f"no difference on {_many(target, 'path')} of the target and {rewrite} of the rewrite{left}"

    def _bound(self, cut: list[str]) -> dict[str, Any]:
        options = self._question.options
        target, rewrite = self.paths
        return {
            "target paths": target,
            "rewrite paths": rewrite,
            "runs": self.counts.runs,
            "compared": self.counts.compared,
            "pairs of paths compared": self._pairs.asked,
            "depth": options.depth,
            "fuel": options.fuel,
            "restarts": sum(len(driver.restarts) for driver in self._drivers),
            "seconds finding inputs": round(self.solver_seconds, 3),
            "seconds comparing paths": round(self._pairs.seconds, 3),
            "cut": "; ".join(cut),
        }

    @property
    def solver_seconds(self) -> float:
        return sum(driver.solver.solver.seconds for driver in self._drivers)

    @property
    def paths(self) -> tuple[int, int]:
        """How many paths of each were explored, except those that leave the contract."""
        target, rewrite = (sum(p.end is not End.OUTSIDE for p in driver.tree.paths) for driver in self._drivers)
        return target, rewrite


_NOT_COMPLETE = {
    End.FUEL: "cut by the step bound",
    End.DEPTH: "cut by the depth",
    End.LOST: "that could not be followed",
}


def _ends(paths: list[Path]) -> Counter[End]:
    return Counter(path.end for path in paths if path.end in _NOT_COMPLETE)


def _many(count: int, what: str) -> str:
    return f"{count} {what if count == 1 else _PLURALS[what]}"


_PLURALS = {"path": "paths", "branch": "branches"}
