"""What can be compared directly between two runs: how they end, the calls that they make, and memory."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from isoform.model.outcome import (
    RETURN_ADDRESS,
    STACK_POINTER,
    CallRecord,
    Outcome,
    Status,
    in_frame,
    is_own_object,
)
from isoform.model.values import dataclass


@dataclass(frozen=True)
class Difference:
    """One observable on which two outcomes differ, in the user's words."""

    what: str
    target: str
    rewrite: str


def ending(outcome: Outcome) -> tuple[Status, str]:
    """What is compared of how a run ended: which call ended the program, but not why it aborted."""
    return outcome.status, outcome.reason if outcome.status is Status.EXITED else ""


def how_it_ended(outcome: Outcome) -> str:
    if outcome.status is Status.ABORTED:
        return f"aborts ({outcome.reason})" if outcome.reason else "aborts"
    if outcome.status is Status.EXITED:
        return f"calls {outcome.reason}"
    return "returns"


Event = tuple[str, tuple[int | None, ...], bytes]


def events(outcome: Outcome, standard: int | None = None) -> list[Event]:
    """The calls made, without the places of a function's own objects that it passes on, which are private. For calls
    that write text, the text, with adjacent calls to one stream joined; the stream `standard` is the standard
    output."""
    found: list[Event] = []
    for call in outcome.calls:
        if call.output is None:
            found.append((call.callee, tuple(None if is_own_object(a) else a for a in call.arguments), b""))
            continue
        stream, text = call.output
        event: Event = ("(output)", (None if stream == standard else stream,), text)
        if found and found[-1][:2] == event[:2]:
            event = (*event[:2], found.pop()[2] + text)
        if event[2]:
            found.append(event)
    return found


def call_differences(target: Outcome, rewrite: Outcome) -> Iterator[Difference]:
    if events(target) != events(rewrite):
        yield Difference("outside calls made", _calls(target), _calls(rewrite))
    else:
        yield from _sight_differences(target, rewrite)


def _sight_differences(target: Outcome, rewrite: Outcome) -> Iterator[Difference]:
    """What the same calls find in memory: the callee may look at all of it."""
    calls = [[call for call in outcome.calls if call.output is None] for outcome in (target, rewrite)]
    for left, right in zip(*calls, strict=True):
        if left.sees is None or right.sees is None:
            continue
        own = _frame_addresses(left.sees) | _frame_addresses(right.sees)
        for address in sorted((left.sees.keys() | right.sees.keys()) - own):
            seen = [sees.get(address) for sees in (left.sees, right.sees)]
            if seen[0] != seen[1]:
                shown = ("unchanged" if v is None else f"{v:#04x}" for v in seen)
                yield Difference(f"what {left.callee} finds at {address:#x}", *shown)
                return


def _frame_addresses(memory: Mapping[int, int]) -> set[int]:
    """The bytes that contain addresses of the function's own frame: a place in the frame does not count."""
    starts = {address - back for address in memory for back in range(8)}
    # A byte that was stored and is what was there before is not noted.
    likely = [(STACK_POINTER - 16) >> (8 * i) & 0xFF for i in range(8)]
    words = {
        start: sum(memory.get(start + i, likely[i]) << (8 * i) for i in range(8))
        for start in starts
        if sum(start + i in memory for i in range(8)) >= 4
    }
    return {start + i for start, word in words.items() if in_frame(word) for i in range(8)}


def _calls(outcome: Outcome) -> str:
    shown = [_call(call) for call in outcome.calls[:4]]
    return "; ".join(shown) + ("; …" if len(outcome.calls) > 4 else "") if shown else "none"


def _call(call: CallRecord) -> str:
    if call.output is not None and call.output[1].isascii():
        return f"{call.callee} writes {json.dumps(call.output[1].decode())}"
    return f"{call.callee}({', '.join(hex(a) for a in call.arguments)})"


def returned(outcome: Outcome) -> str:
    return "to its caller" if outcome.return_target == RETURN_ADDRESS else f"to {outcome.return_target:#x}"


def memory_differences(target: Mapping[int, int], rewrite: Mapping[int, int]) -> Iterator[Difference]:
    for address in sorted(target.keys() | rewrite.keys()):
        left, right = target.get(address), rewrite.get(address)
        if left != right:
            yield Difference(
                f"memory byte at {address:#x}",
                *("unchanged" if v is None else f"{v:#04x}" for v in (left, right)),
            )
