"""Code that only a formula or a run leads to: found in one place, held against the same rules, asked about again."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from isoform import api
from isoform.borders.question import Options
from isoform.borders.settle import settle
from isoform.engines.answer import lifted
from isoform.lift.discovery import MOST_ROUNDS, CodeNeeded, Discovery, Need, Pieces
from isoform.lift.function import Function
from isoform.load.open import open_one, open_pair
from isoform.model.outcome import Inputs, Status
from isoform.model.verdict import Bounded, Different, Equivalent
from isoform.run.compile import compile_function
from isoform.run.runner import RunOptions, run

JUMP = """
int x = X;
int f(int n) {
    void *p = n & 1 ? &&one : &&other;
    goto *p;
one: return x;
other: return 3;
}
"""
"""Without optimisation the target of the jump comes out of the frame, where lifting does not look."""
PLAIN = "int x = X; int f(int n) { return n & 1 ? x : 3; }\n"
LINKED = """
static int t[64]; int y[8];
void set(int i, int v) { t[i & 63] = y[i & 7] = v; }
int f(int n) {
    void *p = n <= 0 ? &&one : &&other;
    __asm__("" : "+r"(p));
    goto *p;
one: return n + 1;
other:;
    int s = 0;
    for (int i = 1; i <= n; i++) s += t[i - 1] * i;
    return s;
}
"""
CALLS = """
__attribute__((noinline)) int g(int n) { return n * 5; }
int f(int n) {
    void *p = n & 1 ? &&one : &&other;
    goto *p;
one: return g(n);
other: return 3;
}
"""

needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")


def built(folder: Path, source: str, name: str, *flags: str) -> Path:
    text = folder / f"{name}.c"
    text.write_text(source)
    subprocess.run(["gcc", "-w", "-g", *flags, str(text), "-o", str(folder / name)], check=True)
    return folder / name


def function(folder: Path, source: str = JUMP) -> Function:
    return lifted(open_one(f"{built(folder, source.replace('X', '1'), 'one.o', '-O0', '-c')}:f"))


@needs_gcc
@pytest.mark.parametrize(
    ("engine", "initial", "kind"),
    [
        ("auto", "1", Equivalent),
        ("auto", "2", Different),
        ("loopfree", "1", Equivalent),
        ("loopfree", "2", Different),
        ("concolic", "1", Equivalent),
        ("concolic", "2", Bounded),
    ],
)
def test_data_that_only_found_code_names_is_compared(tmp_path: Path, engine: str, initial: str, kind: type) -> None:
    one = built(tmp_path, JUMP.replace("X", "1"), "one.o", "-O0", "-c")
    two = built(tmp_path, JUMP.replace("X", initial), "two.o", "-O0", "-c")
    assert isinstance(api.compare(f"{one}:f", f"{two}:f", engine=engine), kind)


@needs_gcc
@pytest.mark.parametrize(("initial", "kind"), [("1", Equivalent), ("2", Different)])
def test_the_other_side_may_have_no_jump(tmp_path: Path, initial: str, kind: type) -> None:
    one = built(tmp_path, JUMP.replace("X", "1"), "one.o", "-O0", "-c")
    plain = built(tmp_path, PLAIN.replace("X", initial), "plain.o", "-O2", "-c")
    assert isinstance(api.compare(f"{one}:f", f"{plain}:f"), kind)


@needs_gcc
def test_code_that_only_runs_find_keeps_the_rules_for_addresses(tmp_path: Path) -> None:
    flags = "-O2", "-fPIC", "-shared"
    one = built(tmp_path, LINKED, "one.so", *flags)
    two = built(tmp_path, LINKED.replace("* i;", "* 3;"), "two.so", *flags)
    sides = [lifted(side) for side in open_pair(f"{one}:f", f"{two}:f")]
    question = settle(sides[0], sides[1], Options(signature="int f(int n)"))
    below, above = (question.run_both((Inputs({"rdi": n}), Inputs({"rdi": n}))) for n in (0, 2))
    assert [outcome.status for outcome in below] == [Status.DONE, Status.DONE]
    assert [outcome.status for outcome in above] == [Status.UNSUPPORTED, Status.UNSUPPORTED]
    assert all("or of what lies beside it" in outcome.reason for outcome in above)


@needs_gcc
@pytest.mark.parametrize("inline", [True, False])
def test_calls_in_code_that_runs_find_are_inlined_as_elsewhere(tmp_path: Path, inline: bool) -> None:
    path = built(tmp_path, CALLS, "calls.o", "-O0", "-c")
    found = lifted(open_one(f"{path}:f"), inline)
    jump = next(i for i in found.instructions.values() if i.text.startswith("jmp r"))
    labels = sorted(a for a in range(found.entry.address, jump.address + 64) if found.image.code_at(a))
    pieces = Pieces(found)
    all_inlined = {name for a in labels if (piece := pieces.at(a)) is not None for name in piece.inlined}
    assert ("g" in all_inlined) is inline


@needs_gcc
def test_a_pointer_into_the_function_is_no_code_of_its_own(tmp_path: Path) -> None:
    source = "void f(void (*take)(long), long n) { take(n); }"
    jumps = lifted(open_one(f"{built(tmp_path, source, 'jumps.o', '-O2', '-fcf-protection=none', '-c')}:f"))
    program = compile_function(jumps)
    run(program, Inputs({"rdi": jumps.entry.address + 1}), RunOptions(fuel=50))
    assert not program.pieces.jumps
    assert program.compiled


@needs_gcc
def test_rounds_are_counted(tmp_path: Path) -> None:
    found = function(tmp_path)
    targets = sorted(found.instructions)
    asked: list[int] = []

    def ask(discovery: Discovery) -> str:
        asked.append(len(asked))
        need = Need(0, found, {targets[0]: {targets[len(asked) % len(targets)], 0}})
        discovery.require([need])
        return discovery.why_without(need)

    assert len(targets) > MOST_ROUNDS
    why = Discovery().fixpoint(ask)
    assert len(asked) == MOST_ROUNDS + 1
    assert str(MOST_ROUNDS) in why


@needs_gcc
def test_code_that_breaks_a_rule_is_not_asked_for_again(tmp_path: Path) -> None:
    found = function(tmp_path, JUMP + '__asm__(".text; vpmaskmovd (%rdi), %ymm0, %ymm1; ret");')
    jump = next(address for address, i in found.instructions.items() if i.text.startswith("jmp r"))
    masked = next(section.end - 6 for section in found.image.sections if section.executable)
    discovery, need = Discovery(), Need(0, found, {jump: {masked}})
    discovery.require([need])
    assert "lanes that a mask chooses" in discovery.why_without(need)
    assert not discovery.hints(0)


@needs_gcc
def test_both_sides_are_heard_in_one_round(tmp_path: Path) -> None:
    found = function(tmp_path)
    here, discovery = min(found.instructions), Discovery()
    needs = [Need(side, found, {here: {here}}) for side in range(2)]
    with pytest.raises(CodeNeeded):
        discovery.require(needs)
    assert discovery.hints(0) == discovery.hints(1) == {here: frozenset({here})}
    discovery.require(needs)


@needs_gcc
def test_accesses_in_found_code_are_held_against_its_own_bounds(tmp_path: Path) -> None:
    source = """
    int t[4];
    int f(int n) {
        void *p = &&one;
        __asm__("" : "+r"(p));
        if (n == 9) p = &&two;
        goto *p;
    one: return t[n];
    two: return 1;
    }
    """
    found = lifted(open_one(f"{built(tmp_path, source, 'bounds.o', '-O0', '-c')}:f"))
    inside, past = (run(compile_function(found), Inputs({"rdi": n}), RunOptions()) for n in (3, 4))
    assert (inside.status, inside.outside) == (Status.DONE, "")
    assert (past.status, past.outside) == (Status.DONE, "reads past t (16 bytes)")
