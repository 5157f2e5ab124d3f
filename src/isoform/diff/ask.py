"""One question: what a limited process is asked about two functions."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any

from isoform.borders.question import Engine, Options
from isoform.diff.compose import Shown, callees_shown, with_outside
from isoform.diff.unit import Unit
from isoform.engines.answer import answer, refused, subject
from isoform.explain.explain import explainer
from isoform.lift.discovery import Discovery
from isoform.load.image import Image
from isoform.load.open import Loaded
from isoform.model.budget import Budget
from isoform.model.cause import Explain
from isoform.model.errors import OutOfLimits, Unsupported, UserError
from isoform.model.limits import enforced
from isoform.model.listing import View
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption, Different, Equivalent, Verdict, merged_assumptions
from isoform.report.json import verdict_as_json

TESTING_SECONDS = 1.0
"""For the runs that all functions are tried on before anything is proved: half of it is spent on those that do not
differ, on thousands of runs of a small function. With 3 s, runs took half of the time of examples/library (41
functions, 11 s instead of 6), and the answers were the same."""
COMPOSED_SHARE = 0.5
"""Of the budget, for the question with callees as outside functions. What is left is for the one with all inlined."""
LEAST_SHARE = 0.25
"""Of the budget, for the second question, whatever the first one took."""
MOST_LISTED = 4000
"""Instructions of one function in a listing."""


@dataclass(frozen=True)
class AskedPair:
    """The payload of a task: two functions of one unit, by their addresses."""

    unit: int
    entries: tuple[int, int]
    budget: float
    seed: int
    memory_limit: int
    is_test: bool = False
    """Whether the two are only run."""
    callees: tuple[Shown, ...] = ()
    """Callees that were shown to do the same."""
    rests_on: tuple[Assumption, ...] = ()
    """What these proofs rest on."""
    assumed: tuple[Shown, ...] = ()
    """Functions that call each other, the asked one among them, which are taken to do the same (`cycles.py`). The
    answer then says nothing of itself."""


def ask(units: Sequence[Unit], asked: AskedPair) -> dict[str, Any]:
    """The verdict as JSON, with listings if it is a difference."""
    unit = units[asked.unit]
    symbols = unit.symbols(asked.entries)
    loaded = unit.pair.loaded(symbols)
    options = Options(budget=asked.budget, seed=asked.seed, memory_limit=asked.memory_limit)
    if asked.is_test:
        options = replace(options, engine=Engine.TESTING, budget=min(options.budget, TESTING_SECONDS))
    started = time.process_time()
    verdict = proof_with_outside(loaded, options, asked)
    if verdict is None and asked.assumed:
        return {"verdict": None, "listings": None, "where": None}
    if verdict is None:
        left = options.budget - (time.process_time() - started)
        verdict = _verdict(loaded, replace(options, budget=round(max(left, options.budget * LEAST_SHARE), 1)))
    return {
        "verdict": verdict_as_json(verdict),
        "listings": _listings(verdict, loaded) if isinstance(verdict, Different) else None,
        "where": where(unit, asked.entries) if isinstance(verdict, Different) else None,
    }


def proof_with_outside(loaded: tuple[Loaded, Loaded], options: Options, asked: AskedPair) -> Verdict | None:
    """The proof with callees as outside functions, if there is one. Nothing else is concluded from that question: a
    compiler may use that a callee in the file keeps a register, which an outside function need not do."""
    callees = (*asked.callees, *asked.assumed)
    if not callees:
        return None
    sides = with_outside(loaded[0], 0, callees), with_outside(loaded[1], 1, callees)
    verdict = _verdict(sides, replace(options, budget=options.budget * COMPOSED_SHARE, explain=Explain.NONE), True)
    if not isinstance(verdict, Equivalent):
        return None
    shown = callees_shown(one.name for one in callees)
    return replace(verdict, assumptions=merged_assumptions((*verdict.assumptions, *asked.rests_on, shown)))


def _verdict(loaded: tuple[Loaded, Loaded], options: Options, is_composed: bool = False) -> Verdict:
    budget = Budget(options.budget)
    with enforced(budget, options.memory_limit):
        try:
            how = partial(answer, loaded, options, budget, explainer=explainer(options), is_composed=is_composed)
            return Discovery(budget).fixpoint(how)
        except (Unsupported, UserError, OutOfLimits, MemoryError) as reason:
            budget.is_closed = True
            subjects = subject(loaded[0]), subject(loaded[1])
            return refused(subjects, options, budget, str(reason) or "memory ran out")


def where(unit: Unit, entries: tuple[int, int]) -> list[str]:
    """A digest for each side: at which addresses and lines of source the code is that a listing shows. The answer does
    not depend on that, and what is printed of it does."""
    found = []
    loaded = unit.pair.loaded(unit.symbols(entries))
    for side, content in zip(loaded, unit.contents(entries), strict=True):
        image = side.image
        parts = sorted({(s.address, s.size) for s in image.symbols if s.is_function and s.address in content.entries})
        lines = [
            (address - image.base, line.file, line.number)
            for start, size in parts
            for address in range(start, start + size)
            if (line := image.lines.get(address)) is not None
        ]
        said = ([image.address_in_file(start) for start, _ in parts], lines)
        found.append(sha256(repr(said).encode("utf-8", "surrogateescape")).hexdigest())
    return found


def _listings(verdict: Different, loaded: tuple[Loaded, Loaded]) -> Mapping[str, Any]:
    if len(verdict.views) != 2:
        return {"target": [], "rewrite": []}
    causes = _cause_addresses(verdict)
    outcomes = verdict.witness.target, verdict.witness.rewrite
    sides = zip(verdict.views, outcomes, loaded, causes, strict=True)
    target, rewrite = (_listing(view, outcome.trace, side.image, at) for view, outcome, side, at in sides)
    paths = [_path(outcome.trace, side.image) for outcome, side in zip(outcomes, loaded, strict=True)]
    return {"target": target, "rewrite": rewrite, "target_path": paths[0], "rewrite_path": paths[1]}


def _path(trace: Sequence[int], image: Image) -> list[int]:
    return [address - image.base for address in trace[:MOST_LISTED]]


def _cause_addresses(verdict: Different) -> tuple[frozenset[int], frozenset[int]]:
    causes = verdict.root_cause.causes if verdict.root_cause is not None else ()
    return (
        frozenset(cause.target.address for cause in causes if cause.target is not None),
        frozenset(cause.rewrite.address for cause in causes if cause.rewrite is not None),
    )


def _listing(view: View, trace: Sequence[int], image: Image, causes: frozenset[int]) -> list[dict[str, Any]]:
    executed = frozenset(trace)
    found = []
    for row in view.rows[:MOST_LISTED]:
        line = image.lines.get(row.address)
        found.append(
            {
                "address": row.address - image.base,
                "text": f"{row.text}  ; {row.note}" if row.note else row.text,
                "file": None if line is None else line.file,
                "line": None if line is None else line.number,
                "on_path": row.address in executed,
                "is_cause": row.address in causes,
            }
        )
    return found
