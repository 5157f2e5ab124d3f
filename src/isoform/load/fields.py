"""What relocations say about the fields that they fill."""

from __future__ import annotations

from typing import NamedTuple

from isoform.model.values import dataclass

MOST_RANGES = 16
"""If the objects of a section spread further than this, their places are not recorded."""


class WeakSymbol(NamedTuple):
    """A symbol that may have no definition."""

    bit: int
    """Its bit in `Machine.absent_symbols`, the same in both images of a question."""
    address: int
    """Its address, if it is defined."""


class Reference(NamedTuple):
    """A field that holds the address of an object of known size, or an address counted from it."""

    target: int
    """The address. If the field is relative to the end of the instruction, the distance from the field to that end is
    not included."""
    relative: bool
    name: str
    ranges: tuple[tuple[int, int], ...]
    """The place of the object: first and past-the-last address. Several if the file does not say which of several
    objects is meant."""
    objects: tuple[tuple[int, int], ...] = ()
    """Each of these objects separately, if the file only shows that one of them is meant and they are adjacent."""
    is_sure: bool = True
    """Whether no other object can be meant, however far from it the address is. Of a number that a linker computed this
    is not known."""


class Meant(NamedTuple):
    """The objects that a relocated field may hold an address of, however far from the object the address is."""

    ranges: tuple[tuple[int, int], ...]
    """First and past-the-last addresses."""
    is_one: bool
    """Whether this is one object, named by the relocation's symbol; otherwise it is a whole section."""


class Field(NamedTuple):
    """Bytes of code or data that a relocation filled."""

    width: int
    relative: bool
    """Whether it holds a distance from its own address."""
    name: str = ""
    """For thread-local data, which has a distance instead of an address: its name."""


class AddressPart(NamedTuple):
    """What an instruction has of an address that two instructions form (`model.linkage.Part`)."""

    whole: int | None
    """The address; None for the upper part alone."""
    upper: tuple[str, int]
    """Identifies the upper part: two that are equal here are the same number. It is the address that is meant, or the
    instruction that the address counts from."""


@dataclass(frozen=True)
class Statics:
    """A writable section of an object file with variables that other files cannot name, and all references to it."""

    objects: tuple[tuple[str, int, int], ...]
    """Name, first and past-the-last address of each such variable."""
    extents: tuple[tuple[int, int], ...]
    """Where the section's contents are."""
    fields: tuple[tuple[int, tuple[int, int] | None], ...]
    """Addresses of fields in code, each with the place of the object it names; None if it names the section."""
    pointed: tuple[int, ...]
    """Addresses in the section that data holds."""
    is_unclear: bool
    """Whether something else may refer to it."""
