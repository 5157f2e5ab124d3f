"""The numbers that decide what the loops engine tries, and for how long.

None of them decides whether a proof is right: a bad value costs proofs, or time. If a measurement chose the number, it
stands beside it. The others were chosen by hand so that `tests/pairs/loops` is proved; `bench/loops.py` says what a
change costs or gains. Seconds are of a budget, so of processor time.
"""

from __future__ import annotations

# -- observe: tests ---------------------------------------------------------------------------------

TESTS_WANTED = 8
"""Tests, and `FEW_TIMES` more for each loop: too few give facts that hold by chance, and each takes time to align."""
MOST_TESTS_TRIED = 160
"""Tests, of which some are excluded by preconditions, too long, or like others."""
TESTS_OF_ONE_LENGTH = 3
"""Tests in which both sides pass as many stations as in others: more of them show little that is new."""
GATHERING_SECONDS = 6.0
"""Seconds for all of that."""
TEST_FUEL_STEPS = 3000
"""Steps of one side in a test, if `--fuel` does not allow fewer."""
LONGEST_TRACE, LONGEST_RARE_TRACE = 60, 130
"""Stations of one side in a test that is used; and if a loop iterates rarely, as a vectorised loop does."""
LONG_TESTS = 2
"""If all tests have longer traces: so many are used, in windows. Each shows many iterations. Loops with 32,000
iterations take a second of each test, and nothing was proved with four that is not with two."""
MOST_TOO_LONG = 24
"""Tests that all have longer traces after which no shorter ones are expected."""
LONG_FUEL_STEPS, MOST_VISITS = 1_000_000, 100_000
"""Steps and stations of one side in such a test: half a second."""
MOST_ENDLESS = 2
"""Tests that do not end with so many steps, after which no more such tests are run: each takes a second, and if a count
may be any number most tests are like that."""
MANY_STRETCH, MANY_TESTS = 2400, 48
"""If no proof was found: inputs so many times as large, up to 100,000, and so many tests. Counters of 16 bits wrap."""
MANY_ITERATIONS, MANY_OF_ONE_TESTS = 100_000, 8
"""Before them: so many tests for each number among the arguments, with up to so much for that one alone."""
MANY_STEPS, MANY_SECONDS, MANY_SHARE = 16_000_000, 2.0, 0.25
"""Steps of all such tests, seconds of processor time, and the largest share of the remaining budget."""
ITERATIONS_IN_WINDOW, LONGEST_HALF_WINDOW = 4, 48
"""Iterations of the side that passes fewer stations, before and after the station for which there is a window; and
stations of the other side."""
NEW_STEPS_SEEN, MOST_WINDOWS = 2, 10
"""How many occurrences of a step from one station to another get a window, and windows of one run."""
FEW_TIMES, SOME_TIMES = 4, 2
"""Iterations, or tests. A loop that iterated less than a few times, or in fewer tests, hardly shows its behaviour; a
single iteration in straight code is seen enough in some tests."""
OFTEN_STATIONS = 12
"""Stations of a test in which other loops iterated often."""
STRETCH, LARGER_TESTS = 3, 10
"""For loops that iterate rarely: inputs so many times as large, and so many more tests."""
VARIATIONS = 3
"""Runs of each test with other data in memory: equations that hold by chance do not hold there."""
SEVERAL_SINGLE_ITERATIONS = 3
"""Iterations that are straight code, in a row, from which on they get stations of their own."""
MOST_UNTAKEN_RUNS = 24
"""Tests that are run again to find a branch that none of them takes."""

# -- observe: inputs --------------------------------------------------------------------------------

POINTER_FUEL_STEPS = 400
"""Steps of a run that shows which values are used as pointers."""
POINTEE_BYTES = 64
"""Bytes after a pointer that count as what it points to."""
NOISE_BYTES = 512
"""Bytes of random data in a buffer."""
LARGE_SIZES = 42
"""Sizes, before they are stretched, of which any is as likely as another."""
MOSTLY_LARGEST_SHARE = 0.75
"""Share of the sizes in the upper third, where those are wanted: 67,200 to 100,800 iterations, so that 16 bits wrap."""
ONLY_SOME_LARGE_SHARE = 0.25
"""Share of the numbers that stay small if sizes are stretched."""
HOLDS_ARGUMENT_SHARE = 0.5
"""Share of the inputs in which buffers also hold arguments: the code may search for them."""
LETTERS_SHARE = 0.9
"""Share of the text that is made of bytes that the code distinguishes."""
LEADS_BACK_EVERY = 4
"""One in so many inputs has pointers that form a cycle."""
LETTERS_SPAN = 40
"""Bytes between two that code compares with: not more than letters of one kind."""
REGISTERS_SEEN, FRAME_SEEN_BYTES = 40, 96
"""Registers, and bytes of the frame below its top, in which the two sides may agree at a station."""

