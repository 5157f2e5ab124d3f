"""What `restrict` in the target's declaration says about its accesses (`restrict`), as conditions.

C (6.7.3.1) says of a parameter `p` that is declared `restrict`: memory that is accessed through an address computed
from `p` and is modified during the call, by whatever means, is accessed through such addresses only. So two accesses of
the target do not overlap if one of their addresses is computed from `p`, the other one from another parameter or from
the name of an object, and one of them is a store. Nothing follows for two loads, for pointers that were loaded from
memory, or for the accesses of the rewrite: an input on which the target does what it declares is to be compared,
whatever the rewrite declares.
"""

from __future__ import annotations

from itertools import combinations

from isoform.lift.derived import OBJECT
from isoform.smt.terms import Term
from isoform.sym.context import disjoint
from isoform.sym.side import BasedAccess, Side

MOST_RULES = 600
"""Conditions of one execution. Each is about one pair of accesses, and to leave some out is sound; 16 iterations of a
loop that reads two arrays and writes a third have 512."""


def restrict_rules(side: Side) -> list[tuple[str, Term]]:
    """That the accesses of the target which its declaration keeps apart do not overlap."""
    contract, terms = side.contract, side.terms
    kept: dict[tuple[int, bool, Term, int], list[Term]] = {}
    for access in side.based_accesses:
        kept.setdefault((access.base, access.is_store, access.address, access.size), []).append(access.condition)
    seen = [BasedAccess(*key[:2], terms.any_of(conditions), *key[2:]) for key, conditions in kept.items()]
    found: dict[Term, None] = {}
    used: dict[int, None] = {}
    for one, other in combinations(seen, 2):
        said = [a.base for a in (one, other) if a.base != OBJECT and a.base in contract.restricted]
        if one.base == other.base or not said or not (one.is_store or other.is_store):
            continue
        rule = terms.implies(
            terms.conj(one.condition, other.condition),
            disjoint(terms, (one.address, one.size), (other.address, other.size)),
        )
        if rule != terms.true and len(found) < MOST_RULES:
            found[rule] = None
            used.update(dict.fromkeys(said))
    if found:
        side.world.note_restricted(used)
    return [(f"restrict-{side.tag}-{number}", rule) for number, rule in enumerate(found, 1)]
