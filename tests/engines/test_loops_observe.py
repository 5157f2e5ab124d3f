"""Snapshots of runs, where loops are entered, and what no test does."""

from __future__ import annotations

from pathlib import Path

import pytest

from isoform.borders.question import Options, Question
from isoform.borders.settle import settle
from isoform.engines.answer import lifted
from isoform.engines.loops.observe import tests
from isoform.engines.loops.observe.stations import Stations, choices, cut_order, heads
from isoform.engines.loops.observe.tests import gather
from isoform.engines.loops.observe.untaken import untaken
from isoform.engines.loops.observe.windows import LongRun, long_run
from isoform.engines.loops.tuning import MOST_ENDLESS, TESTS_WANTED
from isoform.engines.separate import NOT_COMPARED
from isoform.load.open import LoadOptions, open_pair
from isoform.model.budget import Budget
from isoform.model.outcome import Inputs, Status
from isoform.run.observe import TooManySnapshotsError, observe
from isoform.run.runner import RunOptions

pytestmark = pytest.mark.compiler("gcc-12")

SOURCE = """
int sum(const int *a, int n) {
    int s = 0;
    if (n > 1000) for (int k = 0; k < n; k++) s ^= a[k];
    for (int i = 0; i < n; i++) s += a[i];
    return s;
}
"""
BUFFER = 0x20000


@pytest.fixture(scope="module")
def question(tmp_path_factory: pytest.TempPathFactory) -> Question:
    path = tmp_path_factory.mktemp("observe") / "sum.c"
    Path(path).write_text(SOURCE)
    pair = open_pair(str(path), str(path), LoadOptions(cflags=("-O0",)), LoadOptions(cflags=("-O1",)))
    return settle(lifted(pair[0]), lifted(pair[1]), Options())


def inputs(*numbers: int) -> Inputs:
    data = b"".join(n.to_bytes(4, "little", signed=True) for n in numbers)
    return Inputs({"rdi": BUFFER, "rsi": len(numbers)}, dict(enumerate(data, BUFFER)))


def test_snapshots_of_an_unoptimised_loop(question: Question) -> None:
    function, program = question.target, question.programs[0]
    taken, outcome = observe(program, inputs(5, -7, 9), RunOptions(1000), question.callees, heads(function))
    assert outcome.status is Status.DONE
    assert outcome.registers["rax"] & 0xFFFFFFFF == 7
    assert taken[0].point == function.entry
    assert all(s.point in heads(function) for s in taken[1:])
    slots = {local.name: local for local in function.image.locals}
    iterations = [(s.slot(slots["i"].offset, 4), s.slot(slots["s"].offset, 4)) for s in taken[1:]]
    assert iterations == [(0, 0), (1, 5), (2, 2**32 - 2), (3, 7)]
    assert taken[2].word(BUFFER + 4, 4) == 2**32 - 7
    assert taken[1].slot(1 << 30, 4) is None


def test_too_many(question: Question) -> None:
    watched = heads(question.target)
    with pytest.raises(TooManySnapshotsError):
        observe(question.programs[0], inputs(1, 2, 3, 4), RunOptions(1000), question.callees, watched, 3)


def test_every_choice_of_stations_cuts_every_loop(question: Question) -> None:
    found = list(choices(question.target, question.rewrite))
    assert len(found) > 1
    for stations in found:
        for function, chosen in zip((question.target, question.rewrite), stations, strict=True):
            order = cut_order(function, chosen)
            assert order is not None
            position = {block: n for n, block in enumerate(order)}
            for block in function.blocks.values():
                for successor in block.successors:
                    assert successor in chosen or position[successor] > position[block.id]
    assert cut_order(question.target, frozenset()) is None


def test_a_loop_that_no_test_enters_is_named(question: Question) -> None:
    told = untaken(question, [(inputs(1, 2), inputs(1, 2)), (inputs(), inputs())])
    listed = {f"{a - question.target.entry.address:+#x}" for a in question.target.instructions}
    first = told[0].split()
    assert told[0].startswith("no test repeats the loop at +0x")
    assert "of the target, because none takes the branch at +0x" in told[0]
    assert {word.rstrip(",") for word in first if word.startswith("+0x")} <= listed
    assert any("of the rewrite" in sentence for sentence in told)
    assert untaken(question, []) == []


def test_nothing_to_tell_where_tests_go_everywhere(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text("int f(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }")
    pair = open_pair(str(path), str(path), LoadOptions(cflags=("-O0",)), LoadOptions(cflags=("-O1",)))
    asked = settle(lifted(pair[0]), lifted(pair[1]), Options())
    assert untaken(asked, [(inputs(1, 2), inputs(1, 2)), (inputs(), inputs())]) == []


INVALID = """
int sum(const int *a, int n) {
    int s = 0;
    if (n > 7) return *(volatile int *)4 + PLUS;
    for (int i = 0; i < n; i++) s += a[i];
    return s;
}
"""


def test_tests_that_the_contract_excludes_end_nothing(tmp_path: Path) -> None:
    """For n > 7 the two differ, after a load from where no program has memory."""
    path = tmp_path / "sum.c"
    path.write_text(INVALID)
    pair = open_pair(str(path), str(path), LoadOptions(cflags=("-DPLUS=0",)), LoadOptions(cflags=("-DPLUS=1",)))
    budget = Budget(20.0)
    found = gather(settle(lifted(pair[0]), lifted(pair[1]), Options()), budget, seed=1)
    assert found.ended[NOT_COMPARED] > 0
    assert not found.differs
    assert len(found.traces) >= TESTS_WANTED


RARE = """
unsigned long mixed(unsigned long n, unsigned long key) {
    unsigned long s = 0;
    while (n--) s = 3 * s + n;
    if (key == 0x123456789abcdef) while (s--) key ^= s;
    return s ^ key;
}
"""


def test_runs_that_do_not_end_are_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test enters the second loop, and those that may enter it after a long time have any count in the first."""
    path = tmp_path / "mixed.c"
    path.write_text(RARE)
    pair = open_pair(str(path), str(path), LoadOptions(cflags=("-O0",)), LoadOptions(cflags=("-O1",)))
    question = settle(lifted(pair[0]), lifted(pair[1]), Options())
    endless = []

    def noted(asked: Question, both: tuple[Inputs, Inputs], stations: Stations) -> LongRun | None:
        found = long_run(asked, both, stations)
        endless.append(found is None)
        return found

    monkeypatch.setattr(tests, "long_run", noted)
    found = gather(question, Budget(60.0), seed=1)
    assert sum(endless) == MOST_ENDLESS
    assert endless[-1]
    assert len(found.traces) >= TESTS_WANTED
