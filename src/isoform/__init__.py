"""isoform: do these two functions compute the same thing?

>>> import isoform
>>> isoform.compare("old.o:f", "new.o:f")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isoform.api import compare as compare
    from isoform.load.open import LoadOptions as LoadOptions
    from isoform.question import Options as Options

__version__ = "0.1.0"
__all__ = ["LoadOptions", "Options", "compare"]

_HOMES = {"compare": "isoform.api", "Options": "isoform.question", "LoadOptions": "isoform.load.open"}


def __getattr__(name: str) -> Any:
    """The public names, imported when first used: solvers take a while to load."""
    if name not in _HOMES:
        raise AttributeError(f"module 'isoform' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
