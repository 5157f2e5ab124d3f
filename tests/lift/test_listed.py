"""Functions as listed beside simplified: every value of an instruction is there, and both do the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from isoform.borders.question import Options, Question
from isoform.borders.settle import settle
from isoform.engines.answer import lifted
from isoform.engines.finding import Proved
from isoform.engines.loopfree import Loopfree
from isoform.lift.function import Block, BlockId, Branch, Call, Goto, Listed
from isoform.load.open import LoadOptions, open_pair
from isoform.model.budget import Budget
from isoform.model.microop import CONTROL, TRUE, Kind, MicroOp, Space, Var, code

SOURCE = """
int outside(int);
int f(int x, int y, int *p) {
    long wide = x;
    if (x < y) p[0] = p[x & 3];
    switch (y) {
        case 0: return 5;
        case 1: return x * 3;
        case 2: return outside(x);
        case 3: return wide / 7;
        case 4: return p[1] - x;
        default: return *p;
    }
}
"""


@pytest.fixture(scope="module", params=["-O0", "-O2"])
def question(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Question:
    path = Path(tmp_path_factory.mktemp("listed")) / "f.c"
    path.write_text(SOURCE)
    options = LoadOptions(cflags=(request.param,))
    pair = open_pair(str(path), str(path), options, options)
    return settle(lifted(pair[0]), lifted(pair[1]), Options())


def test_every_micro_op_is_listed(question: Question) -> None:
    function = question.target
    listed = {(block.id, at) for block in function.as_listed.blocks.values() for at in block.addresses}
    dropped = 0
    for block, address in sorted(listed):
        here = function.as_listed.blocks[block]
        found = [op for op, at in zip(here.ops, here.addresses, strict=True) if at == address]
        said = [op for op in function.instructions[address].ops if op.kind not in CONTROL]
        assert [op for op in found if op in said] == said
        dropped += len(found) - sum(at == address for at in function.blocks[block].addresses)
    assert dropped > 0, "simplification removes something, so that the two forms are told apart here"


def test_both_forms_do_the_same(question: Question) -> None:
    asked = replace(question, rewrite=question.rewrite.as_listed)
    assert isinstance(Loopfree().answer(asked, Budget(60)), Proved)


def test_more_is_added_to_both_forms() -> None:
    start, end = BlockId((), 16, 0), BlockId((), 32, 0)
    flag, register = Var(Space.REGISTER, 0, 1), Var(Space.REGISTER, 8, 1)
    copy, more = MicroOp(Kind.COPY, flag, (TRUE,)), MicroOp(Kind.COPY, register, (flag,))
    call = Call("outside", code(64), end)
    block = Block(start, (), (), (16,), call, Listed((copy,), (16,), register))
    kept = block.extended([more], 20, replace(call, carried_out=True))
    assert (kept.ops, kept.addresses) == ((more,), (20,))
    assert kept.as_listed == Block(
        start, (copy, more), (16, 20), (16,), Call("outside", register, end, carried_out=True)
    )
    changed = block.extended([more], 20, Branch(flag, start, end))
    assert changed.as_listed.exit == Branch(flag, start, end)
    assert block.extended([], 20, Goto(end)).as_listed.exit == Goto(end)
