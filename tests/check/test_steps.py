"""Steps: a goal may use equations that other obligations show, and nothing that is not an instance of one."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from isoform import LoadOptions, Options, compare
from isoform.check.certificate import check_certificate
from isoform.check.confirm import EQUATION, SMT_UNSAT, Confirmation, Request, confirm
from isoform.check.smtlib import read_script
from isoform.check.steps import is_instance
from isoform.model.check_report import CheckReport, CheckResult
from isoform.model.verdict import Equivalent

DECLARED = """(set-logic QF_UFBV)
(declare-const x (_ BitVec 32))
(declare-const y (_ BitVec 32))
(declare-const cut_1 (_ BitVec 32))
(declare-const cut_2 (_ BitVec 32))
(declare-const bit (_ BitVec 1))
(declare-fun g ((_ BitVec 32)) (_ BitVec 32))
(declare-fun h ((_ BitVec 32)) (_ BitVec 32))
"""


def equation(left: str, right: str, more: str = "") -> str:
    return f"{DECLARED}{more}(assert (! (distinct {left} {right}) :named differ))\n(check-sat)\n"


OR = "(bvor x y)", "(bvsub (bvadd x y) (bvand x y))"
MASK = "(bvand cut_1 (bvnot y))", "(bvsub (bvor cut_1 y) y)"
SHOWN = {"step-1": equation(OR[1], OR[0]), "step-2": equation(MASK[1], MASK[0])}
DEFINED = f"""(define-fun a () (_ BitVec 32) {OR[0]})
(define-fun b () (_ BitVec 32) {OR[1]})
(define-fun u () (_ BitVec 32) {MASK[0].replace("cut_1", "a")})
(define-fun v () (_ BitVec 32) {MASK[1].replace("cut_1", "b")})
"""
DIFFER = "(distinct (bvudiv (bvmul u u) (bvor u x)) (bvudiv (bvmul v v) (bvor v x)))"
STEPS = ["(= b a)", "(= v u)"]


def goal(differ: str = DIFFER, steps: list[str] | None = None, more: str = "") -> str:
    """Equal only if v = u, which after b = a is an instance of the second equation."""
    equations = STEPS if steps is None else steps
    labelled = [f"(assert (! {step} :named step-{count}))\n" for count, step in enumerate(equations, 1)]
    return f"{DECLARED}{DEFINED}{more}(assert (! {differ} :named differs))\n{''.join(labelled)}(check-sat)\n"


def ask(text: str, shown: dict[str, str] | None = None) -> Confirmation:
    return confirm(Request(text, SMT_UNSAT, "z3", 1.0, SHOWN if shown is None else shown))


def test_steps_make_it_easy() -> None:
    assert ask(goal(steps=[]), {}).result == "undecided"
    assert ask(goal()).result == "confirmed"
    for text in SHOWN.values():
        assert confirm(Request(text, EQUATION, "z3", 10.0)).result == "confirmed"


def test_a_step_does_not_hide_a_difference() -> None:
    assert ask(goal("(distinct u (bvadd v x))")).result == "refuted"
    assert ask(goal("(distinct a (bvadd x y))")).result == "refuted"


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        (["(= b u)", "(= v u)"], "step-1 is not an instance"),
        (["(= b a)", "(= v a)"], "step-2 is not an instance"),
        (["(= a b)", "(= v u)"], "step-1 is not an instance"),
        (["(= b a)", "(= u v)"], "step-2 is not an instance"),
        (["(= b (bvor y x))", "(= v u)"], "step-1 is not an instance"),
        (["(= b a)", "(= (bvsub (bvor b x) y) u)"], "step-2 is not an instance"),
        (["(= b a)", "(bvule v u)"], "step-2 does not say"),
        (["(= b a)", "(= v u x)"], "step-2 does not say"),
        (["(= b a)", "(distinct v u)"], "step-2 does not say"),
        (["(= b a)"], "other steps"),
        (["(= b a)", "(= v u)", "(= x y)"], "other steps"),
    ],
)
def test_equations_that_no_step_shows(steps: list[str], why: str) -> None:
    answer = ask(goal(steps=steps))
    assert answer.result == "tampered"
    assert why in answer.why


def test_reordered() -> None:
    """The second equation rests on the first, so it cannot come before."""
    swapped = {"step-1": SHOWN["step-2"], "step-2": SHOWN["step-1"]}
    answer = ask(goal(steps=STEPS[::-1]), swapped)
    assert answer.result == "tampered"
    assert "step-1 is not an instance" in answer.why


@pytest.mark.parametrize(
    ("steps", "patterns"),
    [
        (["(= b a)", "(= a b)"], [OR[::-1], OR]),
        (["(= b a)", "(= b a)"], [OR[::-1], OR[::-1]]),
        (["(= x (bvadd x #x00000000))"], [("cut_1", "(bvadd cut_1 #x00000000)")]),
        (["(= (bvadd x y) (bvadd (bvadd x y) #x00000000))"], [("cut_1", "(bvadd cut_1 #x00000000)")]),
        (["(= (bvadd b #x00000000) b)", "(= b a)"], [("(bvadd cut_1 #x00000000)", "cut_1"), OR[::-1]]),
    ],
)
def test_circular(steps: list[str], patterns: list[tuple[str, str]]) -> None:
    """Every equation is shown, yet none may be applied to a term that an earlier one has used."""
    shown = {f"step-{count}": equation(*pattern) for count, pattern in enumerate(patterns, 1)}
    answer = ask(goal(steps=steps), shown)
    assert answer.result == "tampered"
    assert "used before" in answer.why


SAME_FUNCTION = "(ite (= cut_1 cut_2) (bvsub (g cut_1) (g cut_2)) #x00000000)", "#x00000000"


@pytest.mark.parametrize(
    ("used", "pattern"),
    [
        # One cut for two different terms, on one side and across the two.
        (("(bvadd x y)", "(bvmul x #x00000002)"), ("(bvadd cut_1 cut_1)", "(bvmul cut_1 #x00000002)")),
        (("(bvadd x x)", "(bvmul y #x00000002)"), ("(bvadd cut_1 cut_1)", "(bvmul cut_1 #x00000002)")),
        # An operand, an index, a constant or an operator that is another.
        (("(bvor x y x)", "(bvor x y)"), ("(bvor x y)", "(bvor x y)")),
        (("((_ zero_extend 2) bit)", "((_ zero_extend 1) bit)"), ("((_ zero_extend 1) bit)",) * 2),
        (("(bvadd x #x00000001)", "x"), ("(bvadd cut_1 #x00000000)", "cut_1")),
        (("(bvsub x #x00000000)", "x"), ("(bvadd cut_1 #x00000000)", "cut_1")),
        # Equal for one bit, not for 32.
        (("(bvmul x x)", "x"), ("(bvmul bit bit)", "bit")),
        # Equal for one function, not for two.
        (("(g x)", "(h x)"), ("(g cut_1)", "(g cut_1)")),
        (("(g (h x))", "(g (g x))"), ("(g (g cut_1))", "(g (g cut_1))")),
        (("(g x)", "(g y)"), ("(g cut_1)", "(g cut_1)")),
        (("(ite (= x y) (bvsub (g x) (h y)) #x00000000)", "#x00000000"), SAME_FUNCTION),
    ],
)
def test_not_an_instance(used: tuple[str, str], pattern: tuple[str, str]) -> None:
    """What is shown is right, and what is used is not."""
    assert confirm(Request(equation(*pattern), EQUATION, "z3", 10.0)).result == "confirmed"
    answer = ask(goal("(distinct x x)", [f"(= {used[0]} {used[1]})"]), {"step-1": equation(*pattern)})
    assert (answer.result, "not an instance" in answer.why) == ("tampered", True)


def test_functions_may_have_other_names() -> None:
    shown = {"step-1": equation("(h (bvadd cut_1 x))", "(h (bvadd x cut_1))")}
    used = "(= (g (bvadd (g y) y)) (g (bvadd y (g y))))"
    assert ask(goal("(distinct (g (bvadd (g y) y)) (g (bvadd y (g y))))", [used]), shown).result == "confirmed"


WEAKENED = "(bvsub (bvor cut_1 y) cut_2)"


@pytest.mark.parametrize(
    ("text", "result"),
    [
        (equation(MASK[0], WEAKENED), "refuted"),
        (equation(MASK[0], "(bvor cut_1 y)"), "refuted"),
        (equation(*MASK, "(assert (! false :named other))\n"), "tampered"),
        (equation(*MASK).replace("(check-sat)", "(assert (! false :named other)) (check-sat)"), "tampered"),
        (equation(*MASK, "(assert (! (= x y) :named lemma-1))\n"), "refuted"),
        (equation(*MASK, "(assert (! (= x y) :named step-1))\n"), "tampered"),
        (equation(*MASK).replace("distinct", "="), "tampered"),
        (equation(*MASK).replace("(check-sat)", ""), "tampered"),
        (equation("n!3", "n!3"), "tampered"),
        (equation("|)(assert|", "x"), "tampered"),
    ],
)
def test_equations_that_are_not_shown(text: str, result: str) -> None:
    assert confirm(Request(text, EQUATION, "z3", 10.0)).result == result


def test_random_instances() -> None:
    """Terms put in the place of symbols make an instance; one other operator anywhere makes none."""
    seed = 20
    rnd = random.Random(seed)

    def term(depth: int, leaves: list[str]) -> str:
        if depth == 0 or rnd.random() < 0.2:
            return rnd.choice(leaves)
        operator = rnd.choice(("bvadd", "bvor", "bvmul"))
        return f"({operator} {term(depth - 1, leaves)} {term(depth - 1, leaves)})"

    for trial in range(200):
        pattern = f"(bvxor {term(4, ['cut_1', 'cut_2', '#x00000007'])} cut_1)"
        terms = {name: term(2, ["x", "y"]) for name in ("cut_1", "cut_2")}
        instance = pattern.replace("cut_1", terms["cut_1"]).replace("cut_2", terms["cut_2"])
        at = rnd.choice([at for at in range(len(pattern)) if pattern.startswith("bv", at)])
        other = pattern[:at] + "bvsub" + pattern[at + pattern[at:].index(" ") :]
        used = read_script(equation(instance, terms["cut_1"]))
        ((_, differ),) = used.assertions
        for shape, expected in ((pattern, True), (other, False)):
            shown = read_script(equation(shape, "cut_1"))
            ((_, shown_differ),) = shown.assertions
            pairs = zip(shown.terms.nodes[shown_differ].operands, used.terms.nodes[differ].operands, strict=True)
            assert is_instance(shown, pairs, used) is expected, f"seed {seed}, trial {trial}: {shape} {instance}"


# A whole certificate, from real code.

SOURCE = """
unsigned f(unsigned a, unsigned b, unsigned c) {
  unsigned x = a, y = b, z = c, w = a ^ b;
  x = y + (w >> 3); z = x ^ (y >> 7); w = z - (x >> 2); y = w | (z >> 11);
  if (z > 321u) x = y + z; else x ^= 9;
  z = x - (w >> 5); w = z & (y >> 1); y = x + (w >> 9);
  if (w > 77u) z = y ^ w; else z ^= 9;
  w = y + (z >> 4); x = w - (y >> 13);
  return x + y * 3 + z * (w | 1) + w;
}
"""


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("gcc"):
        pytest.skip("needs gcc")
    folder = tmp_path_factory.mktemp("swept")
    source = folder / "f.c"
    source.write_text(SOURCE)
    sides = [LoadOptions(cc="gcc", cflags=(level,)) for level in ("-O0", "-O2")]
    verdict = compare(f"{source}:f", f"{source}:f", Options(cert=str(folder / "certificate")), *sides)
    assert isinstance(verdict, Equivalent)
    return folder / "certificate"


@pytest.fixture
def certificate(swept: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(swept, tmp_path / "certificate"))


def entries_of(certificate: Path) -> dict[str, Any]:
    entries: dict[str, Any] = json.loads((certificate / "index.json").read_text())
    return entries


def rehash(certificate: Path, entries: dict[str, Any]) -> None:
    """Somebody who makes every hash right again."""
    for obligation in entries["obligations"]:
        obligation["sha256"] = hashlib.sha256((certificate / obligation["file"]).read_bytes()).hexdigest()
    entries.pop("digest")
    canonical = json.dumps(entries, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    entries["digest"] = hashlib.sha256(canonical.encode()).hexdigest()
    (certificate / "index.json").write_text(json.dumps(entries))


def user_of_steps(entries: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = next(o for o in entries["obligations"] if o.get("uses"))
    return found


def results(report: CheckReport) -> set[CheckResult]:
    return {row.result for row in report.rows}


def test_real_code_is_confirmed(certificate: Path) -> None:
    report = check_certificate(certificate, seconds=30)
    assert report.ok, report
    assert any(row.is_step for row in report.rows)


def drop_an_equation(certificate: Path, entries: dict[str, Any]) -> None:
    """The last step: its file, its entry, and a number that nobody misses."""
    position = max(i for i, o in enumerate(entries["obligations"]) if o["kind"] == EQUATION)
    removed = entries["obligations"].pop(position)
    (certificate / removed["file"]).unlink()
    for later in entries["obligations"][position:]:
        number, name = later["file"].split("-", 1)
        renamed = f"{int(number) - 1:02}-{name}"
        (certificate / later["file"]).rename(certificate / renamed)
        later["file"] = renamed


def drop_it_everywhere(certificate: Path, entries: dict[str, Any]) -> None:
    user = user_of_steps(entries)
    drop_an_equation(certificate, entries)
    del user["uses"][list(user["uses"])[-1]]


def let_another_show_it(certificate: Path, entries: dict[str, Any]) -> None:
    user = user_of_steps(entries)
    labels = list(user["uses"])
    user["uses"][labels[0]], user["uses"][labels[-1]] = user["uses"][labels[-1]], user["uses"][labels[0]]


def let_the_goal_show_it(certificate: Path, entries: dict[str, Any]) -> None:
    user = user_of_steps(entries)
    user["uses"] = dict.fromkeys(user["uses"], user["file"])


def reverse_the_order(certificate: Path, entries: dict[str, Any]) -> None:
    path = certificate / user_of_steps(entries)["file"]
    lines = path.read_text().splitlines()
    steps = [line for line in lines if ":named step-" in line]
    others = [line for line in lines if line not in steps and line != "(check-sat)"]
    path.write_text("\n".join([*others, *reversed(steps), "(check-sat)", ""]))


def use_no_object(certificate: Path, entries: dict[str, Any]) -> None:
    user_of_steps(entries)["uses"] = ["step-1"]


@pytest.mark.parametrize(
    "tamper",
    [
        drop_an_equation,
        drop_it_everywhere,
        let_another_show_it,
        let_the_goal_show_it,
        reverse_the_order,
        use_no_object,
    ],
)
def test_tampering_that_mends_the_hashes(certificate: Path, tamper: Callable[[Path, dict[str, Any]], None]) -> None:
    entries = entries_of(certificate)
    tamper(certificate, entries)
    rehash(certificate, entries)
    report = check_certificate(certificate, seconds=30)
    assert not report.problems
    assert not report.ok
    assert CheckResult.TAMPERED in results(report)


def test_a_goal_rests_on_its_steps(certificate: Path) -> None:
    """That a prime number has no factors makes this goal trivial, but nobody confirms it in a second."""
    entries = entries_of(certificate)
    user = user_of_steps(entries)
    shown_by = next(iter(user["uses"].values()))
    user["uses"] = {"step-1": shown_by}
    product = "(bvmul ((_ zero_extend 32) p) ((_ zero_extend 32) q))"
    factors = f"(and (= {product} #x1fffffffffffffff) (bvugt p #x00000001) (bvugt q #x00000001))"
    declared = "(set-logic QF_BV) (declare-const p (_ BitVec 32)) (declare-const q (_ BitVec 32))"
    used = f"(assert (! {factors} :named differs)) (assert (! (= {factors} false) :named step-1))"
    (certificate / user["file"]).write_text(f"{declared} {used} (check-sat)")
    (certificate / shown_by).write_text(f"{declared} (assert (! (distinct {factors} false) :named differ)) (check-sat)")
    rehash(certificate, entries)
    report = check_certificate(certificate, seconds=1)
    assert not report.problems
    assert not report.ok
    rows = {row.name: row for row in report.rows}
    assert rows["step-1"].result is CheckResult.UNDECIDED
    assert rows[user["name"]].result is CheckResult.UNDECIDED
    assert "rests on step-1" in rows[user["name"]].why
