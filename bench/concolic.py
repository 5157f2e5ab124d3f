"""How fast the concolic engine is: figure 13's programs of seed 000, and the cost of a path as the tree grows.

    python bench/concolic.py [--repeat N]

Everything runs inside one process, after everything was imported once. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from isoform.borders.question import Options, Question
from isoform.borders.settle import settle
from isoform.engines.answer import lifted
from isoform.engines.concolic import Search
from isoform.engines.finding import Finding
from isoform.load.open import open_pair
from isoform.model.budget import Budget

PAIRS = Path(__file__).parents[1] / "tests" / "pairs" / "concolic"
FIGURE_13 = {
    "stack": "can reason about pushes and pops to the stack",
    "fun": "finds counterexamples across function calls",
    "while": "able to reason about loops that iterate less than depth times",
    "infinite": "treats infinite loops conservatively",
    "div0": "can handle CPU exceptions",
    "nested": "reasons about nested conditional statements",
}
GROWTH = (4, 8, 12, 16, 24, 32, 48)


def question(target: Path, rewrite: Path, depth: int = 50) -> Question:
    sides = [lifted(side) for side in open_pair(str(target), str(rewrite))]
    return settle(sides[0], sides[1], Options(depth=depth))


def answer(asked: Question) -> tuple[Search, Finding, float]:
    started = time.perf_counter()
    engine = Search(asked, Budget(60))
    finding = engine.answer()
    return engine, finding, time.perf_counter() - started


def figure_13(repeat: int) -> None:
    print(f"{'program':<22}{'answer':<14}{'whole':>9}{'search':>9}{'solver':>9}{'paths':>9}{'runs':>6}")
    for name in FIGURE_13:
        other = f"{name}-other" if name == "infinite" else f"{name}-rewrite"
        for rewrite in (other, f"{name}-broken"):
            best: tuple[float, str] | None = None
            for _ in range(repeat):
                started = time.perf_counter()
                engine, finding, seconds = answer(question(PAIRS / f"{name}.asm", PAIRS / f"{rewrite}.asm"))
                whole = time.perf_counter() - started
                paths = "+".join(map(str, engine.paths))
                row = (
                    f"{rewrite:<22}{type(finding).__name__:<14}{whole:>8.3f}s{seconds:>8.3f}s"
                    f"{engine.solver_seconds:>8.3f}s{paths:>9}{engine.counts.runs:>6}"
                )
                if best is None or whole < best[0]:
                    best = whole, row
            assert best is not None
            print(best[1])


def branches(length: int) -> str:
    """A program with one path for each number from 0 to `length`, all decided one after the other."""
    lines = ["lis $5", ".word 1", "add $3, $0, $0", "add $4, $1, $0"]
    for number in range(length):
        lines += [f"beq $4, $0, out{number}", "add $3, $3, $2", "sub $4, $4, $5"]
    lines += ["jr $31"]
    for number in range(length):
        lines += [f"out{number}:", f"lis $6\n.word {number}", "add $3, $3, $6", "jr $31"]
    return "\n".join(lines) + "\n"


def growth() -> None:
    print(f"\n{'conditions':<12}{'paths':>8}{'search':>10}{'per path':>12}{'solver per path':>18}")
    with tempfile.TemporaryDirectory() as folder:
        for length in GROWTH:
            path = Path(folder) / f"branches{length}.asm"
            path.write_text(branches(length), encoding="utf-8")
            engine, _, seconds = answer(question(path, path, depth=length + 2))
            paths = sum(engine.paths)
            print(
                f"{length:<12}{paths:>8}{seconds:>9.3f}s{1000 * seconds / paths:>10.2f}ms"
                f"{1000 * engine.solver_seconds / paths:>16.2f}ms"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, help="the best of so many runs counts")
    repeat = parser.parse_args().repeat
    answer(question(PAIRS / "stack.asm", PAIRS / "stack-rewrite.asm"))
    figure_13(repeat)
    growth()


if __name__ == "__main__":
    main()
