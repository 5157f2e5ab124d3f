"""Terms above each other, and extensions."""

from __future__ import annotations

from isoform.smt.constructors import Constructors
from isoform.smt.leaves import Term
from isoform.smt.shapes import Choice, Extension, Extract, SignExtend, ZeroExtend


def neighbouring_parts(terms: Constructors, top: Term, bottom: Term) -> Term | None:
    """x[h:m+1] ∘ x[m:l] = x[h:l]."""
    upper, lower = terms.shape(top), terms.shape(bottom)
    if not (isinstance(upper, Extract) and isinstance(lower, Extract) and upper.whole == lower.whole):
        return None
    return terms.extract(upper.whole, upper.high, lower.low) if upper.low == lower.high + 1 else None


def spread_sign_above(terms: Constructors, top: Term, bottom: Term) -> Term | None:
    """sext(s) ∘ x = sext(x) where s is the one bit x[|x|-1 : |x|-1]."""
    upper = terms.shape(top)
    if not (isinstance(upper, SignExtend) and terms.width(upper.inner) == 1):
        return None
    last = terms.width(bottom) - 1
    if upper.inner != terms.extract(bottom, last, last):
        return None
    return terms.sext(bottom, terms.width(top) + last + 1)


def rest_of_extension(terms: Constructors, top: Term, bottom: Term) -> Term | None:
    """ext(x)[h:|x|] ∘ x = ext(x)[h:0]: the low bits of an extension are what it extends."""
    upper = terms.shape(top)
    if not (isinstance(upper, Extract) and upper.low == terms.width(bottom)):
        return None
    whole = terms.shape(upper.whole)
    if isinstance(whole, Extension) and whole.inner == bottom:
        return terms.extract(upper.whole, upper.high, 0)
    return None


def joined_choices(terms: Constructors, top: Term, bottom: Term) -> Term | None:
    """(c ? k : m) ∘ (c ? x : y) = c ? k ∘ x : m ∘ y, where k and m are constants: one choice instead of two."""
    upper, lower = terms.shape(top), terms.shape(bottom)
    if not (isinstance(upper, Choice) and isinstance(lower, Choice) and upper.condition == lower.condition):
        return None
    if any(terms.value(branch) is None for branch in upper.branches):
        return None
    return terms.ite(
        upper.condition, terms.concat(upper.then, lower.then), terms.concat(upper.otherwise, lower.otherwise)
    )


JOINED = (neighbouring_parts, spread_sign_above, rest_of_extension, joined_choices)


def zeros_above_zeros(terms: Constructors, term: Term, width: int) -> Term | None:
    """zext(zext(x)) = zext(x)."""
    shape = terms.shape(term)
    return terms.zext(shape.inner, width) if isinstance(shape, ZeroExtend) else None


def zeros_above_constants(terms: Constructors, term: Term, width: int) -> Term | None:
    """zext(c ? k : m) = c ? zext(k) : zext(m), where k and m are constants: flags stay choices of numbers."""
    shape = _choice_of_constants(terms, term)
    if shape is None:
        return None
    return terms.ite(shape.condition, terms.zext(shape.then, width), terms.zext(shape.otherwise, width))


ZERO_EXTENDED = (zeros_above_zeros, zeros_above_constants)


def sign_above_sign(terms: Constructors, term: Term, width: int) -> Term | None:
    """sext(sext(x)) = sext(x)."""
    shape = terms.shape(term)
    return terms.sext(shape.inner, width) if isinstance(shape, SignExtend) else None


def sign_above_zeros(terms: Constructors, term: Term, width: int) -> Term | None:
    """sext(zext(x)) = zext(x): the inner term is strictly wider than x, so its sign is 0."""
    shape = terms.shape(term)
    return terms.zext(shape.inner, width) if isinstance(shape, ZeroExtend) else None


def sign_above_constants(terms: Constructors, term: Term, width: int) -> Term | None:
    """sext(c ? k : m) = c ? sext(k) : sext(m), where k and m are constants."""
    shape = _choice_of_constants(terms, term)
    if shape is None:
        return None
    return terms.ite(shape.condition, terms.sext(shape.then, width), terms.sext(shape.otherwise, width))


SIGN_EXTENDED = (sign_above_sign, sign_above_zeros, sign_above_constants)


def _choice_of_constants(terms: Constructors, term: Term) -> Choice | None:
    shape = terms.shape(term)
    if isinstance(shape, Choice) and all(terms.value(branch) is not None for branch in shape.branches):
        return shape
    return None
