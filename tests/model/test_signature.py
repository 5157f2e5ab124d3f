"""Types are compared by what they are made of, and that takes no longer for types that share their members."""

from __future__ import annotations

import pickle
from dataclasses import replace

from isoform.model.signature import VOID, CType, TypeKind

LEVELS = 60
"""With two members of one type at each level there are 2^60 paths through a type."""


def nested(name: str = "x") -> CType:
    found = CType(TypeKind.INTEGER, 32, True, "int")
    for level in range(LEVELS):
        members = ((name if level == 0 else "x", 0, found), ("y", 4, found))
        found = CType(TypeKind.STRUCT, 64, fields=members)
    return found


def test_equal_types_of_two_files() -> None:
    left, right = nested(), nested()
    assert left == right
    assert right == left
    assert len({left, right}) == 1
    assert left == nested()
    assert right == replace(left, fields=right.fields)


def test_types_that_differ_at_the_bottom() -> None:
    left, right = nested(), nested("z")
    assert left != right
    assert len({left, right}) == 2
    assert replace(left, is_restrict=True) != left
    assert left != VOID
    assert left != "int"


def test_a_hash_is_of_one_process() -> None:
    """Hashes of text differ between processes: they are not passed on."""
    ctype = nested()
    before = set(ctype.__dict__)
    assert hash(ctype) == hash(nested())
    assert ctype == nested()
    passed_on = pickle.loads(pickle.dumps(ctype))
    assert set(passed_on.__dict__) == before
    assert passed_on == ctype
