"""Aligning traces written by hand: one iteration against one, several against one, peeled iterations, nested loops."""

from __future__ import annotations

from collections.abc import Sequence

from isoform.engines.loops.align.alignments import alignments
from isoform.engines.loops.align.cuts import END, ENTRY, Alignment, Cut, Edge, stuttering
from isoform.engines.loops.observe.traces import Traces
from isoform.lift.function import BlockId
from isoform.run.observe import Snapshot

START = BlockId((), 0, 0)


def head(address: int) -> BlockId:
    return BlockId((), address, 0)


def station(point: BlockId, *registers: int) -> Snapshot:
    return Snapshot(point, registers, b"", {}, lambda address: 0, "little")


def trace(*stations: tuple[int, tuple[int, ...]]) -> tuple[Snapshot, ...]:
    """The entry, and then each station: address and registers."""
    return (station(START, 1 << 40), *(station(head(a), *registers) for a, registers in stations))


def cursor(iteration: int) -> int:
    """A value that changes in each iteration and tells which one it is."""
    return 0x100000 + 4 * iteration


def best(tests: Sequence[Traces]) -> Alignment:
    return next(alignments(tests))


def steps(alignment: Alignment, source: Cut, to: Cut) -> set[tuple[int, int]]:
    return {(e.target_steps, e.rewrite_steps) for e in alignment.edges if e.source == source and e.to == to}


def simple(count: int, address: int) -> tuple[Snapshot, ...]:
    return trace(*((address, (cursor(i), 7 * i * i + 1000)) for i in range(count)))


def test_one_turn_against_one() -> None:
    alignment = best([Traces(simple(n, 0x10), simple(n, 0x20)) for n in (1, 2, 3, 5, 9, 12)])
    loop = Cut(head(0x10), head(0x20))
    assert alignment.cuts == [loop]
    assert steps(alignment, loop, loop) == {(1, 1)}
    assert steps(alignment, ENTRY, loop) == {(1, 1)}
    assert steps(alignment, loop, END) == {(0, 0)}
    assert not stuttering(alignment.edges)


def test_a_test_without_turns_goes_from_entry_to_end() -> None:
    alignment = best([Traces(simple(n, 0x10), simple(n, 0x20)) for n in (0, 1, 4, 7)])
    assert (0, 0) in steps(alignment, ENTRY, END)


def test_four_turns_against_one_and_a_rest() -> None:
    """The rewrite does four iterations at once, and the rest in a loop of its own."""

    def rewrite(count: int) -> tuple[Snapshot, ...]:
        whole = count // 4
        big = [(0x20, (cursor(4 * k), 7 * (4 * k) ** 2 + 1000)) for k in range(whole)]
        small = [(0x30, (cursor(k), 7 * k * k + 1000)) for k in range(4 * whole, count)]
        return trace(*big, *small)

    alignment = best([Traces(simple(n, 0x10), rewrite(n)) for n in (2, 3, 4, 5, 8, 9, 11, 13, 16, 17, 20, 21)])
    big, small = Cut(head(0x10), head(0x20)), Cut(head(0x10), head(0x30))
    assert steps(alignment, big, big) == {(4, 1)}
    assert steps(alignment, small, small) == {(1, 1)}
    assert set(alignment.cuts) == {big, small}


def test_a_peeled_first_iteration() -> None:
    """The rewrite does its first iteration before its loop."""

    def rewrite(count: int) -> tuple[Snapshot, ...]:
        return trace(*((0x20, (cursor(i), 7 * i * i + 1000)) for i in range(1, count)))

    alignment = best([Traces(simple(n, 0x10), rewrite(n)) for n in (1, 2, 3, 5, 8, 12)])
    loop = Cut(head(0x10), head(0x20))
    assert steps(alignment, loop, loop) == {(1, 1)}
    assert steps(alignment, ENTRY, loop) == {(2, 1)}, "what belongs together has the same cursor"


