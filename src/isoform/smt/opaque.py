"""Products and quotients of two unknowns as uninterpreted functions.

If the formula is unsatisfiable with uninterpreted functions, it is unsatisfiable with the real ones: if both sides
multiply the same numbers, a solver need not know what a product is and needs no multipliers. A model, however, may rest
on a product that no multiplication gives.
"""

from __future__ import annotations

from collections.abc import Sequence

from bitwuzla import Kind as K  # noqa: N817 (as in terms.py)

from isoform.smt.simulate import topological
from isoform.smt.terms import Term, Terms

_QUOTIENTS = {K.BV_UDIV: "udiv", K.BV_UREM: "urem", K.BV_SDIV: "sdiv", K.BV_SREM: "srem"}
_OPERATIONS = (K.BV_MUL, *_QUOTIENTS)
_EXTENSIONS = (K.BV_ZERO_EXTEND, K.BV_SIGN_EXTEND)


class Opaque:
    """Rewrites terms of one question; results are memoised. The product is commutative: its operands are ordered as
    terms, or, if `symmetric`, by their values, which is harder for a solver but implies that k·i is n·k where i is
    n."""

    def __init__(self, terms: Terms, symmetric: bool = False) -> None:
        self._terms = terms
        self._symmetric = symmetric
        self._made: dict[Term, Term] = {}
        self._operands: dict[Term, list[Term]] = {}
        """The operands of rewritten products and quotients."""

    def operands(self, roots: Sequence[Term]) -> list[tuple[Term, Term]]:
        """The operands of all products and quotients of unknowns in these terms, as they are and rewritten."""
        found = [operand for term in topological(roots) for operand in self._operands.get(term, ())]
        return [(operand, self._made[operand]) for operand in dict.fromkeys(found)]

    def rewritten(self, roots: Sequence[Term]) -> list[Term]:
        """The same terms with an application of a function for each product and quotient of two unknowns."""
        pending = list(roots)
        while pending:
            term = pending[-1]
            if term in self._made:
                pending.pop()
                continue
            missing = [child for child in term.children() if child not in self._made]
            if missing:
                pending += missing
                continue
            pending.pop()
            self._made[term] = self._rewrite(term, [self._made[child] for child in term.children()])
        return [self._made[root] for root in roots]

    def _rewrite(self, term: Term, operands: list[Term]) -> Term:
        kind = term.kind()
        if kind in _OPERATIONS and not any(operand.is_value() for operand in operands):
            self._operands[term] = term.children()
            if kind == K.BV_MUL:
                return self._product(*operands)
            return self._function(_QUOTIENTS[kind], *operands)
        if all(new is old or new == old for new, old in zip(operands, term.children(), strict=True)):
            return term
        if kind == K.BV_EXTRACT:
            high, low = term.indices()
            return self._terms.extract(operands[0], high, low)
        indices = term.indices()
        make = self._terms.manager.mk_term
        return make(kind, operands, indices) if indices else make(kind, operands)

    def _product(self, left: Term, right: Term) -> Term:
        """The low half is a function of the factors and each kind of upper half is another one, so that the narrow
        product is the low half of the wide one."""
        terms, width = self._terms, self._terms.width(left)
        for kind, name in zip(_EXTENSIONS, ("umulh", "smulh"), strict=True):
            if left.kind() == kind and right.kind() == kind:
                inner = [left[0], right[0]]
                half = max(terms.width(factor) for factor in inner)
                if 2 * half > width:
                    continue
                signed = kind == K.BV_SIGN_EXTEND
                inner = [terms.sext(f, half) if signed else terms.zext(f, half) for f in inner]
                whole = terms.concat(self._ordered(name, *inner), self._ordered("mul", *inner))
                return terms.sext(whole, width) if signed else terms.zext(whole, width)
        return self._ordered("mul", left, right)

    def _ordered(self, name: str, left: Term, right: Term) -> Term:
        left, right = sorted((left, right), key=lambda factor: factor.id())
        one_way = self._function(name, left, right)
        if not self._symmetric or left == right:
            return one_way
        return self._terms.ite(self._terms.ult(left, right), one_way, self._function(name, right, left))

    def _function(self, name: str, left: Term, right: Term) -> Term:
        terms, width = self._terms, self._terms.width(left)
        sort = terms.sort(width)
        function = terms.function_variable(f"{name}/{width}", [sort, sort], sort)
        return terms.apply(function, [left, right])
