"""A PostgreSQL server of the tests' own: its data in a temporary folder, reached by a socket there."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

_PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
"""Where Debian puts what is not for everybody's path."""
_UNSAFE_BUT_QUICK = "-c fsync=off -c listen_addresses="


def program(name: str) -> str | None:
    places = os.pathsep.join([os.environ.get("PATH", ""), *map(str, _PLACES)])
    return shutil.which(name, path=places)


class Server:
    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="isoform-pg-")
        self._owner = _owner()
        if self._owner is not None:
            os.chown(self._folder, self._owner, -1)
        self._data = f"{self._folder}/data"
        self._run("initdb", "-D", self._data, "-U", "isoform", "-A", "trust", "-N", "-E", "UTF8", "--locale=C")
        self._made = 0
        self.start()

    def start(self) -> None:
        options = f"{_UNSAFE_BUT_QUICK} -k {self._folder}"
        self._run("pg_ctl", "-D", self._data, "-w", "-l", f"{self._folder}/log", "-o", options, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", self._data, "-w", "-m", "immediate", "stop")

    def end(self) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def new_database(self) -> str:
        """Its URL."""
        self._made += 1
        name = f"store{self._made}"
        self._run("createdb", "-h", self._folder, "-U", "isoform", name)
        return f"postgresql://isoform@/{name}?host={self._folder}"

    def _run(self, name: str, *words: str) -> None:
        found = program(name)
        assert found is not None
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
        subprocess.run(
            [found, *words],
            check=True,
            user=self._owner,
            cwd="/",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=120,
        )


def _owner() -> int | None:
    """PostgreSQL does not run as root."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_uid
        except KeyError:
            continue
    return 65534
