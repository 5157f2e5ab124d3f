"""Things that have one name and one address on both sides but differ: functions that behave differently, data with
different contents. Code that gets such an address, or reads such data, can tell the two sides apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum

from isoform.load.differing import leading_to
from isoform.load.image import Image
from isoform.model.contract import Contract, MemoryRule, ReturnAs
from isoform.model.differences import Difference
from isoform.model.outcome import Outcome, Status
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption, Companion

Images = tuple[Image, Image]


class ApartKind(Enum):
    FUNCTION = "function"
    CONSTANTS = "constants"
    """A reader that gets their address may or may not read the part that differs."""
    TABLE = "table"
    """Constants that lead to functions."""
    DATA = "data"
    """Writable: the initial contents differ."""


@dataclass(frozen=True)
class Apart:
    kind: ApartKind
    low: int
    high: int
    """Addresses, from `low` on and below `high`."""
    name: str
    target: str
    rewrite: str
    """What each side has there."""
    certain: bool
    """Whether the two were shown to differ; otherwise it is not known whether they do."""
    whole: tuple[int, int] | None = None
    """The object that it is part of: an address in there leads to it."""
    held: tuple[bytes, bytes] | None = None
    """For data: its initial contents. Code may read it without depending on the bits that differ (another
    bit-field)."""

    def is_read(self, outcome: Outcome) -> bool:
        return any(self.low <= address < self.high for address in outcome.reads)


@dataclass(frozen=True)
class Border:
    """What the pair's images share by name only."""

    apart: tuple[Apart, ...] = ()
    companions: tuple[Companion, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    data: tuple[str, ...] = ()
    """Names of the writable data that the two can reach."""
    unclear: tuple[tuple[str, int, bytes], ...] = ()
    """Name, address and initial contents of one side's variables of which it is not clear whether they are written."""

    def mark_in(self, images: Images) -> Images:
        """The images, with what is not the same marked in them."""
        if not self.apart:
            return images
        ranges = [one.whole or (one.low, one.high) for one in self.apart]
        differing = leading_to(images, [*images[0].differing, *ranges])
        unlike = tuple((one.low, one.high) for one in self.apart if one.kind is ApartKind.DATA)
        left, right = (replace(image, differing=tuple(differing), unlike_at_start=unlike) for image in images)
        return left, right


def apart_differences(
    apart: Sequence[Apart], contract: Contract, target: Outcome, rewrite: Outcome
) -> Iterator[Difference]:
    """Where runs that otherwise agree read something that differs between the two sides, or let its address escape."""
    known = [one for one in apart if one.certain]
    if not known or any(o.status not in (Status.DONE, Status.EXITED) for o in (target, rewrite)):
        return
    for one in known:
        if one.kind is ApartKind.DATA:
            if one.is_read(target) or one.is_read(rewrite):
                yield Difference(f"what {one.name} holds at first", one.target, one.rewrite)
            continue
        if one.kind is ApartKind.CONSTANTS:
            continue
        where = _given_away(one, contract, target)
        if where and where == _given_away(one, contract, rewrite):
            yield Difference(f"{_nature(one)} {one.name}, {where}", one.target, one.rewrite)


def _nature(one: Apart) -> str:
    return "what is done by" if one.kind is ApartKind.FUNCTION else "what is done by the functions in"


def _given_away(one: Apart, contract: Contract, outcome: Outcome) -> str:
    """How a run lets others have the address, if it does."""
    for call in outcome.calls:
        # The first argument of a call through a pointer is the pointer.
        if any(one.low <= argument < one.high for argument in call.arguments):
            return f"given to {call.callee}" if call.callee != "through a pointer" else "passed on"
    if outcome.status is Status.DONE and contract.return_as is ReturnAs.VALUE:
        for result in contract.results:
            value = outcome.registers.get(result.register, 0)
            if result.bits == 64 and one.low <= value & ((1 << 64) - 1) < one.high:
                return "returned"
    if contract.memory is MemoryRule.COMPARE and outcome.status is Status.DONE and _is_left(one, outcome):
        return "left in memory"
    return ""


def _is_left(one: Apart, outcome: Outcome) -> bool:
    """Whether a word of the memory that a run wrote is the address; bytes that did not change were zero."""
    for start in {address - back for address in outcome.writes for back in range(8)}:
        word = sum(outcome.writes.get(start + i, 0) << (8 * i) for i in range(8))
        if one.low <= word < one.high:
            return True
    return False
