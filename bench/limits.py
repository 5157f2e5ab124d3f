"""Do limits hold on real code? Every function of zlib, gcc -O0 against -O2, under a small budget.

    python bench/limits.py [SOURCE-FOLDER] [--budget 20] [--memory 2G] [--only NAME...] [--slowest 45]

Without a folder it is the zlib that comes with pypcode. Each row has the processor time and the most memory of one
question; those that took more than the budget and two seconds, or more than the memory, are marked. A report, not a
test: nothing here asserts a time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

ALLOWED = 2.0
"""Seconds beyond the budget."""
LEVELS = ("-O0", "-O2")


@dataclass(frozen=True)
class Row:
    name: str
    verdict: str
    why: str
    processor: float
    wall: float
    megabytes: int

    def shown(self, budget: float, memory: int) -> str:
        late = "LATE " if self.processor > budget + ALLOWED else ""
        large = "LARGE " if self.megabytes > memory else ""
        figures = f"{self.processor:6.1f} s {self.wall:6.1f} s {self.megabytes:5} MB"
        return f"{self.name:24} {self.verdict:10} {figures}  {late}{large}{self.why[:90]}"


def bundled_zlib() -> Path:
    found = find_spec("pypcode")
    if found is None or found.origin is None:
        raise SystemExit("pypcode is not installed: name a folder with zlib's source")
    return Path(found.origin).parent / "zlib"


def build(source: Path, folder: Path) -> list[tuple[Path, Path, str]]:
    """Both objects of each file, and the functions that both have."""
    questions = []
    for file in sorted(source.glob("*.c")):
        objects = [folder / f"{file.stem}{level}.o" for level in LEVELS]
        for level, made in zip(LEVELS, objects, strict=True):
            flags = ["-g", level, "-fdata-sections", "-DHAVE_UNISTD_H", f"-I{source}"]
            if subprocess.run(["gcc", *flags, "-c", str(file), "-o", str(made)], capture_output=True).returncode:
                break
        else:
            shared = functions(objects[0]) & functions(objects[1])
            questions += [(objects[0], objects[1], name) for name in sorted(shared)]
    return questions


def functions(file: Path) -> set[str]:
    listed = subprocess.run(["nm", "--defined-only", str(file)], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in listed.splitlines() if line.split()[-2] in ("t", "T")}


def ask(target: Path, rewrite: Path, name: str, budget: float, memory: str) -> Row:
    words = [sys.executable, "-m", "isoform", "compare", f"{target}:{name}", f"{rewrite}:{name}", "--json"]
    started = time.monotonic()
    with tempfile.TemporaryFile() as out:
        command = [*words, "--budget", str(budget), "--memory-limit", memory]
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, _, usage = os.wait4(process.pid, 0)
        out.seek(0)
        said = out.read()
    wall = time.monotonic() - started
    answer = json.loads(said) if said else {"verdict": "trouble"}
    used = usage.ru_utime + usage.ru_stime
    return Row(name, answer["verdict"], answer.get("why") or "", used, wall, usage.ru_maxrss >> 10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", nargs="?", type=Path)
    parser.add_argument("--budget", type=float, default=20.0)
    parser.add_argument("--memory", default="2G")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--slowest", type=int, default=45, help="rows of the table at the end")
    chosen = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for target, rewrite, name in build(chosen.source or bundled_zlib(), Path(folder)):
            if not chosen.only or name in chosen.only:
                rows.append(ask(target, rewrite, name, chosen.budget, chosen.memory))
                print(rows[-1].shown(chosen.budget, 2048), flush=True)
    rows.sort(key=lambda row: -row.processor)
    print(f"\nthe {min(chosen.slowest, len(rows))} slowest of {len(rows)}")
    for row in rows[: chosen.slowest]:
        print(row.shown(chosen.budget, 2048))
    late = [row.name for row in rows if row.processor > chosen.budget + ALLOWED or row.megabytes > 2048]
    print(f"\nover a limit: {', '.join(late) or 'none'}")


if __name__ == "__main__":
    main()
