"""`isoform.model.values.dataclass` does what the standard library's does."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, fields, replace
from typing import Any, ClassVar

import pytest

from isoform.model.values import dataclass


@dataclass(frozen=True)
class Point:
    """In a plane."""

    x: int
    y: int = 2
    seen: list[int] = field(default_factory=list, compare=False, repr=False)
    name: str = field(default="", kw_only=True)
    kind: ClassVar[str] = "point"

    @property
    def length(self) -> int:
        return self.x + self.y


@dataclass(frozen=True)
class Deep(Point):
    z: int = 3


@dataclass
class Counter:
    count: int = 0
    parts: dict[str, int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.parts["start"] = self.count


@dataclass(frozen=True, eq=False)
class Same:
    x: int


@dataclass(frozen=True, order=True)
class Ordered:
    x: int


@dataclass(frozen=True)
class Own:
    x: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own)

    def __hash__(self) -> int:
        return 7

    def __repr__(self) -> str:
        return "own"


@dataclass(frozen=True)
class Loop:
    inside: list[Any]


def test_values_are_compared_by_their_fields() -> None:
    assert Point(1) == Point(1, 2, [9]) != Point(1, 3)
    assert Point(1) != Deep(1)
    assert hash(Point(1)) == hash(Point(1, 2, [9])) == hash((1, 2, ""))
    assert Deep(1, z=4) == Deep(1, 2, [], 4)
    assert Same(1) != Same(1)
    assert len({Same(1), Same(1)}) == 2
    assert Ordered(1) < Ordered(2)
    assert Own(1) == Own(2)
    assert (hash(Own(1)), repr(Own(1))) == (7, "own")
    assert Counter(1) == Counter(1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(Counter(1))


def test_values_are_made_as_declared() -> None:
    point = Point(1, name="a")
    assert (point.y, point.seen, point.name, point.length, point.kind) == (2, [], "a", 3, "point")
    assert Point(1).seen is not Point(1).seen
    assert Counter(5).parts == {"start": 5}
    assert repr(Deep(1)) == "Deep(x=1, y=2, name='', z=3)"
    assert [f.name for f in fields(Deep)] == ["x", "y", "seen", "name", "z"]
    assert replace(point, y=9) == Point(1, 9, name="a")
    with pytest.raises(TypeError):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Point(1, 2, [], "a")  # type: ignore[call-arg]
    match point:
        case Point(x, y):
            assert (x, y) == (1, 2)
    loop = Loop([])
    loop.inside.append(loop)
    assert repr(loop) == "Loop(inside=[...])"


def test_frozen_values_do_not_change() -> None:
    point = Point(1)
    with pytest.raises(FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del point.x
    with pytest.raises(FrozenInstanceError):
        point.new = 2  # type: ignore[attr-defined]
    Counter(1).count = 3


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_values_are_copied(copied: Callable[[Any], Any]) -> None:
    for value in (Point(1, 2, [3]), Deep(1), Counter(3), Ordered(1)):
        assert copied(value) == value
        assert vars(copied(value)) == vars(value)


def test_bases_of_the_standard_library_are_taken() -> None:
    @dataclasses.dataclass(frozen=True)
    class Base:
        x: int

    @dataclass(frozen=True)
    class Derived(Base):
        y: int = 1

    assert Derived(1) == Derived(1, 1)
    with pytest.raises(FrozenInstanceError):
        Derived(1).x = 2  # type: ignore[misc]
