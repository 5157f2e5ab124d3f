"""Files of a user's own tests: what they say becomes inputs, and what does not fit is one sentence."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from isoform.api import compare
from isoform.borders.question import Engine, Options
from isoform.borders.settle import settle
from isoform.cli import run_command
from isoform.engines.answer import lifted
from isoform.engines.loops.observe.own_tests import MOST_TESTS, read_own_tests
from isoform.load.open import LoadOptions, open_one
from isoform.model.contract import Contract, argument_value
from isoform.model.errors import UserError
from isoform.model.outcome import STACK_POINTER, Inputs
from isoform.model.verdict import Bounded, Different, Unknown

pytestmark = pytest.mark.compiler("gcc-12")

SOURCE = """
struct node { int v; char tag[3]; struct node *next; };
struct pair { int x; int y; };
int list(struct node *p) { int s = 0; while (p) { s += p->v; p = p->next; } return s; }
int sum(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
int move(short *to, const short *from, unsigned char n) { while (n--) *to++ = *from++; return 0; }
int mixed(char **words, double d, struct pair q, _Bool b, void *raw) { return words[0][0] + (int)d + q.x + b; }
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "own.c"
    path.write_text(SOURCE)
    return path


def contract_of(source: Path, function: str) -> Contract:
    side = lifted(open_one(f"{source}:{function}", LoadOptions(cflags=("-O0",))))
    return settle(side, side, Options()).contract


def read(source: Path, function: str, content: Any) -> tuple[Contract, list[Inputs]]:
    path = source.parent / "tests.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    contract = contract_of(source, function)
    return contract, [left for left, _ in read_own_tests(str(path), contract)]


def value(contract: Contract, inputs: Inputs, name: str) -> int:
    return argument_value(next(a for a in contract.arguments if a.name == name), inputs)


def word(inputs: Inputs, address: int, size: int) -> int:
    return int.from_bytes(bytes(inputs.memory[address + i] for i in range(size)), "little")


def test_arrays(source: Path) -> None:
    contract, (first, second) = read(source, "sum", [{"a": [1, -2, 0x7FFFFFFF], "n": 3}, {"a": None, "n": -1}])
    start = value(contract, first, "a")
    assert [word(first, start + 4 * i, 4) for i in range(3)] == [1, 2**32 - 2, 0x7FFFFFFF]
    assert value(contract, first, "n") == 3
    assert value(contract, second, "a") == 0
    assert value(contract, second, "n") == 2**32 - 1


def test_the_sides_differ_only_in_what_is_undefined(source: Path) -> None:
    path = source.parent / "sides.json"
    path.write_text('[{"a": [1], "n": 1}]')
    ((left, right),) = read_own_tests(str(path), contract_of(source, "sum"))
    assert (left.registers, left.memory) == (right.registers, right.memory)
    assert left.side_seed != right.side_seed


def test_lists(source: Path) -> None:
    nodes = {"v": 3, "tag": [1, 2], "next": {"v": 4, "next": None}}
    contract, (chain, ring) = read(source, "list", [{"p": nodes}, {"p": {"v": 5, "next": {"same_as": "p"}}}])
    first = value(contract, chain, "p")
    second = word(chain, first + 8, 8)
    assert [word(chain, first, 4), word(chain, second, 4), word(chain, second + 8, 8)] == [3, 4, 0]
    assert [chain.memory[first + 4 + i] for i in range(3)] == [1, 2, 0]
    again = value(contract, ring, "p")
    assert word(ring, again + 8, 8) == again


def test_a_long_list(source: Path) -> None:
    nodes: Any = None
    for number in range(120):
        nodes = {"v": number, "next": nodes}
    contract, (inputs,) = read(source, "list", [{"p": nodes}])
    address, count = value(contract, inputs, "p"), 0
    while address:
        address, count = word(inputs, address + 8, 8), count + 1
    assert count == 120


def test_overlap(source: Path) -> None:
    test = {"to": [1, 2, 3], "from": {"same_as": "to", "offset": 2}, "n": 2}
    swapped = {"to": {"same_as": "from"}, "from": {"to": [7]}, "n": 1}
    contract, (one, other) = read(source, "move", [test, swapped])
    assert value(contract, one, "from") == value(contract, one, "to") + 2
    assert value(contract, other, "from") == value(contract, other, "to")
    assert word(other, value(contract, other, "to"), 2) == 7


def test_buffers_lie_apart(source: Path) -> None:
    contract, (inputs,) = read(source, "move", [{"to": [1] * 100, "from": [2] * 100, "n": 100}])
    to, start = value(contract, inputs, "to"), value(contract, inputs, "from")
    assert abs(to - start) >= 200


def test_other_kinds(source: Path) -> None:
    test = {
        "words": [{"text": "hé"}, None, "0x12345678"],
        "d": 2.5,
        "q": {"x": -1, "y": 6},
        "b": True,
        "raw": "0x5000",
        "memory": {"0x4000": "00 ff", "raw": [9, 8]},
    }
    contract, (inputs,) = read(source, "mixed", [test])
    words = value(contract, inputs, "words")
    text = word(inputs, words, 8)
    assert bytes(inputs.memory[text + i] for i in range(4)) == "hé".encode() + b"\0"
    assert [word(inputs, words + 8, 8), word(inputs, words + 16, 8)] == [0, 0x12345678]
    assert struct.pack("<Q", value(contract, inputs, "d")) == struct.pack("<d", 2.5)
    assert value(contract, inputs, "q") == (6 << 32) | 0xFFFFFFFF
    assert value(contract, inputs, "b") == 1
    assert [inputs.memory[a] for a in (0x4000, 0x4001, 0x5000, 0x5001)] == [0, 255, 9, 8]


SUM = {"a": [1], "n": 1}


@pytest.mark.parametrize(
    ("function", "content", "says"),
    [
        ("sum", "[", "is not JSON"),
        ("sum", "[" * 100_000, "nested too deeply"),
        ("sum", "{}", "must be a list"),
        ("sum", "[]", "must be a list"),
        ("sum", [3], "test 1 is no object"),
        ("sum", [SUM] * (MOST_TESTS + 1), "is the most"),
        ("sum", [SUM, {"a": [1]}], "test 2 gives no value for n: the parameters are a, n"),
        ("sum", [{**SUM, "m": 1}], "test 1 gives 'm', which is no parameter"),
        ("sum", [{**SUM, "n": 2**32}], "test 1, n: 4294967296 does not fit its 32 bits"),
        ("sum", [{**SUM, "n": 1.5}], "test 1, n: is int, but 1.5 is no whole number"),
        ("sum", [{**SUM, "n": None}], "test 1, n: is int, but null is no whole number"),
        ("sum", [{"a": [1, 2**40], "n": 2}], r"test 1, a\[1\]: 1099511627776 does not fit"),
        ("sum", [{"a": "hello", "n": 2}], "test 1, a: is a pointer, which is given as"),
        ("sum", [{"a": {"same_as": "n"}, "n": 2}], "no pointer parameter"),
        ("sum", [{"a": {"same_as": "a"}, "n": 2}], "leads back to itself"),
        ("sum", [{"a": {"same_as": "a", "offset": "x"}, "n": 2}], "'offset' must be a number"),
        ("sum", [{"a": [0] * 70_000, "n": 2}], "is too large: 256 KiB"),
        ("sum", [{"a": hex(STACK_POINTER - 8), "n": 2}], "own stack"),
        ("sum", [{**SUM, "memory": {hex(STACK_POINTER): "00"}}], "own stack"),
        ("sum", [{**SUM, "memory": {"0x10": "xyz"}}], "is not bytes in hex"),
        ("sum", [{**SUM, "memory": {"here": "00"}}], "by the name of a pointer"),
        ("sum", [{**SUM, "memory": [1]}], '"memory" must be an object'),
        ("list", [{"p": {"w": 3}}], "test 1, p: has no field 'w': struct node has next, tag, v"),
        ("list", [{"p": {"v": 3, "next": {"v": "a"}}}], 'p->next->v: is int, but "a" is no whole number'),
        ("list", [{"p": {"v": 3, "tag": 1}}], "is an array, which is given as a list"),
        ("mixed", [{"words": [], "d": "x", "q": {}, "b": 0, "raw": 0}], 'd: "x" is no double'),
        ("mixed", [{"words": [], "d": 0, "q": 3, "b": 0, "raw": 0}], "q: is struct pair, which is given as an object"),
        ("mixed", [{"words": [], "d": 0, "q": {}, "b": 2, "raw": 0}], "b: 2 does not fit its 1 bits"),
    ],
)
def test_one_sentence(source: Path, function: str, content: Any, says: str) -> None:
    with pytest.raises(UserError, match=says) as caught:
        read(source, function, content)
    assert str(caught.value).startswith("--tests ")
    assert str(caught.value).count("\n") == 0


def test_files_that_cannot_be_read(tmp_path: Path, source: Path) -> None:
    contract = contract_of(source, "sum")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "large").write_bytes(b" " * (1 << 23))
    for name, says in (("none", "cannot be read"), ("binary", "not text"), ("large", "too large"), (".", "ordinary")):
        with pytest.raises(UserError, match=says):
            read_own_tests(str(tmp_path / name), contract)


