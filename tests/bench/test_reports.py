"""The reports ask each pair as the tests do, with the pair's own compilers."""

from __future__ import annotations

from pathlib import Path

import pytest

import soundness.save as save_module
from loops import chosen, measure_pair
from pairfile import PAIRS, Build, Pair, gcc_version, read
from pairs import arguments_of, measure
from soundness import batch as soundness
from soundness.judge import Judged
from soundness.save import save
from steady import BORDERLINE, sample


def named(folder: str, name: str) -> Pair:
    return read(PAIRS / folder / f"{name}.pair")[0]


@pytest.mark.parametrize("name", ["below", "below-broken"])
def test_where_the_time_goes(name: str) -> None:
    pair = named("toy", name)
    row = measure(pair)
    assert (row.name, row.verdict) == (f"toy/{name}", pair.verdict)
    assert row.milliseconds["total"] >= row.milliseconds["lift"] > 0


def test_compilers_of_the_pair_are_used() -> None:
    _, _, _, target, rewrite = arguments_of(named("x86_64", "sign"))
    assert (target.cc, target.cflags) == (rewrite.cc, rewrite.cflags)
    levels = read(PAIRS / "x86_64" / "sign.pair")[1]
    _, _, _, target, rewrite = arguments_of(levels)
    assert (target.cc, target.cflags, rewrite.cflags) == ("zig", ("-O0",), ("-O3",))


def test_loops_by_a_word() -> None:
    (pair,) = chosen(["memset"])
    assert measure_pair(pair, None).verdict == "equivalent"


def test_the_sample_has_every_borderline_pair_and_every_folder() -> None:
    pairs = [pair for pair in chosen([str(PAIRS)]) if not pair.missing]
    found = sample(pairs, 40, 1)
    assert {pair.name for pair in found} >= {name for name in BORDERLINE if name in {pair.name for pair in pairs}}
    quick = [pair for pair in pairs if not {"long", "todo"} & pair.fields.keys()]
    assert {pair.path.parent.name for pair in found} == {pair.path.parent.name for pair in quick}
    assert len(found) == 40


def test_what_a_campaign_saves_is_a_pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(save_module, "shrunk", lambda pair, *rest: pair)
    sources = "int f(int x) { return x; }", "int f(int x) { return -x; }"
    pair = soundness.Pair("c1.2", "rewrite", False, "a sign", "f", *sources)
    builds = soundness.Build("zig", ("-O1", "-DK=a b")), soundness.Build("gcc", ("-O2",))
    batch = soundness.Batch(1, ".c", "", builds, (pair,))
    wrong = Judged(pair.label, pair.kind, "equivalent", 0.1, wrong="they differ")
    (saved,) = read(save(batch, pair, wrong, None, tmp_path))  # type: ignore[arg-type]  # nothing is judged again
    assert (saved.verdict, saved.fields["todo"]) == ("different", "they differ")
    assert saved.builds == (Build("zig", ("-O1", "-DK=a b")), Build(f"gcc-{gcc_version()}", ("-O2",)))
    assert (tmp_path / saved.fields["a"].split(":")[0]).read_text() == pair.target
