"""Contradictions become files that the test suite asks about from then on."""

from __future__ import annotations

import shlex
import tempfile
from dataclasses import replace
from pathlib import Path

from isoform.model.errors import UserError
from pairfile import versioned
from soundness.batch import Batch, Pair
from soundness.judge import Judged, Rules, judge
from soundness.shrink import shrunk

SHRINK_SECONDS = 60.0


def save(batch: Batch, pair: Pair, judged: Judged, rules: Rules, folder: Path) -> Path:
    """Write the minimised pair and its header; returns the header."""
    smaller = shrunk(pair, lambda candidate: _same_trouble(batch, candidate, judged, rules), SHRINK_SECONDS)
    folder.mkdir(parents=True, exist_ok=True)
    name = pair.label.replace(".", "-")
    for side, text in (("a", smaller.target), ("b", smaller.rewrite)):
        (folder / f"{name}-{side}{batch.suffix}").write_text(batch.prelude + text)
    header = folder / f"{name}.pair"
    header.write_text(_header(batch, smaller, judged, name))
    return header


def _same_trouble(batch: Batch, pair: Pair, judged: Judged, rules: Rules) -> bool:
    with tempfile.TemporaryDirectory(prefix="isoform-shrink-") as folder:
        try:
            objects = replace(batch, pairs=(pair,)).compiled(Path(folder))
        except UserError:
            return False
        again = judge(pair, objects, rules)
    return again.word == judged.word and again.wrong.split(":")[0] == judged.wrong.split(":")[0]


def _header(batch: Batch, pair: Pair, judged: Judged, name: str) -> str:
    expected = "equivalent" if pair.equal else "different"
    builds = " | ".join(shlex.join([versioned(build.cc), *build.flags]) for build in batch.builds)
    lines = [
        f"# found by ./scripts/soundness --only {pair.label}",
        f"verdict: {expected}",
        f"because: The rewrite was made by: {pair.change}.",
        f"a: {name}-a{batch.suffix}:{pair.function}",
        f"b: {name}-b{batch.suffix}:{pair.function}",
        *([f"build: {builds}"] if batch.suffix == ".c" else []),
        *([f'options: --signature "{pair.signature}"'] if pair.signature is not None else []),
        f"todo: {' '.join(judged.wrong.split())}",
    ]
    return "\n".join(lines) + "\n"
