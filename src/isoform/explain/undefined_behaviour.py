"""Whether a C source has undefined behaviour for the inputs of a witness.

Two builds of one source may differ where the C standard defines nothing. The source is compiled once more with the
checks of clang's undefined-behaviour sanitizer, and that code is run on the inputs of the witness, in isoform's runner.
If a check fails, the report says which one and where. The verdict is about the machine code, and stays.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from isoform.borders.question import Options
from isoform.borders.settle import settle
from isoform.isa.registry import TARGETS, machine
from isoform.lift.lift import lift
from isoform.load.described import SourceLine
from isoform.load.image import Image
from isoform.load.open import LoadOptions, open_one
from isoform.load.resolve import split_spec
from isoform.model.budget import Budget
from isoform.model.errors import Unsupported, UserError
from isoform.model.outcome import Inputs, Outcome, Status
from isoform.model.values import dataclass
from isoform.model.verdict import Different
from isoform.run.compile import compile_function
from isoform.run.runner import RunOptions, run

SANITIZED = ("-fsanitize=undefined", "-fno-sanitize=function", "-fsanitize-trap=undefined")
"""Checks of calls through pointers read what lies before a function: only clang's own code has something there."""
_CHECKS = (
    ("signed-integer-overflow", "signed overflow"),
    ("shift", "a shift by too many bits, or of a negative number"),
    ("bounds", "an index outside its array"),
    ("pointer-overflow", "arithmetic on a pointer that leaves its object"),
    ("alignment", "a pointer that is not aligned as its type needs"),
    ("null", "the use of a null pointer"),
    ("integer-divide-by-zero", "a division by zero"),
    ("float-cast-overflow", "a conversion of a number that does not fit"),
    ("bool", "a truth value that is neither 0 nor 1"),
    ("builtin", "a built-in function outside its domain"),
)
"""Groups of checks, the most frequent first, in words."""
_MEANING_FLAGS = ("-D", "-U", "-I", "-std=", "-funsigned-char", "-fsigned-char", "-fwrapv", "-fshort-enums")
_NO_OPERAND = ("-D", "-U", "-I")
_BUILD_FLAGS = re.compile(
    r"-O\w*|-g\w*|-w|-W(?!p,|a,|l,)[^,]*|-f(no-)?(pic|PIC|pie|PIE|plt|builtin|inline|common|stack-protector\S*|cf-protection\S*"
    r"|strict-aliasing|tree-\S*|unroll\S*|omit-frame-pointer|asynchronous-unwind-tables|(function|data)-sections"
    r"|ffp-contract\S*|sanitize\S*)"
)
"""Flags that change how a source is compiled, and not what it says."""
_OF_ITS_BUILD = ("optimize", "__OPTIMIZE__", "__clang__", "__GNUC__")
"""What a source has that means something else if it is compiled otherwise."""
_POINTER_BYTES = 8
_FUEL = 1_000_000


@dataclass(frozen=True)
class _Source:
    path: Path
    function: str
    isa: str
    flags: tuple[str, ...]


@dataclass(frozen=True)
class _Side:
    """One side of the difference: where its code is from, and its run on the witness."""

    source: _Source
    image: Image
    outcome: Outcome
    is_target: bool


def undefined_behaviour(
    verdict: Different, images: Sequence[Image], loading: Sequence[LoadOptions], budget: Budget
) -> str:
    """A sentence about the source that has undefined behaviour for the witness; empty if none was found to. The
    target's is looked at first."""
    seen: set[_Source] = set()
    for side in _sides(verdict, images, loading):
        if side.source in seen:
            continue
        seen.add(side.source)
        try:
            place = _failed_check(side, SANITIZED, verdict.witness.inputs, budget)
            if place is not None:
                return _sentence(side, place, _kind(side, place, verdict.witness.inputs, budget))
        except (Unsupported, UserError):
            continue  # a source that clang does not compile, or code that cannot be run: nothing is said
    return ""


