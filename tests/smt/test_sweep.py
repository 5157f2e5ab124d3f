"""Sweeping: what was shown of some terms holds of the same terms over other variables, and of no others."""

from __future__ import annotations

import pytest

from isoform.model.budget import Budget
from isoform.smt import sweep as sweeping
from isoform.smt.solver import Answer, Solver
from isoform.smt.sweep import Skeleton, sweep
from isoform.smt.terms import Term, Terms


def halves(terms: Terms, name: str) -> tuple[Term, Term]:
    """The average of two words, in two ways that no normal form brings together."""
    x, y = (terms.variable(f"{name}{number}", 16) for number in (1, 2))
    one = terms.bv(1, 16)
    half = terms.lshr(terms.xor_(x, y), one)
    wide = terms.lshr(terms.add(terms.zext(x, 17), terms.zext(y, 17)), terms.bv(1, 17))
    return terms.add(terms.and_(x, y), half), terms.extract(wide, 15, 0)


def test_what_is_done_in_every_lane_is_shown_once(monkeypatch: pytest.MonkeyPatch) -> None:
    terms, known = Terms(), dict[Skeleton, bool]()
    solver = Solver(terms, Budget(30))
    asked: list[int] = []
    check = solver.check_anywhere

    def counting(*arguments: object) -> Answer:
        asked.append(1)
        return check(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(solver, "check_anywhere", counting)
    for name in ("a", "b", "c"):
        asked.clear()
        left, right = halves(terms, name)
        swept = sweep(terms, solver, [terms.negate(terms.eq(left, right))], 10.0, known)
        assert swept.steps, name
        assert bool(asked) == (name == "a"), "only the first is asked about"
    assert all(known.values())


def test_other_terms_have_another_skeleton() -> None:
    terms = Terms()
    x, y = (terms.variable(name, 16) for name in "xy")
    pairs = [
        (terms.add(x, y), terms.sub(x, y)),
        (terms.sub(x, y), terms.add(x, y)),
        (terms.add(x, y), terms.sub(y, x)),
        (terms.add(x, x), terms.sub(x, x)),
        (terms.add(x, terms.bv(1, 16)), terms.sub(x, y)),
        (terms.add(x, terms.bv(2, 16)), terms.sub(x, y)),
        (terms.extract(x, 7, 0), terms.extract(y, 7, 0)),
        (terms.extract(x, 8, 1), terms.extract(y, 7, 0)),
    ]
    skeletons = [sweeping._skeleton(*pair) for pair in pairs]
    assert None not in skeletons
    assert len(set(skeletons)) == len(pairs)
    renamed = [terms.variable(name, 16) for name in "uv"]
    assert sweeping._skeleton(terms.add(*renamed), terms.sub(*renamed)) == skeletons[0]
