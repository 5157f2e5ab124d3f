"""Causes of many differences as groups, by kind and by place in the target."""

from __future__ import annotations

from isoform.model.cause import Cause, CauseKind, RootCause, Strength, ValuePlace
from isoform.model.cause_groups import CauseLabel, grouped, label_of
from isoform.model.listing import View

EMPTY = View("f", ())


def label(kind: CauseKind, line: int, text: str = "add eax,1") -> CauseLabel:
    place = ValuePlace(0x1000, text, "eax", 1, "/some/where/a.c", line)
    found = label_of(RootCause(Strength.ALL_INPUTS, (Cause(place, place, kind),), 0.1), EMPTY, f"line {line}")
    assert found is not None
    return found


def test_the_same_kind_at_the_same_place_is_one_group() -> None:
    labels = {
        "ann": label(CauseKind.CONSTANT, 3),
        "bob": label(CauseKind.COMPARISON, 3),
        "cyd": label(CauseKind.CONSTANT, 3, "add eax,7"),
        "dan": label(CauseKind.CONSTANT, 4),
        "eve": None,
    }
    groups = grouped(labels.items())
    assert [(group.kind, group.place, group.members) for group in groups] == [
        ("constant", "a.c:3", ("ann", "cyd")),
        ("comparison", "a.c:3", ("bob",)),
        ("constant", "a.c:4", ("dan",)),
    ]
    assert groups[0].example == "line 3"


def test_no_cause_has_no_label() -> None:
    assert label_of(RootCause(None, (), 0.1), EMPTY, "") is None
    assert label_of(None, EMPTY, "") is None
