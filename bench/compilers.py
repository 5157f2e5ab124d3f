"""Faulty compilers against a right one: what fixed tests, random tests and concolic execution each find, and how soon.

    python bench/compilers.py [--bugs NAME...] [--programs N] [--tests N] [--budget SECONDS] [--seed N] [--engine NAME]

The evaluation that seed 000 plans in its section 5. Each bug is put into a compiler, which compiles a program made for
that bug and `--programs` random ones whose code the bug changes. That code is compared with the code of the right
compiler of the other style. A report, not a test: nothing here fails.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random

from isoform import api
from isoform.borders.question import Engine, Options, Question
from isoform.borders.settle import settle
from isoform.load.open import open_pair
from isoform.model.errors import Unsupported
from isoform.model.outcome import Inputs
from isoform.model.verdict import Different
from minicompiler.bugs import Bug, Style, styles_of
from minicompiler.cases import CASES
from minicompiler.compiler import Compiler
from minicompiler.generate import random_program
from minicompiler.source import written
from minicompiler.tree import Program, wrapped

FIXED_TESTS = (
    (0, 0),
    (0, 1),
    (1, 0),
    (1, 1),
    (1, 2),
    (2, 1),
    (5, 3),
    (3, 5),
    (10, 10),
    (12, -4),
    (-4, 12),
    (-1, -1),
    (-7, 2),
    (7, -2),
    (100, 7),
    (241, 1000),
    (65_536, 3),
    (-100_000, 9),
    (2_147_483_647, 1),
    (-2_147_483_648, -1),
)
"""Black-box tests as a course would write them."""


@dataclass(frozen=True)
class Attempt:
    """What one method made of one pair."""

    said: str
    seconds: float
    witness: tuple[int, int] | None = None
    engine: str = ""
    """The one that answered."""

    @property
    def found(self) -> bool:
        return self.witness is not None


@dataclass(frozen=True)
class Subject:
    """A program, and the compiler that is tried on it."""

    compiler: Compiler
    program: Program
    name: str
    shown: bool
    """Whether an input is known on which the bug shows."""


@dataclass(frozen=True)
class Row:
    subject: Subject
    fixed: Attempt
    random: Attempt
    concolic: Attempt

    @property
    def differs(self) -> bool:
        return self.subject.shown or any(a.found for a in (self.fixed, self.random, self.concolic))


def random_tests(seed: int, number: int) -> Iterator[tuple[int, int]]:
    """Half of them any 32 bits, half of them small."""
    random = Random(seed)
    for index in range(number):
        if index % 2:
            yield wrapped(random.getrandbits(32)), wrapped(random.getrandbits(32))
        else:
            yield random.randint(-128, 127), random.randint(-128, 127)


def run_tests(question: Question, tests: Iterable[tuple[int, int]]) -> Attempt:
    started = time.perf_counter()
    ran = 0
    for ran, (first, second) in enumerate(tests, start=1):
        inputs = Inputs({"$1": first % (1 << 32), "$2": second % (1 << 32)})
        if question.contract.differences(*question.run_both((inputs, inputs))):
            return Attempt(f"test {ran}", time.perf_counter() - started, (first, second))
    return Attempt(f"none of {ran}", time.perf_counter() - started)


def run_engine(paths: tuple[str, str], options: Options) -> Attempt:
    verdict = api.compare(*paths, options)
    if not isinstance(verdict, Different):
        return Attempt(verdict.word, verdict.seconds, None, verdict.engine)
    values = dict(verdict.witness.arguments)
    witness = (wrapped(values["$1"]), wrapped(values["$2"]))
    return Attempt(verdict.word, verdict.seconds, witness, verdict.engine)


def evaluate(subject: Subject, folder: Path, options: Options, tests: int) -> Row:
    paths = (folder / "reference.asm", folder / "submission.asm")
    paths[0].write_text(subject.compiler.reference.compile(subject.program))
    paths[1].write_text(subject.compiler.compile(subject.program))
    names = (str(paths[0]), str(paths[1]))
    concolic = run_engine(names, options)
    try:
        target, rewrite = (api.lifted(side) for side in open_pair(*names))
    except Unsupported as reason:
        refused = Attempt(str(reason), 0.0)
        return Row(subject, refused, refused, concolic)
    question = settle(target, rewrite, options)
    fixed = run_tests(question, FIXED_TESTS)
    return Row(subject, fixed, run_tests(question, random_tests(options.seed, tests)), concolic)


def subjects(bug: Bug, style: Style, programs: int, seed: int) -> Iterator[Subject]:
    """The bug's own program, then random ones whose code the bug changes."""
    compiler = Compiler(style, bug)
    for case in CASES:
        if case.bug is bug:
            yield Subject(compiler, case.program, "its own", shown=True)
    found = 0
    for number in count(seed):
        if found == programs or number > seed + 1000:
            return
        program = random_program(number)
        if compiler.compile(program) != Compiler(style).compile(program):
            found += 1
            yield Subject(compiler, program, f"random {number}", shown=False)


