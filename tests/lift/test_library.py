"""Library calls as loops do what the calls do, and leave behind what any call does."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from isoform import api
from isoform.borders.question import Engine, Options
from isoform.borders.settle import settle
from isoform.lift.function import Call, Function
from isoform.lift.library import library_calls, written_out
from isoform.load.open import LoadOptions
from isoform.model.contract import CallRule
from isoform.model.outcome import Inputs, Outcome, Status
from isoform.model.verdict import Equivalent
from isoform.run.compile import compile_function
from isoform.run.runner import RunOptions, run

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")

GCC = LoadOptions(cc="gcc", cflags=("-O1", "-fno-stack-protector", "-fno-builtin"))
BASE = 0x100000
SIGNATURE = "(unsigned char *to, unsigned char *from, unsigned long n)"
HEADER = "#include <string.h>\n#define F(type, name, body) type name" + SIGNATURE + " { return body; }\n"
CALLS = {
    "memset_1": "F(void *, memset_1, memset(to, (int)(long)from, n))",
    "memset_8": "F(void *, memset_8, memset(to, (int)(long)from, 8 * n))",
    "memcpy_1": "F(void *, memcpy_1, memcpy(to, from, n))",
    "memcpy_4": "F(void *, memcpy_4, memcpy(to, from, n << 2))",
    "memmove_1": "F(void *, memmove_1, memmove(to, from, n))",
    "memmove_2": "F(void *, memmove_2, memmove(to, from, n + n))",
    "memmove_8": "F(void *, memmove_8, memmove(to, from, 8 * (n + 1)))",
    "memset_16": "F(void *, memset_16, memset(to, (int)(long)from, 16 * n))",
    "memset_12": "F(void *, memset_12, memset(to, (int)(long)from, 12ul * (unsigned)n))",
    "memcpy_7": "F(void *, memcpy_7, memcpy(to, from, 7ul * (unsigned)n))",
    "memmove_24": "F(void *, memmove_24, memmove(to, from, 24ul * (unsigned)n))",
    "strlen_1": "F(unsigned long, strlen_1, strlen((char *)from) + n)",
}


def lifted(tmp_path: Path, text: str, name: str) -> Function:
    path = tmp_path / "f.c"
    path.write_text(HEADER + text + "\n")
    return api.show(f"{path}:{name}", GCC)


def outcome(function: Function, inputs: Inputs) -> Outcome:
    question = settle(function, function, Options())
    return run(compile_function(function), inputs, RunOptions(), question.callees)


@pytest.mark.parametrize("downward", [False, True])
@pytest.mark.parametrize("name", CALLS)
def test_the_loop_does_what_the_call_does(tmp_path: Path, name: str, downward: bool) -> None:
    function = lifted(tmp_path, CALLS[name], name)
    called = name.split("_")[0]
    assert library_calls(function) == {called: 1}
    loops = written_out(function, {called}, downward)
    assert library_calls(loops) == {}
    assert loops.has_loop
    chance = random.Random(name)
    for _ in range(60):
        to, start = (BASE + chance.randrange(48) for _ in range(2))
        memory = {BASE + i: chance.choice((0, 1, 2, 200)) for i in range(400)}
        inputs = Inputs({"rdi": to, "rsi": start, "rdx": chance.randrange(9)}, memory)
        expected, found = outcome(function, inputs), outcome(loops, inputs)
        assert expected.status is found.status is Status.DONE
        assert (found.writes, found.registers["rax"]) == (expected.writes, expected.registers["rax"])
        assert found.registers["rsp"] == expected.registers["rsp"]


@pytest.mark.parametrize("text", ["memcpy(to, from, 40)", "(n ? memset(to, 0, 1024) : memset(from, 1, 16))"])
def test_small_constant_sizes_stay_calls(tmp_path: Path, text: str) -> None:
    function = lifted(tmp_path, f"F(void *, f, {text})", "f")
    assert any(isinstance(block.exit, Call) for block in function.blocks.values())
    assert library_calls(function) == {}


def test_the_step_is_one_that_the_size_is_a_multiple_of_on_every_way(tmp_path: Path) -> None:
    text = "F(void *, f, memset(to, 0, (from ? 4 * n : 6 * n)))"
    function = lifted(tmp_path, text, "f")
    loops = written_out(function, {"memset"})
    for count in range(5):
        for start in (0, 1):
            inputs = Inputs({"rdi": BASE, "rsi": start, "rdx": count}, {BASE + i: 7 for i in range(64)})
            assert len(outcome(loops, inputs).writes) == (4 if start else 6) * count


LOOP = f"void *f{SIGNATURE} {{ for (unsigned long i = 0; i < n; i++) to[i] = 0; return to; }}"
OWN = """__attribute__((noinline)) static void *memset(void *to, int value, size_t n)
{ for (size_t i = 0; i < n; i += 2) ((volatile char *)to)[i] = value; return to; }"""


def compared(tmp_path: Path, other: str, calls: CallRule) -> object:
    left, right = tmp_path / "left.c", tmp_path / "right.c"
    left.write_text(LOOP)
    right.write_text(other)
    options = Options(engine=Engine.LOOPS, calls=calls, budget=10.0)
    return api.compare(f"{left}:f", f"{right}:f", options, GCC, GCC)


@pytest.mark.parametrize("calls", [CallRule.AUTO, CallRule.UNINTERPRETED])
def test_the_librarys_memset_is_a_loop_and_the_files_own_is_not(tmp_path: Path, calls: CallRule) -> None:
    library = f"#include <string.h>\nvoid *f{SIGNATURE} {{ return memset(to, 0, n); }}"
    verdict = compared(tmp_path, library, calls)
    assert isinstance(verdict, Equivalent)
    assert "library-meaning" in {assumption.name for assumption in verdict.assumptions}
    own = f"#include <stddef.h>\n{OWN}\nvoid *f{SIGNATURE} {{ return memset(to, 0, n); }}"
    assert not isinstance(compared(tmp_path, own, calls), Equivalent)


def test_nothing_is_known_of_what_the_callee_may_change(tmp_path: Path) -> None:
    """The loop ends with `to + n` in rdi; a caller must not rely on that."""
    text = """.intel_syntax noprefix
