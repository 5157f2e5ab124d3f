"""The concolic engine on the programs of seed 000 and around them."""

from __future__ import annotations

from pathlib import Path

import pytest

from isoform.api import compare
from isoform.borders.question import Engine, Options, Question
from isoform.borders.settle import settle
from isoform.check.certificate import check_certificate
from isoform.engines.answer import lifted
from isoform.engines.concolic import Search
from isoform.engines.finding import Failed, Finding, Found, Proved, WithinBound
from isoform.load.open import LoadOptions, open_pair
from isoform.model.budget import Budget
from isoform.model.contract import AbortRule
from isoform.model.errors import UserError
from isoform.model.verdict import Bounded, Different, Equivalent
from isoform.report.terminal import verdict_as_text

PAIRS = Path(__file__).parents[1] / "pairs"
FIGURE_5 = str(PAIRS / "cs241" / "figure5.asm"), str(PAIRS / "cs241" / "figure5-other.asm")
SECONDS = 20.0


def question(target: str, rewrite: str, options: Options | None = None, load: LoadOptions | None = None) -> Question:
    sides = [lifted(side) for side in open_pair(target, rewrite, load, load)]
    return settle(sides[0], sides[1], options or Options(narrate=True))


def search(target: str, rewrite: str, **options: object) -> tuple[Search, Finding]:
    asked = question(target, rewrite, Options(narrate=True, **options))  # type: ignore[arg-type]
    engine = Search(asked, Budget(SECONDS))
    return engine, engine.answer()


def program(folder: Path, name: str, text: str) -> str:
    path = folder / f"{name}.asm"
    path.write_text(text, encoding="utf-8")
    return str(path)


def source(folder: Path, text: str, name: str = "f") -> str:
    path = folder / "source.c"
    path.write_text(text, encoding="utf-8")
    return f"{path}:{name}"


# -- figure 5 -------------------------------------------------------------------------------------


def test_figure_5_comes_out_row_by_row() -> None:
    engine, finding = search(*FIGURE_5)
    assert isinstance(finding, Found)
    rows = [(s.number, s.driver, dict(s.inputs), s.path, s.target, s.rewrite) for s in engine.rows]
    assert rows == [
        (1, "target", {"$1": "1", "$2": "1"}, ("$1 ≠ 42",), "2", "2"),
        (2, "rewrite", {"$1": "1", "$2": "1"}, ("$2 ≠ 100",), "2", "2"),
        (3, "target", {"$1": "42", "$2": "1"}, ("$1 = 42",), "43", "43"),
        (4, "rewrite", {"$1": "1", "$2": "100"}, ("$2 = 100",), "101", "201"),
    ]


def test_verbose_report_shows_the_steps() -> None:
    verdict = compare(*FIGURE_5, Options(engine=Engine.CONCOLIC, narrate=True))
    assert isinstance(verdict, Different)
    assert verdict.exit_code == 1
    lines = [line.split() for line in verdict_as_text(verdict, verbose=True).splitlines()]
    assert ["step", "driver", "$1", "$2", "driver's", "path", "target", "rewrite"] in lines
    assert ["4", "rewrite", "1", "100", "$2", "=", "100", "101", "201"] in lines
    assert "step" not in verdict_as_text(verdict).split()


# -- what it says ---------------------------------------------------------------------------------


def test_both_trees_exhausted_is_a_proof_that_another_solver_confirms(tmp_path: Path) -> None:
    pair = PAIRS / "concolic" / "nested.asm", PAIRS / "concolic" / "nested-rewrite.asm"
    folder = tmp_path / "certificate"
    verdict = compare(str(pair[0]), str(pair[1]), Options(engine=Engine.CONCOLIC, cert=str(folder)))
    assert isinstance(verdict, Equivalent)
    names = [obligation.name for obligation in verdict.proof.obligations]
    assert {"covered-target", "covered-rewrite", "meets-1"} <= set(names)
    assert any(name.startswith("paths-") for name in names)
    report = check_certificate(folder)
    assert report.ok, report.rows
    assert "every path" in (folder / "index.json").read_text(encoding="utf-8")


def test_nothing_is_claimed_when_the_depth_cuts_a_path() -> None:
    folder = PAIRS / "concolic"
    _, finding = search(str(folder / "while.asm"), str(folder / "while-rewrite.asm"), depth=5)
    assert isinstance(finding, WithinBound)
    assert finding.bound["depth"] == 5
    assert "cut by the depth" in finding.bound["cut"]
    _, finding = search(str(folder / "while.asm"), str(folder / "while-rewrite.asm"), depth=30)
    assert isinstance(finding, Proved)


def test_runs_that_do_not_stop_decide_nothing(tmp_path: Path) -> None:
    endless = program(tmp_path, "endless", "loop:\nbeq $0, $0, loop\n")
    _, finding = search(endless, str(PAIRS / "cs241" / "sum.asm"), fuel=50)
    assert isinstance(finding, WithinBound)
    assert finding.bound["compared"] == 0
    assert "cut by the step bound" in finding.bound["cut"]


def test_the_bound_has_the_numbers() -> None:
    folder = PAIRS / "concolic"
    verdict = compare(
        str(folder / "infinite.asm"), str(folder / "infinite-other.asm"), Options(engine=Engine.CONCOLIC, fuel=500)
    )
    assert isinstance(verdict, Bounded)
    assert verdict.bound["target paths"] == 2
    assert verdict.bound["rewrite paths"] == 1
    assert verdict.bound["fuel"] == 500
    assert verdict.bound["restarts"] == 0
    assert verdict.to_json()["bound"]["depth"] == 50


