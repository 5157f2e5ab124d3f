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
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent / "tests" / "pairs"
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


def sample(count: int, seed: int) -> list[Path]:
    """Borderline ones, then the same number of each folder as far as it has them."""
    chosen = [ROOT / f"{name}.pair" for name in BORDERLINE if (ROOT / f"{name}.pair").exists()]
    rng = random.Random(seed)
    kinds = []
    for folder in sorted(path for path in ROOT.iterdir() if path.is_dir()):
        pairs = [path for path in sorted(folder.rglob("*.pair")) if path not in chosen and is_short(path)]
        kinds.append(rng.sample(pairs, len(pairs)))
    while len(chosen) < count and any(kinds):
        chosen += [pairs.pop() for pairs in kinds if pairs]
    return chosen[:count]


def fields(path: Path) -> dict[str, str]:
    lines = (line.split(":", 1) for line in path.read_text().splitlines() if ":" in line and not line.startswith("#"))
    return {key.strip(): value.strip() for key, value in lines}


def is_short(path: Path) -> bool:
    return not {"long", "todo"} & fields(path).keys()


def ask(path: Path) -> Answer:
    pair = fields(path)
    words = [sys.executable, "-m", "isoform", "compare", *(str(path.parent / pair[side]) for side in "ab"), "--json"]
    words += ["--cc", pair["cc"]] if "cc" in pair else []
    started = time.monotonic()
    process = subprocess.Popen(
        [*words, *shlex.split(pair.get("options", ""))], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    said = process.stdout.read()
    _, _, usage = os.wait4(process.pid, 0)
    found = json.loads(said) if said else {"verdict": "trouble", "engine": ""}
    used = usage.ru_utime + usage.ru_stime
    return Answer(found["verdict"], found["engine"], used, time.monotonic() - started)


def beside(busy: int, pairs: Sequence[Path], label: str) -> list[Answer]:
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
    try:
        answers = []
        for number, path in enumerate(pairs, 1):
            answers.append(ask(path))
            shown = f"{answers[-1].verdict:10} {answers[-1].processor:5.1f} s of {answers[-1].wall:5.1f} s"
            print(f"{label} {number:3}/{len(pairs)} {shown}  {path.relative_to(ROOT).with_suffix('')}", flush=True)
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
    pairs = [ROOT / f"{name}.pair" for name in chosen.only] or sample(chosen.pairs, chosen.seed)
    idle, busy = beside(0, pairs, "idle"), beside(chosen.busy, pairs, "busy")
    differ = 0
    print()
    for path, one, other in zip(pairs, idle, busy, strict=True):
        if one.verdict != other.verdict:
            differ += 1
            print(f"differs   {path.relative_to(ROOT)}: {one.verdict} when idle, {other.verdict} when busy")
        elif one.engine != other.engine:
            print(f"otherwise {path.relative_to(ROOT)}: by {one.engine} when idle, by {other.engine} when busy")
    print(f"{len(pairs)} pairs, {differ} with another verdict beside {chosen.busy} busy processes")


if __name__ == "__main__":
    main()
