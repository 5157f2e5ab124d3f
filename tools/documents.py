"""The commands that the pages show, asked again.

    python tools/documents.py [--cc gcc] README.md docs/tutorial.md     prints what they say now into the pages

A block of a page that starts with `$ isoform` is a transcript: commands, each followed by what it prints. It runs in a
folder that has the examples and the sources that the page itself shows under their names. A line `…` ends what is shown
of a longer output. Where only times differ, the line stays as it is.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS_LIMIT = 120
CUT = "  …"
COMPILED = ("compare", "show", "run")
"""The commands that build a source, and so take `--cc`."""
_TIME = re.compile(r" *\b[\d.]+ m?s\b *")
_BLOCK = re.compile(r"^```\n(\$ .*?)^```$", re.MULTILINE | re.DOTALL)
_SOURCE = re.compile(r"^`([\w.]+)`:\n\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Step:
    """One command of a transcript, as typed, and the lines shown below it."""

    command: str
    shown: tuple[str, ...]

    @property
    def words(self) -> list[str]:
        return shlex.split(self.command)

    @property
    def is_cut(self) -> bool:
        return self.shown[-1:] == (CUT,)


def transcripts(page: str) -> list[list[Step]]:
    return [list(_steps(block)) for block in _BLOCK.findall(page)]


def _steps(block: str) -> Iterator[Step]:
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *shown = part.rstrip("\n").split("\n")
        yield Step(command, tuple(shown))


def prepare(page: str, folder: Path) -> None:
    """The files that the commands of a page are about."""
    shutil.copytree(ROOT / "examples", folder, dirs_exist_ok=True)
    for name, text in _SOURCE.findall(page):
        (folder / name).write_text(text)


def run(step: Step, folder: Path, cc: str) -> list[str]:
    """The lines that a command prints now; `cat` shows a file that the transcript itself gives."""
    program, *words = step.words
    if program == "cat":
        (folder / words[0]).write_text("\n".join(step.shown) + "\n")
        return list(step.shown)
    chosen = ["--cc", cc] if words[0] in COMPILED and not {"--cc", "--cc-a", "--cc-b"} & set(words) else []
    path = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [sys.executable, "-m", program, *words, *chosen],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=SECONDS_LIMIT,
    )
    return (done.stdout + done.stderr).rstrip("\n").split("\n")


def timeless(line: str) -> str:
    return _TIME.sub("…", line)


def renewed(page: str, cc: str) -> str:
    """The page with what its commands print now. A command that shows nothing goes on showing nothing."""
    with tempfile.TemporaryDirectory(prefix="isoform-documents-") as name:
        folder = Path(name)
        prepare(page, folder)
        return _BLOCK.sub(lambda found: "```\n" + "".join(_printed(found[1], folder, cc)) + "```", page)


def _printed(block: str, folder: Path, cc: str) -> Iterator[str]:
    for step in _steps(block):
        said = run(step, folder, cc)
        if step.is_cut:
            said = [*said[: len(step.shown) - 1], CUT]
        kept = {timeless(line): line for line in step.shown}
        lines = [kept.get(timeless(line), line) for line in said] if step.shown else []
        yield from (f"{line}\n" for line in (f"$ {step.command}", *lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--cc", default="gcc", help="the compiler of commands that name none")
    arguments = parser.parse_args()
    for page in arguments.pages:
        page.write_text(renewed(page.read_text(), arguments.cc))


if __name__ == "__main__":
    main()
