"""isoform: do these two functions compute the same thing?

>>> import isoform
>>> verdict = isoform.compare("old.o:f", "new.o:f", budget=5)
>>> verdict.verdict == "equivalent"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isoform.api import compare as compare
    from isoform.contract import AbortRule as AbortRule
    from isoform.contract import BoundsRule as BoundsRule
    from isoform.contract import CallRule as CallRule
    from isoform.contract import DataRule as DataRule
    from isoform.contract import MemoryRule as MemoryRule
    from isoform.contract import ReturnAs as ReturnAs
    from isoform.errors import Unsupported as Unsupported
    from isoform.errors import UserError as UserError
    from isoform.load.open import LoadOptions as LoadOptions
    from isoform.question import Engine as Engine
    from isoform.question import Options as Options
    from isoform.verdict import Assumption as Assumption
    from isoform.verdict import Bounded as Bounded
    from isoform.verdict import Different as Different
    from isoform.verdict import Equivalent as Equivalent
    from isoform.verdict import Unknown as Unknown
    from isoform.verdict import Verdict as Verdict
    from isoform.verdict import Witness as Witness

__version__ = "0.1.0"

_HOMES = {
    "compare": "isoform.api",
    **dict.fromkeys(("AbortRule", "BoundsRule", "CallRule", "DataRule", "MemoryRule", "ReturnAs"), "isoform.contract"),
    **dict.fromkeys(("Unsupported", "UserError"), "isoform.errors"),
    "LoadOptions": "isoform.load.open",
    **dict.fromkeys(("Engine", "Options"), "isoform.question"),
    **dict.fromkeys(
        ("Assumption", "Bounded", "Different", "Equivalent", "Unknown", "Verdict", "Witness"), "isoform.verdict"
    ),
}
"""Where each public name is defined."""

__all__ = [
    "AbortRule",
    "Assumption",
    "Bounded",
    "BoundsRule",
    "CallRule",
    "DataRule",
    "Different",
    "Engine",
    "Equivalent",
    "LoadOptions",
    "MemoryRule",
    "Options",
    "ReturnAs",
    "Unknown",
    "Unsupported",
    "UserError",
    "Verdict",
    "Witness",
    "compare",
]


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


def __getattr__(name: str) -> Any:
    """The public names, imported when first used: solvers take a while to load."""
    if name not in _HOMES:
        raise AttributeError(f"module 'isoform' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
