"""Guesses from rows written by hand: equations, comparisons, folds, and what more data takes away."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from isoform.engines.loops.guess.compared import Compared
from isoform.engines.loops.guess.facts import (
    Among,
    AtLeast,
    Between,
    Compare,
    ConstantFact,
    Fold,
    FoldBy,
    Linear,
    OnStack,
    Relation,
    Same,
    SameNumber,
    Within,
)
from isoform.engines.loops.guess.features import Cell, Column, Extend, Feature, Row
from isoform.engines.loops.guess.guess import guess
from isoform.engines.loops.guess.invariant import GivenAtEntry, Invariant, Kinds, Order
from isoform.model.budget import Budget
from isoform.model.outcome import STACK_POINTER
from isoform.smt.solver import Answer, Solver
from isoform.smt.terms import Terms

POINTER = Feature("", "rsp", 0, 64)
BASE = Feature("", "rdi", 0, 64)
COUNT = Feature("", "rsi", 0, 32)
GIVEN = GivenAtEntry(POINTER, (BASE,), (BASE, COUNT))
I = Feature("a", -16, 0, 32)  # noqa: E741 (as in the loop)
CURSOR = Feature("b", "rdi", 0, 64)
TOTAL = Feature("a", -16, 32, 32)
TOTAL_HERE = Feature("b", "rax", 0, 32)


def show(feature: Feature) -> str:
    return {BASE: "a", COUNT: "n", I: "i", CURSOR: "p'", TOTAL: "s", TOTAL_HERE: "s'"}.get(feature, str(feature.place))


def rows_of_a_sum(seed: int = 1) -> list[Row]:
    random = Random(seed)
    rows: list[Row] = []
    for _ in range(6):
        base, count = random.randrange(1 << 20, 1 << 40), random.randrange(1, 20)
        for i in range(count):
            total = random.getrandbits(32)
            row = {POINTER: STACK_POINTER, BASE: base, COUNT: count, I: i, CURSOR: base + 4 * i}
            rows.append({**row, TOTAL: total, TOTAL_HERE: total})
    return rows


def texts(invariant: Invariant) -> list[str]:
    return [fact.text(show) for fact in invariant.facts]


def holds(invariant: Invariant, row: Row) -> list[bool]:
    """Each fact as a formula, with the row's numbers in it."""
    terms = Terms()
    return [f.term(terms, lambda x: terms.bv(row[x], x.bits)) == terms.true for f in invariant.facts]


def test_a_loop_over_an_array() -> None:
    rows = rows_of_a_sum()
    invariant = guess(rows, [CURSOR, TOTAL_HERE, I, TOTAL], GIVEN, kinds=Kinds(1, Order.ALL))
    found = texts(invariant)
    assert "s = s'" in found
    assert any("p'" in text and "4·i" in text and "a" in text for text in found), found
    assert "i < n" in found
    assert all(all(holds(invariant, row)) for row in rows)


def test_what_is_defined_is_not_free() -> None:
    invariant = guess(rows_of_a_sum(), [CURSOR, TOTAL_HERE, I, TOTAL], GIVEN)
    assert isinstance(invariant.definitions[TOTAL][0], Same)
    defined = {CURSOR, I} & invariant.definitions.keys()
    assert len(defined) <= 1, "each would be defined by the other"


def test_every_fact_survives_being_a_formula() -> None:
    """Facts speak of wrapped numbers: the formula and the data must agree, whatever the widths."""
    random = Random(3)
    wide, narrow, byte = Feature("a", "rax", 0, 64), Feature("b", "rcx", 0, 32), Feature("b", "rdx", 0, 8)
    rows: list[Row] = []
    for _ in range(24):
        number = random.choice((random.getrandbits(31), (1 << 32) - random.randrange(1, 50)))
        signed = number - (1 << 32) if number >> 31 else number
        rows.append(
            {POINTER: STACK_POINTER, BASE: random.getrandbits(64), COUNT: random.getrandbits(32)}
            | {wide: (3 * signed + 7) % (1 << 64), narrow: number, byte: number & 0xFF}
        )
    invariant = guess(rows, [narrow, byte, wide], GIVEN)
    assert any(isinstance(f, Linear) and wide in set(f.features()) for f in invariant.facts)
    assert all(all(holds(invariant, row)) for row in rows)


