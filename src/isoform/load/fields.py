"""What relocations say of the fields that they fill."""

from __future__ import annotations

from typing import NamedTuple

from isoform.model.values import dataclass

MOST_RANGES = 16
"""Of a section whose objects lie further apart it is not said where they are."""


class WeakSymbol(NamedTuple):
    """A symbol that may have no definition."""

    bit: int
    """In `Machine.absent_symbols`, the same in both images of a question."""
    address: int
    """If it has one."""


class Reference(NamedTuple):
    """A field that holds the address of an object of known size, or an address counted from it."""

    target: int
    """The address; of a field that counts from the instruction's end, without the distance from the field to there."""
    relative: bool
    name: str
    ranges: tuple[tuple[int, int], ...]
    """Where the object is: first and past-the-last address. More than one where the file does not say which of several
    objects is meant."""
    objects: tuple[tuple[int, int], ...] = ()
    """Each of these by itself, if the file shows no more than that one of them is meant though they touch."""


class Meant(NamedTuple):
    """What a field that a relocation filled may be an address of, however far from it the address is."""

    ranges: tuple[tuple[int, int], ...]
    """First and past-the-last addresses."""
    is_one: bool
    """Whether this is one object, which the relocation names by its symbol; otherwise it is all of a section."""


class Field(NamedTuple):
    """Bytes of code or data that a relocation filled."""

    width: int
    relative: bool
    """Whether it holds a distance from its own address."""
    name: str = ""
    """Of thread-local data, which has a distance and no address: its name."""


@dataclass(frozen=True)
class Statics:
    """A writable section of an object file with variables that other files cannot name, and all that refers to it."""

    objects: tuple[tuple[str, int, int], ...]
    """Name, first and past-the-last address of each such variable."""
    extents: tuple[tuple[int, int], ...]
    """Where the section's contents are."""
    fields: tuple[tuple[int, tuple[int, int] | None], ...]
    """Addresses of fields of code, each with where the object is that it names; None where it names the section."""
    pointed: tuple[int, ...]
    """Addresses in the section that data holds."""
    is_unclear: bool
    """Whether something else may refer to it."""
