"""An adaptor handed over: as C that was compiled and compared, or as SMT-LIB."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path

from isoform.adapt.c_text import harness_text, names_of, wrapper_text
from isoform.adapt.pair import Pair, posed
from isoform.adapt.smt_text import smt_text
from isoform.borders.question import Options
from isoform.engines.answer import answer
from isoform.engines.encoding import encode
from isoform.lift.discovery import Discovery
from isoform.load.bound import with_compiled
from isoform.load.compile import compile_source, compiler
from isoform.load.elf import parse_elf
from isoform.load.open import Loaded
from isoform.load.parsed import ParsedFile
from isoform.model.adaptor import AdaptorFound, AdaptorUnknown, Answered, Emit
from isoform.model.budget import Budget
from isoform.model.contract import ReturnAs
from isoform.model.errors import Unsupported, UserError
from isoform.model.verdict import Equivalent, Verdict
from isoform.sym.state import initial_state

_FLAGS = (
    "-O1",
    "-w",
    "-fno-builtin",
    "-fno-stack-protector",
    "-fno-asynchronous-unwind-tables",
    "-fcf-protection=none",
)
"""Plain code: without what a compiler adds, and without calls of library functions in place of what is written."""


def require_emittable(emit: Emit, is_harness: bool, cc: str | None) -> None:
    """Raises an error where what is asked for cannot be made, whatever the adaptor is."""
    if is_harness and emit is not Emit.C:
        raise UserError("--variants writes a harness in C: give --emit c too.")
    if emit is Emit.C:
        compiler(cc)


def with_emitted(
    found: AdaptorFound, pair: Pair, options: Options, budget: Budget, emit: Emit, is_harness: bool, cc: str | None
) -> Answered:
    """The answer with the text, or what stands against printing it."""
    if emit is Emit.SMT:
        return replace(found, emitted=smt_text(found))
    if is_harness:
        _require_no_effects(found, pair, options, budget)
    options.progress("compiling and comparing the wrapper")
    text = wrapper_text(found)
    try:
        verdict = _compared(text, found, pair, options, budget, cc)
    except Unsupported as reason:
        return _not_shown(found, budget, str(reason))
    if not isinstance(verdict, Equivalent):
        why = getattr(verdict, "why", "")
        said = f"the comparison of the compiled wrapper is {verdict.word}"
        return _not_shown(found, budget, f"{said}: {why}" if why else said)
    if is_harness:
        text = harness_text(found, options.return_as is ReturnAs.BOOL)
        _compiled(text, pair, cc)
    return replace(found, emitted=text, seconds=budget.elapsed)


def _compared(text: str, found: AdaptorFound, pair: Pair, options: Options, budget: Budget, cc: str | None) -> Verdict:
    """What `compare` says of the target and the wrapper as compiled."""
    sides = _bound(_compiled(text, pair, cc), found, pair)
    return Discovery(budget).fixpoint(partial(answer, sides, replace(options, cert=None), budget))


def _compiled(text: str, pair: Pair, cc: str | None) -> ParsedFile:
    isa = pair.loaded[0].image.machine
    with tempfile.TemporaryDirectory(prefix="isoform-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "wrapper.c"
        path.write_text(text, "utf-8")
        try:
            return parse_elf(compile_source(path, cc, _FLAGS, isa), path.name)
        except UserError as error:
            raise UserError(str(error).replace(str(path), path.name)) from error


def _bound(file: ParsedFile, found: AdaptorFound, pair: Pair) -> tuple[Loaded, Loaded]:
    """The target, and the wrapper with its call bound to the rewrite."""
    target, rewrite = pair.loaded
    signature, theirs = pair.signatures
    name = names_of(found.asked.signatures, is_harness=False).wrapper
    images = target.image, rewrite.image
    wrapped = with_compiled(rewrite, file, replace(signature, name=name), theirs.name, images)
    signatures = {**target.image.signatures, target.symbol.name: replace(signature, name=target.symbol.name)}
    return replace(target, image=replace(target.image, signatures=signatures), together=None), wrapped


def _require_no_effects(found: AdaptorFound, pair: Pair, options: Options, budget: Budget) -> None:
    """A harness calls both functions: what they do besides returning a value would be done twice. Raises an error
    where that is known; a loop that is not unrolled to its end is not looked at beyond."""
    assert found.adaptor is not None
    sides = pair.adapted(found.adaptor)
    encoding = Discovery(budget).fixpoint(lambda discovery: encode(posed(sides, options, budget, discovery), budget))
    for summary, signature in zip((encoding.target, encoding.rewrite), pair.signatures, strict=True):
        entry, heap = initial_state(summary.side), summary.side.heap
        writes = summary.final is not None and heap.array(summary.final.heap) != heap.array(entry.heap)
        if writes or any(not site.pure for site in summary.calls):
            raise UserError(
                f"--variants calls both functions, and {signature.name} has effects besides its result, which would "
                "happen twice."
            )


def _not_shown(found: AdaptorFound, budget: Budget, why: str) -> AdaptorUnknown:
    return AdaptorUnknown(
        found.asked,
        budget.elapsed,
        found.assumptions,
        why=f"the adaptor was proved, and its C was not: {why}",
        candidate=found.adaptor,
    )
