"""What a small question takes, how fast the runner is, and how lifting and encoding grow with the size of a function.

    python bench/speed.py
    python bench/speed.py --library build/libcrypto.so:BN_add
    python bench/speed.py --questions 10000

With `--library`, also what it takes to load one function of a large file; with `--questions`, what memory a checker
takes after so many of them. Times are of the processor, the least of several: the machine may be busy. A report, not a
test: nothing here asserts a time.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import isoform
from isoform import LoadOptions, Options, api
from isoform.borders.settle import settle
from isoform.engines.encoding import encode
from isoform.load.open import open_one
from isoform.model.budget import Budget
from isoform.model.outcome import Inputs
from isoform.run.compile import compile_function
from isoform.run.runner import RunOptions, run

LOOPS = """
unsigned sum(unsigned n) { unsigned s = 0; for (unsigned i = 0; i < n; i++) s += i * i ^ s; return s; }
unsigned cells(unsigned *p, unsigned n) {
  unsigned s = 0;
  for (unsigned i = 0; i < n; i++) { s += p[i & 255]; p[(i + 7) & 255] = s; }
  return s;
}
"""


def straight_line(statements: int) -> str:
    """A long function with a branch now and then."""
    rnd = random.Random(statements)
    lines = ["unsigned f(unsigned a, unsigned b, unsigned c, unsigned *p) { unsigned x = a, y = b, z = c, w = a ^ b;"]
    for _ in range(statements):
        left, one, two = (rnd.choice("xyzw") for _ in range(3))
        operator = rnd.choice("+-^&|")
        if rnd.random() < 0.1:
            lines.append(f"if ({one} > {rnd.randrange(1000)}u) {left} = {two} {operator} {one}; else {left} ^= 9;")
        elif rnd.random() < 0.1:
            lines.append(rnd.choice((f"p[{rnd.randrange(8)}] = {left};", f"{left} += p[{rnd.randrange(8)}];")))
        else:
            lines.append(f"{left} = {one} {operator} ({two} >> {rnd.randrange(1, 31)});")
    return "\n".join([*lines, "return x + y * 3 + z + w; }"])


def runner_speed(folder: Path) -> None:
    source = folder / "loops.c"
    source.write_text(LOOPS)
    print(f"{'runner':16} {'steps':>10} {'instructions/s':>16}")
    for name, registers in (("sum", {"rdi": 100_000}), ("cells", {"rdi": 0x10_0000, "rsi": 50_000})):
        for level in ("-O0", "-O1"):
            function = api.show(f"{source}:{name}", LoadOptions(cflags=(level,)))
            program = compile_function(function)
            started = time.perf_counter()
            outcome = run(program, Inputs(registers), RunOptions(fuel=10**9))
            seconds = time.perf_counter() - started
            print(f"{name + ' ' + level:16} {outcome.steps:10} {outcome.steps / seconds:16,.0f}", flush=True)


def growth(folder: Path) -> None:
    print(f"\n{'instructions':>12} {'micro-ops':>10} {'lift ms':>9} {'encode ms':>10} {'us/instruction':>15}")
    for statements in (60, 250, 1000, 2400):
        source = folder / f"long{statements}.c"
        source.write_text(straight_line(statements))
        options = LoadOptions(cflags=("-O0",))
        loaded = api.open_pair(f"{source}:f", f"{source}:f", options, LoadOptions(cflags=("-O1",)))
        api.lifted(loaded[0])
        started = time.perf_counter()
        functions = [api.lifted(side) for side in loaded]
        lifted = time.perf_counter()
        encode(settle(functions[0], functions[1], Options()), Budget(600))
        encoded = time.perf_counter()
        instructions = sum(len(f.instructions) for f in functions)
        micro_ops = sum(len(b.ops) for f in functions for b in f.blocks.values())
        each = 1e6 * (encoded - started) / instructions
        times = f"{1000 * (lifted - started):9.1f} {1000 * (encoded - lifted):10.1f} {each:15.1f}"
        print(f"{instructions:12} {micro_ops:10} {times}", flush=True)


SMALL = {
    "target": "int f(int x, int y) { return x * 2 + y; }",
    "equivalent": "int f(int x, int y) { return y + x + x; }",
    "different": "int f(int x, int y) { return y - x - x; }",
    "rarely different": "int f(int x, int y) { return y + x + x + (x == 7777777); }",
}
CODE = bytes.fromhex("8d0477c3"), bytes.fromhex("01f68d0437c3"), bytes.fromhex("01f629f789f8c3")
"""x + 2 * y, the same in other words, and x - 2 * y."""
PROTOTYPE = "int f(int x, int y)"


def least(what: Callable[[], object], times: int = 30) -> float:
    """Milliseconds of processor time."""
    found = []
    for _ in range(times):
        started = time.process_time()
        what()
        found.append(time.process_time() - started)
    return 1000 * min(found)


def small_questions(folder: Path) -> None:
    print(f"{'small question':34} {'ms':>8}")
    for name, text in SMALL.items():
        source = folder / f"{name.split()[0]}.c"
        source.write_text(text)
        subprocess.run(["cc", "-g", "-O2", "-c", source, "-o", folder / f"{name}.o"], check=True)
    target = folder / "target.o"
    for name in list(SMALL)[1:]:
        rewrite = folder / f"{name}.o"
        isoform.compare(target, rewrite)
        print(f"{name + ', two files':34} {least(lambda r=rewrite: isoform.compare(target, r)):8.1f}", flush=True)
    checker = isoform.Checker(isoform.code(CODE[0], signature=PROTOTYPE))
    for name, content in (("equivalent, bytes", CODE[1]), ("different, bytes", CODE[2])):
        print(f"{name:34} {least(lambda c=content: checker.compare(isoform.code(c))):8.1f}", flush=True)
    print(f"{'a whole command':34} {1000 * min(_command(folder) for _ in range(5)):8.1f}", flush=True)


def _command(folder: Path) -> float:
    """Processor time of a command and its children. Modules are compiled once, as for users: the first one pays."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "isoform", "compare", "-q", folder / "target.o", folder / "equivalent.o"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def one_of_many(spec: str) -> None:
    print(f"\n{'one function of ' + spec:34} {least(lambda: open_one(spec), 5):8.1f} ms")


def memory(questions: int) -> None:
    """What is resident as questions go on, each about another rewrite."""
    checker = isoform.Checker(isoform.code(CODE[0], signature=PROTOTYPE))
    page = os.sysconf("SC_PAGE_SIZE")
    print(f"\n{'questions':>10} {'resident MiB':>13}")
    for number in range(questions + 1):
        constant = random.Random(number).randrange(1 << 31).to_bytes(4, "little")
        rewrite = (
            b"\x8d\x84\x77" + constant + b"\xc3" if number % 2 else CODE[1][:-1] + b"\x90" * (number % 7) + b"\xc3"
        )
        checker.compare(isoform.code(rewrite))
        if number % max(1, questions // 10) == 0:
            resident = int(Path("/proc/self/statm").read_text().split()[1]) * page
            print(f"{number:10} {resident / (1 << 20):13.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--library", metavar="PATH:FUNCTION")
    parser.add_argument("--questions", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        small_questions(Path(name))
        if asked.library:
            one_of_many(asked.library)
        if asked.questions:
            memory(asked.questions)
        runner_speed(Path(name))
        growth(Path(name))


if __name__ == "__main__":
    main()
