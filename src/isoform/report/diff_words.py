"""What a row of `isoform diff` says, from the JSON of its verdict: the words that every report uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from isoform.model.library_diff import OPEN, FunctionAnswer, LibraryDiff, Row
from isoform.report.summary import duration

SYMBOLS = {
    FunctionAnswer.DIFFERENT: "✗",
    FunctionAnswer.AFFECTED: "▸",
    FunctionAnswer.UNKNOWN: "?",
    FunctionAnswer.BOUNDED: "?",
    FunctionAnswer.ADDED: "+",
    FunctionAnswer.REMOVED: "−",
    FunctionAnswer.EQUIVALENT: "✓",
    FunctionAnswer.IDENTICAL: "✓",
}
_PROMISES = {
    "all-inputs": "with that change the two do the same for every input",
    "this-path": "with that change the two do the same on the path of this input",
    "up-to-here": "with that change the two do the same up to there",
}


def title_of(diff: LibraryDiff) -> str:
    differing, functions = diff.counts.get(FunctionAnswer.DIFFERENT, 0), len(diff.rows)
    if not differing:
        return f"No difference found in {functions} function{'' if functions == 1 else 's'}"
    return f"{differing} of {functions} functions {'differs' if differing == 1 else 'differ'}"


def matched_in_words(row: Row) -> str:
    if not row.how_matched:
        return ""
    return row.how_matched if row.confidence >= 1 else f"{row.how_matched} ({row.confidence:.0%} sure)"


def entries_of(row: Row) -> Iterator[tuple[str, list[str]]]:
    """Labels with lines, for the details of a row."""
    verdict = row.verdict or {}
    if row.accepted is not None:
        yield "accepted", [row.accepted]
    if row.affected_by:
        yield "affected by", [", ".join(row.affected_by)]
    witness = _mapping(verdict.get("witness"))
    yield from _given(witness)
    causes = cause_sentences(verdict)
    if causes:
        yield "cause", causes
    for label, key in (("hint", "hint"), ("stopped by", "why"), ("would help", "helps")):
        if verdict.get(key) and verdict[key] != row.why:
            yield label, [str(verdict[key])]
    tried = [f"{t.get('engine')}: {t.get('said')}" for t in _sequence(verdict.get("tried"))]
    if tried and row.answer in OPEN:
        yield "tried", tried
    if witness.get("replayed_on"):
        yield "replayed on", [", ".join(map(str, witness["replayed_on"]))]
    signature = _mapping(verdict.get("contract")).get("signature")
    if signature:
        yield "contract", [str(signature)]
    assumptions = [f"{a.get('name')}: {a.get('why')}" for a in _sequence(verdict.get("assumptions"))]
    if assumptions:
        yield "assuming", assumptions
    if row.how_matched:
        yield "matched by", [matched_in_words(row)]
    if row.seconds:
        yield "time", [duration(row.seconds) + (", kept from an earlier run" if row.is_kept else "")]


def _given(witness: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    inputs = [f"{name} = {value}" for name, value in _mapping(witness.get("inputs")).items()]
    if inputs:
        yield "inputs", inputs
    shapes = [str(shape) for shape in _mapping(witness.get("shapes")).values()]
    if shapes:
        yield "shape", shapes
    memory = [f"{m.get('address')}: {m.get('bytes')}" for m in _sequence(witness.get("memory"))]
    if memory:
        yield "memory", memory
    if witness.get("outside"):
        yield "outside", [str(said) for said in _sequence(witness["outside"])]


def observables_of(row: Row) -> list[tuple[str, str, str]]:
    """What differs: (what, old, new)."""
    witness = _mapping((row.verdict or {}).get("witness"))
    return [(str(d["what"]), str(d["target"]), str(d["rewrite"])) for d in _sequence(witness.get("differences"))]


def cause_sentences(verdict: Mapping[str, Any]) -> list[str]:
    root = _mapping(verdict.get("root_cause"))
    found = [_cause(_mapping(cause)) for cause in _sequence(root.get("causes"))]
    promise = _PROMISES.get(str(root.get("strength")))
    if found and promise:
        together = promise if len(found) == 1 else promise.replace("that change", "these changes")
        return [*found, f"{together[0].upper()}{together[1:]} ({root['strength']})."]
    return [str(root["why_not"])] if root.get("why_not") else []


def _cause(cause: Mapping[str, Any]) -> str:
    old, new = cause.get("target"), cause.get("rewrite")
    if new is None or old is None:
        side, place, other = ("new", new, "old") if old is None else ("old", old, "new")
        return f"The {side} version's {place_in_words(_mapping(place))} has no counterpart in the {other} one."
    values = f" ({_mapping(old).get('value')}, not {_mapping(new).get('value')})"
    what = "the opposite of what" if cause.get("negated") else "what"
    sides = place_in_words(old), place_in_words(new)
    return f"The new version's {sides[1]} should hold {what} the old version's {sides[0]} holds{values}."


def place_in_words(place: Mapping[str, Any]) -> str:
    """An instruction, with its source line if that is known."""
    source = f" ({str(place['file']).rpartition('/')[2]}:{place.get('line')})" if place.get("file") else ""
    return f"`{place.get('text')}`{source}"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _sequence(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()
