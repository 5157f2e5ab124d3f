"""Windows of long runs: where they are, and that their alignment has no edges across what was left out."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from isoform.engines.loops.align.alignments import alignments
from isoform.engines.loops.align.cuts import END, ENTRY, Alignment, Cut
from isoform.engines.loops.observe.traces import Traces
from isoform.engines.loops.observe.windows import windows
from isoform.lift.function import BlockId
from isoform.run.observe import Snapshot

START, OUTER, INNER, OTHER = (BlockId((), address, 0) for address in (0, 0x10, 0x20, 0x30))


def test_a_long_loop_is_seen_at_its_beginning_and_at_its_end() -> None:
    first, last = windows([START, *[INNER] * 4096], [START, *[OTHER] * 1024])
    assert (first.begins, first.ends, last.begins, last.ends) == (True, False, False, True)
    assert first.target.start == first.rewrite.start == 1
    assert (last.target.stop, last.rewrite.stop) == (4097, 1025)
    assert len(first.target) + len(last.target) < 130
    assert abs(last.target.start - 4 * last.rewrite.start) <= 8


def test_nested_loops_are_seen_where_the_outer_one_iterates() -> None:
    passed = [START, *[OUTER, *[INNER] * 200] * 100]
    found = list(windows(passed, passed))
    steps = {(passed[n - 1], passed[n]) for w in found for n in w.target}
    assert steps == {(START, OUTER), (OUTER, INNER), (INNER, INNER), (INNER, OUTER)}
    assert all(w.target == w.rewrite for w in found)


def test_loops_one_after_the_other_are_matched_one_by_one() -> None:
    found = windows([START, *[OUTER] * 1000, *[INNER] * 1000], [START, *[OUTER] * 1000, *[INNER] * 250])
    (change,) = [w for w in found if 1001 in w.target]
    assert 1001 in change.rewrite


def test_a_side_without_loops_has_empty_windows() -> None:
    assert all(not w.rewrite for w in windows([START, *[INNER] * 500], [START]))


def window(first: int, count: int, begins: bool, ends: bool) -> Traces:
    """Four iterations against one, of which each side shows a counter of its own."""

    def side(point: BlockId, numbers: range, factor: int) -> tuple[Snapshot, ...]:
        return tuple(
            Snapshot(p, (v,), b"", {}, lambda a: 0, "little")
            for p, v in [(START, 7), *((point, factor * n) for n in numbers)]
        )

    target, rewrite = range(first, first + count), range(first // 4, (first + count) // 4)
    counts = {INNER: 4000}, {OTHER: 1000}
    return Traces(
        side(INNER, target, 0x1000),
        side(OTHER, rewrite, 0x700),
        begins=begins,
        ends=ends,
        in_all=(Counter(counts[0]), Counter(counts[1])),
        iterations=([0, *target], [0, *rewrite]),
    )


def test_no_edge_crosses_what_was_left_out() -> None:
    tests = [window(0, 32, True, False), window(3950, 50, False, True)]
    alignment: Alignment = next(alignments(tests))
    loop = Cut(INNER, OTHER)
    assert {(e.source, e.to, e.target_steps, e.rewrite_steps) for e in alignment.edges} == {
        (ENTRY, loop, 1, 1),
        (loop, loop, 4, 1),
        (loop, END, 3, 0),
    }
    passed = alignment.passed(tests)
    assert passed[ENTRY] == (set(), set())
    assert max(number for number, _ in passed[loop][0]) == 3


def test_a_pair_that_nothing_leads_to_is_left_out() -> None:
    first = window(0, 32, True, False)
    last = window(3950, 50, False, True)
    elsewhere = replace(
        last,
        target=tuple(replace(s, point=OUTER) if s.point == INNER else s for s in last.target),
        in_all=first.counts,
    )
    alignment = next(alignments([first, elsewhere]))
    assert alignment.cuts == [Cut(INNER, OTHER)]
    assert alignment.matched[1] == []
    assert set(alignment.passed([first, elsewhere])) == {ENTRY, Cut(INNER, OTHER)}


def test_a_first_window_with_one_iteration_leads_from_the_entry_to_it() -> None:
    alignment = next(alignments([window(0, 4, True, False), window(3950, 50, False, True)]))
    assert (ENTRY, Cut(INNER, OTHER)) in {(e.source, e.to) for e in alignment.edges}


def test_the_inner_loop_of_long_nested_loops_is_paired_with_the_inner_loop() -> None:
    """An outer loop makes as few iterations as the inner one of the other side makes many: that is no ratio."""
    below = BlockId((), 0x40, 0)
    sides = [START, *[OUTER, *[INNER] * 256] * 256], [START, *[below, *[OTHER] * 64] * 256]

    def snapshots(passed: list[BlockId], numbers: range, several: int) -> tuple[Snapshot, ...]:
        done = 0
        found = []
        for number, point in enumerate(passed[: numbers.stop]):
            if number in numbers:
                found.append(Snapshot(point, (0x1000 + 4 * done,), b"", {}, lambda a: 0, "little"))
            done += several if point in (INNER, OTHER) else 0
        return (Snapshot(START, (7,), b"", {}, lambda a: 0, "little"), *found)

    def in_a_row(numbers: range, length: int) -> list[int]:
        return [0, *(max(0, (number - 1) % (length + 1) - 1) for number in numbers)]

    tests = [
        Traces(
            snapshots(sides[0], seen.target, 1),
            snapshots(sides[1], seen.rewrite, 4),
            begins=seen.begins,
            ends=seen.ends,
            in_all=(Counter(sides[0][1:]), Counter(sides[1][1:])),
            iterations=(in_a_row(seen.target, 256), in_a_row(seen.rewrite, 64)),
        )
        for seen in windows(*sides)
    ]
    assert {Cut(OUTER, below), Cut(INNER, OTHER)} == set(next(alignments(tests)).cuts)


def test_a_loop_that_is_too_long_to_follow_at_once_is_in_a_cut() -> None:
    tests = [window(0, 32, True, False), window(3950, 50, False, True)]
    for alignment in alignments(tests):
        assert {cut.target for cut in alignment.cuts} >= {INNER}
