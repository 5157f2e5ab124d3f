"""How fast the runner is, and how lifting and encoding grow with the size of a function.

    python bench/speed.py

A report, not a test: nothing here asserts a time.
"""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path

from isoform import LoadOptions, Options, api
from isoform.borders.settle import settle
from isoform.engines.encoding import encode
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


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        runner_speed(Path(name))
        growth(Path(name))


if __name__ == "__main__":
    main()
