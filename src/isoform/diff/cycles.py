"""Functions that call each other, shown to do the same together.

Take a set of pairs of functions. In the question about each pair, calls of all functions of the set are calls of
outside functions, one for each pair: it is shown that both sides make the same calls, in the same order, with the same
arguments and memory, and do the same with the results. If that holds for every pair of the set, all of them do the
same: by induction on the number of calls in a run of the old version that ends, each of its calls ends in the new
version with the same results, and the other way round. So both end or neither does.

A pair whose proof fails is taken out of the set, and the others are asked about anew: the proofs must rest on nothing
that was taken out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

from isoform.diff.compose import REFUSED
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption, merged_assumptions
from isoform.work import task as work

MOST_ROUNDS = 3
"""Sets that are tried. Whatever is then left is asked about with everything inlined."""

Node = tuple[int, int]
"""A unit, and the address of the old function."""


@dataclass
class Cycle:
    """The functions of one strongly connected component of the call graph that are asked about."""

    members: Sequence[Node]
    """Those that can count as outside functions, in a fixed order."""
    answers: dict[Node, work.TaskResult] = field(default_factory=dict)
    """Of this round."""
    is_started: bool = False
    is_over: bool = False
    _rounds: int = 0

    def begin(self) -> Sequence[Node]:
        """The members whose questions are asked now."""
        self.is_started = True
        self._rounds += 1
        self.answers = {}
        return self.members

    def note(self, node: Node, answer: work.TaskResult) -> None:
        self.answers[node] = answer

    @property
    def is_round_complete(self) -> bool:
        return self.answers.keys() >= set(self.members)

    @property
    def is_shown(self) -> bool:
        """Whether all members were shown to do the same, in a round about these members and no others."""
        return self.answers.keys() == set(self.members) and all(map(is_proof, self.answers.values()))

    def shrink(self) -> bool:
        """Take out what failed. Whether there is another round: what was shown rests on what was taken out."""
        self.members = [node for node in self.members if is_proof(self.answers[node])]
        self.answers = {}
        return bool(self.members) and self._rounds < MOST_ROUNDS

    def with_all_assumptions(self, answer: work.TaskResult) -> work.TaskResult:
        """The answer for one member, which rests on what the proofs of all of them rest on."""
        found = [
            Assumption(said["name"], said["why"])
            for one in self.answers.values()
            for said in one.result["verdict"]["assumptions"]
        ]
        listed = [{"name": one.name, "why": one.why} for one in merged_assumptions(found)]
        return replace(answer, result={**answer.result, "verdict": {**answer.result["verdict"], "assumptions": listed}})


def is_proof(answer: work.TaskResult) -> bool:
    """Whether it is a proof on which callers may rest."""
    verdict = answer.result["verdict"] if answer.ending is work.TaskEnd.DONE else None
    if verdict is None or verdict["verdict"] != "equivalent":
        return False
    return not REFUSED & {one["name"] for one in verdict["assumptions"]}
