"""Which share of a binary's instructions, and of its functions, isoform has full semantics for.

    ./scripts/coverage-isa FILE…

Code is decoded from every function symbol to its end, and what lies between functions from where the last one ended.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from isoform.errors import UserError
from isoform.isa.machine import Machine
from isoform.isa.registry import machine
from isoform.load.elf import parse_elf
from isoform.load.image import Image, Symbol
from isoform.load.place import place
from isoform.load.resolve import read_file
from isoform.microop import Kind

LISTED = 15


@dataclass
class Coverage:
    """Counts over one file."""

    instructions: int = 0
    supported: int = 0
    functions: int = 0
    whole_functions: int = 0
    missing: Counter[str] = field(default_factory=Counter)


def coverage(image: Image, limit: int | None = None) -> Coverage:
    """Decode all code of an image (at most `limit` instructions) and count."""
    counted = Coverage()
    isa = machine(image.machine)
    for start, end, is_function in _stretches(image):
        whole = True
        for name in _names(image, isa, start, end):
            counted.instructions += 1
            counted.supported += name is None
            if name is not None:
                counted.missing[name] += 1
                whole = False
            if limit is not None and counted.instructions >= limit:
                return counted
        if is_function:
            counted.functions += 1
            counted.whole_functions += whole
    return counted


def _stretches(image: Image) -> Iterator[tuple[int, int, bool]]:
    """(start, end, whether it is a function) of all code, without overlap."""
    functions = sorted({s.address: s for s in image.symbols if s.is_function and s.size}.values(), key=_address)
    for section in (s for s in image.sections if s.executable and not s.name.startswith(".plt")):
        at = section.address
        for symbol in functions:
            end = min(symbol.address + symbol.size, section.end)
            if not section.address <= symbol.address < section.end or symbol.address < at:
                continue
            if at < symbol.address:
                yield at, symbol.address, False
            yield symbol.address, end, True
            at = end
        if at < section.end:
            yield at, section.end, False


def _address(symbol: Symbol) -> int:
    return symbol.address


def _names(image: Image, isa: Machine, start: int, end: int) -> Iterator[str | None]:
    """For each instruction its mnemonic if it has no semantics, else None."""
    while start < end:
        code = image.code_at(start)
        if not code:
            return
        instruction = isa.decode(code, start)
        lacks = any(op.kind is Kind.UNSUPPORTED for op in instruction.ops)
        yield (instruction.text.split(" ")[0] if lacks else None)
        start += instruction.length


def report(path: Path, limit: int | None) -> str:
    image = place([parse_elf(read_file(path), str(path))])[0]
    counted = coverage(image, limit)
    share = 100 * counted.supported / max(1, counted.instructions)
    functions = 100 * counted.whole_functions / max(1, counted.functions)
    lines = [
        f"{path}",
        f"  instructions  {counted.instructions:9}  with full semantics {share:7.3f} %",
        f"  functions     {counted.functions:9}  with full semantics {functions:7.3f} %",
    ]
    if counted.missing:
        shown = ", ".join(f"{name} {count}" for name, count in counted.missing.most_common(LISTED))
        lines.append(f"  missing       {len(counted.missing):9}  mnemonics: {shown}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="coverage-isa", description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--most", type=int, default=None, metavar="N", help="stop after N instructions of each file")
    arguments = parser.parse_args()
    try:
        for path in arguments.files:
            print(report(path, arguments.most), flush=True)
    except UserError as error:
        print(f"coverage-isa: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
