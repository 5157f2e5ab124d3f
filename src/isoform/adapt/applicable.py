"""Which families apply to two functions, whatever these do."""

from __future__ import annotations

from collections.abc import Sequence

from isoform.adapt.layout import members_of
from isoform.adapt.pair import Pair
from isoform.model.adaptor import Family
from isoform.model.contract import ReturnAs
from isoform.model.errors import UserError
from isoform.model.signature import TypeKind

_WHOLE = (TypeKind.INTEGER, TypeKind.POINTER, TypeKind.BOOL)


def families_to_search(
    pair: Pair, named: Sequence[Family] | None, return_as: ReturnAs = ReturnAs.VALUE
) -> tuple[Family, ...]:
    """Those that were named, or all that have something to adapt in these signatures. Raises an error for a named one
    that has not."""
    why_not = {family: _why_not(pair, family, return_as) for family in Family}
    if named is None:
        return tuple(family for family in Family if not why_not[family])
    for family in named:
        if why_not[family]:
            raise UserError(f"--family {family.value} {why_not[family]}")
    return tuple(named)


def _why_not(pair: Pair, family: Family, return_as: ReturnAs) -> str:
    parameters = [p for signature in pair.signatures for p in signature.parameters]
    results = [signature.result for signature in pair.signatures]
    if family is Family.MEMORY and not any(map(members_of, parameters)):
        return (
            "needs to know what pointers point to: give files with debug information, or --signature-a and "
            "--signature-b with the structures in front."
        )
    if family is Family.FLOAT and all(
        ctype.kind is not TypeKind.FLOAT for ctype in (*(p.type for p in parameters), *results)
    ):
        return "has nothing to convert: neither function takes or returns a float or double."
    if family is Family.RETURN and return_as is ReturnAs.VOID:
        return "has nothing to adapt: with --return-as void the result is not compared."
    if family is Family.RETURN and any(ctype.kind not in _WHOLE for ctype in results):
        return "has nothing to adapt: not both functions return an integer or a pointer."
    return ""
