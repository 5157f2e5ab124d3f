"""`isoform diff` on a real library: zlib, in several builds.

    python bench/diff.py [SOURCE-FOLDER] [--budget 10] [--time 900] [--jobs 1 2] [--cluster] [--only NAME...]
                         [--pairs 0 1 2]

Without a folder it is the zlib that comes with pypcode. For each pair of builds: how many functions have which answer,
seconds on the wall clock and of processor time, the same command once more with the store, and with the same store
after a patch of one function of the new build. With --cluster also on a local Dask cluster of two workers. A report,
not a test: nothing here asserts a time.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from limits import bundled_zlib

BUILDS = {
    "gcc -O1": ["gcc", "-O1"],
    "gcc -O2": ["gcc", "-O2"],
    "clang -O2": ["clang", "-O2"],
}
PATCHED = "gcc -O2 patched"
PAIRS = [("gcc -O2", PATCHED), ("gcc -O1", "gcc -O2"), ("gcc -O2", "clang -O2")]
PATCH = (
    "deflate.c",
    "if (level == Z_DEFAULT_COMPRESSION) level = 6;",
    "if (level == Z_DEFAULT_COMPRESSION) level = 7;",
)


def build(source: Path, folder: Path, name: str, words: Sequence[str]) -> Path | None:
    made = folder / f"{name.replace(' ', '')}.so"
    files = [str(path) for path in sorted(source.glob("*.c"))]
    flags = ["-g", "-fPIC", "-shared", "-DHAVE_UNISTD_H", f"-I{source}"]
    done = subprocess.run([*words, *flags, *files, "-o", str(made)], capture_output=True)
    return made if done.returncode == 0 else None


def patched(source: Path, folder: Path) -> Path:
    copy = folder / "patched"
    shutil.copytree(source, copy)
    file, old, new = PATCH
    text = (copy / file).read_text()
    if old not in text:
        raise SystemExit(f"{file} does not have the line that the patch changes")
    (copy / file).write_text(text.replace(old, new, 1))
    return copy


def diff(old: Path, new: Path, words: Sequence[str]) -> tuple[dict[str, Any], float, float]:
    before, started = sum(os.times()[2:4]), time.monotonic()
    command = [sys.executable, "-m", "isoform", "diff", str(old), str(new), "--json", *words]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 2:
        raise SystemExit(done.stderr.strip())
    return json.loads(done.stdout), time.monotonic() - started, sum(os.times()[2:4]) - before


def shown(what: str, found: dict[str, Any], wall: float, processor: float) -> str:
    counts = ", ".join(f"{number} {word}" for word, number in found["summary"].items())
    both = [row for row in found["functions"] if row["old"] and row["new"]]
    decided = sum(row["status"] in ("identical", "equivalent", "different") for row in both)
    share = f"{100 * decided // max(1, len(both))} % of {len(both)} decided"
    kept = sum(row["kept"] for row in found["functions"])
    return f"  {what:26} {wall:7.1f} s wall {processor:7.1f} s processor  {share}, {kept} from the store: {counts}"


@contextmanager
def local_cluster() -> Iterator[str]:
    import distributed

    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0) as made:
        yield made.scheduler_address


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", nargs="?", type=Path, default=None)
    parser.add_argument("--budget", type=float, default=10.0)
    parser.add_argument("--time", type=float, default=900.0)
    parser.add_argument("--jobs", type=int, nargs="*", default=[2])
    parser.add_argument("--cluster", action="store_true")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--pairs", type=int, nargs="*", choices=range(len(PAIRS)), default=range(len(PAIRS)))
    given = parser.parse_args()
    words = ["--budget", str(given.budget), "--time", str(given.time)]
    words += [word for name in given.only for word in ("--only", name)]
    with ExitStack() as context:
        folder = Path(context.enter_context(tempfile.TemporaryDirectory()))
        source = given.source or bundled_zlib()
        made = {name: build(source, folder, name, how) for name, how in BUILDS.items()}
        made[PATCHED] = build(patched(source, folder), folder, "patched", BUILDS["gcc -O2"])
        for old, new in (PAIRS[number] for number in given.pairs):
            left, right = made[old], made[new]
            if left is None or right is None:
                print(f"{old} against {new}: no such compiler")
                continue
            print(f"{old} against {new}")
            for jobs in given.jobs:
                store = ["--store", str(folder / f"{left.stem}-{right.stem}-{jobs}.sqlite")]
                own = [*words, "-j", str(jobs), *store]
                print(shown(f"{jobs} process{'es' if jobs > 1 else ''}", *diff(left, right, own)), flush=True)
                print(shown("the same again", *diff(left, right, own)), flush=True)
                changed = made[PATCHED] if new == "gcc -O2" else None
                if changed is not None:
                    print(shown("one function patched", *diff(left, changed, own)), flush=True)
            if given.cluster:
                address = context.enter_context(local_cluster())
                print(shown("a cluster of 2 workers", *diff(left, right, [*words, "--cluster", address])), flush=True)


if __name__ == "__main__":
    main()