def test_one_side_is_a_part_of_an_iteration_ahead() -> None:
    """Two values alternate between two places; the rewrite does two iterations at once, after a peeled one."""

    def value(iteration: int) -> int:
        return 0x3000 + 17 * iteration * iteration

    tests = []
    for count in (3, 5, 7, 9, 13):
        target = trace(*((0x10, (value(i), value(i + 1))) for i in range(count)))
        rewrite = trace(*((0x20, (value(i), value(i + 1))) for i in range(1, count, 2)))
        tests.append(Traces(target, rewrite))
    loop = Cut(head(0x10), head(0x20))
    found = [a for a in alignments(tests) if steps(a, ENTRY, loop) == {(2, 1)}]
    assert found
    assert steps(found[0], loop, loop) == {(2, 1)}


def test_nested_loops() -> None:
    def side(outer: int, inner: int, count: int, width: int) -> tuple[Snapshot, ...]:
        found = []
        for i in range(count):
            found.append((outer, (cursor(100 * i), 5000 + i)))
            found += [(inner, (cursor(100 * i + j), 9000 + 31 * j)) for j in range(width)]
        return trace(*found)

    tests = [
        Traces(side(0x10, 0x14, n, m), side(0x20, 0x24, n, m))
        for n, m in ((1, 1), (2, 3), (3, 2), (4, 4), (2, 6), (5, 1), (3, 5))
    ]
    alignment = best(tests)
    outer, inner = Cut(head(0x10), head(0x20)), Cut(head(0x14), head(0x24))
    assert set(alignment.cuts) == {outer, inner}
    assert steps(alignment, outer, inner) == {(1, 1)}
    assert steps(alignment, inner, inner) == {(1, 1)}
    assert steps(alignment, inner, outer) == {(1, 1)}


def test_every_test_is_paired_from_its_entry_to_its_end() -> None:
    tests = [Traces(simple(n, 0x10), simple(n, 0x20)) for n in (1, 4, 6)]
    alignment = best(tests)
    for test, matched in zip(tests, alignment.matched, strict=True):
        assert len(matched) == len(test.target) - 1 or len(test.target) == 2
        assert all(test.target[i].registers == test.rewrite[j].registers for _, i, j in matched)


def test_a_loop_that_turns_alone_needs_a_reason_to_end() -> None:
    loop = Cut(head(0x10), head(0x20))
    other = Cut(head(0x10), head(0x30))
    waits = Edge(loop, 1, 0, loop)
    both = Edge(loop, 1, 1, loop)
    leads_on = Edge(loop, 0, 1, other)
    assert stuttering([waits, both, leads_on]) == [[waits]]
    round_trip = [Edge(loop, 0, 1, other), Edge(other, 0, 1, loop)]
    assert stuttering(round_trip) == [round_trip]


def test_only_edges_in_cycles_need_one_together_if_the_cycles_are_connected() -> None:
    first, second = Cut(head(0x10), head(0x20)), Cut(head(0x30), head(0x20))
    alone = Edge(first, 1, 0, first), Edge(second, 1, 0, second)
    onward, back = Edge(first, 1, 0, second), Edge(second, 1, 0, first)
    assert stuttering([alone[0], onward, alone[1]]) == [[alone[0]], [alone[1]]]
    assert stuttering([alone[0], onward, alone[1], back]) == [[alone[0], onward, alone[1], back]]


def test_what_is_left_over_in_a_register_does_not_count() -> None:
    """The target's register still holds the rewrite's value of the iteration before; nothing reads it any more."""

    def target(count: int) -> tuple[Snapshot, ...]:
        return trace(*((0x10, (cursor(i - 1), 7 * i)) for i in range(count + 1)))

    def rewrite(count: int) -> tuple[Snapshot, ...]:
        return trace(*((0x20, (cursor(i), 1 << 30)) for i in range(count)))

    loop = Cut(head(0x10), head(0x20))
    count = (5, 9, 12, 14, 16)
    misled = best([Traces(target(n), rewrite(n)) for n in count])
    assert steps(misled, ENTRY, loop) == {(2, 1)}
    dead = {head(0x10): frozenset({0})}, {head(0x20): frozenset({1})}
    alignment = best([Traces(target(n), rewrite(n), dead=dead) for n in count])
    assert steps(alignment, ENTRY, loop) == {(1, 1)}
