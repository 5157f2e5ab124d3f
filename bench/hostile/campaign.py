"""The campaign: cases without end, each judged, failures made smaller and saved."""

from __future__ import annotations

import argparse
import itertools
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random

from hostile.c_text import precondition_case, prototype_case
from hostile.case import Case, smaller
from hostile.certificate import build as build_certificates
from hostile.certificate import certificate_case
from hostile.code import code_case
from hostile.dwarf import dwarf_case
from hostile.elf import elf_case
from hostile.judge import wrong
from hostile.runner import Answer, Runner, write_case
from hostile.samples import build as build_samples
from hostile.text import text_case

FORMATS = ("elf", "dwarf", "toy", "asm", "prototype", "precondition", "certificate", "code")
FAILURES = Path(tempfile.gettempdir()) / "hostile-failures"
SHRINK_SECONDS = 20.0
MOST_SAVED = 40
SLOW = 6.0
"""Seconds after which a case is worth a line."""
_EXITS = {0: "equivalent or fine", 1: "different", 2: "refused", 3: "bounded or unknown"}

Maker = Callable[[Random], Case]


@dataclass
class Failure:
    name: str
    case: Case
    why: str
    trace: str


@dataclass
class Tally:
    cases: Counter[str] = field(default_factory=Counter)
    exits: Counter[tuple[str, int | None]] = field(default_factory=Counter)
    slowest: dict[str, float] = field(default_factory=dict)
    largest: dict[str, int] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    def note(self, case: Case, answer: Answer) -> None:
        self.cases[case.format] += 1
        self.exits[case.format, answer.code] += 1
        self.slowest[case.format] = max(self.slowest.get(case.format, 0.0), answer.processor)
        if answer.processor > SLOW:
            print(
                f"slow: {answer.processor:.1f} s ({case.format}, {case.what}): isoform {' '.join(case.words)}",
                flush=True,
            )
        self.largest[case.format] = max(self.largest.get(case.format, 0), answer.peak)

    def table(self) -> str:
        lines = [
            f"{'format':<14}{'cases':>8}{'0':>8}{'1':>8}{'2':>8}{'3':>8}{'failed':>8}{'slowest':>10}{'memory':>10}"
        ]
        failed = Counter(f.case.format for f in self.failures)
        for name in sorted(self.cases):
            counts = "".join(f"{self.exits[name, code]:>8}" for code in _EXITS)
            lines.append(
                f"{name:<14}{self.cases[name]:>8}{counts}{failed[name]:>8}"
                f"{self.slowest[name]:>8.1f} s{self.largest[name] >> 20:>6} MiB"
            )
        lines.append(f"{'all':<14}{sum(self.cases.values()):>8}{'':>32}{len(self.failures):>8}")
        return "\n".join(lines)


def makers(folder: Path, formats: tuple[str, ...]) -> dict[str, Maker]:
    samples = build_samples(folder)
    found: dict[str, Maker] = {
        "elf": partial(elf_case, samples=samples),
        "dwarf": partial(dwarf_case, samples=samples),
        "toy": partial(text_case, suffix=".toy"),
        "asm": partial(text_case, suffix=".asm"),
        "prototype": partial(prototype_case, samples=samples),
        "precondition": partial(precondition_case, samples=samples),
        "code": partial(code_case, samples=samples),
    }
    if "certificate" in formats:
        found["certificate"] = partial(certificate_case, certificates=build_certificates(folder))
    return {name: found[name] for name in formats}


def case_of(makers: dict[str, Maker], seed: int, number: int) -> Case:
    """The case of this number: the same for the same seed and formats."""
    names = list(makers)
    return makers[names[number % len(names)]](Random(f"{seed}/{number}"))


def run_campaign(
    seconds: float,
    seed: int,
    formats: tuple[str, ...],
    most: int | None = None,
    only: int | None = None,
    first: int = 0,
) -> Tally:
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="hostile-samples-") as folder:
        ready = makers(Path(folder), formats)
        runner = Runner()
        stop = time.monotonic() + seconds
        try:
            for number in itertools.count(first) if only is None else [only]:
                if time.monotonic() > stop or (most is not None and number - first >= most):
                    break
                _try(
                    tally,
                    runner,
                    case_of(ready, seed, number),
                    f"{'-'.join(formats) if len(formats) == 1 else 'all'}-{seed}-{number}",
                )
        finally:
            runner.close()
    return tally


def _try(tally: Tally, runner: Runner, case: Case, name: str) -> None:
    answer = runner.run(case)
    tally.note(case, answer)
    why = wrong(case, answer)
    if not why:
        return
    runner.stop()
    again = runner.run(case)
    confirmed = wrong(case, again)
    print(f"{name} ({case.format}, {case.what}): {why}", flush=True)
    if not confirmed:
        print(f"    not so the second time: {again.code} in {again.seconds:.1f} s", flush=True)
        if not answer.trace:
            return
    print(f"    isoform {' '.join(repr(w)[1:-1][:60] for w in case.words)}", flush=True)
    failure = Failure(name, case, why, answer.trace)
    tally.failures.append(failure)
    if len(tally.failures) <= MOST_SAVED:
        save(_shrunk(runner, failure))


def _shrunk(runner: Runner, failure: Failure) -> Failure:
    """The smallest case found in time that fails in the same way."""
    stop = time.monotonic() + SHRINK_SECONDS
    case, progress = failure.case, True
    while progress and time.monotonic() < stop:
        progress = False
        for candidate in smaller(case):
            if time.monotonic() > stop:
                break
            why = wrong(candidate, runner.run(candidate))
            if why and why.split(":")[0][:20] == failure.why.split(":")[0][:20]:
                case, progress = candidate, True
                break
    return Failure(failure.name, case, failure.why, failure.trace)


def save(failure: Failure) -> None:
    place = FAILURES / failure.name
    shutil.rmtree(place, ignore_errors=True)
    write_case(failure.case, place)
    words = " ".join(repr(word) for word in failure.case.words)
    text = f"{failure.why}\n{failure.case.what}\nisoform {words}\n\n{failure.trace}"
    (place / "README").write_text(text, "utf-8", "backslashreplace")
    print(f"    saved in {place}", flush=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="./scripts/hostile", description="Damaged files for every reader of isoform.")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long (default 60)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--format", choices=FORMATS, action="append", help="only this; may be given again")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="only the case of this number")
    parser.add_argument("--first", type=int, default=0, metavar="NUMBER", help="begin with the case of this number")
    parser.add_argument("--most", type=int, metavar="N", help="at most N cases")
    options = parser.parse_args(arguments)
    formats = tuple(dict.fromkeys(options.format or FORMATS))
    print(f"seed {options.seed}, {options.seconds:g} s, {', '.join(formats)}", flush=True)
    tally = run_campaign(options.seconds, options.seed, formats, options.most, options.only, options.first)
    print(tally.table(), flush=True)
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