# -- align ------------------------------------------------------------------------------------------

MOST_STEPS = 64
"""Stations that one side may pass while the other takes a step."""
WIDEST_CHANGE = 34
"""Stations that one side may pass while the other moves from one loop to another."""
TYPICAL_LENGTH = 20
"""Stations of the tests that are aligned first: their alignment is the least ambiguous."""
PAIRING_PASSES = 4
"""Passes over all tests, so that all learn from all."""
FEWEST_TESTS = 5
"""Tests that must be left for a second alignment without those that alone take some edge."""
FIRST_ITERATIONS = 3
"""Iterations at the beginning of a window of a long run in which its first pair may be."""
SEVERAL_VISITS = 2
"""Visits of two stations from which on they may be paired as one loop."""
MOST_PARTNERS = 6
"""Places of one side in which a value of the other is searched."""
MOSTLY_SHARE = 0.75
"""Share of the visits of a cut on which two places agree, if they correspond."""
MUCH_WORSE = 3.0
"""Factor of the best cost beyond which an alignment is not finished."""

EDGE_COST, ITERATION_COST, STATION_COST = 6.0, 0.2, 0.4
"""Costs rank alignments; only their proportions matter. Of an edge that is not there yet, of an iteration, and of a
station that is passed on an edge that is no iteration (squared, in units of the stations that an iteration passes)."""
CHANGE_COST, WAITING_COST, UNPAIRED_COST = 1.0, 5.0, 4.0
"""Of moving from one loop to another, of an edge on which one side waits, and of stations that both pass unpaired."""
MEMORY_COST = 40.0
"""Of a pair of stations at which memory differs."""
PHASE_COST = 40.0
"""Of a pair in a later window of a long run, if one side is ahead of the other by more than in the first window."""
OPEN_COST = 100.0
"""Of a loop that iterates too often to be followed at once, and is in no cut."""
MOST_AGREEMENT, DISAGREEMENT_COST, SETTLED_DISAGREEMENT_COST = 2.0, 1.5, 5.0
"""The most that two stations can agree; what it costs if they agree less, and how much more once it is known which
places agree."""

# -- guess ------------------------------------------------------------------------------------------

MOST_ROWS = 96
"""Observations at one cut, spread over all tests."""
MOST_CELLS, MOST_CELL_SUMMANDS = 6, 3
"""Words of memory at a cut that facts may speak of, and features in the sum that is the address of one."""
MOST_CELLS_SEEN, MOST_CELLS_HELD = 64, 16
"""Further words that are compared with registers, and those that registers hold: the lanes of four vectors."""
MOST_OBJECTS = 12
"""Objects whose addresses facts may speak of."""
OBJECT_SLACK_BYTES = 64
"""Bytes beside an object where a pointer to it may be."""
FEW_BITS = 8
"""Bits that become separate features if code shifts them out; if there are more, all bits are one feature, because
words are simpler."""
MOST_CONSTANTS = 24
"""Numbers that the code compares something with."""
MOST_PARTS, MOST_PART_BITS = 4, 6
"""Numbers of low bits that the code masks, and the largest: the remainder of a count by 64 at most."""
MOST_IN_COMPARISON = 3
"""Features that one comparison of the code may be about."""

MOST_SUMMANDS = 5
"""Features in one equation: longer ones mostly hold by chance."""
LARGE_COEFFICIENT = 4096
"""Equations that programs keep have smaller coefficients."""
SHORT_SUMMANDS = 2
"""Features in an equation that is kept whatever its coefficients are."""
REDUCING_SWEEPS = 3
"""Times that generators are reduced by each other."""
MOST_LATTICE_COLUMNS = 64
"""Features for which short vectors are looked for: LLL takes 0.5 s for 60 and 2 s for 80, and no budget ends it."""
COEFFICIENT_WEIGHT = 256
"""How much more a coefficient weighs than the constant."""
MOST_FACTORS, MOST_IN_CONGRUENCE, FEW_LOW_BITS = 7, 2, 6
"""Features in products, and in congruences. Two values may agree in a few low bits, or in a part as wide as a word. If
they agree in anything else, they were equal until now, and will agree less and less."""

