"""Two small libraries written apart are mined, with functions that look alike and are not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from isoform.cli import run_command
from isoform.load.open import LoadOptions, open_libraries
from isoform.mine.functions import Choice, prepared, read_functions
from isoform.mine.mine import MineOptions, mine
from isoform.mine.shape import diversity
from isoform.mine.sieve import Sieve, Subject
from isoform.model.adaptor import Family
from isoform.model.errors import UserError
from isoform.model.mining import Likelihood, Mining
from isoform.report.mining import mining_as_csv, mining_as_json, name_of
from isoform.report.mining_html import mining_as_html

APART = Path(__file__).parent / "apart"
ROOT = Path(__file__).parents[2]
FAMILIES = (Family.SUBSTITUTION, Family.WIDTH)


def clusters(mining: Mining) -> set[frozenset[str]]:
    return {frozenset(name_of(mining, number) for number in cluster.functions) for cluster in mining.clusters}


def adaptors(mining: Mining) -> dict[tuple[str, str], str]:
    return {
        (name_of(mining, pair.target), name_of(mining, pair.rewrite)): pair.text
        for pair in mining.pairs
        if pair.verdict == "adaptor"
    }


@pytest.fixture(scope="module")
def mined() -> Mining:
    paths = [str(APART / "first.c"), str(APART / "second.c")]
    return mine(paths, MineOptions(budget=3.0, jobs=2))


def test_clusters(mined: Mining) -> None:
    assert clusters(mined) == {
        frozenset({"clamp@1", "limit@2", "sign@1", "sign_of@2"}),
        frozenset({"parity@1", "odd_ones@2"}),
        frozenset({"rotate_left@1", "rol@2"}),
        frozenset({"distance@1", "minus@2"}),
        frozenset({"is_digit@1", "in_range@2"}),
        frozenset({"put@1", "set@2"}),
        frozenset({"average@1", "mean@2"}),
    }


def test_adaptors(mined: Mining) -> None:
    found = adaptors(mined)
    assert found["clamp@1", "limit@2"] == "limit(low, high, value)"
    assert found["limit@2", "clamp@1"] == "clamp(x, lowest, highest)"
    assert found["rotate_left@1", "rol@2"] == "rol(trunc8(by), x)"
    assert found["is_digit@1", "in_range@2"] == "in_range(c, 48, 57)"
    assert found["sign@1", "limit@2"] == "limit(-1, 1, x)"
    assert found["put@1", "set@2"] == "set(value, place)"


def test_functions_that_look_alike_are_not_interchangeable(mined: Mining) -> None:
    named = {name for pair in adaptors(mined) for name in pair}
    assert not named & {"average_up@1", "nearly_digit@2", "put_behind@2"}


def test_functions_without_effects_are_said_once(mined: Mining) -> None:
    assert mined.idle == ("nothing",)


def test_reports(mined: Mining) -> None:
    page = mining_as_html(mined)
    assert "in_range(c, 48, 57)" in page
    assert "<script" not in page
    rows = mining_as_csv(mined).splitlines()
    assert len(rows) == 1 + len(mined.pairs)
    found = mining_as_json(mined)
    assert json.loads(json.dumps(found))["counts"]["adaptor"] == mined.count("adaptor") == len(adaptors(mined))
    schema = json.loads((ROOT / "docs" / "mine.schema.json").read_text(encoding="utf-8"))
    pytest.importorskip("fastjsonschema").validate(schema, found)
    counts = found["counts"]
    assert counts["pairs"] == sum(counts[word] for word in ("refuted", "adaptor", "none", "unknown", "not_asked"))


# -- the sieve ------------------------------------------------------------------------------------


def subjects(path: Path, text: str) -> dict[str, Subject]:
    path.write_text(text)
    library = prepared(open_libraries([str(path)], LoadOptions())[0])
    found, refused = read_functions(library, 0, Choice(), 0, lambda what: None)
    assert not refused
    return {one.about.name: Subject(one, True) for one in found}


PLAIN = """
int add3(int a, int b, int c) { return a + 2 * b + 4 * c; }
int other(int c, int a, int b) { return a + 2 * b + 4 * c; }
int twin(int c, int a, int b) { return a + 2 * b + 5 * c; }
int shifted(int a, int by) { return a + by; }
int fourteen(int a) { return a + 1414; }
int widened(signed char a) { return a + 1; }
int whole(int a) { return a + 1; }
"""


def test_runs_refute_no_pair_that_has_an_adaptor(tmp_path: Path) -> None:
    sieve, by_name = Sieve(FAMILIES), subjects(tmp_path / "plain.c", PLAIN)

    def judged(target: str, rewrite: str) -> Likelihood | None:
        return sieve.judge(by_name[target], by_name[rewrite])

    assert judged("add3", "other") is Likelihood.FITS
    assert judged("add3", "twin") is None
    assert judged("add3", "shifted") is None  # three parameters are needed, and two can be passed
    assert judged("fourteen", "shifted") is Likelihood.FITS  # the constant is in the target's code
    assert judged("widened", "whole") is Likelihood.FITS
    assert judged("whole", "widened") is None
    assert judged("whole", "shifted") is Likelihood.FITS


def test_a_constant_that_no_code_shows_is_not_refuted(tmp_path: Path) -> None:
    text = "int f(int a) { return a + 70000 * 11; }\nint g(int a, int b) { return a + 11 * b; }\n"
    by_name = subjects(tmp_path / "constant.c", text)
    assert Sieve(FAMILIES).judge(by_name["f"], by_name["g"]) is Likelihood.OPEN
    found = mine([str(tmp_path / "constant.c")], MineOptions(jobs=1))
    assert adaptors(found)["f", "g"] == "g(a, 0x11170)"


def test_other_families_are_not_refuted_by_candidates(tmp_path: Path) -> None:
    text = "int f(int a) { return a * 3 + 1; }\nint g(int a) { return a * 3; }\n"
    by_name = subjects(tmp_path / "more.c", text)
    assert Sieve(FAMILIES).judge(by_name["f"], by_name["g"]) is None
    assert Sieve((*FAMILIES, Family.ARITHMETIC)).judge(by_name["f"], by_name["g"]) is Likelihood.OPEN


TABLES = """
struct data { const unsigned *table; };
__thread const struct data **current;
__thread const unsigned short *classes;
int narrow(int c) { return classes[c] & 4; }
int wide(int c) { return (unsigned)c < 128 ? classes[c] & 4 : (int)((*current)->table[c & 15] & 4); }
int masked(int c, int mask) { return (int)((*current)->table[c & 15]) & mask; }
int indexed(int c) { return classes[c] & 0x404 & 6; }
"""
"""As in a library of C: a table for each thread, and behind three pointers one of its locale."""


def test_tables_that_threads_lead_to(tmp_path: Path) -> None:
    """The two look the same for small numbers: runs tell them apart only where all pointers lead somewhere."""
    sieve, by_name = Sieve(FAMILIES), subjects(tmp_path / "tables.c", TABLES)
    assert sieve.judge(by_name["narrow"], by_name["wide"]) is None
    assert sieve.judge(by_name["wide"], by_name["narrow"]) is None
    assert sieve.judge(by_name["masked"], by_name["narrow"]) is None  # two parameters are needed
    assert sieve.judge(by_name["narrow"], by_name["indexed"]) is Likelihood.FITS
    assert sieve.judge(by_name["narrow"], by_name["masked"]) is Likelihood.OPEN


def test_same_code_is_grouped_and_not_asked(tmp_path: Path) -> None:
    path = tmp_path / "same.c"
    path.write_text(
        "typedef int number;\nint one(int a) { return a ^ 3; }\nnumber two(number b) { return b ^ 3; }\n"
        'int three(int) __attribute__((alias("one")));\nint far(int a) { return a ^ 4; }\n'
    )
    found = mine([str(path)], MineOptions(jobs=1))
    assert [function.name for function in found.functions] == ["one", "far"]
    assert found.functions[0].aliases == ("three",)
    assert found.same_code == ((0, ("two",)),)
    assert found.sieved.pairs == 2
    assert found.exit_code == 0


def test_diversity(tmp_path: Path) -> None:
    by_name = subjects(tmp_path / "plain.c", PLAIN)
    shapes = {name: subject.mined.about.shape for name, subject in by_name.items()}
    assert diversity(shapes["add3"], shapes["add3"]).percent == 0
    assert diversity(shapes["add3"], shapes["whole"]).percent == 33


# -- the command ----------------------------------------------------------------------------------


def test_a_command_that_ended_early_repeats_nothing(tmp_path: Path) -> None:
    paths, store = [str(APART / "first.c"), str(APART / "second.c")], str(tmp_path / "store.sqlite")
    options = MineOptions(jobs=1, store=store, only=("clamp", "limit", "distance", "minus"))
    started = mine(paths, replace(options, seconds=0.001))
    assert started.exit_code == 3
    assert started.count("") > 0
    assert "time" in started.why_ended
    whole, again = mine(paths, options), mine(paths, options)
    assert sum(pair.is_kept for pair in whole.pairs) == len(whole.pairs) - started.count("")
    assert all(pair.is_kept for pair in again.pairs)
    assert len(adaptors(whole)) == 4
    assert adaptors(whole) == adaptors(again)


def test_a_header_gives_signatures(tmp_path: Path) -> None:
    source, header = tmp_path / "plain.c", tmp_path / "plain.h"
    source.write_text("int f(int a, int b) { return a - b; }\nint g(int a, int b) { return b - a; }\n")
    source.write_text(source.read_text() + "int not_declared(int a) { return ~a; }\n")
    header.write_text("/* two */\n#define X 1\nint f(int left, int right);\nint g(int, int);\nstruct s h(struct s);\n")
    options = MineOptions(jobs=1, signatures=str(header), is_declared=True)
    found = mine([str(source)], options, LoadOptions(cflags=("-O2", "-g0")))
    assert {str(function.origin.value) for function in found.functions} == {"header"}
    assert adaptors(found)["f", "g"] == "g(right, left)"


def test_signatures_are_guessed_without_debug_information(tmp_path: Path) -> None:
    source = tmp_path / "plain.c"
    source.write_text("long f(long a, long b) { return a - b; }\nlong g(long a, long b) { return b - a; }\n")
    found = mine([str(source)], MineOptions(jobs=1), LoadOptions(cflags=("-O2", "-g0")))
    assert adaptors(found)["f", "g"] == "g(rsi, rdi)"
    assert "signature-from-liveness" in {a.name for pair in found.pairs for a in pair.assumptions}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--family", "magic"], "--family 'magic' is none of"),
        (["--depth", "9"], "--depth 9 is out of range"),
        (["--only", "nowhere*"], "has no functions to compare that the options leave"),
        (["--only", "clamp"], "has only one function to compare"),
        (["--store", "/nowhere/at/all.sqlite"], "cannot be opened"),
        (["--html", "/nowhere/at/all.html"], "--html /nowhere/at/all.html cannot be written"),
        (["--signatures", "/nowhere/at/all.h"], "/nowhere/at/all.h"),
        (["--declared"], "--declared needs --signatures"),
    ],
)
def test_trouble_is_one_sentence(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["mine", str(APART / "first.c"), *words]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert "Traceback" not in said


def test_a_store_of_another_question(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "store.sqlite"
    command = ["mine", str(APART / "first.c"), "--only", "clamp", "--only", "sign", "--store", str(store), "-q"]
    assert run_command(command) == 0
    assert run_command([*command, "--family", "substitution"]) == 2
    assert str(store) in capsys.readouterr().err


def test_one_library_or_two() -> None:
    with pytest.raises(UserError, match="one library, or two"):
        mine([])
