"""Computed jumps: their possible targets."""

from __future__ import annotations

from isoform.lift.function import Block
from isoform.model.errors import Unsupported
from isoform.smt.shapes import Choice
from isoform.smt.terms import Term
from isoform.sym.choices import constants_of
from isoform.sym.scope import Scope
from isoform.sym.state import State


def in_code(scope: Scope, value: Term) -> Term:
    """The value of a computed jump as a number, if it consists of addresses by which code is found: those of functions,
    and in a linked file all, because code is at a fixed distance from the rest of the file."""
    terms, image = scope.terms, scope.function.image
    shape = terms.shape(value)
    if isinstance(shape, Choice):
        return terms.ite(shape.condition, in_code(scope, shape.then), in_code(scope, shape.otherwise))
    found = terms.layout.origin(value)
    if found is None or not (found[0].start in image.aliases or found[0].start == image.base):
        return value
    refuse_inside(scope, value)
    return terms.add(found[1], terms.bv(found[0].start, terms.width(value)))


def refuse_inside(scope: Scope, value: Term) -> None:
    """Refuse a computed jump or call to an address inside a function of another name: at a distance from its start the
    code of the two sides need not correspond."""
    found = scope.terms.layout.origin(value)
    if found is not None and found[0].start in scope.function.image.aliases and scope.terms.value(found[1]) != 0:
        raise Unsupported(f"{scope.function.name} jumps to an address that is counted from the start of a function")


def is_tail_call(scope: Scope, block: Block, value: Term, state: State) -> bool:
    """Whether a jump through a pointer that was passed in or loaded is a call whose result is ours: the stack is as at
    entry, and the target is not our own code (that would be a jump inside the function)."""
    convention = scope.side.machine.convention
    if block.id.context or not convention.return_address_on_stack or convention.stack_pointer is None:
        return False
    at_entry = scope.side.is_stack_pointer(state.container_named(convention.stack_pointer))
    return at_entry and not _names_code(scope, value)


def _names_code(scope: Scope, value: Term) -> bool:
    """Whether a constant in a term is an address of the image's code."""
    image = scope.function.image
    return any(number in image.aliases or image.code_at(number) for number in scope.terms.constants_in(value))


def discover(scope: Scope, block: Block, value: Term) -> None:
    """Record targets of the jump or call that ends a block, for the next time the function is lifted."""
    image = scope.function.image
    targets = {t for t in constants_of(scope.terms, value) if image.code_at(image.aliases.get(t, t))}
    if targets:
        scope.summary.discovered.setdefault(jump_address(block), set()).update(targets)


def jump_address(block: Block) -> int:
    """Of the instruction that ends a block."""
    return block.steps[-1] if block.steps else block.id.address
