"""Symbolic memory against a plain dictionary of bytes, with addresses that do and do not alias."""

from __future__ import annotations

import random
from typing import Any

import pytest

from isoform.model.budget import Budget
from isoform.smt.solver import Answer, Solver
from isoform.smt.terms import Terms
from isoform.sym.chain import Base, Chain, Node
from isoform.sym.frame import Frame
from isoform.sym.table import table_lookup

SEED = 4711


def pinned(terms: Terms, values: dict[str, int]) -> list[Any]:
    return [terms.raw_equal(terms.variable(n, 64), terms.bv(v, 64)) for n, v in values.items()]


@pytest.mark.parametrize("big_endian", [False, True])
@pytest.mark.parametrize("chunk", range(3))
def test_chain_loads_what_was_stored(chunk: int, big_endian: bool) -> None:
    rnd = random.Random(SEED + chunk)
    order = "big" if big_endian else "little"
    for _ in range(25):
        terms = Terms()
        chain = Chain(terms, 64, big_endian)
        values = {name: rnd.choice((0x1000, 0x1004, 0x1008, 0x1001)) for name in "pqr"}
        choice = rnd.getrandbits(1)
        selector = terms.eq(terms.variable("c", 64), terms.bv(1, 64))
        node: Node = Base(lambda terms=terms: terms.array_variable("memory", 64))  # type: ignore[misc]
        plain: dict[int, int] = {}
        expected = []
        for _ in range(rnd.randint(2, 8)):
            name, offset, size = rnd.choice("pqr"), rnd.randint(-4, 8), rnd.choice((1, 2, 4, 8))
            address = terms.add(terms.variable(name, 64), terms.bv(offset, 64))
            where = values[name] + offset
            if rnd.random() < 0.6:
                data = rnd.getrandbits(8 * size)
                stored = chain.store(node, address, terms.bv(data, 8 * size), size)
                taken = rnd.random() < 0.7
                if taken:
                    node = stored
                else:  # one branch of two stores, then they join
                    node = chain.join(selector, stored, node)
                if taken or choice:
                    plain.update(
                        {where + i: byte for i, byte in enumerate(data.to_bytes(size, order))}  # type: ignore[arg-type]
                    )
            elif all(where + i in plain for i in range(size)):
                data_bytes = bytes(plain[where + i] for i in range(size))
                expected.append(
                    (chain.load(node, address, size), int.from_bytes(data_bytes, order))  # type: ignore[arg-type]
                )
        solver = Solver(terms, Budget(60))
        assert solver.check(pinned(terms, {**values, "c": choice})) is Answer.SAT
        for term, want in expected:
            assert solver.value(term) == want, (SEED + chunk, values)


def test_frame_overlaps_and_joins() -> None:
    rnd = random.Random(SEED)
    for round_number in range(40):
        terms = Terms()
        chain = Chain(terms, 64, False)
        initial = {o: rnd.getrandbits(8) for o in range(-40, 24)}
        frame = Frame(
            chain,
            lambda o, size, epoch, terms=terms, initial=initial: terms.bv(  # type: ignore[misc]
                sum(initial[o + i] << (8 * i) for i in range(size)), 8 * size
            ),
            lambda terms=terms: terms.array_variable("g", 64),  # type: ignore[misc]
            lambda: 1,
        )
        plain = dict(initial)
        for _ in range(12):
            offset, size = rnd.randint(-32, 8), rnd.choice((1, 2, 4, 8))
            if rnd.random() < 0.6:
                data = rnd.getrandbits(8 * size)
                frame.store(offset, terms.bv(data, 8 * size), size)
                plain.update({offset + i: data >> (8 * i) & 255 for i in range(size)})
            elif rnd.random() < 0.2:
                other = frame.copy()
                other.store(offset, terms.bv(0, 8 * size), size)
                keep = terms.eq(terms.variable("c", 8), terms.bv(1, 8))
                frame = frame.joined(keep, other)
                frame = frame if round_number % 2 else frame.joined(terms.true, frame)
            else:
                want = sum(plain[offset + i] << (8 * i) for i in range(size))
                solver = Solver(terms, Budget(60))
                assert solver.check([terms.raw_equal(terms.variable("c", 8), terms.bv(1, 8))]) is Answer.SAT
                assert solver.value(frame.load(offset, size)) == want, SEED


def test_frame_indexed_by_a_computed_offset() -> None:
    terms = Terms()
    chain = Chain(terms, 64, False)
    frame = Frame(chain, lambda o, size, epoch: terms.bv(0, 8 * size), lambda: terms.array_variable("g", 64), lambda: 1)
    for i in range(4):
        frame.store(-16 + 4 * i, terms.bv(10 + i, 32), 4)
    index = terms.variable("i", 64)
    offset = terms.add(terms.shl(index, terms.bv(2, 64)), terms.bv(-16, 64))
    picked = frame.load_at(offset, 4)
    solver = Solver(terms, Budget(60))
    for i in range(4):
        assert solver.check(pinned(terms, {"i": i})) is Answer.SAT
        assert solver.value(picked) == 10 + i
    frame.store_at(offset, terms.bv(99, 32), 4)
    assert solver.check(pinned(terms, {"i": 2})) is Answer.SAT
    assert [solver.value(frame.load(-16 + 4 * i, 4)) for i in range(4)] == [10, 11, 99, 13]


@pytest.mark.parametrize("entries", [1, 2, 3, 5, 8, 13, 64])
def test_table_lookup_gives_every_entry(entries: int) -> None:
    terms = Terms()
    data = random.Random(SEED).randbytes(4 * entries)
    index = terms.variable("i", 64)
    term = table_lookup(terms, data, terms.shl(index, terms.bv(2, 64)), 4, False)
    solver = Solver(terms, Budget(60))
    for i in range(entries):
        assert solver.check(pinned(terms, {"i": i})) is Answer.SAT
        got = terms.value(term) if terms.value(term) is not None else solver.value(term)
        assert got == int.from_bytes(data[4 * i : 4 * i + 4], "little")


def test_a_call_clobbers_what_is_below() -> None:
    terms = Terms()
    chain = Chain(terms, 64, False)
    frame = Frame(
        chain,
        lambda o, size, epoch: terms.variable(f"byte{o}_{epoch}_{size}", 8 * size),
        lambda: terms.array_variable("g", 64),
        lambda: 7,
    )
    frame.store(-8, terms.bv(1, 64), 8)
    frame.store(-24, terms.bv(2, 64), 8)
    frame.store(-18, terms.bv(3, 32), 4)  # straddles the bound
    frame.clobber_below(-16)
    assert terms.value(frame.load(-8, 8)) == 1
    assert terms.value(frame.load(-16, 2)) == 0
    assert frame.load(-17, 1) == terms.variable("byte-17_7_1", 8)
    assert frame.load(-24, 1) == terms.variable("byte-24_7_1", 8)
    frame.store(-24, terms.bv(5, 8), 1)
    assert terms.value(frame.load(-24, 1)) == 5
