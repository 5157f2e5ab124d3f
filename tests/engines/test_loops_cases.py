"""Cases of the loops engine: what is kept between time slices."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from isoform.engines.loops.align.cuts import Cut
from isoform.engines.loops.prove.case import Case
from isoform.engines.loops.prove.cases import Cases
from isoform.model.budget import Budget
from isoform.smt.terms import Terms


def test_cases_do_not_outlive_what_they_rest_on() -> None:
    """The equal addresses of the last time slice are recorded: nothing may rest on earlier ones."""
    terms = Terms()
    cases = Cases(cast(Any, SimpleNamespace(setting=SimpleNamespace(terms=terms))), Budget(1.0))
    here, elsewhere = Cut(cast(Any, 1), cast(Any, 2)), Cut(cast(Any, 3), cast(Any, 4))
    breadth = ((1, 1), 0)
    whole, far = (here, 0, terms.true, (2, 2), breadth), (elsewhere, 0, terms.true, (1, 1), breadth)
    case = cast(Case, object())
    cases._wholes = {whole: case, far: case}
    cases._cases = {(here, 0, terms.true, (1, 1), breadth): case, far: case}
    cases._cut_short = {whole}
    cases.resume()
    assert list(cases._wholes) == list(cases._cases) == [far]
