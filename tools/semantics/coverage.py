"""Which share of a binary's instructions, and of its functions, isoform has full semantics for.

    ./scripts/coverage-isa FILE…

Counted are functions, from the symbols and from the unwind table (which also knows what a stripped file has no symbol
for), decoded from start to end; and, outside of them, code that a direct jump or call of counted code leads to. Other
bytes of executable sections are not counted: between functions lie padding and, in hand-written code, tables.
"""

from __future__ import annotations

import argparse
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from isoform.isa.registry import machine
from isoform.load.elf import parse_elf
from isoform.load.image import Image
from isoform.load.place import place
from isoform.load.resolve import read_file
from isoform.model.errors import UserError
from isoform.model.machine import Machine
from isoform.model.microop import Instruction, Kind, Space

LISTED = 15
Range = tuple[int, int]
_LEAVES = frozenset({Kind.BRANCH, Kind.BRANCHIND, Kind.RETURN})
_UNREADABLE = "(bad)"


@dataclass
class Coverage:
    """Counts over one file."""

    instructions: int = 0
    supported: int = 0
    functions: int = 0
    whole_functions: int = 0
    code_bytes: int = 0
    """Of the instructions counted, out of `all_bytes` in executable sections."""
    all_bytes: int = 0
    missing: Counter[str] = field(default_factory=Counter)

    def count(self, instruction: Instruction) -> bool:
        """Whether it has full semantics."""
        lacks = any(op.kind is Kind.UNSUPPORTED for op in instruction.ops)
        self.instructions += 1
        self.code_bytes += instruction.length
        self.supported += not lacks
        if lacks:
            self.missing[instruction.text.split(" ")[0]] += 1
        return not lacks


def coverage(image: Image, unwind: list[Range] | None = None, limit: int | None = None) -> Coverage:
    """Decode all code of an image (at most `limit` instructions) and count. `unwind` are ranges of an unwind table."""
    counted = Coverage()
    isa = machine(image.machine)
    sections = [(s.address, s.end) for s in image.sections if s.executable and not s.name.startswith(".plt")]
    counted.all_bytes = sum(end - start for start, end in sections)
    functions = _functions(image, unwind or [], sections)
    targets: set[int] = set()
    for start, end in functions:
        whole = True
        for instruction in _decoded(image, isa, start, end):
            whole &= counted.count(instruction)
            targets.update(_targets(instruction))
            if limit is not None and counted.instructions >= limit:
                return counted
        counted.functions += 1
        counted.whole_functions += whole
    _count_reached(counted, image, isa, _Ranges(functions), _Ranges(sections), targets)
    return counted


def _functions(image: Image, unwind: list[Range], sections: list[Range]) -> list[Range]:
    """Start and end of every function, without overlap."""
    known = [(s.address, s.address + s.size) for s in image.symbols if s.is_function and s.size]
    ends: dict[int, int] = {}
    for start, end in (*known, *unwind):
        ends[start] = max(end, ends.get(start, start))
    found: list[Range] = []
    for start, end in sorted(ends.items()):
        home = next((section for section in sections if section[0] <= start < section[1]), None)
        if home is not None and (not found or start >= found[-1][1]):
            found.append((start, min(end, home[1])))
    return found


class _Ranges:
    """Sorted ranges without overlap."""

    def __init__(self, ranges: list[Range]) -> None:
        self._ranges = sorted(ranges)
        self._starts = [start for start, _ in self._ranges]

    def __contains__(self, address: int) -> bool:
        at = bisect_right(self._starts, address) - 1
        return at >= 0 and address < self._ranges[at][1]


def _decoded(image: Image, isa: Machine, start: int, end: int) -> Iterator[Instruction]:
    while start < end:
        code = image.code_at(start)
        if not code:
            return
        instruction = isa.decode(code, start)
        yield instruction
        start = instruction.next_address


def _targets(instruction: Instruction) -> Iterator[int]:
    for op in instruction.ops:
        if op.kind in (Kind.BRANCH, Kind.CBRANCH, Kind.CALL) and op.ins[0].space is Space.CODE:
            yield op.ins[0].offset


def _count_reached(
    counted: Coverage, image: Image, isa: Machine, functions: _Ranges, sections: _Ranges, targets: set[int]
) -> None:
    """Code outside functions that jumps and calls lead to, from there to where it leaves."""
    pending, seen = list(targets), set[int]()
    while pending:
        address = pending.pop()
        while address not in seen and address not in functions and address in sections:
            seen.add(address)
            code = image.code_at(address)
            if not code:
                break
            instruction = isa.decode(code, address)
            counted.count(instruction)
            pending.extend(_targets(instruction))
            if _UNREADABLE in instruction.text or (instruction.ops and instruction.ops[-1].kind in _LEAVES):
                break
            address = instruction.next_address


def unwind_ranges(data: bytes, base: int) -> list[Range]:
    """Start and end of what the file's unwind table describes; nothing where there is none or it cannot be read."""
    from elftools.common.exceptions import ELFError
    from elftools.dwarf.callframe import FDE
    from elftools.elf.elffile import ELFFile

    try:
        dwarf = ELFFile(BytesIO(data)).get_dwarf_info(relocate_dwarf_sections=False, follow_links=False)
        entries = dwarf.EH_CFI_entries() if dwarf.has_EH_CFI() else []
    except (ELFError, ValueError, KeyError, AssertionError):
        return []
    headers = (entry.header for entry in entries if isinstance(entry, FDE))
    starts = ((base + header["initial_location"], header["address_range"]) for header in headers)
    return [(start, start + size) for start, size in starts]


def report(path: Path, limit: int | None) -> str:
    data = read_file(path)
    image = place([parse_elf(data, str(path))])[0]
    counted = coverage(image, unwind_ranges(data, image.base), limit)
    share = 100 * counted.supported / max(1, counted.instructions)
    functions = 100 * counted.whole_functions / max(1, counted.functions)
    lines = [
        f"{path}",
        f"  instructions  {counted.instructions:9}  with full semantics {share:7.3f} %",
        f"  functions     {counted.functions:9}  with full semantics {functions:7.3f} %",
        f"  bytes of code {counted.code_bytes:9}  of {counted.all_bytes} in executable sections",
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
