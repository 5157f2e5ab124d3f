"""Root causes in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from isoform.model.cause import Cause, CauseKind, RootCause, ValuePlace

MOST_LINES = 6
"""Further source lines of a value that a sentence names."""
MOST_COPIES = 3
"""Further places of one cause that a sentence names."""


def sentences_of(root: RootCause) -> Iterator[str]:
    """What a report says: one sentence for a cause, or why there is none."""
    if root.strength is None:
        yield from _none(root)
        return
    if len(root.causes) > 1:
        yield f"{len(root.causes)} changes together; with them {root.strength.promise} ({root.strength.value}):"
        yield from (f"{number}. {_should(cause)}{_left_out(cause)}" for number, cause in enumerate(root.causes, 1))
        return
    cause = root.causes[0]
    trivial = " (The rewrite only passes the result on there.)" if cause.is_trivial else ""
    yield f"{_should(cause)}: {_change(cause)} {root.strength.promise} ({root.strength.value}).{trivial}"


def _change(cause: Cause) -> str:
    if not cause.is_left_out:
        return "with that change"
    return "without these two calls" if cause.target is not None and cause.rewrite is not None else "without it"


def _left_out(cause: Cause) -> str:
    """Of one of several changes: that what was shown is about the two without something."""
    if not cause.is_left_out:
        return ""
    is_pair = cause.target is not None and cause.rewrite is not None
    return "; both calls are left out" if is_pair else "; it is left out"


def _none(root: RootCause) -> Iterator[str]:
    count = root.candidates.get("candidates left", len(root.left))
    plural = "" if count == 1 else "s"
    shown = f", {len(root.left)} of them" if count > len(root.left) else ""
    left = f"; {count} candidate{plural} left{shown}:" if root.left else "."
    yield f"{root.why_not}{left}"
    yield from (_should(cause) for cause in root.left)


def _should(cause: Cause) -> str:
    target, rewrite = cause.target, cause.rewrite
    if rewrite is None:
        assert target is not None
        text = f"the target's {_act(target)} {_place(target)} has no counterpart in the rewrite"
    elif target is None:
        text = f"the rewrite's {_act(rewrite)} {_place(rewrite)} has no counterpart in the target"
    elif cause.kind is CauseKind.CALLEE and cause.is_left_out:
        text = f"the rewrite has {_place(rewrite)} where the target has {_place(target)}"
    elif cause.kind is CauseKind.ORDER:
        text = f"in the order of calls the rewrite's {_place(rewrite)} is not where the target's {_place(target)} is"
    else:
        what = "the opposite of what" if cause.is_negated else "what"
        text = (
            f"{_whose(rewrite, 'rewrite')} should hold {what} {_whose(target, 'target')}{_same_at(cause)} holds "
            f"({_number(target.value ^ cause.is_negated)}, not {_number(rewrite.value)})"
        )
    return text + _also(cause)


def _act(place: ValuePlace) -> str:
    return "call" if place.what == "the call" else "store"


def _whose(place: ValuePlace, side: str) -> str:
    """The rewrite's instruction (b.c:12), or a value of it that is not its result."""
    return f"{_of(place)}the {side}'s {_place(place)}"


def _of(place: ValuePlace) -> str:
    return f"{place.what} of " if place.what.startswith("the ") else ""


def _place(place: ValuePlace) -> str:
    source = f" ({place.source.rpartition('/')[2]})" if place.source else ""
    return f"`{place.text}`{source}"


def _same_at(cause: Cause) -> str:
    """The other source lines at which the target has the value."""
    lines = lines_of_copies(cause)
    if not lines:
        return ""
    shown = ", ".join(map(str, lines[:MOST_LINES])) + (" and others" if len(lines) > MOST_LINES else "")
    return f", and the same value at line{'s' if len(lines) > 1 else ''} {shown},"


def lines_of_copies(cause: Cause) -> list[int]:
    """Source lines at which the target has copies of the value, other than that of the cause."""
    target = cause.target
    if target is None or target.line is None:
        return []
    copies = (place for place, rewrite in cause.copies if rewrite == cause.rewrite and place is not None)
    return sorted({p.line for p in copies if p.file == target.file and p.line is not None} - {target.line})


def _also(cause: Cause) -> str:
    """Copies of the same instruction in the rewrite."""
    places = dict.fromkeys(rewrite for _, rewrite in cause.copies if rewrite is not None and rewrite != cause.rewrite)
    shown = [f"{_of(place)}{_place(place)}" for place in places][:MOST_COPIES]
    return f", and likewise {', '.join(shown)}" if shown else ""


def _number(value: int) -> str:
    return str(value) if value < 1 << 16 else f"{value:#x}"


def search_of(root: RootCause) -> str:
    """How the search went, for those who want to know."""
    steps = ", ".join(f"{count} {name}" for name, count in root.candidates.items())
    return f"{steps or 'nothing was tried'} ({root.seconds:.2f} s)"


def addresses_of(root: RootCause | None) -> tuple[frozenset[int], frozenset[int]]:
    """The instructions to mark on either side."""
    causes = root.causes if root is not None else ()
    pairs = [pair for cause in causes for pair in ((cause.target, cause.rewrite), *_likewise(cause))]
    left, right = (frozenset(p[side].address for p in pairs if p[side] is not None) for side in range(2))  # type: ignore[union-attr]
    return left, right


def _likewise(cause: Cause) -> Iterator[tuple[ValuePlace | None, ValuePlace | None]]:
    return (pair for pair in cause.copies if pair[1] != cause.rewrite)


def root_cause_as_json(root: RootCause) -> dict[str, Any]:
    """The `root_cause` of a verdict."""
    return {
        "strength": root.strength.value if root.strength is not None else None,
        "causes": [_cause_as_json(cause) for cause in root.causes],
        "seconds": round(root.seconds, 6),
        "candidates": dict(root.candidates),
        "why_not": root.why_not or None,
        "left": [_cause_as_json(cause) for cause in root.left],
    }


def _cause_as_json(cause: Cause) -> dict[str, Any]:
    return {
        "target": _place_as_json(cause.target),
        "rewrite": _place_as_json(cause.rewrite),
        "kind": cause.kind.value,
        "trivial": cause.is_trivial,
        "negated": cause.is_negated,
        "left_out": cause.is_left_out,
        "copies": [{"target": _place_as_json(t), "rewrite": _place_as_json(r)} for t, r in cause.copies],
    }


def _place_as_json(place: ValuePlace | None) -> dict[str, Any] | None:
    if place is None:
        return None
    return {
        "address": f"{place.address:#x}",
        "text": place.text,
        "what": place.what,
        "file": place.file or None,
        "line": place.line,
        "value": f"{place.value:#x}",
    }


KINDS = tuple(kind.value for kind in CauseKind)
