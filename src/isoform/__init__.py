"""isoform: do these two functions compute the same thing?

>>> import isoform
>>> verdict = isoform.compare("old.o:f", "new.o:f", budget=5)
>>> verdict.verdict == "equivalent"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform.model import presenting

if TYPE_CHECKING:
    from isoform.api import Checker as Checker
    from isoform.api import compare as compare
    from isoform.borders.question import Engine as Engine
    from isoform.borders.question import Options as Options
    from isoform.load.code import Code as Code
    from isoform.load.code import code as code
    from isoform.load.open import LoadOptions as LoadOptions
    from isoform.model.cause import Cause as Cause
    from isoform.model.cause import Explain as Explain
    from isoform.model.cause import RootCause as RootCause
    from isoform.model.cause import Strength as Strength
    from isoform.model.contract import AbortRule as AbortRule
    from isoform.model.contract import BoundsRule as BoundsRule
    from isoform.model.contract import CallRule as CallRule
    from isoform.model.contract import DataRule as DataRule
    from isoform.model.contract import MemoryRule as MemoryRule
    from isoform.model.contract import RestrictRule as RestrictRule
    from isoform.model.contract import ReturnAs as ReturnAs
    from isoform.model.contract import TerminationRule as TerminationRule
    from isoform.model.errors import Unsupported as Unsupported
    from isoform.model.errors import UserError as UserError
    from isoform.model.grades import Grades
    from isoform.model.verdict import Assumption as Assumption
    from isoform.model.verdict import Bounded as Bounded
    from isoform.model.verdict import Different as Different
    from isoform.model.verdict import Equivalent as Equivalent
    from isoform.model.verdict import Unknown as Unknown
    from isoform.model.verdict import Verdict as Verdict
    from isoform.model.verdict import Witness as Witness

__version__ = "0.1.0"

_HOMES = {
    **dict.fromkeys(("Checker", "compare"), "isoform.api"),
    **dict.fromkeys(("Code", "code"), "isoform.load.code"),
    **dict.fromkeys(
        (
            "AbortRule",
            "BoundsRule",
            "CallRule",
            "DataRule",
            "MemoryRule",
            "RestrictRule",
            "ReturnAs",
            "TerminationRule",
        ),
        "isoform.model.contract",
    ),
    **dict.fromkeys(("Unsupported", "UserError"), "isoform.model.errors"),
    **dict.fromkeys(("Cause", "Explain", "RootCause", "Strength"), "isoform.model.cause"),
    "LoadOptions": "isoform.load.open",
    **dict.fromkeys(("Engine", "Options"), "isoform.borders.question"),
    **dict.fromkeys(
        ("Assumption", "Bounded", "Different", "Equivalent", "Unknown", "Verdict", "Witness"), "isoform.model.verdict"
    ),
}
"""Where each public name is defined."""

__all__ = [
    "AbortRule",
    "Assumption",
    "Bounded",
    "BoundsRule",
    "CallRule",
    "Cause",
    "Checker",
    "Code",
    "DataRule",
    "Different",
    "Engine",
    "Equivalent",
    "Explain",
    "LoadOptions",
    "MemoryRule",
    "Options",
    "RestrictRule",
    "ReturnAs",
    "RootCause",
    "Strength",
    "TerminationRule",
    "Unknown",
    "Unsupported",
    "UserError",
    "Verdict",
    "Witness",
    "code",
    "compare",
]


class _Reports:
    """What verdicts and grades look like. Each report is imported when it is first used."""

    def verdict_as_json(self, verdict: Verdict) -> dict[str, Any]:
        from isoform.report.json import verdict_as_json

        return verdict_as_json(verdict)

    def verdict_as_text(self, verdict: Verdict) -> str:
        from isoform.report.terminal import verdict_as_text

        return verdict_as_text(verdict)

    def grades_as_json(self, grades: Grades) -> dict[str, Any]:
        from isoform.report.grade_json import grades_as_json

        return grades_as_json(grades)


presenting.register(_Reports())


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


def __getattr__(name: str) -> Any:
    """The public names, imported when first used: solvers take a while to load."""
    if name not in _HOMES:
        raise AttributeError(f"module 'isoform' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
