"""How many questions a second the queue asks: what a limited process and the store take of it.

    python bench/work.py
    python bench/work.py --jobs 1 2 --questions 400
    python bench/work.py --cluster 2

Asked are nothing at all, and a small comparison of machine code that is equivalent; without a store and with one. With
`--cluster N` also of a local Dask cluster of N workers. A report, not a test: nothing here asserts a time.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import isoform
from isoform.check.replay import independent_runner
from isoform.work.local import LocalWorkers, processors
from isoform.work.queue import Queue
from isoform.work.store import Store
from isoform.work.task import Recipe, Task, TaskEnd, TaskLimits
from isoform.work.workers import Workers

CODE = bytes.fromhex("8d0477c3"), bytes.fromhex("01f68d0437c3")
"""x + 2 * y, and the same in other words."""
PROTOTYPE = "int f(int x, int y)"
LIMITS = TaskLimits(30, 1 << 30)


def nothing(shared: Any, payload: Any) -> None:
    return None


def small(shared: Any, payload: Any) -> str:
    return str(isoform.compare(*shared).word)


def sides(payload: Any = None) -> tuple[Any, Any]:
    """The two functions, with everything loaded that a question about them needs."""
    both = tuple(isoform.code(content, signature=PROTOTYPE) for content in CODE)
    independent_runner("x86_64")
    isoform.compare(*both)
    return both[0], both[1]


def rate(workers: Workers, name: str, count: int, where: Path | None) -> float:
    with Store(where) if where else nullcontext() as store, Queue(workers, store) as queue:
        queue.add_all(Task("bench", f"{name} {n}", f"work:{name}", n, LIMITS) for n in range(count))
        started = time.perf_counter()
        endings = [answer.ending for answer in queue.answers()]
        seconds = time.perf_counter() - started
    assert endings == [TaskEnd.DONE] * count
    return count / seconds


def report(label: str, make: Callable[[], Workers], count: int, folder: Path) -> None:
    for name in ("nothing", "small"):
        plain = rate(make(), name, count, None)
        kept = rate(make(), name, count, folder / f"{label} {name}")
        again = rate(make(), name, count, folder / f"{label} {name}")
        print(f"{label:16} {name:10} {plain:10.0f} {kept:12.0f} {again:14.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, nargs="*", default=[1, processors()])
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--cluster", type=int, default=0, metavar="N")
    arguments = parser.parse_args()
    shared = sides()
    print(f"{'questions/s':16} {'':10} {'no store':>10} {'with a store':>12} {'a second time':>14}")
    with tempfile.TemporaryDirectory() as folder:
        for jobs in dict.fromkeys(arguments.jobs):
            label = f"{jobs} process" + ("es" if jobs > 1 else "")
            report(label, lambda jobs=jobs: LocalWorkers(jobs, shared), arguments.questions, Path(folder))
        if arguments.cluster:
            with_cluster(arguments.cluster, arguments.questions, Path(folder))


def with_cluster(workers: int, count: int, folder: Path) -> None:
    from distributed import LocalCluster

    from isoform.work.cluster import ClusterWorkers

    sys.path.insert(0, str(Path(__file__).parent))
    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        recipe = Recipe("work:sides")
        report(f"{workers} on a cluster", lambda: ClusterWorkers(address, recipe), count, folder)


if __name__ == "__main__":
    main()
