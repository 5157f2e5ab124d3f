"""Limits: what a budget counts, and that nothing outlives it. Nothing here asserts how long something took: what did
not end would never end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from isoform.cli import run_command
from isoform.model import budget as budgets
from isoform.model.budget import WALL_FACTOR, Budget
from isoform.model.errors import OutOfLimits, Unsupported
from isoform.model.limits import as_size, enforced
from isoform.smt.solver import Answer, Solver
from isoform.smt.terms import Terms

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs timers and processes")


class Clocks:
    """Processor time and the wall clock, set by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.used = self.now = 0.0
        monkeypatch.setattr(budgets, "processor_time", lambda: self.used)
        monkeypatch.setattr("isoform.model.budget.time.monotonic", lambda: self.now)


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    return Clocks(monkeypatch)


def test_a_budget_counts_processor_time(clocks: Clocks) -> None:
    budget = Budget(10)
    clocks.now = 25  # the machine did something else
    clocks.used = 4
    assert budget.left == 6
    assert not budget.exhausted
    clocks.used = 10
    assert budget.exhausted
    assert budget.why_exhausted() == "the budget of 10 s ran out"


def test_the_wall_clock_is_a_safety_net(clocks: Clocks) -> None:
    budget = Budget(10)
    clocks.now = 10 * WALL_FACTOR
    assert budget.exhausted
    assert budget.left == 0


def test_a_part_ends_with_the_whole(clocks: Clocks) -> None:
    whole = Budget(10)
    clocks.used = 8
    part = whole.part(5)
    assert part.seconds == 2
    whole.stop("it was interrupted")
    assert part.exhausted
    assert part.why_exhausted() == "it was interrupted"


def test_a_counted_part_does_not_look_at_clocks(clocks: Clocks) -> None:
    part = Budget(60).counted_part(1)
    clocks.used, clocks.now = 1.5, 2.5
    assert not part.exhausted
    assert part.left == 1
    part.charge(1)
    assert part.exhausted


def test_uncounted_work_ends_a_counted_part_too(clocks: Clocks) -> None:
    part = Budget(60).counted_part(1)
    clocks.used = budgets.SLOWEST
    assert part.exhausted


def test_a_query_is_ended_by_what_it_did() -> None:
    """The same number of steps, and so the same answer, each time."""
    steps = []
    for _ in range(2):
        terms = Terms()
        x, y, z = (terms.variable(name, 20) for name in "xyz")
        left, right = terms.mul(x, terms.mul(y, z)), terms.mul(terms.mul(z, x), y)
        one = terms.bv(1, 20)
        part = Budget(600).counted_part(0.02)
        solver = Solver(terms, part)
        assert solver.check([terms.negate(terms.eq(terms.xor_(left, one), terms.xor_(right, one)))]) is Answer.UNKNOWN
        steps.append(part.left)
    assert steps[0] == steps[1]


def test_a_loop_that_never_asks_is_ended() -> None:
    def work() -> None:
        while True:
            try:
                sum(range(1000))
            except Unsupported:  # what an engine catches to go on with something else
                continue

    with pytest.raises(OutOfLimits, match=r"budget of 0\.05 s"), enforced(Budget(0.05)):
        work()


def test_memory_is_limited() -> None:
    def work() -> None:
        kept = []
        while True:
            kept.append(bytes(range(256)) * 64)

    with pytest.raises(OutOfLimits, match="memory limit of 64 MB"), enforced(Budget(60), 64 << 20):
        work()


def test_nothing_is_ended_once_the_answer_is_there() -> None:
    budget = Budget(0.0)
    with enforced(budget):
        budget.is_closed = True
        for _ in range(300_000):
            sum(range(10))


@pytest.mark.parametrize(("size", "text"), [(2 << 30, "2 GB"), (512 << 20, "512 MB"), (1536 << 20, "1.5 GB")])
def test_sizes_in_words(size: int, text: str) -> None:
    assert as_size(size) == text


@pytest.mark.parametrize("wrong", ["2X", "", "-1", "1K", "G", "1e3"])
def test_a_wrong_memory_limit_is_one_sentence(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["compare", "a.o:f", "b.o:f", f"--memory-limit={wrong}"]) == 2
    assert "--memory-limit" in capsys.readouterr().err


# -- the process that watches -------------------------------------------------------------------------

