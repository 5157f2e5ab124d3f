"""Whatever is killed, at any moment: the same command goes on, and every function has one answer."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from isoform.model.processes import descendants

FUNCTIONS = 4
OLD = "".join(f"int f{n}(int x) {{ return x * {2 * n + 2}; }}\n" for n in range(FUNCTIONS))
NEW = "".join(f"int f{n}(int x) {{ return (x * {n + 1}) << 1; }}\n" for n in range(FUNCTIONS - 1))
NEW += f"int f{FUNCTIONS - 1}(int x) {{ return x * {2 * FUNCTIONS} + (x == 77); }}\n"


class Command:
    def __init__(self, folder: Path) -> None:
        for name, text in (("old.c", OLD), ("new.c", NEW)):
            (folder / name).write_text(text)
            subprocess.run(["cc", "-c", "-O0", str(folder / name), "-o", str(folder / name) + ".o"], check=True)
        self.store = folder / "kept.sqlite"
        words = [str(folder / "old.c.o"), str(folder / "new.c.o"), "--json", "-j", "2", "--budget", "5"]
        self.words = [sys.executable, "-m", "isoform", "diff", *words, "--store", str(self.store)]

    def start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(self.words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def result(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(subprocess.run(self.words, capture_output=True, text=True).stdout)
        return found

    def kept(self) -> set[tuple[str, str]]:
        """The questions with a final answer in the store."""
        if not self.store.exists():
            return set()
        with sqlite3.connect(self.store) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            with suppress(sqlite3.OperationalError):  # it was killed before it made the tables
                query = "SELECT kind, key FROM isoform_answers WHERE is_final"
                return set(connection.execute(query).fetchall())
        return set()


def statuses(found: dict[str, Any]) -> dict[str, str]:
    return {row["name"]: row["status"] for row in found["functions"]}


EXPECTED = {f"f{n}": "equivalent" for n in range(FUNCTIONS - 1)} | {f"f{FUNCTIONS - 1}": "different"}


def kill_at_random(command: Command, random: random.Random, whole: bool) -> None:
    """The command, or one of its processes, somewhere in the middle."""
    process = command.start()
    time.sleep(random.uniform(0.5, 6.0))
    victims = [process.pid] if whole else sorted(set(descendants(process.pid)) - {process.pid})
    if victims and process.poll() is None:
        with suppress(ProcessLookupError):
            os.kill(random.choice(victims), signal.SIGKILL)
    if whole:
        process.kill()
    process.communicate()


@pytest.mark.parametrize("kills", [3, pytest.param(50, marks=pytest.mark.long)])
def test_killed_commands_go_on(tmp_path: Path, kills: int) -> None:
    command, chance = Command(tmp_path), random.Random(kills)
    known: set[tuple[str, str]] = set()
    for _ in range(kills):
        kill_at_random(command, chance, whole=True)
        now = command.kept()
        assert known <= now, "an answer was lost"
        known = now
    found = command.result()
    assert statuses(found) == EXPECTED
    assert found["complete"]


@pytest.mark.parametrize("kills", [2, pytest.param(50, marks=pytest.mark.long)])
def test_killed_workers_are_replaced(tmp_path: Path, kills: int) -> None:
    """A question whose process dies is asked once more. If that dies too, this is the answer, unless it is retried."""
    command, chance = Command(tmp_path), random.Random(kills)
    for _ in range(kills):
        kill_at_random(command, chance, whole=False)
    command.words += ["--retry", "unknown"]
    assert statuses(command.result()) == EXPECTED


def test_two_commands_on_one_store(tmp_path: Path) -> None:
    command = Command(tmp_path)
    runs = [command.start(), command.start()]
    for run in runs:
        assert statuses(json.loads(run.communicate()[0])) == EXPECTED
