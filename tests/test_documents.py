"""What README and tutorial show is what isoform says. `python tools/documents.py README.md docs/tutorial.md` prints it
anew."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import typer

from documents import ROOT, Step, prepare, run, timeless, transcripts
from isoform.cli.verbs import VERBS, application
from pairfile import driver

PAGES = ("README.md", "docs/tutorial.md")
EVERY_PAGE = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md") if p.name != "options.md")
"""But the one that is written from the command line."""
SHOWN_WITH = "gcc-12"
"""The compiler whose code the pages show; with another one only the verdicts are compared."""
SECTIONS = ("inputs", "invariants", "return value")
_COMMAND = re.compile(r"^isoform .*$", re.MULTILINE)


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks() -> Iterator[object]:
    """The comparison of two libraries takes as long as all others together; `diff/test_example.py` has its answers."""
    for page in PAGES:
        for number, steps in enumerate(transcripts(read(page)), 1):
            marks = [pytest.mark.long] if any(step.words[1] == "diff" for step in steps) else []
            yield pytest.param(page, steps, id=f"{Path(page).stem}-{number}", marks=marks)


def headline(lines: Sequence[str]) -> str:
    return timeless(lines[0]) if lines else ""


def sections(lines: Sequence[str]) -> dict[str, list[str]]:
    """The inputs and invariants of a report: a word in the first column, and what is indented below it."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in lines:
        start = re.match(r"  (\w[\w ]*?)(?:  |$)", line)
        if start or not line.strip():
            name = start[1] if start else ""
        if name in SECTIONS:
            found.setdefault(name, []).append(line)
    return found


@pytest.mark.parametrize(("page", "steps"), list(blocks()))
def test_transcript_is_current(page: str, steps: list[Step], tmp_path: Path) -> None:
    prepare(read(page), tmp_path)
    exact = driver(SHOWN_WITH)
    for step in steps:
        said = run(step, tmp_path, exact or "zig")
        if not step.shown:
            continue
        assert headline(said) == headline(step.shown), step.command
        if exact is None:
            continue
        if step.words[1] in ("show", "run"):
            assert said == list(step.shown), step.command
        assert sections(said) == sections(step.shown), step.command


def test_pages_have_transcripts_with_a_verdict_and_an_invariant() -> None:
    for page in PAGES:
        shown = [line for steps in transcripts(read(page)) for step in steps for line in step.shown]
        assert {line.split()[0] for line in shown if line.strip()} >= {"✓", "✗", "invariants"}, page


@pytest.mark.parametrize("page", ["README.md", *EVERY_PAGE])
def test_commands_can_be_typed(page: str) -> None:
    """Every command in a block of its own parses: its options exist and take these values."""
    group = typer.main.get_command(application(*VERBS))
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", read(page), re.MULTILINE | re.DOTALL)
    text = "\n".join(block for language, block in blocks if not language)
    for line in _COMMAND.findall(re.sub(r"^\$ ", "", text, flags=re.MULTILINE)):
        if line.endswith("[OPTIONS]"):
            continue  # how a command is used, not a command
        _, verb, *words = shlex.split(line.split("   #")[0].split("      ")[0])
        command = group.commands[verb]  # type: ignore[attr-defined]
        command.make_context(verb, [word for word in words if word != "…"], resilient_parsing=False)


def test_a_changed_verdict_is_noticed(tmp_path: Path) -> None:
    page = "`f.c`:\n\n```c\nint f(int x) { return x; }\n```\n\n```\n$ isoform run f.c 7\nreturned 8\n```\n"
    ((step,),) = transcripts(page)
    prepare(page, tmp_path)
    assert headline(run(step, tmp_path, "zig")) != headline(step.shown)
    assert sections(["  inputs       x = 1", "               y = 2", "", "  proof  p"]) == {
        "inputs": ["  inputs       x = 1", "               y = 2"]
    }
