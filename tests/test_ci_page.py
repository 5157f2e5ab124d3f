"""The recipe of docs/ci.md is made of options that there are."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def test_options_of_the_recipe_exist() -> None:
    page = (DOCS / "ci.md").read_text()
    section = (DOCS / "options.md").read_text().partition("## isoform diff\n")[2].partition("\n## ")[0]
    known = set(re.findall(r"`(--[a-z-]+)`", section))
    commands = re.findall(r"isoform diff base[^\n]*(?:\n +--[^\n]*)*", page)
    assert len(commands) == 2
    used = {option for command in commands for option in re.findall(r"--[a-z-]+", command)}
    assert {"--store", "--accept", "--sarif", "--fail-on"} <= used
    assert not used - known


def test_the_file_of_accepted_differences_is_read(tmp_path: Path) -> None:
    from isoform.diff.accept import read_accepted

    text = (DOCS / "ci.md").read_text().partition("```toml\n")[2].partition("```")[0]
    path = tmp_path / "accepted.toml"
    path.write_text(text)
    assert len(read_accepted(str(path))) == 1
