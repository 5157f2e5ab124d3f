"""The assumptions about memory as conditions: frames are indexed within bounds, pointers point where programs may."""

from __future__ import annotations

from collections.abc import Collection

from isoform.model.contract import BoundsRule
from isoform.model.outcome import FRAME_LIMIT
from isoform.smt.terms import Term
from isoform.sym.entry import argument_term
from isoform.sym.side import AllocatedBlock, Side
from isoform.sym.state import State

LOWEST_ADDRESS = 0x1000
HIGHEST_ADDRESS = 1 << 47
"""Addresses that a program may use: not the page around null, and those that Linux gives to programs."""


def frame_bounds(side: Side) -> list[tuple[str, Term]]:
    """Accesses to the stack at computed offsets stay below the return address or in the arguments above it
    (`stack-in-bounds`), those of the target to objects of known size stay in them (`in-bounds`), and what the target
    copies by memcpy does not overlap where it is copied to (`copies-apart`)."""
    terms = side.terms
    passed = side.contract.stack_argument_bytes
    above = terms.bv(side.machine.convention.stack_arguments_offset, side.width)
    found = []
    for number, (condition, offset, size) in enumerate(side.frame_accesses, 1):
        low = terms.bv(-FRAME_LIMIT, side.width)
        inside = terms.ult(terms.sub(offset, low), terms.bv(FRAME_LIMIT - size + 1, side.width))
        if size <= passed:
            argument = terms.ult(terms.sub(offset, above), terms.bv(passed - size + 1, side.width))
            inside = terms.disj(inside, argument)
        found.append((f"frame-{side.tag}-{number}", terms.implies(condition, inside)))
    rules = dict.fromkeys(terms.implies(condition, inside) for condition, inside in side.bounds)
    found += [(f"frame-{side.tag}-object-{number}", rule) for number, rule in enumerate(rules, 1)]
    rules = dict.fromkeys(terms.implies(copy.condition, copy.apart) for copy in side.copies)
    found += [(f"frame-{side.tag}-copy-{number}", rule) for number, rule in enumerate(rules, 1)]
    return found


def private_frame(side: Side) -> list[tuple[str, Term]]:
    """Accesses to the rest of memory touch neither the frame nor the return address and the arguments above it
    (`private-frame`). Encodings keep the two apart anyway; a model that is to be run must do so too."""
    terms, pointer = side.terms, side.entry.stack_pointer
    if pointer is None:
        return []
    above = side.machine.convention.stack_arguments_offset + side.contract.stack_argument_bytes
    found: dict[Term, None] = {}
    for condition, address, size in side.heap_accesses:
        lowest = terms.sub(pointer, terms.bv(FRAME_LIMIT + size - 1, side.width))
        reach = terms.bv(FRAME_LIMIT + above + size - 1, side.width)
        found[terms.implies(condition, terms.ule(reach, terms.sub(address, lowest)))] = None
    return [(f"private-{side.tag}-{number}", rule) for number, rule in enumerate(found, 1)]


def fresh_blocks(side: Side) -> list[tuple[str, Term]]:
    """Blocks from the library's allocator are disjoint from everything reached by another name (`fresh-memory`):
    through an address that was not computed from the block's, while it cannot have been freed."""
    terms = side.terms
    found = []
    for number, block in enumerate(side.blocks, 1):
        given = terms.conj(block.condition, terms.negate(terms.eq(block.address, terms.bv(0, side.width))))
        if block.certain:
            found.append((f"block-{side.tag}-{number}-given", terms.implies(block.condition, given)))
        low, high = terms.bv(LOWEST_ADDRESS, side.width), terms.bv(HIGHEST_ADDRESS, side.width)
        room = terms.sub(high, block.address)
        usable = [terms.ule(low, block.address), terms.ult(block.address, high), terms.ule(block.size, room)]
        found.append((f"block-{side.tag}-{number}", terms.implies(given, terms.all_of(usable))))
        seen: set[Term] = set()
        for place, (condition, address, size) in enumerate(side.heap_accesses):
            if address in seen or _may_be_taken_back(side, block, place) or terms.depends_on(address, block.address):
                continue
            seen.add(address)
            before = terms.ule(terms.bv(size, side.width), terms.sub(block.address, address))
            after = terms.ule(block.size, terms.sub(address, block.address))
            apart = terms.implies(terms.conj(given, condition), terms.conj(before, after))
            found.append((f"block-{side.tag}-{number}-apart-{len(seen)}", apart))
    return found


def reserve_result(side: Side, entry: State) -> None:
    """Let loads and stores use what `result_apart` says about them."""
    contract = side.contract
    if _is_result_apart(side):
        side.heap.reserved.append((argument_term(entry, contract.arguments[0]), contract.result_space))


