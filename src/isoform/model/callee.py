"""What is known about a function that is called and is not present: where its arguments are, and which bits of the
result registers are its result.

Two sets of bits are kept apart, because a verdict may rest on each in one direction only. What a callee *may* read must
be equal on both sides before two calls count as the same; what it is *known* to read is all that can make two calls
different.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from isoform.model.machine import Machine
from isoform.model.outcome import in_frame
from isoform.model.values import dataclass

_LOW_HALF = (1 << 32) - 1


@dataclass(frozen=True)
class ArgumentPart:
    """Bytes of a register or of the stack in which (part of) an argument may be."""

    register: str | None
    """A container name; None for the stack."""
    offset: int
    """Bytes into the register, or from the stack pointer at the callee's entry."""
    size: int
    may: int
    """The bits that the callee may read."""
    reads: int
    """Those of these bits that it is known to read."""

    def known(self, content: int) -> int:
        """What the callee is known to read of this place in a run. An address of the caller's frame is a pointer to an
        object of its own, whatever width the callee's declaration, or the lack of one, gives it: the object's place in
        the frame is private (see `events`)."""
        return content if self.reads & _LOW_HALF == _LOW_HALF and in_frame(content) else content & self.reads

    @property
    def where(self) -> tuple[str | None, int]:
        return self.register, self.offset


@dataclass(frozen=True)
class Given:
    """The contents of one result register after a call."""

    register: str
    bits: int
    """The bits that belong to the result. All others are undefined and differ between the sides."""
    zeros: int = 0
    """The bits of these that are 0: all but the lowest of a bool."""
    extended_from: int = 0
    """If not 0: how many bits the value has. Those above are copies of the highest of them."""
    in_runs: int = -1
    """The bits that runs may set: if the type is not known, a value that is valid for every type shows a difference."""
    is_space: bool = False
    """Whether it is the address of the space for a result in memory, which is the first argument."""

    def as_left(self, value: int) -> int:
        """A value as the callee leaves it."""
        if self.extended_from and value >> (self.extended_from - 1) & 1:
            value |= -1 << self.extended_from
        elif self.extended_from:
            value &= (1 << self.extended_from) - 1
        return value & self.bits & ~self.zeros & self.in_runs


Parts = tuple[ArgumentPart, ...]


@dataclass(frozen=True)
class CallFormat:
    """The arguments beyond the declared ones of a call of a function like printf: the format text determines them."""

    argument: int
    """The index of that argument's part."""
    parts: Callable[[bytes], Parts | None]
    """All parts of a call with this text; None if the text does not determine them."""


@dataclass(frozen=True)
class Callee:
    parts: Parts
    """For a function with a format: if the text is not known."""
    results: tuple[Given, ...]
    format: CallFormat | None = None
    is_library: bool = False
    """Whether it is the C library's function of this name."""
    returns: bool = True
    refused: str = ""
    """Why nothing is known about a call; empty if something is."""
    vectors: Parts = ()
    """For a variadic function: the registers of which the caller says, in the low byte of the first result register,
    how many hold arguments. Whatever other calls do, the callee may read those that are counted."""
    maybe_on_stack: bool = False
    """Whether there may be arguments on the stack that `parts` does not have, because there is no declaration."""
    uses_last_register: bool = False
    """Whether the last register for arguments may hold one: what does not fit the registers is then on the stack."""
    mixed: str = ""
    """Why calls cannot be compared unless a format determines their arguments: some pass more than others."""
    is_idempotent: bool = False
    """Whether the user says so (`--idempotent`): called again at once with the same arguments, it changes nothing and
    returns the same."""

    @property
    def space(self) -> str | None:
        """The register in which it gives back the address of the space for its result, if it does."""
        return next((given.register for given in self.results if given.is_space), None)

    @property
    def primary(self) -> Given | None:
        """The register that the result is in, or its lowest part."""
        return next((given for given in self.results if given.bits), None)

    def parts_of_call(self, text: bytes | None) -> Parts | None:
        """The parts of a call with this format, if there is one and it is known. None if that does not determine all
        arguments of a variadic call."""
        if self.format is not None and text is not None:
            return self.format.parts(text)
        return None if self.vectors else self.parts

    def parts_at_most(self, vectors: int | None) -> Parts:
        """The possible places of the arguments of a variadic call of which at most that number is known."""
        if not self.vectors:
            return self.parts
        counted = self.vectors[:vectors]
        names = {part.register for part in counted}
        known = {part.register for part in self.parts}
        others = {part.register for part in self.vectors} - names
        reads = DOUBLE if vectors is not None else 0
        parts = (
            replace(part, reads=part.reads | part.may & reads) if part.register in names else part
            for part in self.parts
            if part.register not in others
        )
        return (*parts, *(part for part in counted if part.register not in known))


DOUBLE = (1 << 64) - 1
LONGEST_FORMAT = 4096

Callees = Callable[[str], Callee]
"""What is known about an outside function, by its name ("" for a call through a pointer)."""

NOTHING = Callee((), ())


def whole(machine: Machine, name: str) -> int:
    """All bits of a register."""
    return (1 << (8 * machine.registers[name].size)) - 1


def merged(one: Parts, other: Parts) -> Parts:
    """What is known if either may be right."""
    theirs = {part.where: part for part in other}
    found = []
    for part in one:
        match = theirs.pop(part.where, None)
        found.append(replace(part, reads=0) if match is None else _either(part, match))
    return (*found, *(replace(part, reads=0) for part in theirs.values()))


def _either(one: ArgumentPart, other: ArgumentPart) -> ArgumentPart:
    return replace(one, size=max(one.size, other.size), may=one.may | other.may, reads=one.reads & other.reads)


def common_results(one: Iterable[Given], other: Iterable[Given]) -> tuple[Given, ...]:
    """The bits that are the result whichever of the two is right."""
    theirs: Mapping[str, Given] = {given.register: given for given in other}
    return tuple(
        Given(
            given.register,
            given.bits & match.bits,
            given.zeros & match.zeros,
            given.is_space and match.is_space,
        )
        for given in one
        if (match := theirs.get(given.register)) is not None and given.bits & match.bits
    )


def runs(bits: int, width: int) -> list[tuple[int, int, bool]]:
    """(lowest bit, past the highest, whether set) of the runs of equal bits in the low `width` ones."""
    found: list[tuple[int, int, bool]] = []
    start = 0
    for position in range(1, width + 1):
        if position == width or (bits >> position & 1) != (bits >> start & 1):
            found.append((start, position, bool(bits >> start & 1)))
            start = position
    return found
