"""Stores for the tests of `work`: a SQLite file, and a PostgreSQL database where that is installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from postgres import Server, program


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    if program("initdb") is None:
        pytest.skip("PostgreSQL is not installed")
    if find_spec("psycopg") is None:
        pytest.skip("psycopg is not installed")
    made = Server()
    yield made
    made.end()


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "store.sqlite")
    server: Server = request.getfixturevalue("server")
    return server.new_database()