def test_a_difference_inside_one_pair_of_paths_is_found_by_solving(tmp_path: Path) -> None:
    """No branch anywhere: only the formulas of the two paths tell them apart."""
    target = program(tmp_path, "target", "mult $1, $1\nmflo $3\njr $31\n")
    rewrite = program(
        tmp_path,
        "rewrite",
        "mult $1, $1\nmflo $3\nlis $4\n.word 77777\nsub $5, $1, $4\n"
        "lis $6\n.word 1\nsltu $5, $5, $6\nadd $3, $3, $5\njr $31\n",
    )
    _, finding = search(target, rewrite)
    assert isinstance(finding, Found)
    assert dict(finding.witness.arguments)["$1"] == 77777


def test_signed_and_unsigned_paths_overlap(tmp_path: Path) -> None:
    """Every path of both is run with agreeing inputs at first; the pair of paths that disagrees is never run."""
    text = "{} $4, $1, $2\nbeq $4, $0, end\nadd $3, $2, $0\njr $31\nend:\nadd $3, $1, $0\njr $31\n"
    _, finding = search(
        program(tmp_path, "signed", text.format("slt")), program(tmp_path, "unsigned", text.format("sltu"))
    )
    assert isinstance(finding, Found)


def test_aborts_refine(tmp_path: Path) -> None:
    target = program(tmp_path, "target", "div $1, $2\nmflo $3\njr $31\n")
    rewrite = program(tmp_path, "rewrite", "beq $2, $0, end\ndiv $1, $2\nmflo $3\nend:\njr $31\n")
    assert isinstance(search(target, rewrite)[1], Found)
    assert isinstance(search(target, rewrite, aborts=AbortRule.REFINE)[1], Proved)
    assert isinstance(search(rewrite, target, aborts=AbortRule.REFINE)[1], Found)


# -- preconditions --------------------------------------------------------------------------------


def test_preconditions_bound_the_search(tmp_path: Path) -> None:
    spec = source(tmp_path, "int f(int x) { return x == 9 ? 1 : 0; } int g(int x) { return 0; }")
    other = spec.replace(":f", ":g")
    assert isinstance(search(spec, other)[1], Found)
    assert isinstance(search(spec, other, assume=("x > 100",))[1], Proved)
    with pytest.raises(UserError, match="admits no input"):
        search(spec, other, assume=("x > 5 && x < 5",))


# -- what cannot be followed ----------------------------------------------------------------------


def test_restarts_are_counted_and_the_search_goes_on(tmp_path: Path) -> None:
    """What a library function gives is any number to the formulas, and its real value in runs."""
    text = """
    double sin(double x);
    int seen;
    int f(int x) { if (sin((double)x) > 5) return 1; if (x == 1234) { seen = 9; return 2; } return 0; }
    """
    spec = source(tmp_path, text)
    engine, finding = search(spec, spec)
    assert not isinstance(finding, (Found, Proved))
    assert any(step.remark.startswith("restart: ") for step in engine.rows)
    assert "2" in {step.target for step in engine.rows}  # the search went on to 1234


def test_memory_is_followed_across_outside_calls(tmp_path: Path) -> None:
    spec = source(
        tmp_path, "void touch(int *p); int f(int *p) { touch(p); if (*p == 5) { *p = 6; return 1; } return 0; }"
    )
    engine, _ = search(spec, spec)
    assert "1" in {step.target for step in engine.rows}


def test_an_instruction_without_semantics_is_never_equivalent(tmp_path: Path) -> None:
    text = 'int f(int x) { if (x == 3) __asm__ volatile("rdtsc" ::: "eax", "edx"); return x; }'
    spec = source(tmp_path, text)
    _, finding = search(spec, spec)
    assert isinstance(finding, (WithinBound, Failed))


def test_code_that_modifies_itself_is_never_equivalent() -> None:
    folder = PAIRS / "cs241"
    _, finding = search(str(folder / "own-code.asm"), str(folder / "own-code-longer.asm"))
    assert not isinstance(finding, Proved)


# -- computed jumps -------------------------------------------------------------------------------


def test_figure_8_reaches_good_and_bad() -> None:
    figure_8 = str(PAIRS / "cs241" / "figure8.asm")
    engine, _ = search(figure_8, str(PAIRS / "concolic" / "figure8-same.asm"), fuel=100)
    went = {condition for step in engine.rows for condition in step.path}
    assert {"($1 + $2) = 8", "($1 + $2) = 16"} <= went  # good and bad
    assert "$1 + $2 is no code" in went
    results = {step.target for step in engine.rows}
    assert "jump outside the program" in results
    assert "not done" in results


def test_a_jump_table_of_c_is_followed(tmp_path: Path) -> None:
    cases = "".join(f"case {n}: return {n * n + 7 * n % 5};" for n in range(12))
    text = f"int f(unsigned x) {{ switch (x) {{ {cases} }} return -1; }}"
    spec = source(tmp_path, text)
    engine, finding = search(spec, spec)
    assert isinstance(finding, Proved)
    assert engine.paths[0] >= 2
