"""Certificates as each engine writes them: bound to the files at hand, and no index that was made up is confirmed."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from isoform.api import check, compare
from isoform.check.required import KEPT
from isoform.cli import run_command
from isoform.isa.registry import machine
from isoform.model.check_report import CheckReport
from isoform.model.errors import UserError
from isoform.model.verdict import Equivalent

SOURCE = """
int outside(int x);
static __attribute__((noinline)) int helper(int x) { return x * 3 + 1; }
static const int table[4] = {3, 1, 4, 1};
int counter = 5;
int looked_up(int x, int y) { return (x + y) * (x - y) + table[x & 3] + counter; }
int total(const int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }
int twice(int x) { return helper(x) + helper(x + 1); }
int chosen(int *p, int x) { if (x > 0) *p = x; else *p = -x; return outside(x); }
int (*const operations[])(int) = {helper, outside};
int dispatched(int i) { return operations[i & 1](i); }
const char *worded(int x) { return x ? "yes" : "no"; }
__attribute__((noinline)) int nested(int n) { return n < 1 ? 0 : outside(nested(n - 1)) + 1; }
"""
FUNCTIONS = {
    "looked_up": "loopfree",
    "total": "loops",
    "twice": "loopfree",
    "chosen": "concolic",
    "dispatched": "loopfree",
    "worded": "loopfree",
    "nested": "loopfree",
}
"""And the engine that proves each."""
CHANGES = {
    "helper": ("x * 3 + 1", "x * 3 + 2"),
    "table": ("{3, 1, 4, 1}", "{3, 1, 5, 1}"),
    "initial": ("counter = 5", "counter = 6"),
    "order": ("{helper, outside}", "{outside, helper}"),
    "words": ('"yes" : "no"', '"no" : "yes"'),
    "loop": ("s += p[i]", "s += p[i] + 1"),
    "more": ("int outside(int x);", 'int outside(int x), unlike(int); const char *q(int x) { return x ? "a" : "b"; }'),
    "elsewhere": ("int outside(int x);", "int outside(int x), unlike(int); int first(int x) { return unlike(x + 7); }"),
}
NOTICED = {
    ("looked_up", "table"): "What table holds in",
    ("looked_up", "initial"): "What counter holds in",
    ("twice", "helper"): "The code of helper in",
    ("dispatched", "helper"): "The code of helper in",
    ("dispatched", "order"): "What operations holds in",
    ("worded", "words"): "A piece of constants without a name in",
    ("total", "loop"): "The code of total in",
}
"""Which change is part of which proof; all others are not."""


def build(folder: Path, name: str, text: str) -> tuple[Path, Path]:
    (folder / f"{name}.c").write_text(text)
    objects = folder / f"{name}-O0.o", folder / f"{name}-O2.o"
    for level, path in zip(("-O0", "-O2"), objects, strict=True):
        subprocess.run(["gcc", "-g", level, "-c", f"{name}.c", "-o", path.name], cwd=folder, check=True)
    return objects


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With an object file of each version, and a certificate for each function."""
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    folder = tmp_path_factory.mktemp("bound")
    target, rewrite = build(folder, "plain", SOURCE)
    for name, (old, new) in CHANGES.items():
        build(folder, name, SOURCE.replace(old, new))
    for function, engine in FUNCTIONS.items():
        found = compare(
            f"{target}:{function}", f"{rewrite}:{function}", cert=str(folder / function), engine=engine, budget=40
        )
        assert isinstance(found, Equivalent), found
    return folder


def checked(folder: Path, function: str, version: str = "") -> CheckReport:
    """With all obligations confirmed: only what is wrong with the whole may be wrong."""
    if not version:
        return check(folder / function, seconds=30)
    target, rewrite = (f"{folder / version}-{level}.o:{function}" for level in ("O0", "O2"))
    return check(folder / function, target, rewrite)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_files_that_were_compared(folder: Path, function: str) -> None:
    report = checked(folder, function, "plain")
    assert report.ok, report.problems
    assert report.code_compared
    assert report.index["engine"] == FUNCTIONS[function]


@pytest.mark.parametrize(("function", "change"), NOTICED)
def test_a_change_that_matters(folder: Path, function: str, change: str) -> None:
    report = checked(folder, function, change)
    assert not report.ok
    assert any(problem.startswith(NOTICED[function, change]) for problem in report.problems)


@pytest.mark.parametrize(
    ("function", "change"),
    [("worded", "more"), ("worded", "helper"), ("twice", "elsewhere"), ("dispatched", "more"), ("looked_up", "loop")],
)
def test_a_change_that_does_not(folder: Path, function: str, change: str) -> None:
    assert checked(folder, function, change).problems == []


