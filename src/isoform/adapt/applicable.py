"""Families that cannot apply to two functions, whatever these do."""

from __future__ import annotations

from collections.abc import Sequence

from isoform.adapt.layout import members_of
from isoform.adapt.pair import Pair
from isoform.model.adaptor import Family
from isoform.model.errors import UserError
from isoform.model.signature import TypeKind


def require_applicable(pair: Pair, families: Sequence[Family]) -> None:
    """Raises an error for a family that has nothing to adapt in these signatures."""
    parameters = [p for signature in pair.signatures for p in signature.parameters]
    if Family.MEMORY in families and not any(map(members_of, parameters)):
        raise UserError(
            "--family memory needs to know what pointers point to: give files with debug information, or --signature-a "
            "and --signature-b with the structures in front."
        )
    types = [*(p.type for p in parameters), *(signature.result for signature in pair.signatures)]
    if Family.FLOAT in families and all(ctype.kind is not TypeKind.FLOAT for ctype in types):
        raise UserError("--family float has nothing to convert: neither function takes or returns a float or double.")
