"""A PostgreSQL server of the tests' own: its data in a temporary folder, reached by a socket there."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

_PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
"""Where Debian puts what is not for everybody's path."""
_UNSAFE_BUT_QUICK = ("-c", "fsync=off", "-c", "listen_addresses=")


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
        """Until it answers. It is our own child, so that nothing else has to notice its end."""
        command = [_found("postgres"), "-D", self._data, "-k", self._folder, *_UNSAFE_BUT_QUICK]
        self._process = subprocess.Popen(
            command, user=self._owner, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 60
        while subprocess.run([_found("pg_isready"), "-q", "-h", self._folder], check=False).returncode != 0:
            assert self._process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def stop(self) -> None:
        """At once, as in a crash: the next start recovers."""
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait(60)

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
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
        subprocess.run(
            [_found(name), *words],
            check=True,
            user=self._owner,
            cwd="/",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=120,
        )


def _found(name: str) -> str:
    found = program(name)
    assert found is not None
    return found


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
