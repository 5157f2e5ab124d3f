"""Files in which exceptions are handled."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from isoform.load.elf import parse_elf

pytestmark = pytest.mark.skipif(find_spec("ziglang") is None, reason="needs the ziglang wheel")
CATCHES = 'void g(); extern "C" int f(int x) { try { g(); } catch (...) { return x + 1; } return x; }'
CALLS = 'void g(); extern "C" int f(int x) { g(); return x; }'
TABLE, RENAMED = b".gcc_except_table", b".lsda_of_handlers"


def built(folder: Path, text: str) -> bytes:
    source, path = folder / "f.cc", folder / "f.o"
    source.write_text(text)
    driver = [sys.executable, "-m", "ziglang", "c++", "-target", "x86_64-linux-gnu", "-w"]
    subprocess.run([*driver, "-O1", "-c", str(source), "-o", str(path)], check=True)
    return path.read_bytes()


def test_handlers_are_seen_whatever_their_section_is_called(tmp_path: Path) -> None:
    content = built(tmp_path, CATCHES)
    renamed = content.replace(TABLE, RENAMED)
    assert content != renamed
    assert parse_elf(content, "f.o").has_handlers
    assert parse_elf(renamed, "f.o").has_handlers


def test_code_without_handlers(tmp_path: Path) -> None:
    assert not parse_elf(built(tmp_path, CALLS), "f.o").has_handlers