def test_sign_extension_is_told_from_zero_extension() -> None:
    wide, narrow = Feature("a", "rax", 0, 64), Feature("b", "rcx", 0, 32)
    rows: list[Row] = []
    for number in (0, 1, 5, -1, -7, 2**31 - 1, -(2**31)):
        row = {POINTER: STACK_POINTER, BASE: 0x5000, COUNT: 9}
        rows.append({**row, narrow: number % (1 << 32), wide: number % (1 << 64)})
    invariant = guess(rows, [narrow, wide], GIVEN)
    columns = {
        column
        for f in invariant.facts
        if isinstance(f, Linear)
        for _, column in f.summands
        if column == Column(narrow, Extend.SIGN)
    }
    assert columns
    assert narrow not in invariant.not_negative


def test_constants_and_frame_addresses() -> None:
    frame, fixed = Feature("a", "rbp", 0, 64), Feature("b", "rcx", 0, 32)
    rows: list[Row] = [
        {POINTER: sp, BASE: 7 * sp, COUNT: sp % 11, frame: sp - 8, fixed: 5}
        for sp in (STACK_POINTER, 0x7000_0000, 0x9990)
    ]
    invariant = guess(rows, [fixed, frame], GIVEN)
    assert OnStack(frame, POINTER, -8) in invariant.facts
    assert ConstantFact(fixed, 5) in invariant.facts


def test_a_further_row_takes_away_what_does_not_hold() -> None:
    rows = [row for row in rows_of_a_sum() if row[I] < 1]
    before = guess(rows, [CURSOR, I], GIVEN)
    assert ConstantFact(I, 0) in before.facts
    more = [*rows, {POINTER: STACK_POINTER, BASE: 0x8000, COUNT: 3, I: 2, CURSOR: 0x8008}]
    after = guess(more, [CURSOR, I], GIVEN)
    assert ConstantFact(I, 0) not in after.facts
    assert any(CURSOR in set(f.features()) and I in set(f.features()) for f in after.facts), (
        "4·i is not lost with i = 0"
    )


def test_banned_facts_are_not_claimed() -> None:
    rows = rows_of_a_sum()
    fact = next(f for f in guess(rows, [CURSOR, I], GIVEN).facts if isinstance(f, Compare))
    assert fact not in guess(rows, [CURSOR, I], GIVEN, banned={fact}).facts


def test_no_comparisons_where_none_are_wanted() -> None:
    invariant = guess(rows_of_a_sum(), [CURSOR, I], GIVEN, kinds=Kinds(1, Order.NONE))
    assert not any(isinstance(f, Compare) and f.relation is not Relation.AT_MOST for f in invariant.facts)


def test_the_greatest_of_four_lanes() -> None:
    random = Random(8)
    lanes = tuple(Feature("b", "zmm0", 32 * k, 32) for k in range(4))
    greatest = Feature("a", "rax", 0, 32)
    rows: list[Row] = []
    for _ in range(12):
        values = [random.getrandbits(32) for _ in lanes]
        most = max(values, key=lambda v: v ^ (1 << 31))
        rows.append(
            {POINTER: STACK_POINTER, BASE: 0x5000, COUNT: 4, **dict(zip(lanes, values, strict=True)), greatest: most}
        )
    facts = guess(rows, [*lanes, greatest], GIVEN).facts
    fold = Fold(greatest, FoldBy.SIGNED_MAX, lanes)
    assert fold in facts
    facts = guess(rows, [*lanes, greatest], GIVEN, banned=[fold]).facts
    assert Among(greatest, lanes) in facts
    bounds = [Compare(Column(lane), Relation.LESS_OR_EQUAL, Column(greatest), greatest.bits) for lane in lanes]
    assert all(bound in facts for bound in bounds)


def test_exclusive_or_of_lanes() -> None:
    random = Random(9)
    lanes = [Feature("b", "zmm0", 32 * k, 32) for k in range(4)]
    total = Feature("a", "rax", 0, 32)
    rows: list[Row] = []
    for _ in range(20):
        values = [random.getrandbits(32) for _ in lanes]
        row = {POINTER: STACK_POINTER, BASE: random.getrandbits(64), COUNT: random.getrandbits(32)}
        both = values[0] ^ values[1] ^ values[2] ^ values[3]
        rows.append({**row, **dict(zip(lanes, values, strict=True)), total: both})
    invariant = guess(rows, [*lanes, total], GIVEN, kinds=Kinds(1, Order.NONE))
    assert total in invariant.definitions
    assert set(invariant.definitions[total][0].features()) == {*lanes, total}
    assert all(all(holds(invariant, row)) for row in rows)