def test_another_function_of_the_same_files(folder: Path) -> None:
    report = check(folder / "twice", f"{folder}/plain-O0.o:worded", f"{folder}/plain-O2.o:twice")
    assert report.problems == [f"The certificate is about twice, not about worded of {folder}/plain-O0.o."]


UNWRITTEN = "static int kept = 5;\nint plus(int x) { return x + kept; }\n"


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("change", ["", "void set(int v) { kept = v; }\n", "int *give(void) { return &kept; }\n"])
def test_that_nothing_writes_a_variable_is_found_anew(tmp_path: Path, change: str) -> None:
    target, rewrite = build(tmp_path, "plain", UNWRITTEN)
    other, _ = build(tmp_path, "other", UNWRITTEN + change)
    found = compare(f"{target}:plus", f"{rewrite}:plus", cert=str(tmp_path / "certificate"), engine="loopfree")
    assert isinstance(found, Equivalent), found
    assert "unwritten-data" in {one.name for one in found.assumptions}
    report = check(tmp_path / "certificate", f"{other}:plus", f"{rewrite}:plus")
    assert report.ok is (not change)
    assert report.problems == ([f"What kept holds in {other} is not what the certificate is about."] if change else [])


DECLARED = "void given({0}) {1}; void gives(long x) {{ given(x); }}\n"


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize(
    ("declared", "is_refused"),
    [
        (("int", ""), False),
        (("int value", ""), False),
        (("long", ""), True),
        (("int", "__attribute__((noreturn))"), True),
    ],
)
def test_how_a_callee_is_declared(tmp_path: Path, declared: tuple[str, str], is_refused: bool) -> None:
    target, rewrite = build(tmp_path, "plain", DECLARED.format("int", ""))
    other, _ = build(tmp_path, "other", DECLARED.format(*declared))
    found = compare(f"{target}:gives", f"{rewrite}:gives", cert=str(tmp_path / "certificate"), engine="loopfree")
    assert isinstance(found, Equivalent), found
    report = check(tmp_path / "certificate", f"{other}:gives", f"{rewrite}:gives")
    said = f"The declaration of given in {other} is not what the certificate is about."
    assert (said in report.problems) is is_refused
    assert report.ok is not is_refused


def test_sides_the_other_way_round(folder: Path) -> None:
    report = check(folder / "twice", f"{folder}/plain-O2.o", f"{folder}/plain-O0.o")
    assert not report.ok
    assert report.problems[0].startswith("The code of twice in")


def test_what_was_linked(folder: Path) -> None:
    """The same functions beside others, in a library: the code is the same, whatever is around it."""
    for name in ("plain", "elsewhere"):
        command = ["gcc", "-g", "-O2", "-shared", "-fPIC", f"{name}.c", "-o", f"{name}.so"]
        subprocess.run(command, cwd=folder, check=True)
    names = f"{folder}/plain-O0.o:twice", f"{folder}/plain.so:twice"
    assert isinstance(compare(*names, cert=str(folder / "linked")), Equivalent)
    assert check(folder / "linked", *names).ok
    assert check(folder / "linked", names[0], f"{folder}/elsewhere.so:twice").ok


def test_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    certificate, target, rewrite = str(folder / "twice"), f"{folder}/plain-O0.o:twice", f"{folder}/plain-O2.o"
    assert run_command(["check", certificate]) == 0
    assert "The code itself was not compared: give --target and --rewrite." in capsys.readouterr().out
    assert run_command(["check", certificate, "--target", target, "--rewrite", rewrite]) == 0
    assert "The code in the files is the code that the certificate is about." in capsys.readouterr().out
    assert run_command(["check", certificate, "--target", target, "--rewrite", f"{folder}/helper-O2.o"]) == 1
    assert "The code of helper in" in capsys.readouterr().out
    assert run_command(["check", certificate, "--target", target]) == 2
    assert "both --target and --rewrite" in capsys.readouterr().err


def test_a_file_that_is_none(folder: Path) -> None:
    with pytest.raises(UserError, match="nowhere"):
        check(folder / "twice", f"{folder}/nowhere.o", f"{folder}/plain-O2.o")


# An index that somebody made up, with hashes and numbers as they should be.


