"""Addresses in a formula: where memory is read and written, and one written for another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bitwuzla import Kind as K  # noqa: N817 (as in terms.py)

from isoform.smt.simulate import topological
from isoform.smt.terms import Term, Terms

MOST_BASES = 24


def address_bases(terms: Terms, root: Term) -> list[Term]:
    """What memory is accessed at in a formula, without constants that are added: small ones first, as what others
    are written by."""
    found: dict[Term, None] = {}
    for term in topological([root]):
        if term.kind() in (K.ARRAY_SELECT, K.ARRAY_STORE):
            base, _ = terms.split_sum(term.children()[1])
            if base is not None:
                found[base] = None
    sized = sorted(found, key=lambda base: len(topological([base])))
    return sized[:MOST_BASES]


def substituted(terms: Terms, root: Term, chosen: Mapping[Term, Term]) -> Term:
    """`root` with some terms in it written as others."""
    manager: Any = terms.manager
    return manager.substitute_term(root, dict(chosen))
