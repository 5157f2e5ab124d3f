"""Two versions of a library of thousands of functions: what `isoform diff` takes in time and memory, and how soon its
page opens in a browser.

    python bench/diff_many.py [--functions 5000] [--changed 50]

The functions are made up, short and all different; every so many of them differ between the versions.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from browser import Browser, chromium

FRAME = "requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--functions", type=int, default=5000)
    parser.add_argument("--changed", type=int, default=50, help="functions that differ")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="isoform-") as name:
        folder = Path(name)
        files = [built(folder, version, given.functions, given.changed) for version in ("old", "new")]
        page = folder / "diff.html"
        print(compared(files, page, given.jobs), flush=True)
        print(f"page            {page.stat().st_size / (1 << 20):8.1f} MiB")
        print(opened(page, folder), flush=True)


def built(folder: Path, version: str, functions: int, changed: int) -> Path:
    """A library of functions in assembly, without debug information."""
    source, output = folder / f"{version}.s", folder / f"{version}.so"
    step = max(1, functions // max(changed, 1))
    texts = [function(n, version == "new" and n % step == step // 2) for n in range(functions)]
    source.write_text("".join(texts))
    compiler = [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-linux-gnu"]
    subprocess.run([*compiler, "-shared", "-nostdlib", str(source), "-o", str(output)], check=True)
    return output


def function(number: int, is_changed: bool) -> str:
    name = f"library_function_{number:05}"
    return f"""
    .globl {name}
    .type {name}, @function
{name}:
    lea {number % 100}(%rdi,%rsi), %eax
    imul ${2 * number + 1 + 2 * is_changed}, %eax, %eax
    xor %esi, %eax
    cmp ${number}, %edi
    jle 1f
    sub %edi, %eax
1:  ret
    .size {name}, .-{name}
"""


def compared(files: list[Path], page: Path, jobs: int) -> str:
    words = ["diff", *map(str, files), "--html", str(page), "--budget", "5", "--jobs", str(jobs), "-q"]
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "isoform", *words], stdout=subprocess.PIPE, text=True, check=False)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = (
        done.stdout.strip(),
        f"exit code       {done.returncode:8}",
        f"wall clock      {time.monotonic() - started:8.1f} s",
        f"processor time  {used.ru_utime + used.ru_stime:8.1f} s, all processes",
        f"memory          {used.ru_maxrss >> 10:8} MiB, the largest process",
    )
    return "\n".join(lines)


def opened(page: Path, folder: Path) -> str:
    program = chromium()
    if program is None:
        return "opens           (no chromium here)"
    browser = Browser(program, folder)
    times = []
    for _ in range(3):
        browser.open(page)
        browser.run(f"new Promise(done => {FRAME})")
        times.append(float(browser.run("performance.getEntriesByType('navigation')[0].loadEventEnd")))
    browser.close()
    return f"opens in        {min(times) / 1000:8.2f} s, best of 3 ({', '.join(f'{t / 1000:.2f}' for t in times)})"


if __name__ == "__main__":
    main()