def test_a_range_that_goes_beyond_the_last_address() -> None:
    """What a pointer is between is found where none of them is always the greater one."""
    end = Feature("b", "rdx", 0, 64)
    rows: list[Row] = []
    for base in (0x1000, 0x5000, (1 << 64) - 8):
        for iteration in range(5):
            row = {POINTER: STACK_POINTER, BASE: base, COUNT: 5, CURSOR: (base + 4 * iteration) % (1 << 64)}
            rows.append({**row, end: (base + 20) % (1 << 64)})
    together = frozenset({frozenset({CURSOR, end})})
    kinds = Kinds(1, Order.COMPARED, Compared(together), pointers=frozenset({BASE, CURSOR, end}))
    invariant = guess(rows, [CURSOR, end], GIVEN, kinds=kinds)
    assert Within(Column(BASE), Column(CURSOR), Column(end), False, 64) in invariant.facts
    assert not any(isinstance(fact, Compare) and fact.relation is Relation.BELOW for fact in invariant.facts)
    assert all(all(holds(invariant, row)) for row in rows)
    assert invariant.measured == {CURSOR: BASE}


def test_words_of_memory_at_one_address_are_like_arguments() -> None:
    random = Random(3)
    word = Cell("b", "memory", 0, 64, 8, ((1, Column(BASE)),))
    rows: list[Row] = []
    for _ in range(6):
        start = random.getrandbits(40)
        for iteration in range(5):
            row = {POINTER: STACK_POINTER, BASE: random.getrandbits(40), COUNT: 5, I: iteration}
            rows.append({**row, word: start, CURSOR: start + 4 * iteration})
    invariant = guess(rows, [CURSOR, I], GIVEN, kinds=Kinds(1, Order.NONE, cells=(word,)))
    fact, _ = invariant.definitions[CURSOR]
    assert isinstance(fact, Linear)
    assert set(fact.features()) == {word, I, CURSOR}


NAN, OTHER_NAN, ONE = 0x7FC00000, 0xFFC00001, 0x3F800000


def test_floats_that_differ_only_in_which_nan_they_are() -> None:
    rows = rows_of_a_sum()
    assert Same(TOTAL_HERE, TOTAL) in guess(rows, [TOTAL, TOTAL_HERE], GIVEN).facts
    rows.append({**rows[0], TOTAL: NAN, TOTAL_HERE: OTHER_NAN})
    fact = SameNumber(TOTAL_HERE, TOTAL)
    kinds = Kinds(floats=True)
    assert fact in guess(rows, [TOTAL, TOTAL_HERE], GIVEN, kinds=kinds).facts
    assert fact not in guess(rows, [TOTAL, TOTAL_HERE], GIVEN).facts
    rows.append({**rows[0], TOTAL: NAN, TOTAL_HERE: ONE})
    assert fact not in guess(rows, [TOTAL, TOTAL_HERE], GIVEN, kinds=kinds).facts


def test_the_same_number_as_a_definition_is_as_much_as_the_fact_says() -> None:
    """Over all pairs of some floats: the definition can give the left one exactly where the fact holds."""
    fact = SameNumber(TOTAL_HERE, TOTAL)
    floats = (0, 1 << 31, ONE, 0x7F800000, NAN, OTHER_NAN, 0x7F800001)
    for left in floats:
        for right in floats:
            terms = Terms()
            values = {TOTAL_HERE: terms.bv(left, 32), TOTAL: terms.bv(right, 32)}
            is_so = fact.term(terms, values.__getitem__) == terms.true
            defined = fact.definition(terms, values.__getitem__)
            solver = Solver(terms, Budget(10))
            assert (solver.check([terms.eq(defined, values[TOTAL_HERE])]) is Answer.SAT) == is_so


def test_a_counter_stays_below_its_last_value() -> None:
    counter = Feature("b", "rax", 0, 64)
    rows: list[Row] = [{POINTER: STACK_POINTER, BASE: 1 << 30, COUNT: 7, counter: 16 * i} for i in range(1000)]
    kinds = Kinds(compared=Compared(frozenset({frozenset({counter})})), order=Order.COMPARED)
    last = 16 * 1000
    found = guess(rows, [counter], GIVEN, (0, 1, last), kinds=kinds)
    assert Compare(Column(counter), Relation.BELOW, last, 64) in found.facts
    beyond = {POINTER: STACK_POINTER, BASE: 1 << 30, COUNT: 7, counter: last + 16}
    weaker = guess([*rows, beyond], [counter], GIVEN, (0, 1, last), kinds=kinds)
    assert Compare(Column(counter), Relation.BELOW, last, 64) not in weaker.facts
    assert Compare(Column(counter), Relation.DIFFERENT, last, 64) in weaker.facts


