"""Which function of the new version is which of the old one; what differences affect; the order of questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from isoform.cli.diffing import two_names
from isoform.diff.accept import Accepted, read_accepted
from isoform.diff.functions import Function
from isoform.diff.graph import components
from isoform.diff.matching import Matched, match, require_forced
from isoform.diff.members import members_of
from isoform.diff.options import DiffOptions
from isoform.diff.plan import Plan, PlanRow
from isoform.load.image import Symbol
from isoform.model.errors import UserError
from isoform.model.library_diff import FunctionAnswer, FunctionPlace, Row


def function(name: str, address: int, digest: str = "", callees: tuple[int, ...] = (), words: str = "") -> Function:
    symbol = Symbol(name, address, 16, True)
    return Function(symbol, (name,), digest or f"{name} {address}", callees, frozenset(words.split()))


def matched(old: list[Function], new: list[Function], *forced: tuple[str, str]) -> dict[tuple[int, int], str]:
    return {(pair.old.address, pair.new.address): pair.how for pair in match(old, new, forced).pairs}


def test_names_come_first() -> None:
    old = [function("f", 1, "x"), function("g", 2, "y")]
    new = [function("f", 11, "y"), function("g", 12, "x")]
    assert matched(old, new) == {(1, 11): "the same name", (2, 12): "the same name"}


def test_several_functions_of_one_name() -> None:
    """Those of the same code belong together, and the others are in their order."""
    old = [function("f", 1, "x"), function("f", 2, "y"), function("f", 3, "z")]
    new = [function("f", 11, "z"), function("f", 12, "other"), function("f", 13, "x")]
    found = matched(old, new)
    assert found.keys() == {(1, 13), (3, 11), (2, 12)}
    assert found[2, 12].endswith("in their order")
    assert match(old, new[:2]).removed == (old[0], old[1])


def test_renamed_functions() -> None:
    assert matched([function("a", 1, "x")], [function("b", 11, "x")]) == {(1, 11): "the same code"}
    assert matched([function("f.part.0", 1)], [function("f.part.3", 11)]).keys() == {(1, 11)}
    assert not matched([function("f.part.0", 1)], [function("f.constprop.0", 11)])
    twice = [function("b", 11, "x"), function("c", 12, "x")]
    assert not matched([function("a", 1, "x")], twice)


def test_what_functions_use() -> None:
    """A function is recognised by what it refers to, unless another one is as good."""
    old = [function("a", 1, words='open read "no such file" close'), function("main", 9, callees=(1,))]
    new = [function("b", 11, words='open read "no such file"'), function("main", 19, callees=(11,))]
    pairs = {pair.old.name: pair for pair in match(old, new).pairs}
    assert pairs["a"].new.name == "b"
    assert pairs["a"].confidence < 0.9
    rivals = [*new, function("c", 12, words='open read "no such file"')]
    rivals[1] = function("main", 19, callees=(11, 12))
    assert "a" not in {pair.old.name for pair in match(old, rivals).pairs}


def test_forced_matches() -> None:
    old, new = [function("a", 1), function("b", 2)], [function("a", 11), function("b", 12)]
    assert matched(old, new, ("a", "b")) == {(1, 12): "--match"}
    with pytest.raises(UserError, match="the new version has no function c"):
        require_forced([("a", "c")], [(old, new)])
    with pytest.raises(UserError, match="matched already"):
        matched(old, new, ("a", "b"), ("a", "a"))


def test_forced_matches_in_several_files() -> None:
    """A file that does not have both is left alone; some file must have them."""
    files = [([function("a", 1)], [function("b", 11)]), ([function("c", 2)], [function("d", 12)])]
    require_forced([("a", "b"), ("c", "d")], files)
    assert matched(*files[1], ("a", "b")) == {}
    with pytest.raises(UserError, match="files that do not belong together"):
        require_forced([("a", "d")], files)
    twice = [function("a", 1), function("a", 2)]
    with pytest.raises(UserError, match="the old version has 2 functions that a may mean"):
        matched(twice, [function("b", 11)], ("a", "b"))


def test_names_as_written_in_the_source() -> None:
    old, new = [function("_ZN2ns1fEi", 1)], [function("_ZN2ns1gEi", 11)]
    assert matched(old, new, ("ns::f(int)", "ns::g")) == {(1, 11): "--match"}
    names = "_ZN2ns1gEiPKc", "f"
    for only in ("ns::*", "ns::g", "ns::g(int, char const*)", "*(int, *)", "_ZN2ns1g*"):
        assert [DiffOptions(only=(only,)).has(name) for name in names] == [True, False]
        assert [DiffOptions(skip=(only,)).has(name) for name in names] == [False, True]
    assert not DiffOptions(only=("ns::g(int)",)).has(names[0])


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("f=g", ("f", "g")),
        ("S::operator==(S const&)=S::same(S const&)", ("S::operator==(S const&)", "S::same(S const&)")),
        ("S::set(int) = S::operator=(int)", ("S::set(int)", "S::operator=(int)")),
        ("a::operator<=>(int)=b", ("a::operator<=>(int)", "b")),
    ],
)
def test_two_names_on_the_command_line(given: str, names: tuple[str, str]) -> None:
    assert two_names(given) == names


def test_components_come_after_what_they_call() -> None:
    edges = {"main": ["even", "leaf"], "even": ["odd"], "odd": ["even", "leaf"], "leaf": []}
    found = [frozenset(component) for component in components(edges)]
    assert set(found) == {frozenset({"main"}), frozenset({"even", "odd"}), frozenset({"leaf"})}
    assert found.index(frozenset({"leaf"})) < found.index(frozenset({"even", "odd"})) < found.index(frozenset({"main"}))


def plan_row(name: str, address: int, answer: FunctionAnswer, callees: tuple[int, ...] = ()) -> PlanRow:
    old, new = function(name, address, callees=callees), function(name, address, callees=callees)
    place = FunctionPlace("lib.so", None, name, name, address, 16)
    return PlanRow(0, Matched(old, new, "", 1.0), Row(place, place, answer, why="time ran out"))


def test_what_differences_affect() -> None:
    rows = [
        plan_row("changed", 1, FunctionAnswer.DIFFERENT),
        plan_row("caller", 2, FunctionAnswer.UNKNOWN, (1,)),
        plan_row("outer", 3, FunctionAnswer.BOUNDED, (2,)),
        plan_row("proved", 4, FunctionAnswer.EQUIVALENT, (1,)),
        plan_row("above", 5, FunctionAnswer.UNKNOWN, (4,)),
        plan_row("elsewhere", 6, FunctionAnswer.UNKNOWN),
        plan_row("ping", 7, FunctionAnswer.UNKNOWN, (8,)),
        plan_row("pong", 8, FunctionAnswer.UNKNOWN, (7, 1)),
    ]
    plan = Plan([None], rows, DiffOptions(), None)  # type: ignore[list-item]
    found = {row.row.name: (row.row.answer, row.row.affected_by) for row in plan._with_effects()}
    assert found == {
        "changed": (FunctionAnswer.DIFFERENT, ()),
        "caller": (FunctionAnswer.AFFECTED, ("changed",)),
        "outer": (FunctionAnswer.AFFECTED, ("changed",)),
        "proved": (FunctionAnswer.EQUIVALENT, ()),
        "above": (FunctionAnswer.UNKNOWN, ()),
        "elsewhere": (FunctionAnswer.UNKNOWN, ()),
        "ping": (FunctionAnswer.AFFECTED, ("changed",)),
        "pong": (FunctionAnswer.AFFECTED, ("changed",)),
    }


ENTRY = {"function": "f", "answer": "different", "old": "0" * 12, "new": "1" * 12, "reason": "meant"}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"answer": "identical"}, "answer must be one of"),
        ({"old": "00"}, "at least 12 digits"),
        ({"reason": ""}, "must be a text"),
        ({"extra": "x"}, "nothing else"),
        ({"new": "91aa02b7c3f4…"}, "must be digits of the digests"),
    ],
)
def test_bad_entries(change: dict[str, str], sentence: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("accept") / "accepted.toml"
    path.write_text("[[accepted]]\n" + "".join(f'{name} = "{value}"\n' for name, value in (ENTRY | change).items()))
    with pytest.raises(UserError, match=sentence):
        read_accepted(str(path))


def test_nothing_may_be_accepted_yet(tmp_path: Path) -> None:
    path = tmp_path / "accepted.toml"
    path.write_text("# differences that are meant\n")
    assert read_accepted(str(path)) == ()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a = " + "[" * 20_000, "nothing but"),
        ("[[accept]]\n", "nothing but"),
        ("[accepted]\nfunction = 'f'\n", "nothing but"),
        ("accepted = [1]\n", "must have function"),
        ("[[accepted]]\nfunction = 'f'\nfunction = 'g'\n", "is not TOML"),
    ],
)
def test_files_that_accept_nothing(text: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "accepted.toml"
    path.write_text(text)
    with pytest.raises(UserError, match=sentence):
        read_accepted(str(path))


@pytest.mark.parametrize("name", ["_ZN2ns3maxEii", "ns::max(int, int)", "ns::max( int,int )", "ns::max"])
def test_accepted_names_as_written_in_the_source(name: str) -> None:
    place = FunctionPlace("lib.so", None, "_ZN2ns3maxEii", "ns::max(int, int)", 0, 16, digest="a" * 64)
    row = Row(place, place, FunctionAnswer.DIFFERENT)
    assert Accepted(name, FunctionAnswer.DIFFERENT, "a" * 12, "a" * 12, "meant").fits(row)
    assert not Accepted("ns::min", FunctionAnswer.DIFFERENT, "a" * 12, "a" * 12, "meant").fits(row)


def test_archives_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their files stay in memory."""
    content = b"\x7fELF" + bytes(96)
    header = b"a.o/".ljust(48) + str(len(content)).encode().ljust(10) + b"`\n"
    path = tmp_path / "libx.a"
    path.write_bytes(b"!<arch>\n" + header + content + header.replace(b"a.o/", b"b.o/") + content)
    assert len(members_of(str(path))) == 2
    monkeypatch.setattr("isoform.diff.members.MOST_BYTES", 150)
    with pytest.raises(UserError, match="unpack it"):
        members_of(str(path))


def test_an_entry_is_about_one_code() -> None:
    accepted = Accepted("f", FunctionAnswer.DIFFERENT, "a" * 12, "b" * 12, "meant")
    place = FunctionPlace("lib.so", None, "f", "f", 0, 16)
    row = Row(place, place, FunctionAnswer.DIFFERENT)

    def with_digests(old: str, new: str) -> Row:
        left, right = (FunctionPlace("lib.so", None, "f", "f", 0, 16, digest=digest) for digest in (old, new))
        return Row(left, right, FunctionAnswer.DIFFERENT)

    assert accepted.fits(with_digests("a" * 64, "b" * 64))
    assert not accepted.fits(with_digests("a" * 64, "c" * 64))
    assert not accepted.fits(row)
