"""What `isoform mine` found: a table for people, CSV and JSON. Names are text from hostile files."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Any, TextIO

from isoform import __version__
from isoform.model.mining import Cluster, Diversity, Likelihood, MinedFunction, MinedPair, Mining, Refused, Shape
from isoform.report.json import as_text
from isoform.report.summary import duration
from isoform.report.terminal import printable

COLUMNS = (
    "target",
    "rewrite",
    "verdict",
    "family",
    "adaptor",
    "strength",
    "diversity",
    "cluster",
    "assumptions",
    "why",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
MOST_LISTED = 12
"""Idle or refused functions that are named."""
STRENGTH = "all inputs"
"""Preconditions are not an option of `mine`: an adaptor that is found holds wherever the contract does."""
_VARYING = re.compile(r"0x[0-9a-f]+|'[^']*'|\b\d+(?:\.\d+)?\b")


def name_of(mining: Mining, number: int) -> str:
    """With the library, if there are two."""
    function = mining.functions[number]
    return function.name if len(mining.libraries) == 1 else f"{function.name}@{function.library + 1}"


def diversity_in_words(diversity: Diversity) -> str:
    left, right = diversity.shapes
    parts = [f"{diversity.percent} % other instructions"]
    for what, one, other in (
        ("instructions", left.count, right.count),
        ("paths", left.paths, right.paths),
        ("loops", left.loops, right.loops),
        ("loads", left.loads, right.loads),
        ("stores", left.stores, right.stores),
    ):
        if one != other:
            parts.append(f"{what} {one} and {other}")
    if left.calls != right.calls:
        parts.append(f"calls {', '.join(left.calls) or 'none'} and {', '.join(right.calls) or 'none'}")
    return "; ".join(parts)


def refusals_in_groups(refused: Sequence[Refused]) -> list[tuple[str, int]]:
    """Reasons without names and numbers, the most frequent first."""
    counts: dict[str, int] = {}
    for one in refused:
        words = _VARYING.sub("…", one.why.replace(one.name, "it") if one.name else one.why)
        counts[words] = counts.get(words, 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def summary_lines(mining: Mining) -> Iterator[str]:
    sieved = mining.sieved
    asked = [pair for pair in mining.pairs if pair.verdict]
    yield (
        f"{len(mining.functions)} functions, {sieved.pairs} pairs: {sieved.refuted} refuted by runs "
        f"({sieved.rate:.0f} pairs a second), {len(asked)} asked: {mining.count('adaptor')} adaptors, "
        f"{mining.count('none')} without one, {mining.count('unknown')} undecided"
    )
    undecided = [pair for pair in mining.pairs if pair.verdict == "unknown"]
    if mining.unfinished:
        yield f"{mining.unfinished} of the undecided pairs took longer than {mining.budget:g} s"
    if mining.unfinished < len(undecided):
        yield f"{len(undecided) - mining.unfinished} of the undecided pairs are beyond what isoform decides:"
        reasons = [Refused(0, "", pair.why) for pair in undecided if not pair.is_unfinished]
        yield from (f"  {count} × {why}" for why, count in refusals_in_groups(reasons)[:MOST_LISTED])
    if mining.count(""):
        by_constant = sum(pair.likelihood is Likelihood.OPEN for pair in mining.pairs if not pair.verdict)
        yield (
            f"{mining.count('')} pairs were not asked, {by_constant} of them without a candidate so far"
            + (f": {mining.why_ended}" if mining.why_ended else "")
        )
    if mining.idle:
        yield f"{len(mining.idle)} did the same on all inputs, and anything fits them: {_some(mining.idle)}"
    for number, others in mining.same_code:
        yield f"{name_of(mining, number)} has the same code as {_some(others)}"
    if mining.refused:
        yield f"{len(mining.refused)} functions are not compared:"
        yield from (f"  {count} × {why}" for why, count in refusals_in_groups(mining.refused)[:MOST_LISTED])


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return ", ".join(names[:MOST_LISTED]) + more


def print_mining(mining: Mining, quiet: bool, stream: TextIO | None = None) -> None:
    stream = stream if stream is not None else sys.stdout
    for line in _lines(mining, quiet):
        print("\n".join(printable(part) for part in line.splitlines()) or "", file=stream)


def _lines(mining: Mining, quiet: bool) -> Iterator[str]:
    for number, cluster in enumerate(mining.clusters if not quiet else (), 1):
        yield f"cluster {number}: {', '.join(name_of(mining, n) for n in cluster.functions)}"
        yield from (f"  {_row(mining, pair)}" for pair in cluster.pairs)
        yield ""
    yield from summary_lines(mining)
    yield f"in {duration(mining.seconds)}"


def _row(mining: Mining, pair: MinedPair) -> str:
    target = mining.functions[pair.target]
    names = ", ".join(parameter_names(target))
    diverse = "" if pair.diversity is None else f"   {diversity_in_words(pair.diversity)}"
    return f"{name_of(mining, pair.target)}({names}) = {pair.text}   {STRENGTH}{diverse}"


def parameter_names(function: MinedFunction) -> list[str]:
    inside = function.signature[function.signature.index("(") + 1 : function.signature.rindex(")")]
    if function.parameters == 0:
        return []
    return [part.strip().split()[-1].lstrip("*") for part in inside.split(",")]


# -- CSV ------------------------------------------------------------------------------------------


def mining_as_csv(mining: Mining) -> str:
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    places = {number: place for place, cluster in enumerate(mining.clusters, 1) for number in cluster.functions}
    for pair in sorted(mining.pairs, key=lambda pair: (pair.target, pair.rewrite)):
        writer.writerow([_cell(value) for value in _values(mining, pair, places)])
    return out.getvalue()


def _values(mining: Mining, pair: MinedPair, places: dict[int, int]) -> tuple[str, ...]:
    is_found = pair.verdict == "adaptor" and not pair.anything_fits
    return (
        name_of(mining, pair.target),
        name_of(mining, pair.rewrite),
        pair.verdict or "not asked",
        pair.family,
        pair.text,
        STRENGTH if pair.verdict == "adaptor" else "",
        "" if pair.diversity is None else str(pair.diversity.percent),
        str(places[pair.target]) if is_found else "",
        " ".join(assumption.name for assumption in pair.assumptions),
        pair.why,
    )


def _cell(text: str) -> str:
    text = printable(text)
    return f"'{text}" if text.startswith(_FORMULA) else text


# -- JSON -----------------------------------------------------------------------------------------


def mining_dumps(mining: Mining) -> str:
    return as_text(mining_as_json(mining))


def mining_as_json(mining: Mining) -> dict[str, Any]:
    sieved = mining.sieved
    return {
        "libraries": list(mining.libraries),
        "families": list(mining.families),
        "depth": mining.depth,
        "budget": mining.budget,
        "functions": [_function(mining, function) for function in mining.functions],
        "idle": list(mining.idle),
        "refused": [{"library": r.library + 1, "name": r.name, "why": r.why} for r in mining.refused],
        "counts": {
            "pairs": sieved.pairs,
            "refuted": sieved.refuted,
            "adaptor": mining.count("adaptor"),
            "none": mining.count("none"),
            "unknown": mining.count("unknown"),
            "unfinished": mining.unfinished,
            "not_asked": mining.count(""),
        },
        "pairs_a_second": round(sieved.rate, 1),
        "clusters": [_cluster(mining, cluster) for cluster in mining.clusters],
        "pairs": [_pair(mining, pair) for pair in mining.pairs if pair.verdict],
        "why_ended": mining.why_ended or None,
        "seconds": round(mining.seconds, 3),
        "version": __version__,
    }


def _function(mining: Mining, function: MinedFunction) -> dict[str, Any]:
    return {
        "name": function.name,
        "library": function.library + 1,
        "aliases": list(function.aliases),
        "same_code": [*dict(mining.same_code).get(function.number, ())],
        "signature": function.signature,
        "signature_from": function.origin.value,
        "shape": _shape(function.shape),
    }


def _shape(shape: Shape) -> dict[str, Any]:
    return {
        "instructions": shape.count,
        "blocks": shape.blocks,
        "loops": shape.loops,
        "paths": shape.paths,
        "loads": shape.loads,
        "stores": shape.stores,
        "calls": list(shape.calls),
    }


def _cluster(mining: Mining, cluster: Cluster) -> dict[str, Any]:
    return {
        "functions": [name_of(mining, number) for number in cluster.functions],
        "pairs": [[name_of(mining, pair.target), name_of(mining, pair.rewrite)] for pair in cluster.pairs],
    }


def _pair(mining: Mining, pair: MinedPair) -> dict[str, Any]:
    return {
        "target": name_of(mining, pair.target),
        "rewrite": name_of(mining, pair.rewrite),
        "runs": pair.likelihood.value,
        "verdict": pair.verdict,
        "family": pair.family or None,
        "adaptor": pair.adaptor,
        "text": pair.text or None,
        "strength": STRENGTH if pair.verdict == "adaptor" else None,
        "anything_fits": pair.anything_fits,
        "diversity": None if pair.diversity is None else {"shared": round(pair.diversity.shared, 3)},
        "assumptions": [{"name": a.name, "why": a.why} for a in pair.assumptions],
        "why": pair.why or None,
        "unfinished": pair.is_unfinished,
        "seconds": round(pair.seconds, 3),
    }