def test_a_range_that_begins_with_the_second_element() -> None:
    end = Feature("b", "rdx", 0, 64)
    rows: list[Row] = []
    for base in (0x1000, 0x5000, 0x90000):
        for iteration in range(1, 9):
            row = {POINTER: STACK_POINTER, BASE: base, COUNT: 9, CURSOR: base + 4 * iteration, end: base + 36}
            rows.append(row)
    kinds = Kinds(
        order=Order.COMPARED,
        compared=Compared(frozenset({frozenset({CURSOR, end})})),
        pointers=frozenset({BASE, CURSOR, end}),
    )
    assert (
        Within(Column(BASE), Column(CURSOR), Column(end), False, 64)
        in guess(rows, [CURSOR, end], GIVEN, kinds=kinds).facts
    )


def test_what_is_left_over_is_less_than_an_iteration() -> None:
    """As observed at first, then the next power of two, then nothing."""
    done = Feature("b", "rcx", 0, 32)
    kinds = Kinds(order=Order.COMPARED, compared=Compared(frozenset({frozenset({done, COUNT})})))
    rows: list[Row] = [
        {POINTER: STACK_POINTER, BASE: 1 << 30, COUNT: count, done: count // 4 * 4 + 1}
        for count in range(2, 90)
        if count % 4 > 1
    ]
    left = Column(COUNT), Column(done)

    def bounds(*broken: int) -> list[int]:
        more: list[Row] = [{**rows[0], COUNT: rows[0][done] + number} for number in broken]
        loose: dict[tuple[Column, Column | None], int] = {(left[1], left[0]): len(broken)}
        found = guess([*rows, *more], [done], GIVEN, kinds=replace(kinds, loose=loose)).facts
        wanted = (f for f in found if isinstance(f, Compare) and (f.left, f.less) == left)
        return [f.right for f in wanted if isinstance(f.right, int)]

    assert bounds() == [2]
    assert bounds(5) == [7]
    assert bounds(5, 12) == []


def test_bounds_of_a_difference_are_given_up_one_by_one() -> None:
    left, less = Column(COUNT), Column(I)
    upper = Compare(left, Relation.AT_MOST, 3, 32, less)
    assert upper.bounded != AtLeast(left, less, 1, 32).bounded


def test_a_counter_that_begins_below_zero() -> None:
    counter = Feature("b", "rax", 0, 64)

    def row(number: int) -> Row:
        return {POINTER: STACK_POINTER, BASE: 1 << 30, COUNT: 7, counter: number % (1 << 64)}

    kinds = Kinds(compared=Compared(frozenset({frozenset({counter})})), order=Order.COMPARED)
    up = [row(number) for number in range(-2, 4000, 4)]
    fact = Between(Column(counter), -2, 4002, 64)
    assert fact in guess(up, [counter], GIVEN, (0, 4002), kinds=kinds).facts
    assert fact.text(show) == "-2 ≤ rax < 4002"
    assert not any(isinstance(f, Between) for f in guess(up[1:], [counter], GIVEN, (0, 4002), kinds=kinds).facts)
    down = [row(number) for number in range(-1, 4000, 16)]
    assert Between(Column(counter), -1, 4096, 64) in guess(down, [counter], GIVEN, (0, 1), kinds=kinds).facts
    broken = replace(kinds, loose={(Column(counter), None): 1})
    assert not any(isinstance(f, Between) for f in guess(down, [counter], GIVEN, (0, 1), kinds=broken).facts)


def test_between_is_about_exactly_its_numbers() -> None:
    terms = Terms()
    value = Feature("b", "rax", 0, 8)
    fact = Between(Column(value), -2, 5, 8)

    def is_inside(number: int) -> bool:
        return terms.value(terms.flag(fact.term(terms, lambda f: terms.bv(number, 8)))) == 1

    inside = [number for number in range(256) if is_inside(number)]
    assert inside == [0, 1, 2, 3, 4, 254, 255]


def test_the_step_of_a_counter_is_found_in_a_few_rows_with_many_lanes() -> None:
    random = Random(3)
    counter = Feature("b", "rax", 0, 64)
    lanes = [Feature("b", f"xmm{n // 4}", 32 * (n % 4), 32) for n in range(8)]
    rows: list[Row] = [
        {POINTER: STACK_POINTER, BASE: 1 << 30, COUNT: 7, counter: number, **{f: random.getrandbits(32) for f in lanes}}
        for number in (*range(28, 156, 32), *range(31836, 32028, 32))
    ]
    kinds = Kinds(order=Order.NONE, steering=frozenset({counter}))
    found = guess(rows, [*lanes, counter], GIVEN, kinds=kinds).facts
    assert "rax ≡ 28 (mod 32)" in [fact.text(show) for fact in found]
