"""A wrapper: code with the target's signature that calls the rewrite with adapted arguments."""

from __future__ import annotations

from isoform.model.expression import Expression
from isoform.model.placement import Placement
from isoform.model.values import dataclass


@dataclass(frozen=True)
class Wrapper:
    own: Placement
    """Where the wrapper finds its parameters, and leaves its result."""
    callee: Placement
    """Where the function that it calls finds and leaves them."""
    arguments: tuple[Expression, ...]
    """For each argument of that function, over the wrapper's own parameters."""
    result: Expression | None = None
    """Over these and what that function returned. None: what it returned is returned as it is."""
