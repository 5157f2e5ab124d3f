"""Single instructions of toy and cs241 against their plain interpreters, and that a wrong meaning would be found."""

from __future__ import annotations

import sys

import pytest

from isoform.isa.cs241 import machine as cs241
from isoform.isa.toy import machine as toy
from isoform.model.microop import Instruction, Kind, MicroOp
from semantics import command
from semantics.small_machines import INVALID, SMALL_MACHINES, check_small

SEED = 7
QUICK = 24
OTHER = {
    Kind.INT_ADD: Kind.INT_SUB,
    Kind.INT_SUB: Kind.INT_ADD,
    Kind.INT_SLESS: Kind.INT_LESS,
    Kind.INT_LESS: Kind.INT_SLESS,
    Kind.INT_SLESSEQUAL: Kind.INT_SLESS,
    Kind.INT_SEXT: Kind.INT_ZEXT,
    Kind.INT_SDIV: Kind.INT_DIV,
    Kind.INT_REM: Kind.INT_DIV,
    Kind.INT_EQUAL: Kind.INT_NOTEQUAL,
    Kind.INT_NOTEQUAL: Kind.INT_EQUAL,
    Kind.INT_LESSEQUAL: Kind.INT_LESS,
}


@pytest.mark.parametrize("name", SMALL_MACHINES)
def test_every_form_agrees_with_the_interpreter(name: str) -> None:
    reports = list(check_small(name, QUICK, SEED))
    assert {report.form for report in reports} == {*SMALL_MACHINES[name].forms}
    assert all(report.states == QUICK for report in reports)
    assert not [(r.form, r.disagreements) for r in reports if r.disagreements], f"seed {SEED}"


@pytest.mark.long
@pytest.mark.parametrize("name", SMALL_MACHINES)
def test_every_form_agrees_in_many_states(name: str) -> None:
    assert not [(r.form, r.disagreements) for r in check_small(name, 200, SEED + 1) if r.disagreements]


@pytest.mark.parametrize(
    ("name", "form"),
    [("toy", "ADDXY"), ("toy", "MAXX"), ("toy", "JMPGE"), ("toy", "JMPEQ")]
    + [("cs241", form) for form in ("add", "sub", "mult", "div", "divu", "slt", "sltu", "lw", "sw", "beq", "bne")],
)
def test_a_wrong_meaning_is_found(name: str, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    small = SMALL_MACHINES[name]
    decode = small.machine.decode

    def broken(code: bytes, address: int) -> Instruction:
        found = decode(code, address)
        ops = tuple(MicroOp(OTHER.get(op.kind, op.kind), op.out, op.ins) for op in found.ops)
        return Instruction(found.address, found.length, found.text, ops)

    monkeypatch.setitem(small.machine.__dict__, "decode", broken)
    (report,) = check_small(name, 40, SEED, [form.lower()])
    assert report.disagreements


def test_bytes_that_are_no_instruction_abort() -> None:
    for machine, code in ((toy.MACHINE, b"\xff" * 8), (cs241.MACHINE, b"\xff" * 4)):
        (op,) = machine.decode(code, 0).ops
        assert op.kind is Kind.ABORT
    assert all(INVALID in small.forms for small in SMALL_MACHINES.values())


def test_the_command_names_the_machine_and_counts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["semantics", "toy", "--n", "4", "--only", "addxy,ret"])
    assert command.main() == 0
    shown = capsys.readouterr().out
    assert "toy, seed 1, 8 states" in shown
    assert "forms tried         2" in shown