CHILD = """
import os, signal, sys, time
from isoform import supervise
from isoform.model.contract import AbortRule, CallRule, Contract, MemoryRule, ReturnAs, SignatureSource
from isoform.isa.registry import machine
from isoform.model.verdict import Subject, Unknown

def show(verdict, how):
    print(how, verdict.word, verdict.why)
    return verdict.exit_code

def work():
    supervise.begin(supervise.Limits(SECONDS, 300 << 20), "shown")
    side = Subject("a.o", "f", "x86_64")
    contract = Contract(machine("x86_64"), None, SignatureSource.LIVENESS, (), (), return_as=ReturnAs.VALUE,
                        memory=MemoryRule.COMPARE, aborts=AbortRule.EQUAL, calls=CallRule.AUTO)
    if not EARLY:
        supervise.so_far(Unknown(side, side, contract, "loops", 0.0, why="not answered yet"))
    BODY
    supervise.answered()
    print("answered")
    return 7

sys.exit(supervise.supervised(work, show, lambda why: print("complaint:", why)))
"""


def supervised(body: str, early: bool = False, seconds: float = 0.3) -> tuple[int, str]:
    indented = textwrap.indent(textwrap.dedent(body), "    ").strip()
    program = CHILD.replace("BODY", indented).replace("EARLY", str(early)).replace("SECONDS", str(seconds))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout.strip()


def test_a_child_that_ends_by_itself_has_its_own_exit_code() -> None:
    assert supervised("pass") == (7, "answered")


def test_a_child_that_does_not_stop_is_ended() -> None:
    assert supervised("while True: pass") == (3, "shown unknown the budget of 0.3 s ran out in loops")


def test_a_child_of_the_child_counts_too() -> None:
    body = """
    import subprocess
    subprocess.run([sys.executable, "-c", "while True: pass"])
    """
    assert supervised(body) == (3, "shown unknown the budget of 0.3 s ran out in loops")


def test_a_child_that_takes_too_much_memory_is_ended() -> None:
    body = "kept = [bytes(range(256)) * 4096 for _ in range(10_000)]"
    assert supervised(body, seconds=60) == (3, "shown unknown the memory limit of 300 MB was reached in loops")


def test_a_child_that_crashes_has_an_answer() -> None:
    assert supervised("os.abort()") == (3, "shown unknown isoform crashed (SIGABRT) in loops")


def test_before_anything_is_known_it_is_one_sentence() -> None:
    code, said = supervised("while True: pass", early=True)
    assert (code, said) == (2, "complaint: the budget of 0.3 s ran out while the files were read")


def test_an_interrupted_child_that_does_not_listen_is_ended() -> None:
    body = """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.kill(os.getppid(), signal.SIGINT)
    time.sleep(100)
    """
    assert supervised(body, seconds=60) == (3, "shown unknown it was interrupted in loops")


# -- questions that used to have no end -----------------------------------------------------------------


def ask(*words: str) -> dict[str, object]:
    command = [sys.executable, "-m", "isoform", "compare", *words, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode in (0, 1, 3), done.stderr
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def test_many_accesses_behind_many_loops(tmp_path: Path) -> None:
    """As in zlib: a state machine with jumps into its loops, and hundreds of blocks behind it. Which of them come after
    all loops was once found by looking for all loops again, for each of them."""
    states = "\n".join(f"s{i}: if (*p++ & {1 << i % 8}) goto s{(i * 7 + 3) % 40}; n += p[{i}];" for i in range(40))
    tail = "\n".join(f"if (q[{i}] > n) q[{i}] = n + {i};" for i in range(150))
    source = tmp_path / "machine.c"
    source.write_text(f"int f(unsigned char *p, int *q) {{ int n = 0;\n{states}\n{tail}\nreturn n; }}\n")
    answer = ask(f"{source}:f", "--cflags-a=-O0", "--cflags-b=-O1", "--budget", "3")
    assert answer["verdict"] in ("unknown", "bounded", "equivalent")


def test_a_formula_that_grows_without_end(tmp_path: Path) -> None:
    """Wide products: translating them to bits neither asks for the time nor returns to Python."""
    body = "\n".join("x = x * y + (x >> 7) * (y | 1); y = y * x ^ (x * x);" for _ in range(60))
    source = tmp_path / "products.c"
    text = "unsigned __int128 {0}(unsigned __int128 x, unsigned __int128 y) {{ {1} return {2}; }}\n"
    source.write_text(text.format("f", body, "x * y + x") + text.format("g", body, "x * (y + 1)"))
    answer = ask(f"{source}:f", f"{source}:g", "--budget", "3", "--memory-limit", "500M")
    assert answer["verdict"] in ("unknown", "equivalent")
