"""The greatest and the least of several words have one form, whichever are compared first."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from isoform.check.expansion import verify_lemma
from isoform.smt.polynomial import Normalizer
from isoform.smt.terms import Term, Terms

SEED = 5
Combine = Callable[[Term, Term], Term]


def combining(terms: Terms, less: Callable[[Term, Term], Term], greatest: bool) -> Combine:
    if greatest:
        return lambda a, b: terms.ite(less(a, b), b, a)
    return lambda a, b: terms.ite(less(b, a), b, a)


def folded(random: Random, words: list[Term], combine: Combine) -> Term:
    """All words combined, two at a time, in some order."""
    left = list(words)
    while len(left) > 1:
        one, other = (left.pop(random.randrange(len(left))) for _ in range(2))
        left.append(combine(one, other))
    return left[0]


@pytest.mark.parametrize("greatest", [True, False])
@pytest.mark.parametrize("signed", [True, False])
def test_one_form(signed: bool, greatest: bool) -> None:
    random, terms = Random(SEED), Terms()
    combine = combining(terms, terms.slt if signed else terms.ult, greatest)
    words = [terms.variable(f"extreme_{n}", 32) for n in range(7)]
    normalizer = Normalizer(terms.manager)
    forms = {normalizer.normalize(folded(random, [*words, words[0]], combine)) for _ in range(12)}
    assert len(forms) == 1, f"seed {SEED}"


def test_other_words_and_other_orders_are_not_the_same() -> None:
    terms = Terms()
    a, b, c = (terms.variable(f"extreme_{n}", 32) for n in range(3))
    kinds = [combining(terms, less, greatest) for less in (terms.slt, terms.ult) for greatest in (True, False)]
    normalizer = Normalizer(terms.manager)
    different = [normalizer.normalize(kind(kind(a, b), c)) for kind in kinds]
    different += [normalizer.normalize(kind(a, b)) for kind in kinds]
    different.append(normalizer.normalize(kinds[0](kinds[1](a, b), c)))
    assert len(set(different)) == len(different)


@pytest.mark.parametrize(
    ("right", "same"),
    [
        ("(ite (bvslt c (ite (bvsle a b) b a)) (ite (bvsle a b) b a) c)", True),
        ("(ite (bvult c (ite (bvule a b) b a)) (ite (bvule a b) b a) c)", False),
        ("(ite (bvslt c (ite (bvsle a b) a b)) (ite (bvsle a b) a b) c)", False),
        ("(ite (bvslt a b) b a)", False),
    ],
)
def test_the_checker_has_its_own(right: str, same: bool) -> None:
    left = "(ite (bvsgt a (ite (bvslt b c) c b)) a (ite (bvslt b c) c b))"
    assert verify_lemma(left, right, dict.fromkeys("abc", 16)) is same


def test_choices_by_masks() -> None:
    terms = Terms()
    a, b = (terms.variable(f"extreme_{n}", 32) for n in range(2))
    mask = terms.ite(terms.slt(a, b), terms.bv(-1, 32), terms.bv(0, 32))
    blended = terms.or_(terms.and_(mask, b), terms.and_(terms.not_(mask), a))
    assert blended == terms.ite(terms.slt(a, b), b, a)


def test_flags_and_masks_count_alike() -> None:
    terms = Terms()
    a, b, total = (terms.variable(f"extreme_{n}", 32) for n in range(3))
    equal = terms.eq(a, b)
    added = terms.add(total, terms.ite(equal, terms.bv(1, 32), terms.bv(0, 32)))
    subtracted = terms.sub(total, terms.ite(equal, terms.bv(-1, 32), terms.bv(0, 32)))
    normalizer = Normalizer(terms.manager)
    assert normalizer.normalize(added) == normalizer.normalize(subtracted)