.globl f
.type f, @function
f: push rbx
 lea rbx, [rdi + rdx]
 xor esi, esi
 call memset@PLT
 mov rax, {result}
 pop rbx
 ret
.size f, .-f
"""
    target = tmp_path / "target.c"
    target.write_text(LOOP.replace("return to;", "return to + n;"))
    verdicts = []
    for result in ("rbx", "rdi"):
        path = tmp_path / f"{result}.s"
        path.write_text(text.format(result=result))
        options = Options(engine=Engine.LOOPS, budget=10.0)
        verdicts.append(isinstance(api.compare(f"{target}:f", f"{path}:f", options, GCC, GCC), Equivalent))
    assert verdicts == [True, False]


def test_an_array_of_the_frame_that_is_filled_is_not_taken_for_other_memory(tmp_path: Path) -> None:
    """The byte read last may be one that the call wrote, or not."""
    body = "{{ char b[64]; b[5] = 1; {fill} return b[5]; }}"
    signature = "int f(unsigned n)"
    left, right = tmp_path / "left.c", tmp_path / "right.c"
    head = '#include <string.h>\n#pragma GCC optimize ("no-tree-loop-distribute-patterns")\n'
    left.write_text(head + signature + body.format(fill="for (unsigned i = 0; i < n; i++) b[i] = 0;"))
    right.write_text(head + signature + "{ return 1; }")
    called = tmp_path / "called.c"
    called.write_text(head + signature + body.format(fill="memset(b, 0, n);"))
    for pair in ((left, right), (called, right)):
        verdict = api.compare(f"{pair[0]}:f", f"{pair[1]}:f", Options(budget=5.0, assume=("n <= 64",)), GCC, GCC)
        assert not isinstance(verdict, Equivalent)
