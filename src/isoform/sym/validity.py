"""The assumptions about memory as conditions: frames are indexed inside, pointers point where programs may."""

from __future__ import annotations

from collections.abc import Collection

from isoform.outcome import FRAME_LIMIT
from isoform.smt.terms import Term
from isoform.sym.state import Side

LOWEST_ADDRESS = 0x1000
HIGHEST_ADDRESS = 1 << 47


def frame_bounds(side: Side) -> list[tuple[str, Term]]:
    """Accesses to the frame at computed offsets stay below the return address (`stack-in-bounds`)."""
    terms = side.terms
    found = []
    for number, (condition, offset, size) in enumerate(side.frame_accesses, 1):
        low = terms.bv(-FRAME_LIMIT, side.width)
        inside = terms.ult(terms.sub(offset, low), terms.bv(FRAME_LIMIT - size + 1, side.width))
        found.append((f"frame-{side.tag}-{number}", terms.implies(condition, inside)))
    return found


def valid_addresses(*sides: Side, through: Collection[Term] | None = None) -> list[tuple[str, Term]]:
    """Accesses to the rest of memory are to addresses that a program may use (`valid-memory`): not the page
    around null, nor beyond what the machine gives to programs. If asked for, only those `through` some pointers. Blocks
    are followed in order, so what is noted before the first outside call is made before it; what comes later is not
    made at all if that does not come back."""
    found = []
    for side in sides:
        terms = side.terms
        layout = side.world.machine.memory
        if layout is None or layout.size is not None:
            continue
        seen = set()
        for condition, address, size in side.heap_accesses[: side.before_calls]:
            if through is not None and terms.split_sum(address)[0] not in through:
                continue
            rule = terms.implies(
                condition,
                terms.ult(
                    terms.sub(address, terms.bv(LOWEST_ADDRESS, side.width)),
                    terms.bv(HIGHEST_ADDRESS - LOWEST_ADDRESS - size + 1, side.width),
                ),
            )
            if rule not in seen and rule != terms.true:
                seen.add(rule)
                found.append((f"valid-{side.tag}-{len(seen)}", rule))
    return found
