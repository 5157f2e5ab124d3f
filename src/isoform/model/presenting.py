"""How values that reach a user become text and JSON. The reports are above `model` and are registered here, so that a
verdict can print itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from isoform.model.grades import Grades
    from isoform.model.verdict import Verdict


class Presenter(Protocol):
    def verdict_as_json(self, verdict: Verdict) -> dict[str, Any]: ...

    def verdict_as_text(self, verdict: Verdict) -> str: ...

    def grades_as_json(self, grades: Grades) -> dict[str, Any]: ...


_registered: list[Presenter] = []


def register(presenter: Presenter) -> None:
    _registered[:] = [presenter]


def presenter() -> Presenter:
    return _registered[0]