def forge(certificate: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the index, and then have everything as it would be if isoform had written it."""
    path = certificate / "index.json"
    index = json.loads(path.read_text())
    change(index)
    kept: dict[str, bytes] = {}
    for number, obligation in enumerate(index["obligations"], 1):
        old = obligation["file"]
        content = kept.get(old) or (certificate / old).read_bytes()
        obligation["file"] = f"{number:02}-{old.split('-', 1)[1]}"
        obligation["sha256"] = hashlib.sha256(content).hexdigest()
        kept[obligation["file"]] = content
    for old in certificate.glob("*.smt2"):
        old.unlink()
    for obligation in index["obligations"]:
        (certificate / obligation["file"]).write_bytes(kept[obligation["file"]])
    index.pop("digest")
    canonical = json.dumps(index, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    index["digest"] = hashlib.sha256(canonical.encode()).hexdigest()
    path.write_text(json.dumps(index))


def problems(folder: Path, function: str, place: Path, change: Callable[[dict[str, Any]], None]) -> list[str]:
    copy = Path(shutil.copytree(folder / function, place / "copy"))
    forge(copy, change)
    report = check(copy, seconds=30)
    assert not report.ok
    return report.problems


def without(*names: str) -> Callable[[dict[str, Any]], None]:
    def change(index: dict[str, Any]) -> None:
        index["obligations"] = [o for o in index["obligations"] if o["name"] not in names]

    return change


@pytest.mark.parametrize("goal", ["aborts", "returns", "rbx", "rsp", "return-address", "return-value", "memory"])
def test_a_goal_is_missing(folder: Path, tmp_path: Path, goal: str) -> None:
    assert problems(folder, "twice", tmp_path, without(goal)) == [
        f"There is no goal about {goal}, which the contract compares."
    ]


def test_recursion_needs_more(folder: Path, tmp_path: Path) -> None:
    """A deeper call was taken to restore what a callee must restore."""
    assert problems(folder, "nested", tmp_path, without("restored")) == [
        "There is no goal about restored, which the contract compares."
    ]


def test_things_that_differ_need_more(folder: Path, tmp_path: Path) -> None:
    """What k holds at first is another number, and is never read."""
    text = "int outside(int), k = 5; int unread(unsigned x, unsigned y) { return (x & y) > x ? outside(k) : 7; }"
    (target, _), (_, rewrite) = (build(folder, f"k{k}", text.replace("5", k)) for k in ("5", "6"))
    found = compare(f"{target}:unread", f"{rewrite}:unread", cert=str(folder / "unread"))
    assert isinstance(found, Equivalent), found
    assert check(folder / "unread").ok
    (problem,) = problems(folder, "unread", tmp_path, without("same-things"))
    assert problem.startswith("There is no goal same-things, though functions, data or constants differ")


@pytest.mark.parametrize("verdict", ["different", "bounded", "unknown", "", None, 7])
def test_another_verdict(folder: Path, tmp_path: Path, verdict: object) -> None:
    (problem,) = problems(folder, "worded", tmp_path, lambda index: index.update(verdict=verdict))
    assert problem.startswith(f"The verdict is '{verdict}'")


def only_lemmas(index: dict[str, Any]) -> None:
    for obligation in index["obligations"]:
        obligation["kind"] = "equation"


def a_copy(index: dict[str, Any]) -> None:
    """The return value's goal in the place of the one about memory."""
    value = next(o for o in index["obligations"] if o["name"] == "return-value")
    index["obligations"] = [{**value, "name": o["name"]} if o["name"] == "memory" else o for o in index["obligations"]]


def a_copy_of_no_name(index: dict[str, Any]) -> None:
    value = next(o for o in index["obligations"] if o["name"] == "return-value")
    index["obligations"] = [{**value, "name": o["name"]} if o["name"] == "rbx" else o for o in index["obligations"]]


def twice(index: dict[str, Any]) -> None:
    index["obligations"] += index["obligations"][:1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (only_lemmas, "There is no goal, only equations between terms"),
        (a_copy, "The goal memory does not say that memory differs at some address."),
        (a_copy_of_no_name, "The goals rbx and return-value are one and the same formula."),
        (twice, "There are several goals of the name aborts."),
        (lambda index: index.pop("engine"), "The index does not say which engine"),
        (lambda index: index.update(engine="testing"), "The index does not say which engine"),
        (lambda index: index.update(contract={}), "The contract in the index does not say what is compared."),
        (lambda index: index.pop("apart"), "The contract in the index does not say what is compared."),
        (lambda index: index.update(assumptions=None), "The contract in the index does not say what is compared."),
        (lambda index: index.pop("returns"), "The contract in the index does not say what is compared."),
        (lambda index: index["target"].update(isa="z80"), "The contract in the index does not say what is compared."),
        (lambda index: index["contract"].update(memory="never"), "The contract in the index does not say what"),
    ],
)
def test_an_index_that_was_made_up(
    folder: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None], said: str
) -> None:
    assert any(problem.startswith(said) for problem in problems(folder, "dispatched", tmp_path, change))


