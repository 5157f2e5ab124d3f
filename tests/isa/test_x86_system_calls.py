"""`syscall`: a call to the operating system, which is asked by number and leaves all but three registers alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import isoform
from isoform.isa.registry import machine
from isoform.lift.cfg import SYSTEM_CALL, control_flow_graph
from isoform.load.image import Image, Section
from isoform.model.outcome import CallEffect, CallKey, Inputs
from isoform.run.compile import compile_function
from isoform.run.runner import RunOptions, run

SIGNATURE = "long f(long a, long b, long c, long d, long e, long g)"
TARGET = """
    mov r10, rcx
    mov [rsp-8], rdx
    mov eax, 17
    syscall
    add rax, rdx
    add rax, [rsp-8]
    ret
"""


def source(directory: Path, name: str, body: str) -> str:
    path = directory / f"{name}.s"
    head = ".intel_syntax noprefix\n.globl f\n.type f,@function\nf:"
    path.write_text(f"{head}{body}.size f,.-f\n")
    return f"{path}:f"


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("add rax, [rsp-8]", "lea rax, [rax+rdx]", "equivalent"),  # rdx and the red zone stay
        ("mov eax, 17", "mov eax, 18", "unknown"),
        ("mov r10, rcx", "mov r10, r8", "unknown"),
        ("add rax, [rsp-8]", "add rax, rcx", "unknown"),  # rcx is lost
        ("    syscall\n", "    syscall\n    mov eax, 17\n    syscall\n", "unknown"),
    ],
)
def test_what_the_system_is_asked_must_be_the_same(tmp_path: Path, old: str, new: str, verdict: str) -> None:
    assert old in TARGET
    options = isoform.Options(signature=SIGNATURE)
    rewrite = TARGET.replace(old, new)
    found = isoform.compare(source(tmp_path, "a", TARGET), source(tmp_path, "b", rewrite), options)
    answer = found.to_json()
    assert answer["verdict"] == verdict
    if verdict == "equivalent":
        assert "system-calls-agree" in {assumption["name"] for assumption in answer["assumptions"]}


def test_the_runner_records_number_and_arguments() -> None:
    code = bytes.fromhex("b811000000 0f05 c3")
    image = Image("a.o", "x86_64", (Section(".text", 0x1000, code, len(code), False, True),), ())
    function = control_flow_graph(image, machine("x86_64"), "f", 0x1000)
    arguments = (17, 1, 2, 3, 4, 5, 6)
    registers = dict(zip(("rdi", "rsi", "rdx", "r10", "r8", "r9"), arguments[1:], strict=True))
    inputs = Inputs(registers, call_results={CallKey(SYSTEM_CALL, arguments, 0): CallEffect({"rax": 99})}, side_seed=1)
    outcome = run(compile_function(function), inputs, RunOptions())
    assert [(call.callee, call.arguments) for call in outcome.calls] == [(SYSTEM_CALL, arguments)]
    assert outcome.registers["rax"] == 99
    assert all(outcome.registers[name] == value for name, value in registers.items())
    assert outcome.registers["rcx"] != 0
