"""Addresses of objects as terms: what is known of them, and what is not."""

from __future__ import annotations

import pytest

from isoform.load.objects import PlacedObject, PlacedObjects
from isoform.model.budget import Budget
from isoform.smt.solver import Answer, Solver
from isoform.smt.terms import Term, Terms

A = PlacedObject("a", 0x1000_0000, 16, 16, 8)
B = PlacedObject("b", 0x1000_0040, 4, 4, 4)
OUTSIDE = PlacedObject("outside", 0x7000_0000, 0, 1 << 20, 1)
LOW = PlacedObject("low", 0x1000_0080, 8, 8, 8, is_low=True)


def at(terms: Terms, item: PlacedObject, offset: int = 0) -> Term:
    return terms.add(terms.layout.start(item), terms.bv(offset, 64))


def ask(terms: Terms, *conditions: Term, anywhere: bool = False) -> tuple[Answer, list[str]]:
    solver = Solver(terms, Budget(20), anywhere)
    return solver.check(conditions), solver.rests_on


def test_bytes_of_two_objects_are_never_the_same() -> None:
    terms = Terms()
    assert terms.eq(at(terms, A), at(terms, B)) == terms.false
    assert terms.eq(at(terms, A, 8), at(terms, A, 8)) == terms.true
    assert terms.eq(at(terms, A), terms.bv(0, 64)) == terms.false


def test_the_end_of_an_object_may_be_the_start_of_another() -> None:
    terms = Terms()
    meet = terms.eq(at(terms, A, 16), at(terms, B))
    assert ask(terms, meet, anywhere=True)[0] is Answer.SAT
    assert ask(terms, meet) == (Answer.UNKNOWN, ["a", "b"])


@pytest.mark.parametrize("name", ["order", "high bits", "low bits", "number", "distance"])
def test_what_the_placement_says_is_not_shown(name: str) -> None:
    terms = Terms()
    a, b = at(terms, A), at(terms, B)
    wrong = {
        "order": terms.ult(b, a),
        "high bits": terms.negate(terms.eq(terms.extract(a, 63, 31), terms.bv(0, 33))),
        "low bits": terms.negate(terms.eq(terms.extract(a, 3, 0), terms.bv(0, 4))),
        "number": terms.negate(terms.eq(a, terms.bv(A.start, 64))),
        "distance": terms.negate(terms.eq(terms.sub(b, a), terms.bv(0x40, 64))),
    }[name]
    answer, rests_on = ask(terms, wrong)
    assert answer is Answer.UNKNOWN
    assert "a" in rests_on
    assert ask(terms, wrong, anywhere=True)[0] is Answer.SAT


def test_what_holds_everywhere_is_shown() -> None:
    terms = Terms()
    a, b = at(terms, A), at(terms, B)
    inside = terms.ult(terms.sub(b, a), terms.bv(16, 64))
    assert ask(terms, inside)[0] is Answer.UNSAT
    assert ask(terms, terms.negate(terms.eq(terms.extract(a, 2, 0), terms.bv(0, 3))))[0] is Answer.UNSAT
    assert ask(terms, terms.negate(terms.eq(terms.extract(at(terms, LOW), 63, 31), terms.bv(0, 33))))[0] is Answer.UNSAT
    assert ask(terms, terms.ult(at(terms, OUTSIDE), terms.bv(1, 64)))[0] is Answer.UNSAT


def test_bytes_below_the_first_object_of_a_section_are_free() -> None:
    terms = Terms()
    section = PlacedObject("section", 0x1000_0000, 48, 48, 16, skipped=16)
    outside = PlacedObject("outside", 0x1000_0040, 16, 16, 16)
    below = terms.eq(at(terms, section), at(terms, outside))
    assert ask(terms, below, anywhere=True)[0] is Answer.SAT
    shared = terms.eq(at(terms, section, 16), at(terms, outside))
    assert shared == terms.false


