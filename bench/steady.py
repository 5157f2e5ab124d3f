"""Is the verdict the same on an idle and on a busy machine? A sample of pairs of every kind, asked twice.

    python bench/steady.py [--pairs 100] [--busy 4] [--seed 1] [--only NAME...]

First idle, then beside busy processes. It says which verdicts differ, and where an answer was reached in another way
(by another engine). Borderline pairs are always in the sample. A report, not a test.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from pairfile import Pair, read_all

BORDERLINE = (
    "loops/unrolled-invert-clang",
    "loops/vector-saxpy-clang",
    "loops/vector-saxpy-clang-broken",
    "loops/sha1-gcc-o1-clang-o2",
    "loops/vector-xor-gcc",
    "loops/library-clear-rows-gcc-o1-clang-o2",
)
"""Their proofs once came out, or did not, by what else the machine did."""


@dataclass(frozen=True)
class Answer:
    verdict: str
    engine: str
    processor: float
    wall: float


def sample(pairs: Sequence[Pair], count: int, seed: int) -> list[Pair]:
    """Borderline ones, then the same number of each folder as far as it has them."""
    chosen = [pair for pair in pairs if pair.name in BORDERLINE]
    rng = random.Random(seed)
    kinds: dict[str, list[Pair]] = {}
    for pair in pairs:
        if pair.name not in BORDERLINE and not {"long", "todo"} & pair.fields.keys():
            kinds.setdefault(pair.path.parent.name, []).append(pair)
    mixed = [rng.sample(kind, len(kind)) for kind in kinds.values()]
    while len(chosen) < count and any(mixed):
        chosen += [kind.pop() for kind in mixed if kind]
    return chosen[:count]


def ask(pair: Pair) -> Answer:
    words = [sys.executable, "-m", "isoform", *pair.command("--json")]
    started = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    said = process.stdout.read()
    _, _, usage = os.wait4(process.pid, 0)
    found = json.loads(said) if said else {"verdict": "trouble", "engine": ""}
    used = usage.ru_utime + usage.ru_stime
    return Answer(found["verdict"], found["engine"], used, time.monotonic() - started)


def beside(busy: int, pairs: Sequence[Pair], label: str) -> list[Answer]:
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
    try:
        answers = []
        for number, pair in enumerate(pairs, 1):
            answers.append(ask(pair))
            shown = f"{answers[-1].verdict:10} {answers[-1].processor:5.1f} s of {answers[-1].wall:5.1f} s"
            print(f"{label} {number:3}/{len(pairs)} {shown}  {pair.name}", flush=True)
        return answers
    finally:
        for other in others:
            other.kill()
            other.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--busy", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[], help="names of pairs, as loops/strcmp")
    chosen = parser.parse_args()
    every = [pair for pair in read_all() if not pair.missing]
    pairs = [pair for pair in every if pair.name in chosen.only] or sample(every, chosen.pairs, chosen.seed)
    idle, busy = beside(0, pairs, "idle"), beside(chosen.busy, pairs, "busy")
    differ = 0
    print()
    for pair, one, other in zip(pairs, idle, busy, strict=True):
        if one.verdict != other.verdict:
            differ += 1
            print(f"differs   {pair.name}: {one.verdict} when idle, {other.verdict} when busy")
        elif one.engine != other.engine:
            print(f"otherwise {pair.name}: by {one.engine} when idle, by {other.engine} when busy")
    print(f"{len(pairs)} pairs, {differ} with another verdict beside {chosen.busy} busy processes")


if __name__ == "__main__":
    main()