def test_parts_that_were_left_out(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder / "looked_up", tmp_path / "copy"))
    parts = json.loads((copy / "index.json").read_text())["rewrite"]["parts"]
    forge(copy, lambda index: index["rewrite"].update(parts=[part for part in parts if part["name"] != "table"]))
    report = check(copy, f"{folder}/plain-O0.o", f"{folder}/table-O2.o")
    assert any("is made of other parts" in problem for problem in report.problems)


@pytest.mark.parametrize(
    ("goal", "said"),
    [
        ("covered-target", "There is no goal covered-target: some inputs may take a path that was not compared."),
        ("covered-rewrite", "There is no goal covered-rewrite: some inputs may take a path that was not compared."),
        ("meets", "There is no goal meets-"),
        ("paths", "There is no goal paths-"),
    ],
)
def test_a_path_that_is_missing(folder: Path, tmp_path: Path, goal: str, said: str) -> None:
    obligations = json.loads((folder / "chosen" / "index.json").read_text())["obligations"]
    removed = next(o["name"] for o in obligations if o["name"].startswith(goal))
    assert problems(folder, "chosen", tmp_path, without(removed))[0].startswith(said)


def test_pairs_of_paths_that_are_not_listed(folder: Path, tmp_path: Path) -> None:
    (problem,) = problems(folder, "chosen", tmp_path, lambda index: index.update(paths={}))
    assert problem == "The index does not list the pairs of paths that share inputs."
    (problem,) = problems(folder, "chosen", tmp_path / "more", lambda index: index["paths"].popitem())
    assert "is of a path that the index does not list" in problem


def cut(goal: str, start: int, end: object = None) -> Callable[[dict[str, Any]], None]:
    def change(index: dict[str, Any]) -> None:
        index["obligations"] = [
            o for o in index["obligations"] if (o["name"], o.get("from"), o.get("to")) != (goal, start, end)
        ]

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (cut("covered", 0), "There is no goal 'covered' from cut 0"),
        (cut("covered", 1), "There is no goal 'covered' from cut 1"),
        (cut("invariant", 0, 1), "There is no goal about invariant from cut 0 to cut 1"),
        (cut("memory", 1, 1), "There is no goal about memory from cut 1 to cut 1"),
        (cut("return-value", 1, "end"), "There is no goal about return-value from cut 1 to the end"),
        (cut("rsp", 0, "end"), "There is no goal about rsp from cut 0 to the end"),
        (lambda index: index["obligations"][3].pop("from"), "A goal does not say between which cuts it is."),
        (lambda index: index["obligations"][3].update({"from": -1}), "A goal does not say between which cuts it is."),
    ],
)
def test_a_cut_that_is_missing(
    folder: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None], said: str
) -> None:
    assert any(problem.startswith(said) for problem in problems(folder, "total", tmp_path, change))


def rewritten(folder: Path, function: str, place: Path, edit: Callable[[str], str]) -> list[str]:
    """With every file changed, and the hashes as they should be."""
    copy = Path(shutil.copytree(folder / function, place / "copy"))
    for path in copy.glob("*.smt2"):
        path.write_text(edit(path.read_text()))
    forge(copy, lambda index: None)
    report = check(copy, seconds=30)
    assert not report.ok
    return report.problems


def test_inputs_that_contradict_themselves(folder: Path, tmp_path: Path) -> None:
    """Whoever assumes what cannot be shows anything."""
    assumed = "(assert (! (= #b1 #b0) :named frame-a-object-9))\n(check-sat)"
    said = rewritten(folder, "dispatched", tmp_path, lambda text: text.replace("(check-sat)", assumed))
    assert said[-1] == "The certificate shows nothing: what is assumed about the inputs contradicts itself."


def test_a_goal_that_asserts_no_difference(folder: Path, tmp_path: Path) -> None:
    said = rewritten(folder, "worded", tmp_path, lambda text: text.replace(":named differs", ":named covered-1"))
    assert said[0] == "The goal aborts does not assert one difference."


# The table of what is always compared.


def registers() -> Iterator[tuple[str, tuple[str, ...]]]:
    for name in KEPT:
        convention = machine(name).convention
        pointer = (convention.stack_pointer,) if convention.stack_pointer is not None else ()
        yield name, (*convention.callee_saved, *pointer)


def test_the_checker_knows_what_each_machine_keeps() -> None:
    assert dict(registers()) == KEPT