def controls(programs: int, seed: int) -> Iterator[Subject]:
    """Two right compilers: no method may find anything."""
    for number in range(seed, seed + programs):
        yield Subject(Compiler(Style.NAIVE), random_program(number), f"random {number}", shown=False)


def share(attempts: Sequence[Attempt]) -> str:
    """How many found something, and the median time of those."""
    times = [a.seconds for a in attempts if a.found]
    return f"{len(times)}/{len(attempts)}" + (f" {1000 * statistics.median(times):8.1f} ms" if times else 12 * " ")


def print_row(name: str, style: Style, rows: Sequence[Row]) -> None:
    """Of a bug's programs only those count in which some input is known to show it."""
    counted = [row for row in rows if row.differs]
    columns = [share([getattr(row, method) for row in counted]) for method in ("fixed", "random", "concolic")]
    print(f"{name:24} {style.value:7}" + "".join(f"{column:>20}" for column in columns), flush=True)


def print_totals(title: str, rows: Sequence[Row]) -> None:
    differing = [row for row in rows if row.differs]
    print(f"\n{title}: {len(rows)} programs, {len(differing)} with a known difference")
    for method in ("fixed", "random", "concolic"):
        found = [row for row in differing if getattr(row, method).found]
        bugs = {row.subject.compiler.bug for row in found}
        print(f"  {method} found {len(found)}, of {len(bugs)} bugs")
    print("  without one, the engine said: " + counted([row.concolic.said for row in rows if not row.differs]))


def print_missed(rows: Sequence[Row]) -> None:
    for row in rows:
        if row.differs and not row.concolic.found:
            compiler, known = row.subject.compiler, row.fixed.witness or row.random.witness
            print(f"\nmissed: the engine said {row.concolic.said} in {row.concolic.seconds:.1f} s, tests found {known}")
            print(f"{compiler.bug}, {compiler.style.value} compiler, program {row.subject.name}")
            print(written(row.subject.program))


def counted(words: Sequence[str]) -> str:
    return ", ".join(f"{word} {words.count(word)}" for word in sorted({*words})) or "nothing"


def options_of(arguments: argparse.Namespace) -> Options:
    known = {engine.value: engine for engine in Engine}
    engine = known.get(arguments.engine, Engine.AUTO)
    return Options(engine=engine, budget=arguments.budget, seed=arguments.seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bugs", nargs="*", default=[bug.name for bug in Bug], help="names of bugs")
    parser.add_argument("--programs", type=int, default=2, help="random programs a bug and compiler")
    parser.add_argument("--controls", type=int, default=10, help="random programs without a bug")
    parser.add_argument("--tests", type=int, default=10_000)
    parser.add_argument("--budget", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", default="concolic")
    arguments = parser.parse_args()
    options = options_of(arguments)
    print(f"engine {options.engine.value}; found / programs in which the bug shows, median time to find")
    print(f"{'bug':24} {'in':7}{'20 fixed tests':>20}{f'{arguments.tests} random':>20}{'concolic':>20}")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as place:
        for bug in (Bug[name] for name in arguments.bugs):
            for style in styles_of(bug):
                chosen = subjects(bug, style, arguments.programs, arguments.seed)
                mine = [evaluate(subject, Path(place), options, arguments.tests) for subject in chosen]
                print_row(bug.name, style, mine)
                rows += mine
        right = [evaluate(s, Path(place), options, 100) for s in controls(arguments.controls, arguments.seed)]
    print_totals("programs made for a bug", [row for row in rows if row.subject.shown])
    print_totals("random programs", [row for row in rows if not row.subject.shown])
    print_totals("right compilers", right)
    print("\nanswers came from: " + counted([row.concolic.engine for row in (*rows, *right)]))
    print_missed(rows)


if __name__ == "__main__":
    main()