def _sides(verdict: Different, images: Sequence[Image], loading: Sequence[LoadOptions]) -> Iterator[_Side]:
    """Those from a C source whose run returned, and depended on nothing whose address is another one in another
    build."""
    subjects, witness = (verdict.target, verdict.rewrite), verdict.witness
    for index, outcome in enumerate((witness.target, witness.rewrite)):
        path, _ = split_spec(subjects[index].path)
        flags = _kept(loading[index].cflags)
        if flags is None:
            continue
        source = _Source(path, subjects[index].function, subjects[index].isa, flags)
        is_checkable = path.suffix == ".c" and source.isa in TARGETS and outcome.status is Status.DONE
        is_checkable = is_checkable and not _depends_on_build(path)
        if is_checkable and not _depends_on_places(images[index], witness.inputs, outcome):
            yield _Side(source, images[index], outcome, is_target=index == 0)


def _kept(flags: Sequence[str]) -> tuple[str, ...] | None:
    """The flags that say what the source means, not how it is optimised. None if that is not known of one."""
    kept = tuple(flag for flag in flags if flag.startswith(_MEANING_FLAGS))
    others = (flag for flag in flags if flag not in kept)
    is_clear = all(map(_BUILD_FLAGS.fullmatch, others)) and not any(flag in _NO_OPERAND for flag in kept)
    return kept if is_clear else None


def _depends_on_build(path: Path) -> bool:
    try:
        text = path.read_text("utf-8", "replace")
    except OSError:
        return True
    return any(word in text for word in _OF_ITS_BUILD)


def _depends_on_places(image: Image, inputs: Inputs, outcome: Outcome) -> bool:
    """Whether a run read variables of the file, or was given an address in it."""
    words = (
        sum(outcome.reads.get(address + i, 0) << (8 * i) for i in range(_POINTER_BYTES)) for address in outcome.reads
    )
    return any(image.section_at(number) is not None for number in (*outcome.reads, *inputs.registers.values(), *words))


def _failed_check(side: _Side, flags: Sequence[str], inputs: Inputs, budget: Budget) -> SourceLine | None:
    """Where a check of the sanitizer ends the run on these inputs, if one does and the run up to there was that of the
    witness: it made the same calls."""
    source = side.source
    options = LoadOptions("zig", (*source.flags, "-O0", *flags), source.isa, source.function)
    loaded = open_one(str(source.path), options)
    function = lift(loaded.image, machine(source.isa), source.function, loaded.symbol.address, True, None, budget)
    question = settle(function, function, Options())
    how = RunOptions(_FUEL, True, True, question.contract.stack_argument_bytes)
    outcome = run(compile_function(function), inputs, how, question.callees)
    if outcome.status is not Status.ABORTED or _depends_on_places(loaded.image, inputs, outcome):
        return None
    if outcome.calls != side.outcome.calls[: len(outcome.calls)]:
        return None
    lines = (loaded.image.lines.get(address) for address in reversed(outcome.trace))
    return next((line for line in lines if line is not None), None)


def _kind(side: _Side, place: SourceLine, inputs: Inputs, budget: Budget) -> str:
    """Which check it is: the group that alone fails at the same line."""
    for name, words in _CHECKS:
        flags = (f"-fsanitize={name}", f"-fsanitize-trap={name}")
        if _failed_check(side, flags, inputs, budget) == place:
            return words
    return "undefined behaviour"


def _sentence(side: _Side, place: SourceLine, kind: str) -> str:
    source = side.source
    where = f"{Path(place.file).name}:{place.number}"
    said = f"the C source of {source.function} leaves open what happens for these inputs ({kind} at {where})"
    if not side.is_target:
        return said
    flags = shlex.join((*source.flags, "-O1", *SANITIZED))
    options = f"--cc-a zig --cflags-a {shlex.quote(flags)} --aborts refine"
    return f"{said}: with {options} only inputs for which it is defined are compared"
