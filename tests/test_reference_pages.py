"""The pages that say what the program does are checked against the program."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from options_page import page

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
SCHEMA = json.loads((DOCS / "verdict.schema.json").read_text(encoding="utf-8"))


def test_options_page_is_current() -> None:
    shown = (DOCS / "options.md").read_text(encoding="utf-8")
    assert shown == page(), "python tools/options_page.py > docs/options.md"


def messages() -> list[str]:
    text = (DOCS / "messages.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)


@pytest.mark.parametrize("message", messages())
def test_messages_are_in_the_code(message: str) -> None:
    """Their fixed parts, in one file and in this order. A long message may be split over lines there."""
    parts = [re.escape(part.strip()) for part in message.split("…") if part.strip()]
    wanted = re.compile(r".{0,200}?".join(parts))
    code = [re.sub(r'"\s*\n\s*f?"', "", path.read_text(encoding="utf-8")) for path in (ROOT / "src").rglob("*.py")]
    assert any(wanted.search(text) for text in code)


def test_every_word_of_the_glossary_is_there_once_and_in_order() -> None:
    words = re.findall(r"^\*\*([^*]+)\*\*:", (DOCS / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert words == sorted(set(words))
    assert {"equivalent", "different", "bounded", "unknown"} <= set(words)


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda path: path.stem)
def test_links_lead_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        assert "://" in target or (path.parent / target).exists(), target


def test_json_page_shows_every_key() -> None:
    text = (DOCS / "json.md").read_text(encoding="utf-8")
    shown = {
        key for keys in re.findall(r"^\| (`[^|]+`) \|", text, re.MULTILINE) for key in re.findall(r"`(\w+)`", keys)
    }
    assert shown == set(SCHEMA["properties"])
    (example,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    assert set(json.loads(example)) == set(SCHEMA["required"])