def test_an_object_is_in_its_file_at_its_place_or_apart_from_it() -> None:
    terms = Terms()
    file = PlacedObject("f.so", 0x8000_0000, 0x4000, 0x4000, 4096)
    item = PlacedObject("x", 0x1000_0000, 4, 4, 4, homes=frozenset({(file.start, 0x3000)}))
    distance = terms.sub(at(terms, item), at(terms, file))
    for place, answer in ((0x3000, Answer.SAT), (0x3004, Answer.UNSAT), (0x4000, Answer.SAT)):
        assert ask(terms, terms.eq(distance, terms.bv(place, 64)), anywhere=True)[0] is answer


def test_constants_of_a_sum_are_counted_from_its_object() -> None:
    terms = Terms()
    index = terms.zext(terms.variable("i", 32), 64)
    address = terms.add(terms.add(at(terms, A), terms.mul(index, terms.bv(8, 64))), terms.bv(8, 64))
    assert A.start + 8 in set(terms.constants_in(address))
    assert A.start not in set(terms.constants_in(address))


def test_a_model_has_the_objects_where_they_are_placed() -> None:
    terms = Terms()
    pointer = terms.variable("p", 64)
    solver = Solver(terms, Budget(20))
    assert solver.check([terms.eq(pointer, at(terms, A, 4))]) is Answer.SAT
    assert solver.value(pointer) == A.start + 4


def test_sums_are_counted_from_their_object() -> None:
    terms = Terms()
    index = terms.zext(terms.variable("i", 32), 64)
    address = terms.add(terms.add(at(terms, A), index), terms.bv(8, 64))
    found = terms.layout.origin(address)
    assert found is not None
    assert found[0] == A
    assert found[1] == terms.add(index, terms.bv(8, 64))
    assert terms.layout.placed(address, 4) is None
    assert terms.layout.placed(at(terms, A, 12), 4) == A.start + 12
    assert terms.layout.placed(at(terms, A, 13), 4) is None
    assert terms.layout.placed(at(terms, OUTSIDE, 13), 4) == OUTSIDE.start + 13


def test_an_object_is_what_both_files_say() -> None:
    other = PlacedObject("a", A.start, 32, 32, 4, is_low=True)
    merged = PlacedObjects.of([[A], [other]]).by_start[A.start]
    assert (merged.size, merged.alignment, merged.is_low) == (32, 4, True)
    assert PlacedObjects.of([[A, B]]).around(A.start + 15) == A
    assert PlacedObjects.of([[A, B]]).around(A.start + 16) is None


@pytest.mark.parametrize("size", [1, 4, 8, 16])
@pytest.mark.parametrize("other_size", [1, 4])
@pytest.mark.parametrize("more", range(-24, 25, 4))
def test_accesses_at_one_unknown_distance_from_two_objects(more: int, size: int, other_size: int) -> None:
    terms = Terms()
    index = terms.mul(terms.variable("i", 64), terms.bv(4, 64))
    one = terms.add(terms.add(terms.layout.start(A), index), terms.bv(more, 64))
    other = terms.add(terms.layout.start(B), index)
    apart = terms.conj(
        terms.ule(terms.bv(other_size, 64), terms.sub(one, other)),
        terms.ule(terms.bv(size, 64), terms.sub(other, one)),
    )
    answer = ask(terms, terms.negate(apart), anywhere=True)[0]
    found = terms.layout.apart_by(one, size, other, other_size)
    assert (found is not None) == (answer is Answer.UNSAT)
    assert found in (None, (A.start + more - B.start) % (1 << 64))


def test_nothing_is_known_of_two_distances_or_of_objects_without_a_size() -> None:
    terms = Terms()
    i, j = terms.variable("i", 64), terms.variable("j", 64)
    a, b, outside = (terms.layout.start(item) for item in (A, B, OUTSIDE))
    assert terms.layout.apart_by(terms.add(a, i), 1, terms.add(b, j), 1) is None
    assert terms.layout.apart_by(terms.add(a, i), 1, terms.add(a, i), 1) is None
    assert terms.layout.apart_by(terms.add(a, i), 1, terms.add(outside, i), 1) is None
    assert terms.layout.apart_by(terms.add(a, i), 1, terms.add(b, i), 1) is not None
