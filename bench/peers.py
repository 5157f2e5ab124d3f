"""The same questions through angr in the same run, with the ratio of times.

    pip install -e '.[cc,peers]' && python bench/peers.py [FOLDER-OR-PAIR...]

angr has no command that compares two functions, so this is what one would write with it: run both
symbolically on the same arguments and initial memory, pair up the paths that reach the return, and ask whether
the return values can differ. It compares the return value only (isoform also compares memory, aborts, calls and
what must be restored), so where its answer differs from isoform's the last column says so.
"""

from __future__ import annotations

import argparse
import logging
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

import angr
import claripy

from isoform import api
from isoform.load.compile import compile_source
from isoform.load.open import SOURCE_SUFFIXES, LoadOptions
from isoform.load.resolve import split_spec
from isoform.model.signature import TypeKind
from pairfile import PAIRS, Pair, read_all
from pairs import arguments_of

SECONDS = 60
REGISTERS = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")


class TookTooLongError(Exception):
    """angr did not answer in time."""


def object_file(spec: str, options: LoadOptions | None, folder: Path) -> Path:
    path, _ = split_spec(spec)
    if path.suffix not in SOURCE_SUFFIXES:
        return path
    target = folder / f"{len(list(folder.iterdir()))}.o"
    target.write_bytes(compile_source(path, options.cc if options else None, options.cflags if options else ()))
    return target


def ends(path: Path, function: str, arguments: list[Any], memory: Any) -> list[Any]:
    """The states of all paths that return."""
    project = angr.Project(str(path), auto_load_libs=False, main_opts={"base_addr": 0x400000})
    symbol = project.loader.find_symbol(function)
    options = {angr.options.SYMBOL_FILL_UNCONSTRAINED_MEMORY, angr.options.SYMBOL_FILL_UNCONSTRAINED_REGISTERS}
    state = project.factory.call_state(symbol.rebased_addr, ret_addr=0xDEAD0000, add_options=options)
    for register, argument in zip(REGISTERS, arguments, strict=False):
        setattr(state.regs, register, argument)
    for address, word in memory:
        state.memory.store(address, word)
    manager = project.factory.simulation_manager(state)
    manager.explore(find=0xDEAD0000, num_find=10_000)
    return list(manager.found)


def ask(paths: list[Path], names: list[str], pointers: list[bool], bits: int) -> str:
    arguments = [claripy.BVS(f"argument{i}", 64) for i in range(len(pointers))]
    memory = []
    for index, pointer in enumerate(pointers):
        if pointer:
            arguments[index] = claripy.BVV(0x10000000 + 0x1000 * index, 64)
            memory.append((0x10000000 + 0x1000 * index, claripy.BVS(f"memory{index}", 8 * 64)))
    sides = [ends(p, n, arguments, memory) for p, n in zip(paths, names, strict=True)]
    for left in sides[0]:
        for right in sides[1]:
            solver = claripy.Solver()
            solver.add(left.solver.constraints)
            solver.add(right.solver.constraints)
            if bits:
                solver.add(left.regs.rax[bits - 1 : 0] != right.regs.rax[bits - 1 : 0])
                if solver.satisfiable():
                    return "different"
    return "equivalent"


def limited(seconds: int, run: Any) -> str:
    def stop(number: int, frame: object) -> None:
        raise TookTooLongError

    previous = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        return str(run())
    except TookTooLongError:
        return "timeout"
    except Exception as error:  # a peer's failure is a result of this report
        return type(error).__name__
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


def measure(pair: Pair, folder: Path) -> tuple[str, float, str, float]:
    """Both from the same object files, so that the compiler's time is nobody's."""
    a, b, options, load_a, load_b = arguments_of(pair)
    loaded = api.open_pair(a, b, load_a, load_b)
    files = [object_file(a, load_a, folder), object_file(b, load_b, folder)]
    names = [side.symbol.name for side in loaded]
    specs = [f"{file}:{name}" for file, name in zip(files, names, strict=True)]
    api.compare(specs[0], specs[1], options)  # the first one pays for imports
    started = time.perf_counter()
    verdict = api.compare(specs[0], specs[1], options)
    ours = time.perf_counter() - started
    pointers = [argument.type.kind is TypeKind.POINTER for argument in verdict.contract.arguments]
    started = time.perf_counter()
    said = limited(SECONDS, lambda: ask(files, names, pointers, verdict.contract.result_bits()))
    return verdict.word, ours, said, time.perf_counter() - started


def main() -> None:
    logging.disable(logging.CRITICAL)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("places", nargs="*", type=Path, default=[PAIRS / "x86_64"])
    arguments = parser.parse_args()
    pairs = [pair for pair in read_all(arguments.places) if not pair.missing]
    print(f"{'pair':40} {'isoform':11} {'ms':>8}  {'angr':18} {'ms':>9} {'ratio':>7}")
    ratios = []
    with tempfile.TemporaryDirectory() as name:
        for pair in pairs:
            word, ours, said, theirs = measure(pair, Path(name))
            ratios.append(theirs / ours)
            note = "" if said == word else "  not the same answer"
            times = f"{word:11} {1000 * ours:8.1f}  {said[:18]:18} {1000 * theirs:9.1f} {theirs / ours:6.0f}x"
            print(f"{pair.name[:40]:40} {times}{note}", flush=True)
    if ratios:
        print(f"median ratio over {len(ratios)} pairs: {sorted(ratios)[len(ratios) // 2]:.0f}x")


if __name__ == "__main__":
    main()
