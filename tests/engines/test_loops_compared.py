"""Which features the code compares with each other."""

from __future__ import annotations

from isoform.engines.loops.guess.compared import compared, links_of, pairs_in
from isoform.engines.loops.guess.features import Cell, Column, Feature
from isoform.smt.terms import Terms

INDEX, N = Feature("a", "rax", 0, 32), Feature("a", "rcx", 0, 32)
END, COUNT = Feature("b", "rdi", 0, 64), Feature("", "rsi", 0, 32)


def test_comparisons_by_their_features() -> None:
    terms = Terms()
    places = {terms.variable(f"{f.tag}.{f.place}", 64): (f.tag, f.place) for f in (INDEX, N, END)}
    i, n, end = places
    given = terms.extract(terms.variable("rsi", 64), 31, 0)
    low = terms.extract(i, 31, 0)
    order = terms.slt(terms.add(low, terms.bv(1, 32)), terms.extract(n, 31, 0))
    number = terms.ult(end, terms.bv(8, 64))
    same = terms.eq(low, given)
    memory = terms.ult(terms.select(terms.array_variable("m", 64), i), terms.bv(3, 8))
    found = compared([order, terms.conj(number, same), memory], places, [INDEX, N, END], [COUNT], {})
    assert found.together == {frozenset({INDEX, N}), frozenset({END}), frozenset({INDEX, COUNT})}
    assert found.ordered == {INDEX, N, END}
    assert pairs_in(found.together) == {frozenset({INDEX, N}), frozenset({INDEX, COUNT})}


def test_words_of_memory_are_features_where_they_are_known_as_such() -> None:
    terms = Terms()
    index, end = terms.variable("a.rax", 32), terms.variable("b.rdi", 64)
    array = terms.array_variable("m", 64)
    length = terms.concat(terms.select(array, terms.add(end, terms.bv(1, 64))), terms.select(array, end))
    cell = Cell("b", "memory", 0, 16, 0, ((1, Column(END)),))
    places = {index: ("a", "rax"), end: ("b", "rdi")}
    roots = [terms.slt(index, terms.zext(length, 32))]
    assert compared(roots, places, [INDEX, END], [], {}).together == frozenset()
    assert compared(roots, places, [INDEX, END], [], {length: cell}).together == {frozenset({INDEX, cell})}


def test_what_is_compared_with_a_third_is_linked() -> None:
    low, high = Feature("", "rsi", 0, 32), Feature("", "rdx", 0, 32)
    pairs = frozenset(map(frozenset, ((INDEX, N), (INDEX, high), (N, low))))
    assert links_of(pairs) == {frozenset({INDEX, low}), frozenset({N, high})}
