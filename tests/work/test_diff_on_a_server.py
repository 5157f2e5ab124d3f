"""`isoform diff` with its answers in a PostgreSQL database that is restarted meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from postgres import Server
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError
from stores import server

__all__ = ["server"]

FUNCTIONS = 4
OLD = "".join(f"int f{n}(int x) {{ return x * {2 * n + 2}; }}\n" for n in range(FUNCTIONS))
NEW = "".join(f"int f{n}(int x) {{ return (x * {n + 1}) << 1; }}\n" for n in range(FUNCTIONS))


def answered(url: str) -> int:
    """How many answers are in the store."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    try:
        with engine.connect() as connection:
            return int(connection.execute(text("SELECT count(*) FROM isoform_answers")).scalar_one())
    except DBAPIError:
        return 0  # the tables are not there yet
    finally:
        engine.dispose()


def test_a_restart_in_the_middle(server: Server, tmp_path: Path) -> None:
    """The server is stopped while some questions are answered, and others are not: the command, and all processes that
    it has started, stand still until the server is back."""
    for name, source in (("old", OLD), ("new", NEW)):
        (tmp_path / f"{name}.c").write_text(source)
        subprocess.run(["cc", "-c", "-O0", f"{name}.c", "-o", f"{name}.o"], check=True, cwd=tmp_path)
    url = server.new_database()
    words = ["diff", "old.o", "new.o", "--json", "-j", "1", "--budget", "5", "--store", url]
    command = [sys.executable, "-m", "isoform", *words]
    run = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, start_new_session=True)
    before: list[int] = []
    for _ in range(2):
        while answered(url) <= max(before, default=0):
            assert run.poll() is None
            time.sleep(0.02)
        os.killpg(run.pid, signal.SIGSTOP)
        before.append(answered(url))
        server.stop()
        server.start()
        os.killpg(run.pid, signal.SIGCONT)
    found = json.loads(run.communicate()[0])
    assert {row["status"] for row in found["functions"]} == {"equivalent"}, found
    after = answered(url)
    assert 0 < before[0] < before[1] < after - 1, (before, after)  # the last one is the whole comparison
    again = json.loads(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout)
    assert all(row["kept"] for row in again["functions"])
