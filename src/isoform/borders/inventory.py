"""The functions of a file, with their signatures and whether every instruction of theirs has semantics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from isoform.borders.inferred import infer
from isoform.isa.registry import TEXT_ISAS, machine
from isoform.lift.cfg import control_flow_graph
from isoform.lift.function import Call
from isoform.load.image import Image, Symbol
from isoform.load.inside import every_file
from isoform.load.open import Library, LoadOptions, open_libraries
from isoform.load.resolve import extent_of
from isoform.model.budget import Budget
from isoform.model.contract import SignatureSource
from isoform.model.errors import OutOfLimits, Unsupported, UserError
from isoform.model.inventory import Inventory, ListedFunction
from isoform.model.limits import enforced
from isoform.model.microop import Instruction, Kind
from isoform.model.names import shown_name, with_shown_names

SECONDS, MEMORY = 2.0, 2 << 30
"""Seconds of processor time and bytes for the signature of one function that debug information does not describe."""
MOST_INSTRUCTIONS = 200_000
"""Of one function that are decoded."""
MOST_MISSING = 8
"""Kinds of instructions without semantics that are named for one function."""
_Signature = tuple[str | None, SignatureSource | None, str]


def read_inventory(
    path: str, options: LoadOptions, only: Sequence[str], infers: bool, progress: Callable[[str], None]
) -> Inventory:
    """The functions whose name (as spelled or as shown) fits a pattern of `only`, of one file or of all members of an
    archive. `infers`: signatures that debug information does not give come from the code."""
    found: list[ListedFunction] = []
    machines: dict[str, None] = {}
    for file in every_file(path):
        if options.isa in TEXT_ISAS.values() or Path(file).suffix in TEXT_ISAS:
            raise UserError(f"{file} is one program, without names in it: `isoform show {file}` shows it.")
        (library,) = open_libraries([file], options)
        machines[library.image.machine] = None
        found += _functions_of(library, only, infers, progress)
    if not found:
        wanted = f" that --only {' '.join(only)} fits" if only else "; name an address instead, as in lib.so:0x1234"
        raise UserError(f"{path} has no function{'' if only else ' symbols'}{wanted}.")
    return Inventory(path, ", ".join(machines), tuple(found))


def _functions_of(
    library: Library, only: Sequence[str], infers: bool, progress: Callable[[str], None]
) -> Iterator[ListedFunction]:
    """By address."""
    image = library.image
    by_address: dict[int, list[Symbol]] = {}
    for symbol in image.symbols:
        if symbol.is_function and image.code_at(symbol.address) and _fits(symbol.name, only):
            by_address.setdefault(symbol.address, []).append(symbol)
    for number, (address, symbols) in enumerate(sorted(by_address.items())):
        progress(f"{number} of {len(by_address)} functions of {library.display_path}")
        symbol = min(symbols, key=lambda s: (s.is_local, len(s.name) - len(s.name.lstrip("_")), len(s.name), s.name))
        symbol = replace(symbol, size=symbol.size or extent_of(image, address))
        count, missing = _semantics(image, symbol)
        signature, source, why_not = _signature(library, symbol, infers)
        section = image.section_at(address)
        yield ListedFunction(
            file=library.display_path,
            name=symbol.name,
            shown=shown_name(symbol.name),
            aliases=tuple(sorted({s.name for s in symbols} - {symbol.name})),
            section="" if section is None else section.name,
            address=image.address_in_file(address),
            size=symbol.size,
            is_local=symbol.is_local,
            signature=signature,
            source=source,
            instructions=count,
            missing=missing,
            why_not=why_not,
        )


def _fits(name: str, only: Sequence[str]) -> bool:
    return not only or any(fnmatchcase(n, pattern) for n in (name, shown_name(name)) for pattern in only)


def _semantics(image: Image, symbol: Symbol) -> tuple[int, tuple[str, ...]]:
    """How many instructions lie between the function's start and its end, and which of them have no semantics."""
    count, missing = 0, dict[str, None]()
    for instruction in islice(_decoded(image, symbol), MOST_INSTRUCTIONS):
        count += 1
        if len(missing) < MOST_MISSING and any(op.kind is Kind.UNSUPPORTED for op in instruction.ops):
            missing[instruction.text.split(" ")[0]] = None
    return count, tuple(missing)


def _decoded(image: Image, symbol: Symbol) -> Iterator[Instruction]:
    of, at = machine(image.machine), symbol.address
    while at < symbol.address + symbol.size and (code := image.code_at(at)):
        instruction = of.decode(code, at)
        yield instruction
        at = instruction.next_address


def _signature(library: Library, symbol: Symbol, infers: bool) -> _Signature:
    loaded = library.loaded(symbol)
    declared = loaded.image.signatures.get(symbol.name)
    if declared is not None:
        return with_shown_names(str(declared)), SignatureSource.DWARF, ""
    if not infers:
        return None, None, "debug information does not describe it"
    try:
        with enforced(budget := Budget(SECONDS), MEMORY):
            of = machine(loaded.image.machine)
            function = control_flow_graph(loaded.image, of, symbol.name, symbol.address, False, None, budget)
            if any(isinstance(block.exit, Call) for block in function.blocks.values()):
                return None, None, "it calls functions, which may read any register, so its code shows no parameters"
            found = infer(function, function, False, frozenset()).signature
    except Unsupported as reason:
        return None, None, str(reason)
    except (OutOfLimits, MemoryError, RecursionError) as reason:
        return None, None, f"to read its code takes too long ({reason or 'memory'})"
    return with_shown_names(str(replace(found, name=symbol.name))), SignatureSource.LIVENESS, ""
