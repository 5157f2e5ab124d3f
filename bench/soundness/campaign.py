"""The campaign: batches one after the other until the time is up."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

from isoform.model.errors import UserError
from soundness.assembly import assembly_batch
from soundness.attack import FULL, QUICK
from soundness.batch import Batch
from soundness.borders import findings
from soundness.borders.batch import TOPICS, run_border
from soundness.c_batch import c_batch
from soundness.judge import Judged, Rules, judge
from soundness.loop_batch import loop_batch
from soundness.save import save
from soundness.table import table

BATCH_SIZE = 12
PAIRS = Path(__file__).resolve().parents[2] / "tests" / "pairs" / "soundness"
BORDER_PAIRS = PAIRS.with_name("borders")


@dataclass(frozen=True)
class Plan:
    """Everything a worker needs to do its part."""

    seed: int
    until: float
    """On the clock of `time.time`."""
    rules: Rules
    save: bool
    verbose: bool
    only: str = ""
    letters: str = ""
    """Of the batches wanted, in turn: c, s, l, b."""
    topic: str = ""
    """Of border cases, if only one is wanted."""
    findings: Path | None = None
    """Where contradictions at the border are kept with their commands."""


def compilers() -> tuple[str, ...]:
    """gcc if it is here, and clang by way of zig."""
    found = tuple(cc for cc in ("gcc",) if shutil.which(cc))
    return (*found, *(("zig",) if find_spec("ziglang") else ()))


def batch_of(letter: str, number: int, seed: int) -> Batch:
    if letter == "s":
        return assembly_batch(number, seed, BATCH_SIZE)
    if letter == "l":
        return loop_batch(number, seed, BATCH_SIZE, compilers())
    return c_batch(number, seed, BATCH_SIZE, compilers())


def batch_names(letters: str) -> Iterator[tuple[str, int]]:
    number = 0
    while True:
        yield letters[number % len(letters)], number
        number += 1


def run_batch(letter: str, number: int, plan: Plan) -> list[Judged]:
    if letter == "b":
        return run_borders(number, plan)
    batch = batch_of(letter, number, plan.seed)
    results: list[Judged] = []
    with tempfile.TemporaryDirectory(prefix="isoform-soundness-") as folder:
        try:
            objects = batch.compiled(Path(folder))
        except UserError as error:
            return [Judged(f"{letter}{number}", "levels", "trouble", 0.0, wrong=f"does not compile: {error}")]
        for pair in batch.pairs:
            if (results and time.time() > plan.until) or (plan.only and plan.only != pair.label):
                continue  # a batch that was begun asks about one pair at least, however busy the machine is
            judged = judge(pair, objects, plan.rules)
            results.append(judged)
            if plan.verbose:
                print(f"{pair.target}---\n{pair.rewrite}---", file=sys.stderr)
            if plan.verbose or judged.wrong:
                _tell(batch, judged, pair.change)
            if judged.wrong and plan.save:
                print(f"saved {save(batch, pair, judged, plan.rules, PAIRS)}", file=sys.stderr, flush=True)
    return results


def run_borders(number: int, plan: Plan) -> list[Judged]:
    results: list[Judged] = []
    for index in range(BATCH_SIZE):
        if (results and time.time() > plan.until) or (plan.only and plan.only != f"b{number}.{index}"):
            continue
        found = run_border(number, index, plan.seed, compilers(), plan.rules.budget, plan.topic)
        case, parts, judged = found
        results.append(judged)
        if plan.only:
            print(f"{case.target}---\n{case.rewrite}---\n{findings.commands(case, parts)}", file=sys.stderr)
        if plan.verbose or judged.wrong:
            trouble = f" WRONG: {judged.wrong}" if judged.wrong else ""
            said = f"{judged.label} {case.topic} ({case.change}; {parts[0]} / {parts[1]}): {judged.word}"
            print(f"{said} in {judged.seconds:.2f} s {judged.why}{trouble}", file=sys.stderr, flush=True)
        if judged.wrong and plan.findings is not None:
            findings.keep(found, plan.findings)
        if judged.wrong and plan.save:
            header = findings.save(findings.smaller(found, plan.rules.budget), BORDER_PAIRS)
            print(f"saved {header}", file=sys.stderr, flush=True)
    return results


def _tell(batch: Batch, judged: Judged, change: str) -> None:
    builds = " / ".join(map(str, batch.builds))
    trouble = f" WRONG: {judged.wrong}" if judged.wrong else ""
    said = f"{judged.label} {judged.kind} ({change}; {builds}): {judged.word} in {judged.seconds:.2f} s {judged.why}"
    print(said + trouble, file=sys.stderr, flush=True)


def run_all(plan: Plan, jobs: int) -> list[Judged]:
    if plan.only:
        letter, number = plan.only[0], int(plan.only[1:].partition(".")[0])
        return run_batch(letter, number, plan)
    results: list[Judged] = []
    names = batch_names(plan.letters)
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        running: set[Future[list[Judged]]] = set()
        while time.time() < plan.until or running:
            while len(running) < jobs and time.time() < plan.until:
                running.add(pool.submit(run_batch, *next(names), plan))
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                results += future.result()
            _progress(results, plan)
    return results


def _progress(results: Sequence[Judged], plan: Plan) -> None:
    wrong = sum(1 for r in results if r.wrong)
    left = max(0.0, plan.until - time.time())
    print(f"{len(results)} pairs, {wrong} wrong, {left:.0f} s left", file=sys.stderr, flush=True)


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="soundness", description="Make pairs without end and attack every verdict.")
    parser.add_argument("--seconds", type=float, default=120, help="how long (default 120)")
    parser.add_argument("--seed", type=int, default=1, help="which pairs (default 1)")
    parser.add_argument("--only", default="", metavar="LABEL", help="one pair again, as c12.3, with the same --seed")
    parser.add_argument(
        "--batches",
        default="ccsl",
        metavar="LETTERS",
        help="in turn: c for C, s for assembly, l for loops, b for borders (default ccsl)",
    )
    parser.add_argument("--borders", action="store_true", help="the same as --batches b")
    parser.add_argument("--topic", default="", choices=["", *TOPICS], help="only border cases of this topic")
    parser.add_argument("--findings", type=Path, metavar="DIR", help="keep what is wrong at the border there")
    parser.add_argument("-j", "--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes (default 2)")
    parser.add_argument("--budget", type=float, default=10, help="seconds for one verdict (default 10)")
    parser.add_argument("--quick", action="store_true", help="attack with a few hundred runs instead of thousands")
    parser.add_argument("--no-save", action="store_true", help="do not write contradictions to tests/pairs/soundness")
    parser.add_argument("-v", "--verbose", action="store_true", help="show every pair")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parsed(arguments)
    rules = Rules(QUICK if options.quick else FULL, options.budget, options.seed)
    started = time.time()
    until = started + (1e9 if options.only else options.seconds)
    letters = "".join(letter for letter in options.batches if letter in "cslb") or "c"
    if options.borders or options.topic:
        letters = "b"
    plan = Plan(
        options.seed,
        until,
        rules,
        not options.no_save,
        options.verbose or bool(options.only),
        options.only,
        letters,
        options.topic,
        options.findings,
    )
    results = run_all(plan, max(1, options.jobs))
    print(table(results, time.time() - started))
    return 1 if any(r.wrong for r in results) else 0
