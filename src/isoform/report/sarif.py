"""What `isoform diff` found as SARIF 2.1.0, with what code hosting needs to show it: for each result a rule with help,
one place with a full region, the path of the witness as a code flow, and a fingerprint that survives other changes.

Functions without debug information have no line of source. For them a manifest is written: a text with a line for
each such function and, below it, the listing of a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from isoform import __version__
from isoform.model.library_diff import FunctionAnswer, LibraryDiff, Row
from isoform.model.values import dataclass
from isoform.report.diff_words import cause_sentences
from isoform.report.json import as_text
from isoform.report.sarif_rules import RULES, rule_id
from isoform.report.terminal import printable

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MOST_RESULTS = 5_000
MOST_STEPS = 200
"""Of a code flow."""
LONGEST_MESSAGE = 2_000
ROOT = "SRCROOT"
_SPOT = tuple[str, int]
"""File and line."""


@dataclass
class Manifest:
    """The text that stands for source which is not known, and the path where it will be."""

    path: str
    lines: list[str] = field(default_factory=list)

    def add(self, text: str) -> int:
        """The number of the line that was added."""
        self.lines.append(printable(text))
        return len(self.lines)

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)


@dataclass(frozen=True)
class Sources:
    """Where source files are: `root` is the folder of the repository, `line_length` says how many characters a line has
    (None if the file cannot be read)."""

    root: Path
    line_length: Callable[[str, int], int | None] = lambda _file, _line: None

    def artifact(self, file: str) -> dict[str, Any]:
        path = PurePosixPath(file)
        if path.is_absolute() and not path.is_relative_to(self.root):
            return {"uri": f"file://{quote(str(path))}"}
        inside = path.relative_to(self.root) if path.is_absolute() else path
        return {"uri": quote(str(inside)), "uriBaseId": ROOT}


def sarif_dumps(diff: LibraryDiff, manifest: Manifest, sources: Sources) -> str:
    return as_text(library_diff_as_sarif(diff, manifest, sources))


def library_diff_as_sarif(diff: LibraryDiff, manifest: Manifest, sources: Sources) -> dict[str, Any]:
    """One run. Lines are added to `manifest` for functions without debug information."""
    told = [row for row in diff.ordered if row.answer in RULES]
    order = [answer for answer in FunctionAnswer if answer in RULES]
    run = {
        "tool": {
            "driver": {
                "name": "isoform",
                "semanticVersion": __version__,
                "rules": [RULES[answer].as_sarif(answer) for answer in order],
            }
        },
        "automationDetails": {"id": "isoform diff/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"uri": f"file://{quote(str(sources.root))}/"}},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": _notes(diff, len(told))}],
        "results": [_result(row, order, manifest, sources) for row in told[:MOST_RESULTS]],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _notes(diff: LibraryDiff, told: int) -> list[dict[str, Any]]:
    found = []
    if not diff.complete:
        found.append(f"Not everything was asked: {diff.why_ended}.")
    if told > MOST_RESULTS:
        found.append(f"Only the first {MOST_RESULTS} of {told} results are here.")
    return [{"level": "warning", "message": {"text": text}} for text in found]


def _result(row: Row, order: Sequence[FunctionAnswer], manifest: Manifest, sources: Sources) -> dict[str, Any]:
    spot, steps = _spots(row, manifest)
    at = _Locations(manifest, sources)
    result: dict[str, Any] = {
        "ruleId": rule_id(row.answer),
        "ruleIndex": order.index(row.answer),
        "level": RULES[row.answer].level,
        "message": {"text": message_of(row)},
        "locations": [{**at.of(spot), "logicalLocations": [_logical(row)]}],
        "partialFingerprints": _fingerprints(row),
    }
    if steps:
        flow = [{"location": {**at.of(step), "message": {"text": text}}} for step, text in steps]
        result["codeFlows"] = [{"threadFlows": [{"locations": flow}]}]
    if row.accepted is not None:
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": row.accepted}]
    return result


@dataclass(frozen=True)
class _Locations:
    manifest: Manifest
    sources: Sources

    def of(self, spot: _SPOT) -> dict[str, Any]:
        file, line = spot
        is_manifest = file == self.manifest.path
        length = len(self.manifest.lines[line - 1]) if is_manifest else self.sources.line_length(file, line)
        region = _region(line, length or 1)
        return {"physicalLocation": {"artifactLocation": self.sources.artifact(file), "region": region}}


def _region(line: int, length: int) -> dict[str, int]:
    return {"startLine": line, "startColumn": 1, "endLine": line, "endColumn": max(length, 1) + 1}


def message_of(row: Row) -> str:
    """The first sentence is the title."""
    rule = RULES[row.answer]
    name, why = printable(row.name), printable(row.why).strip().rstrip(".")
    first = f"{name}: {why}." if why else f"{name}: {rule.says[0].lower()}{rule.says[1:]}"
    more = [rule.says] if why else []
    if row.affected_by:
        more.append(f"Affected by {', '.join(map(printable, row.affected_by))}.")
    more += [printable(sentence) for sentence in cause_sentences(row.verdict or {})]
    text = " ".join((first, *more))
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]}…"


def _logical(row: Row) -> dict[str, Any]:
    place = row.place
    qualified = printable(f"{place.file}:{place.name}")
    return {"name": printable(place.shown), "fullyQualifiedName": qualified, "kind": "function"}


def _fingerprints(row: Row) -> dict[str, str]:
    """By what the function is called and what was found, not by where it is: other changes of a file do not matter. The
    second one changes with the code, so that a new difference of the same function is a new result."""
    names = [place.name if place is not None else "" for place in (row.old, row.new)]
    file = PurePosixPath(row.place.path).name
    identity = "\0".join((rule_id(row.answer), file, row.place.member or "", *names))
    code = "\0".join((identity, *(place.digest if place is not None else "" for place in (row.old, row.new))))
    return {"isoformFunction/v1": _hash(identity), "isoformCode/v1": _hash(code)}


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _spots(row: Row, manifest: Manifest) -> tuple[_SPOT, list[tuple[_SPOT, str]]]:
    """Where a result is shown, and the path of the witness with what is executed at each step."""
    listing = _executed(row)
    known = [line for line in listing if line.get("file") and line.get("line")]
    place = row.place
    if known or (place.source_file and place.source_line):
        steps = list(_steps(known))
        cause = next(((str(line["file"]), int(line["line"])) for line in known if line.get("is_cause")), None)
        declared = (place.source_file, place.source_line) if place.source_file and place.source_line else None
        return cause or declared or steps[0][0], steps
    where = f"{place.file} {place.address:#x}, {place.size} bytes"
    spot = manifest.path, manifest.add(f"{row.answer.value} {row.name} ({where})")
    lines = _by_address(listing)
    start = int(lines[0]["address"]) if lines else 0
    own = {int(line["address"]): manifest.add(f"    {_text(line, start)}") for line in lines}
    return spot, [((manifest.path, own[int(line["address"])]), str(line["text"])) for line in listing]


def _text(line: Mapping[str, Any], start: int) -> str:
    return f"{int(line['address']) - start:+#x}  {line['text']}{'  <- cause' if line.get('is_cause') else ''}"


def _by_address(listing: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [line for _, line in sorted({int(line["address"]): line for line in listing}.items())]


def _executed(row: Row) -> list[Mapping[str, Any]]:
    """The instructions of the new version (of the old one, if that is all there is) that the witness executes, in order
    where that is known."""
    listings = row.listings or {}
    side = "rewrite" if listings.get("rewrite") else "target"
    lines: Sequence[Mapping[str, Any]] = listings.get(side) or ()
    by_address = {int(line["address"]): line for line in lines}
    path = [address for address in listings.get(f"{side}_path") or () if address in by_address]
    found = [by_address[address] for address in path] if path else [line for line in lines if line.get("on_path")]
    return found[:MOST_STEPS]


def _steps(lines: Sequence[Mapping[str, Any]]) -> Iterator[tuple[_SPOT, str]]:
    """A step for each run of instructions of one source line."""
    spot: _SPOT | None = None
    texts: list[str] = []
    for line in lines:
        here = str(line["file"]), int(line["line"])
        if spot is not None and here != spot:
            yield spot, "; ".join(texts)
            texts = []
        spot = here
        texts.append(printable(str(line["text"])))
    if spot is not None:
        yield spot, "; ".join(texts)