# -- what tests do to a verdict --------------------------------------------------------------------

RARE = """
int one(const int *a, int n) { return n == 77777 && a[0] == 12345 && a[1] == 54321 ? 1 : 0; }
int two(const int *a, int n) { return 0; }
int three(const int *a, int n) { return n == 77777 && a[0] == 12345 && a[1] == 54321 ? n * a[0] == a[1] : 0; }
"""


def test_the_testing_rung_runs_them_first(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(RARE)
    (tmp_path / "t.json").write_text('[{"a": [12345, 54321], "n": 77777}]')
    options = Options(engine=Engine.TESTING, tests=str(tmp_path / "t.json"), budget=20)
    verdict = compare(f"{tmp_path}/f.c:one", f"{tmp_path}/f.c:two", options)
    assert isinstance(verdict, Different)
    without = compare(f"{tmp_path}/f.c:one", f"{tmp_path}/f.c:two", Options(engine=Engine.TESTING, budget=2))
    assert isinstance(without, Bounded)


ENTERED = """
int f(const int *a, int n) { int s = 0; if (n == 123456) while (*a) s += *a++ * 3; return s; }
int g(const int *a, int n) { int s = 0; if (n == 123456) while (*a) { s += *a + *a + *a; a++; } return s; }
int get(int n);
int called(const int *a, int n) { int s = 0; if (get(n) == 123456) while (*a) s += *a++ * 3; return s; }
int recalled(const int *a, int n) { int s = 0; if (get(n) == 123456) while (*a) { s += *a + *a + *a; a++; } return s; }
int never(int n) { int s = 0; while (n | 1) s += n; return s; }
int ever(int n) { int s = 1; while (n | 1) s += n; return s; }
"""


def ask(tmp_path: Path, left: str, right: str, tests: Any = None, **rest: Any) -> Any:
    (tmp_path / "f.c").write_text(ENTERED)
    if tests is not None:
        (tmp_path / "t.json").write_text(json.dumps(tests))
        rest["tests"] = str(tmp_path / "t.json")
    load = LoadOptions(cflags=("-O1", "-fno-tree-loop-distribute-patterns"))
    options = Options(engine=Engine.LOOPS, budget=20, **rest)
    return compare(f"{tmp_path}/f.c:{left}", f"{tmp_path}/f.c:{right}", options, load, load)


def test_a_loop_that_only_their_tests_enter(tmp_path: Path) -> None:
    without = ask(tmp_path, "called", "recalled")
    assert isinstance(without, Unknown)
    assert "no test repeats the loop at +0x" in without.why
    assert "--tests" in without.helps
    assert ask(tmp_path, "f", "g").word == "equivalent"  # a model of the solver goes round it
    tests = [{"a": [*range(1, k + 1), 0], "n": 123456} for k in range(8)]
    assert ask(tmp_path, "f", "g", tests).word == "equivalent"


def test_tests_that_the_precondition_excludes(tmp_path: Path) -> None:
    verdict = ask(tmp_path, "f", "g", [{"a": [1, 0], "n": 5}, {"a": [0], "n": 6}], assume=("n == 123456",))
    assert isinstance(verdict, Unknown)
    assert "excludes all 2 of --tests" in verdict.helps


def test_tests_that_do_not_stop(tmp_path: Path) -> None:
    verdict = ask(tmp_path, "never", "ever", [{"n": 3}])
    assert isinstance(verdict, Unknown)
    assert "the target did not stop within 10000 steps" in verdict.why
    assert "on test 1 of --tests the target did not stop" in verdict.helps


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--degree", "0"], "--degree 0 is not 1, 2 or 3"),
        (["--degree", "4"], "--degree 4 is not 1, 2 or 3"),
        (["--tests", "missing.json"], "--tests missing.json cannot be read: No such file or directory"),
    ],
)
def test_options_that_are_refused(
    source: Path, words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["compare", f"{source}:sum", "--cflags-b=-O2", *words]) == 2
    assert capsys.readouterr().err.strip() == f"isoform: {says}."