MOST_ORDERED = 14
"""Values whose order is looked at: their pairs grow with the square."""
LOWER_BOUNDS = ((*range(1, 9), 16, 32, 64), tuple(range(1, 9)), (1, 4), (1,))
UPPER_BOUNDS = tuple(tuple((1 << k) - 1 for k in some) for some in ((1, 2, 3, 4, 8, 16, 31), (8, 31), (31,)))
"""Bounds that are tried at first, and after those of a value were broken once, twice, …: a value that grows for ever
breaks the next one too."""
MOST_LEFT_OVER, MOST_BYTES_LEFT_OVER = 15, 63
"""The largest bound for the remainder of a count, and for the bytes between two pointers that the remainder is."""
MOST_BELOW_ZERO = 64
"""How far below zero a counter may begin that ends at a number in the code."""
BUFFER_DISTANCES = (128, 64, 32, 16)
"""Bytes between buffers: as many as an iteration of a vectorised loop processes."""

# -- prove ------------------------------------------------------------------------------------------

GLANCE_SECONDS, QUICK_SECONDS = 0.3, 1.0
"""Seconds for a question of which many are asked, and for one that decides more."""
MANY_RULES, MOST_ROUNDS = 12, 4
"""Assumptions about single accesses from which on a question is first asked without them; and how often those that a
model breaks are added, before all are."""
EXPANDED_SECONDS = 0.3
"""Seconds for a question with sums of monomials: that helps at once or never."""
MEANING_SECONDS = 0.1
"""Seconds to find out whether floating-point operations can have the results of a model, while invariants are looked
for."""
MERGING_SECONDS, SWEEP_SECONDS, MOST_SWEEP_SECONDS = 0.1, 1.0, 10.0
"""Seconds before equal parts of both sides are merged, where that was needed before; for merging; and for merging
where nothing else is left to try."""
KEEP_SECONDS, FACT_SECONDS = 0.5, 1.0
"""Seconds for whether an edge keeps all facts together, and one of them by itself."""
ENOUGH_SECONDS = 2.0
"""Seconds. A fact is not dropped if less time than this was left: it may be decided with more."""
MOST_WEAKENINGS = 400
"""Times that invariants are weakened before an attempt is given up."""
MOST_MODELS, MODEL_SECONDS = 16, 0.2
"""Models that are used at once, before the guess is repeated, and seconds for each."""
MOST_REPAIRS = 16
"""Edges that are added because a model shows that they were missing."""
STRAINED_SHARE = 0.25
"""Share of the facts at a cut that a model may break and still count as a state of that cut."""
MOST_LENGTHENED = 3
"""Times that a path to the end is made longer than tests showed."""
SMALL_NUMBER = 40
"""Numbers below it are few iterations of a loop, in inputs that are made of a model."""
MOST_MEASURED = 8
"""Features of one width that are tried as ranking functions."""

MOST_NARROWINGS, MOST_CASES = 8, 40
"""Times that both sides are executed again in one case, and cases of one question."""
MOST_VAIN, FEW_VAIN, VERY_FEW_VAIN = 40, 6, 2
"""Questions about a case that may stay undecided: usually, if only equal addresses are asked for, and of pointers that
were loaded from memory."""
MOST_UNDECIDED = 2
"""Times that one question is asked in vain."""
FEW_BRANCHES = 3
"""Open branches that can be enumerated quickly."""
NEAR_BYTES, MOST_NEAR = 4096, 6
"""Bytes between two addresses that may be one plus a distance, and simpler addresses that one is compared with."""

# -- schedule ---------------------------------------------------------------------------------------

MOST_ALIGNMENTS, MOST_ATTEMPTS = 4, 40
"""Alignments with one choice of stations, and attempts with what one set of tests shows."""
MOST_LEARNED = 8
"""Tests that are made of models."""
SLICE_SHARE, SLICE_SECONDS = 0.06, 1.0
"""The first time slice of an attempt: this share of the budget, but not less than so many seconds."""
BEST_FACTOR, BEST_SECONDS = 2.5, 6.0
"""How much longer the first time slice is with the best alignment, and how many seconds at least."""
NEARLY_FACTOR = 8
"""How much less a time slice counts for an attempt that has its invariants."""
MOST_WAITING = 4
"""Attempts whose whole state is kept until their next time slice."""
LONG_SECONDS, NEARLY_LONGER = 8.0, 2
"""Seconds. Most proofs take less; a longer attempt often fails, and another engine may find a difference soon. And how
many times as long it waits for an attempt that has its invariants."""
