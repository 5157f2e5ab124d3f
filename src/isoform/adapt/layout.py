"""What pointers of a signature point to, member by member."""

from __future__ import annotations

from collections.abc import Iterator

from isoform.model.signature import CType, Parameter, TypeKind
from isoform.model.values import dataclass

MOST_MEMBERS = 64
"""Of a structure that a wrapper builds."""
_WIDTHS = (8, 16, 32, 64)


@dataclass(frozen=True)
class StructMember:
    name: str
    """With the structures around it: `a.x`, `v[2]`; empty for what a pointer to a number points to."""
    offset: int
    type: CType


def members_of(parameter: Parameter) -> tuple[StructMember, ...]:
    """The members of what a parameter points to; none if that is not known, or has parts that are not whole bytes."""
    pointee = parameter.type.pointee
    if parameter.type.kind is not TypeKind.POINTER or pointee is None or not pointee.is_spelled_out:
        return ()
    found = tuple(_members(pointee, "", 0))
    known = all(one.type.bits in _WIDTHS and not one.type.is_bit_field for one in found)
    return found if known and 0 < len(found) <= MOST_MEMBERS else ()


def _members(ctype: CType, name: str, start: int) -> Iterator[StructMember]:
    if ctype.kind is TypeKind.VOID:
        return
    if ctype.kind is not TypeKind.STRUCT:
        yield StructMember(name, start, ctype)
        return
    for inner, offset, member in ctype.fields:
        yield from _members(member, f"{name}.{inner}" if name else inner, start + offset)


def label_of(parameter: str, member: StructMember) -> str:
    return f"{parameter}->{member.name}" if member.name else f"*{parameter}"
