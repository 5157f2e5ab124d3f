"""Memory in a case of which something is known, against plain bytes: whatever true facts a context has, and however it
takes accesses apart, loads and the memory left behind are the same. Addresses wrap around in a small space."""

from __future__ import annotations

import random
from typing import Any

import pytest

from isoform.model.budget import Budget
from isoform.smt.solver import Answer, Solver
from isoform.smt.terms import Term, Terms
from isoform.sym.chain import Base, Chain, Node
from isoform.sym.context import Context

SEED = 97
WIDTH = 12
SPACE = 1 << WIDTH
NAMES = "pqrs"


class TrueContext(Context):
    """Calls apart what is apart on the numbers at hand, now and then; and anything where an access is not made."""

    def __init__(self, rnd: random.Random, terms: Terms, values: dict[str, int], grain: int | None) -> None:
        super().__init__(grain=grain)
        self._rnd = rnd
        self.false: Term | None = None
        """A condition that does not hold."""
        self._values = {terms.variable(name, WIDTH): value for name, value in values.items()}
        self._terms = terms

    def number(self, address: Term) -> int:
        base, constant = self._terms.split_sum(address)
        return (constant + (self._values[base] if base is not None else 0)) % SPACE

    def are_apart(self, store: tuple[Term, int], load: tuple[Term, int], condition: Term) -> bool:
        distance = (self.number(load[0]) - self.number(store[0])) % SPACE
        truly = store[1] <= distance <= SPACE - load[1] or condition == self.false
        return truly and self._rnd.random() < 0.7


@pytest.mark.parametrize("big_endian", [False, True])
@pytest.mark.parametrize("chunk", range(4))
def test_what_holds_in_a_case_changes_nothing(chunk: int, big_endian: bool) -> None:
    rnd = random.Random(SEED + chunk)
    for _ in range(25):
        one_case(rnd, big_endian)


def one_case(rnd: random.Random, big_endian: bool) -> None:
    terms = Terms()
    values = {name: rnd.choice((0, 4, 8, 3, SPACE - 2, SPACE // 2, 12)) for name in NAMES}
    context = TrueContext(rnd, terms, values, rnd.choice((None, 1, 2, 4)))
    unify(rnd, terms, values, context)
    chain = Chain(terms, WIDTH, big_endian, context)
    choice = rnd.getrandbits(1)
    selector = terms.eq(terms.variable("c", 1), terms.bv(1, 1))
    context.false = terms.negate(selector) if choice else selector
    node: Node = Base(lambda: terms.array_variable("memory", WIDTH))
    plain = {address: rnd.getrandbits(8) for address in range(-64, 64)}
    plain = {address % SPACE: byte for address, byte in plain.items()}
    plain |= {address: rnd.getrandbits(8) for address in range(SPACE // 2 - 64, SPACE // 2 + 64)}
    before = dict(plain)
    found: list[tuple[Term, int]] = []
    for _ in range(rnd.randint(3, 14)):
        node = one_access(rnd, terms, chain, values, (node, selector, choice), plain, found)
    array = chain.array(node)
    solver = Solver(terms, Budget(60))
    given: list[Any] = [terms.raw_equal(terms.variable(n, WIDTH), terms.bv(v, WIDTH)) for n, v in values.items()]
    given.append(terms.raw_equal(terms.variable("c", 1), terms.bv(choice, 1)))
    memory = terms.array_variable("memory", WIDTH)
    given += [terms.raw_equal(byte_at(terms, memory, a), terms.bv(b, 8)) for a, b in before.items()]
    assert solver.check(given) is Answer.SAT
    assert [solver.value(term) for term, _ in found] == [expected for _, expected in found]
    assert {a: solver.value(byte_at(terms, array, a)) for a in plain} == plain


def byte_at(terms: Terms, array: Term, address: int) -> Term:
    return terms.select(array, terms.bv(address, WIDTH))


def unify(rnd: random.Random, terms: Terms, values: dict[str, int], context: Context) -> None:
    """Some addresses are others and a distance, as is true of these numbers."""
    for number, name in enumerate(NAMES):
        if number and rnd.random() < 0.5:
            other = rnd.choice(NAMES[:number])
            distance = terms.bv(values[name] - values[other], WIDTH)
            context.same[terms.variable(name, WIDTH)] = terms.add(terms.variable(other, WIDTH), distance)


def one_access(
    rnd: random.Random,
    terms: Terms,
    chain: Chain,
    values: dict[str, int],
    before: tuple[Node, Term, int],
    plain: dict[int, int],
    found: list[tuple[Term, int]],
) -> Node:
    node, selector, choice = before
    name, offset, size = rnd.choice(NAMES), rnd.randint(-9, 9), rnd.choice((1, 2, 4, 8, 16))
    address = terms.add(terms.variable(name, WIDTH), terms.bv(offset, WIDTH))
    places = [(values[name] + offset + i) % SPACE for i in range(size)]
    if rnd.random() < 0.4:
        data = bytes(plain[place] for place in places)
        if rnd.random() < 0.2:
            chain.load(node, address, size, terms.negate(selector) if choice else selector)  # it is not made
        value = chain.load(node, address, size, rnd.choice((None, selector)) if choice else None)
        found.append((value, int.from_bytes(data, "big" if chain.big_endian else "little")))
        return node
    number = rnd.getrandbits(8 * size)
    always = rnd.random() < 0.8
    stored = chain.store(node, address, terms.bv(number, 8 * size), size, None if always else selector)
    if always or choice:
        plain.update(zip(places, number.to_bytes(size, "big" if chain.big_endian else "little"), strict=True))
    return stored if always else chain.join(selector, stored, node)
