"""`isoform diff` with its answers in a PostgreSQL database that is restarted meanwhile."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from postgres import Server
from stores import server

__all__ = ["server"]

FUNCTIONS = 4
OLD = "".join(f"int f{n}(int x) {{ return x * {2 * n + 2}; }}\n" for n in range(FUNCTIONS))
NEW = "".join(f"int f{n}(int x) {{ return (x * {n + 1}) << 1; }}\n" for n in range(FUNCTIONS))


def test_a_restart_in_the_middle(server: Server, tmp_path: Path) -> None:
    for name, text in (("old", OLD), ("new", NEW)):
        (tmp_path / f"{name}.c").write_text(text)
        subprocess.run(["cc", "-c", "-O0", f"{name}.c", "-o", f"{name}.o"], check=True, cwd=tmp_path)
    words = ["diff", "old.o", "new.o", "--json", "-j", "1", "--budget", "5", "--store", server.new_database()]
    command = [sys.executable, "-m", "isoform", *words]
    run = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    for _ in range(3):
        time.sleep(0.7)
        server.stop()
        time.sleep(0.2)
        server.start()
    found = json.loads(run.communicate()[0])
    assert {row["status"] for row in found["functions"]} == {"equivalent"}, found
    again = json.loads(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout)
    assert all(row["kept"] for row in again["functions"])
