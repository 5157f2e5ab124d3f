"""The same answers on a Dask cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from isoform.diff.diff import diff
from isoform.diff.options import DiffOptions
from isoform.model.library_diff import LibraryDiff

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's own

OLD = "int f(int x) { return x * 2; }\nint g(int x) { return x > 10 ? x : 10; }\n"
NEW = "int f(int x) { return x + x; }\nint g(int x) { return x > 10 ? x : 11; }\n"


def answers(found: LibraryDiff) -> dict[str, str]:
    return {row.name: row.answer.value for row in found.rows}


def test_the_same_answers_as_on_one_machine(tmp_path: Path) -> None:
    for name, text in (("old.c", OLD), ("new.c", NEW)):
        (tmp_path / name).write_text(text)
    paths = str(tmp_path / "old.c"), str(tmp_path / "new.c")
    here = diff(*paths, DiffOptions(budget=2.0, jobs=1))
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=60, memory_limit=0
    ) as cluster:
        there = diff(*paths, DiffOptions(budget=2.0, cluster=cluster.scheduler_address))
    assert answers(here) == answers(there)
    assert answers(there)["g"] == "different"
