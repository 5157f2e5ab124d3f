"""The same instructions, on the same inputs, do the same.

Where the two functions and all that they lead to are the same code, with every name in it resolved to the same thing,
there is nothing left to prove: both compute the same function of the same state, whatever loops or arithmetic are in
it. `identical.py` has the argument, which `diff` uses, too.

On machines where an address is spread over several instructions it cannot be told from the code which numbers are
addresses. There the two are compared in a placement in which equal names have equal addresses (`same_as_placed`), and
callees, addresses of functions and computed jumps are left to the engines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from isoform.borders.linking import same_code_assumptions
from isoform.borders.question import Engine, Options, Question
from isoform.borders.reach import reach
from isoform.borders.same_code import is_same_code, is_same_kind
from isoform.engines.finding import Proved
from isoform.engines.grounds import Grounds
from isoform.engines.same_code.assumed import SAME_UNDEFINED
from isoform.engines.same_code.identical import Differs, Identical
from isoform.engines.same_code.listing import ListedFile, Listing, named
from isoform.engines.same_code.walk import is_walked
from isoform.isa.registry import machine
from isoform.lift.function import Function
from isoform.load.image import Image
from isoform.load.open import Loaded
from isoform.model.contract import BoundsRule, CallRule
from isoform.model.machine import Machine
from isoform.model.microop import Kind
from isoform.model.verdict import IN_BOUNDS, Assumption, Obligation, Proof
from isoform.smt.terms import Terms
from isoform.sym.state import VALID_MEMORY

SAME_CODE = "same-code"
"""The engine, in reports."""
HOW = "Both functions are the same instructions, and what these name is the same on both sides."
INSTRUCTIONS_PER_SECOND = 1500
"""Of the budget: about a third of it is spent if that many are looked at in each file, in vain."""
_OBLIGATION = Obligation("same-code", "both are the same instructions, and all that they name is the same")


def same_code(loaded: tuple[Loaded, Loaded], options: Options) -> Proved | None:
    """The proof, where there is one; None says nothing about the two. It would hold for a precondition that admits
    nothing: with one, or with an engine that the user asks for, there is none. With a certificate wanted, there is one
    if the checker of certificates confirms it, and the certificate is written."""
    if not _is_about_all(options) or any(side.is_alone for side in loaded):
        return None
    names = {side.image.machine for side in loaded}
    if len(names) > 1 or not is_walked(machine(names.pop())) or not _may_be_the_same(*loaded):
        return None
    together = loaded[0].together
    left, right = loaded if together is None else together()
    entries = left.symbol.address, right.symbol.address
    identical = Identical((left.image, right.image), int(INSTRUCTIONS_PER_SECOND * options.budget))
    try:
        assumptions = identical.assumptions(entries)
    except Differs:
        return None
    if options.bounds is BoundsRule.IGNORE and any(one.name == IN_BOUNDS for one in assumptions):
        return None
    proof = _proved(assumptions)
    if options.cert is None:
        return proof
    return _certified(proof, identical, loaded, entries, options.cert)


def _is_about_all(options: Options) -> bool:
    asked_otherwise = options.engine is not Engine.AUTO or options.tests is not None
    return not (asked_otherwise or options.assume or options.calls is CallRule.UNINTERPRETED)


def _may_be_the_same(left: Loaded, right: Loaded) -> bool:
    """A quick look: most pairs that are asked about are not the same code."""
    sizes = left.symbol.size, right.symbol.size
    return sizes[0] == sizes[1]


def _proved(assumptions: tuple[Assumption, ...]) -> Proved:
    return Proved(
        Proof((_OBLIGATION,)),
        Grounds(Terms(), (), HOW, returns=True, calls=False),
        said="the code is the same, and so is all that it names",
        assumptions=assumptions,
    )


def _certified(
    proof: Proved, identical: Identical, loaded: tuple[Loaded, Loaded], entries: tuple[int, int], folder: str
) -> Proved | None:
    """The proof with the listing that `isoform check` confirms; None if it would not."""
    if any(side.data is None for side in loaded):
        return None
    left, right = (ListedFile(side.display_path, sha256(side.data or b"").hexdigest()) for side in loaded)
    names = loaded[0].symbol.name, loaded[1].symbol.name
    listing = Listing()
    listing.add(identical, "", (left, right), [named(names, entries, proof.assumptions)])
    if listing.is_empty:
        return None
    listing.write(Path(folder), left.shown, right.shown, names)
    assumptions = listing.assumptions
    return replace(proof, proof=replace(proof.proof, certificate=folder), assumptions=assumptions)


def same_as_placed(question: Question) -> Proved | None:
    """The same for machines whose code is not walked. It has no certificate."""
    contract, border = question.contract, question.border
    target, rewrite = question.target, question.rewrite
    if not _is_about_all(question.options) or question.options.cert is not None or contract.preconditions:
        return None
    if contract.abis or is_walked(target.machine) or border.apart or border.unclear or border.companions:
        return None
    if target.inlined or rewrite.inlined:
        return None  # a callee may return elsewhere, or read what is behind its call: the engines follow that
    if _may_mean_other_things(target.image, rewrite.image, target.machine):
        return None
    images, entries = (target.image, rewrite.image), (target.entry.address, rewrite.entry.address)
    if not is_same_code(target.machine, images, entries):
        return None
    uses = reach(target), reach(rewrite)
    if not all(one.complete and not one.functions and is_same_kind(images, one.data) for one in uses):
        return None
    return _proved((*same_code_assumptions(target, rewrite), *_assumptions(target, any(u.data for u in uses))))


def _assumptions(function: Function, reaches_data: bool) -> Iterator[Assumption]:
    # Two files may align an object differently, and an instruction may need the alignment.
    if reaches_data:
        yield VALID_MEMORY
    if any(op.kind is Kind.UNDEFINED for block in function.blocks.values() for op in block.ops):
        yield SAME_UNDEFINED


def _may_mean_other_things(left: Image, right: Image, machine: Machine) -> bool:
    """Whether the same code may do different things: where exceptions are handled by tables beside it, and on machines
    whose programs find themselves in memory."""
    if left.has_handlers or right.has_handlers:
        return True
    is_program = machine.memory is None or machine.memory.zeroed
    return is_program and left.sections != right.sections
