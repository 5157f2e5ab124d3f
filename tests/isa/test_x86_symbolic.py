"""The symbolic step on single x86-64 instructions: in a model with the inputs fixed, it gives what `evaluate` gives."""

from __future__ import annotations

import random

import pytest

from isoform.isa.registry import machine
from isoform.load.image import Image
from isoform.model.budget import Budget
from isoform.model.contract import Contract, SignatureSource
from isoform.model.microop import Instruction, Kind
from isoform.smt.float_definitions import definitions
from isoform.smt.solver import Answer, Solver
from isoform.smt.terms import Term, Terms
from isoform.sym.side import Side
from isoform.sym.state import initial_state
from isoform.sym.step import Temps, read, step
from isoform.sym.world import World
from semantics import ours
from semantics.encoding import CODE_ADDRESS, Encoder
from semantics.forms import all_forms
from semantics.state import State, draw

SEED = 30
SHARES = 4
MACHINE = machine("x86_64")
SLOW = frozenset({"PDEP", "PEXT"})
"""Long chains of shifts and exclusive ors, whose terms take seconds to build."""
FORMS = tuple(form for form in all_forms() if not form.memory and not form.branch and form.mnemonic not in SLOW)
IN_MEMORY = frozenset({Kind.LOAD, Kind.STORE, Kind.CBRANCH, Kind.BRANCH})


def containers(state: State) -> dict[str, int]:
    low = {f"xmm{n}": value & (1 << 128) - 1 for n, value in enumerate(state.vectors)}
    high = {f"ymm{n}h": value >> 128 for n, value in enumerate(state.vectors)}
    return {**state.general, **state.flags, **low, **high}


def symbolic(instruction: Instruction, before: dict[str, int]) -> dict[str, int] | None:
    """The containers after the instruction; None where it aborts."""
    terms = Terms()
    world = World(terms, Contract(MACHINE, None, SignatureSource.MACHINE, (), ()))
    side = Side(world, Image("test", "x86_64", (), ()), "a")
    state, temps = initial_state(side), Temps()
    aborts: list[Term] = []
    for op in instruction.ops:
        if op.kind is Kind.ABORT:
            aborts.append(terms.condition(read(state, temps, op.ins[0])))
            continue
        step(state, temps, op)
    fixed = [
        terms.eq(
            terms.variable(name, 8 * MACHINE.registers[name].size), terms.bv(value, 8 * MACHINE.registers[name].size)
        )
        for name, value in before.items()
    ]
    sizes = [op.out.size for op in instruction.ops if op.kind is Kind.UNDEFINED and op.out is not None]
    for number, size in enumerate(sizes, 1):
        fixed.append(terms.eq(terms.variable(f"undefined_a_{number}", 8 * size), terms.bv(0, 8 * size)))
    solver = Solver(terms, Budget(60))
    meaning = definitions(terms, [*aborts, *(state.container_named(name) for name in before)])
    assert solver.check([*fixed, *meaning]) is Answer.SAT
    if any(solver.holds(abort) for abort in aborts):
        return None
    return {name: solver.value(state.container_named(name)) for name in before}


@pytest.mark.parametrize("share", range(SHARES))
def test_symbolic_step_agrees_with_the_defining_table(share: int) -> None:
    rng = random.Random(SEED + share)
    for form in FORMS[share::SHARES]:
        encoded = Encoder(form, rng).encode()
        instruction = MACHINE.decode(encoded.code, CODE_ADDRESS)
        if IN_MEMORY & {op.kind for op in instruction.ops}:
            continue
        before = draw(form, encoded, rng)
        before.flags["df"] = 0  # known at entry
        wanted = ours.run(instruction, before, undefined=False)
        found = symbolic(instruction, containers(before))
        name = f"seed {SEED + share}: {encoded.code.hex()} {instruction.text}"
        assert (found is None) == bool(wanted.fault), name
        if found is not None:
            assert found == containers(wanted), name
