"""Causes of many differences, grouped: by what kind of mistake it is, and at which place of the target."""

from __future__ import annotations

from collections.abc import Iterable

from isoform.model.cause import Cause, RootCause, ValuePlace
from isoform.model.listing import View
from isoform.model.values import dataclass


@dataclass(frozen=True)
class CauseLabel:
    """What two root causes have in common if they belong to one group, and how one of them reads."""

    kind: str
    place: str
    """In the target, which all share; of an instruction that only the rewrite has, how that reads."""
    says: str
    strength: str

    @property
    def key(self) -> tuple[str, str]:
        return self.kind, self.place


@dataclass(frozen=True)
class CauseGroup:
    kind: str
    place: str
    members: tuple[str, ...]
    """Names of the rewrites with this cause."""
    example: str
    """What is said about the first of them."""


def label_of(root: RootCause | None, view: View, says: str) -> CauseLabel | None:
    """The label of a root cause that was found; `view` is the listing of the target."""
    if root is None or root.strength is None:
        return None
    kinds = dict.fromkeys(cause.kind.value for cause in root.causes)
    places = dict.fromkeys(_place(cause, view) for cause in root.causes)
    return CauseLabel(" and ".join(kinds), " and ".join(places), says, root.strength.value)


def _place(cause: Cause, view: View) -> str:
    if cause.target is not None:
        return _named(cause.target, view)
    assert cause.rewrite is not None
    return f"only in the rewrite: {cause.rewrite.text}"


def _named(place: ValuePlace, view: View) -> str:
    """The source line, if there is one: one line is one place, whatever instructions it became."""
    if place.line is not None:
        return f"{place.file.rpartition('/')[2]}:{place.line}"
    return f"{view.offset(place.address)} {place.text}" if view.rows else place.text


def grouped(labelled: Iterable[tuple[str, CauseLabel | None]]) -> tuple[CauseGroup, ...]:
    """Names with their labels as groups, the largest first."""
    found: dict[tuple[str, str], list[tuple[str, CauseLabel]]] = {}
    for name, label in labelled:
        if label is not None:
            found.setdefault(label.key, []).append((name, label))
    groups = [
        CauseGroup(*key, tuple(name for name, _ in members), members[0][1].says) for key, members in found.items()
    ]
    return tuple(sorted(groups, key=lambda group: -len(group.members)))
