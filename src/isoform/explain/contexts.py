"""Instructions of functions that are inlined several times: one candidate is one instruction, in all its contexts.

A callee that is called twice has its instructions once in the listing, and a person changes them there once. So a
change of such an instruction is a change in every context: each gets the value that the target's instruction has in the
context that corresponds. Contexts correspond in the order in which the witness comes to them; where it does not come to
all of them, in the order of their call sites. A change in one context only is no cause. It may be part of one, together
with changes in all the other contexts: where the target has a copy of the callee's code for each call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from isoform.explain.runs import Case, Fix, Runs
from isoform.explain.sites import Marked


class Contexts:
    """Which contexts of the two functions correspond, on one input."""

    def __init__(self, runs: Runs, case: Case) -> None:
        self._runs = runs
        self._case = case

    def pairs(self, target: int, rewrite: int) -> Mapping[int, int] | None:
        """For every context of a site of the rewrite, the site of the target whose value it gets; None if that is not
        clear."""
        theirs, own = self._runs.target.contexts[target], self._runs.rewrite.contexts[rewrite]
        if len(own) == 1:
            return {rewrite: target}
        if len(theirs) == 1:
            return dict.fromkeys(own, target)
        if len(theirs) != len(own):
            return None
        is_run = all(n in first for first, sites in zip(self._first, (theirs, own), strict=True) for n in sites)
        orders = [self._in_order(side, sites, is_run) for side, sites in enumerate((theirs, own))]
        return dict(zip(orders[1], orders[0], strict=True))

    def _in_order(self, side: int, sites: Sequence[int], is_run: bool) -> list[int]:
        first, every = self._first[side], self._runs.marked[side].sites
        return sorted(sites, key=lambda number: (first[number] if is_run else 0, every[number].block.context))

    @cached_property
    def _first(self) -> tuple[Mapping[int, int], ...]:
        """When each site was executed first."""
        return tuple({n: when for when, n in reversed(list(enumerate(shown.order)))} for shown in self._case.shown)


def in_all_contexts(marked: Marked, fix: Fix, cases: Sequence[Case]) -> bool:
    """Whether the instructions of the rewrite that a fix changes are changed in every context that a run comes to."""
    changed = fix.sites
    contexts = {number for site in changed for number in marked.contexts[site]}
    return not any(number in case.own for number in contexts - changed for case in cases)
