"""Terms above each other, and extensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isoform.smt.constructors import Constructors
from isoform.smt.leaves import Term
from isoform.smt.shapes import Choice, Extension, Extract, Shape, SignExtend, ZeroExtend

# -- top above bottom, by the shape of the top ------------------------------------------------------


def neighbouring_parts(terms: Constructors, upper: Extract, top: Term, bottom: Term) -> Term | None:
    """x[h:m+1] ∘ x[m:l] = x[h:l]."""
    lower = terms.shape(bottom)
    if not (isinstance(lower, Extract) and upper.whole == lower.whole):
        return None
    return terms.extract(upper.whole, upper.high, lower.low) if upper.low == lower.high + 1 else None


def spread_sign_above(terms: Constructors, upper: SignExtend, top: Term, bottom: Term) -> Term | None:
    """sext(s) ∘ x = sext(x) where s is the one bit x[|x|-1 : |x|-1]."""
    if terms.width(upper.inner) != 1:
        return None
    last = terms.width(bottom) - 1
    if upper.inner != terms.extract(bottom, last, last):
        return None
    return terms.sext(bottom, terms.width(top) + last + 1)


def rest_of_extension(terms: Constructors, upper: Extract, top: Term, bottom: Term) -> Term | None:
    """ext(x)[h:|x|] ∘ x = ext(x)[h:0]: the low bits of an extension are what it extends."""
    if upper.low != terms.width(bottom):
        return None
    whole = terms.shape(upper.whole)
    if isinstance(whole, Extension) and whole.inner == bottom:
        return terms.extract(upper.whole, upper.high, 0)
    return None


def joined_choices(terms: Constructors, upper: Choice, top: Term, bottom: Term) -> Term | None:
    """(c ? k : m) ∘ (c ? x : y) = c ? k ∘ x : m ∘ y, where k and m are constants: one choice instead of two."""
    lower = terms.shape(bottom)
    if not (isinstance(lower, Choice) and upper.condition == lower.condition and _is_of_constants(terms, upper)):
        return None
    return terms.ite(
        upper.condition, terms.concat(upper.then, lower.then), terms.concat(upper.otherwise, lower.otherwise)
    )


# -- extensions, by the shape of what is extended ---------------------------------------------------


def zeros_above_zeros(terms: Constructors, shape: ZeroExtend, width: int) -> Term | None:
    """zext(zext(x)) = zext(x)."""
    return terms.zext(shape.inner, width)


def zeros_above_constants(terms: Constructors, shape: Choice, width: int) -> Term | None:
    """zext(c ? k : m) = c ? zext(k) : zext(m), where k and m are constants: flags stay choices of numbers."""
    if not _is_of_constants(terms, shape):
        return None
    return terms.ite(shape.condition, terms.zext(shape.then, width), terms.zext(shape.otherwise, width))


def sign_above_sign(terms: Constructors, shape: SignExtend, width: int) -> Term | None:
    """sext(sext(x)) = sext(x)."""
    return terms.sext(shape.inner, width)


def sign_above_zeros(terms: Constructors, shape: ZeroExtend, width: int) -> Term | None:
    """sext(zext(x)) = zext(x): the inner term is strictly wider than x, so its sign is 0."""
    return terms.zext(shape.inner, width)


def sign_above_constants(terms: Constructors, shape: Choice, width: int) -> Term | None:
    """sext(c ? k : m) = c ? sext(k) : sext(m), where k and m are constants."""
    if not _is_of_constants(terms, shape):
        return None
    return terms.ite(shape.condition, terms.sext(shape.then, width), terms.sext(shape.otherwise, width))


def _is_of_constants(terms: Constructors, shape: Choice) -> bool:
    return terms.value(shape.then) is not None and terms.value(shape.otherwise) is not None


_Joining = Callable[[Constructors, Any, Term, Term], Term | None]
_Extending = Callable[[Constructors, Any, int], Term | None]

JOINED: dict[type[Shape] | type[None], tuple[_Joining, ...]] = {
    Extract: (neighbouring_parts, rest_of_extension),
    SignExtend: (spread_sign_above,),
    Choice: (joined_choices,),
}
ZERO_EXTENDED: dict[type[Shape] | type[None], _Extending] = {
    ZeroExtend: zeros_above_zeros,
    Choice: zeros_above_constants,
}
SIGN_EXTENDED: dict[type[Shape] | type[None], _Extending] = {
    SignExtend: sign_above_sign,
    ZeroExtend: sign_above_zeros,
    Choice: sign_above_constants,
}