def result_apart(side: Side, entry: State) -> list[tuple[str, Term]]:
    """The space for a result in memory is disjoint from everything reached by another name (`result-space-apart`):
    through an address that was not computed from the space's. Only for a whole function followed from its entry: if a
    path restarts with unknowns for its values, one of them may be the space's address."""
    contract, terms = side.contract, side.terms
    if not _is_result_apart(side):
        return []
    space = argument_term(entry, contract.arguments[0])
    length = terms.bv(contract.result_space, side.width)
    found: dict[Term, None] = {}
    for condition, address, size in (*side.heap_accesses, *side.fixed_accesses):
        if not terms.depends_on(address, space):
            before = terms.ule(terms.bv(size, side.width), terms.sub(space, address))
            after = terms.ule(length, terms.sub(address, space))
            found[terms.implies(condition, terms.conj(before, after))] = None
    return [(f"result-space-{side.tag}-{number}", rule) for number, rule in enumerate(found, 1)]


def follow_locals(side: Side) -> None:
    """Let variables of the frame that are given away be followed, as `given_apart` says. Nothing shows what it says of
    a deeper call of a function that calls itself, and it rests on `in-bounds`."""
    contract = side.world.contract
    has_stack = side.machine.convention.stack_pointer is not None
    side.follows_locals = (
        has_stack and not side.world.recursive and contract.abis is None and contract.bounds is BoundsRule.ASSUME
    )


def given_apart(side: Side) -> list[tuple[str, Term]]:
    """Variables of the frame that are given away are at addresses of their own, disjoint from each other and from
    everything that is accessed through an address which was not computed from theirs (`private-frame`). What is claimed
    is claimed for whole functions followed from their entry, as with the space for a result."""
    terms, found = side.terms, []
    given = [] if side.locals is None else list(side.locals.given.values())
    accesses = dict.fromkeys((*side.heap_accesses, *side.fixed_accesses))
    for number, local in enumerate(given, 1):
        name, length = f"local-{side.tag}-{number}", terms.bv(local.size, side.width)
        lowest = terms.sub(local.address, terms.bv(LOWEST_ADDRESS, side.width))
        room = terms.bv(HIGHEST_ADDRESS - LOWEST_ADDRESS - local.size + 1, side.width)
        found.append((name, terms.ult(lowest, room)))
        apart = [(terms.true, other.address, other.size) for other in given[: number - 1]]
        apart += [access for access in accesses if not terms.depends_on(access[1], local.address)]
        for place, (condition, address, size) in enumerate(apart, 1):
            before = terms.ule(terms.bv(size, side.width), terms.sub(local.address, address))
            after = terms.ule(length, terms.sub(address, local.address))
            found.append((f"{name}-apart-{place}", terms.implies(condition, terms.conj(before, after))))
    return found


def _is_result_apart(side: Side) -> bool:
    """Whether proofs use that the space is disjoint. Proofs about functions that call themselves do not: nothing shows
    that the space which a function passes to its deeper call is disjoint from that call's other arguments."""
    return bool(side.contract.result_space) and not side.world.recursive


def _may_be_taken_back(side: Side, block: AllocatedBlock, access: int) -> bool:
    """Whether blocks may be freed between an allocation and an access. Blocks of code are followed in order, so that
    what comes between two calls on a path is recorded between them."""
    first, last = sorted((block.accesses, access))
    return any(first <= release <= last for release in side.releases)


def valid_addresses(*sides: Side, through: Collection[Term] | None = None) -> list[tuple[str, Term]]:
    """Accesses to the rest of memory are to addresses that a program may use (`valid-memory`): not the page around
    null, nor beyond what the machine gives to programs. If asked for, only those `through` some pointers. Blocks are
    followed in order, so accesses recorded before the first outside call are made before it; later ones are not made at
    all if it does not return."""
    found = []
    for side in sides:
        terms = side.terms
        layout = side.machine.memory
        if layout is None or layout.size is not None:
            continue
        seen = set()
        for access in side.heap_accesses[: side.before_calls]:
            if through is not None and terms.split_sum(access[1])[0] not in through:
                continue
            rule = _is_usable(side, access)
            if rule not in seen and rule != terms.true:
                seen.add(rule)
                found.append((f"valid-{side.tag}-{len(seen)}", rule))
    return found


def usable_accesses(side: Side) -> list[Term]:
    """That each access to the rest of memory, numbers and those after outside calls included, is to an address that a
    program may use."""
    accesses = (*side.heap_accesses, *side.fixed_accesses)
    return [*dict.fromkeys(rule for rule in (_is_usable(side, a) for a in accesses) if rule != side.terms.true)]


def valid_numbers(side: Side) -> list[tuple[str, Term]]:
    """The same of accesses to addresses that are numbers. Code of files has them where the program means them; code
    that was changed may have them by the change."""
    layout = side.machine.memory
    if layout is None or layout.size is not None:
        return []
    rules = dict.fromkeys(_is_usable(side, access) for access in side.fixed_accesses)
    return [(f"valid-{side.tag}-number-{n}", rule) for n, rule in enumerate(rules, 1) if rule != side.terms.true]


def _is_usable(side: Side, access: tuple[Term, Term, int]) -> Term:
    terms, (condition, address, size) = side.terms, access
    room = terms.bv(HIGHEST_ADDRESS - LOWEST_ADDRESS - size + 1, side.width)
    return terms.implies(condition, terms.ult(terms.sub(address, terms.bv(LOWEST_ADDRESS, side.width)), room))
