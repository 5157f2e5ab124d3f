"""The tables of a store, the same on SQLite and PostgreSQL."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, Index, Integer, MetaData, String, Table, Text

SCHEMA = "1"
"""Changes whenever a table does: a store of another schema is refused."""

metadata = MetaData()

notes = Table(
    "isoform_notes",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)
"""What the store is: `schema`, and `question` as JSON."""

answers = Table(
    "isoform_answers",
    metadata,
    Column("kind", String(64), primary_key=True),
    Column("key", String(128), primary_key=True),
    Column("ending", String(16), nullable=False),
    Column("result", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("is_final", Boolean, nullable=False),
    Column("effort", Float, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("versions", Text, nullable=False),
    Column("created", Float, nullable=False),
)
"""One row a question that was answered. `result` and `versions` are JSON, `created` is in seconds since 1970."""

claims = Table(
    "isoform_claims",
    metadata,
    Column("kind", String(64), primary_key=True),
    Column("key", String(128), primary_key=True),
    Column("run", String(32), nullable=False),
    Index("isoform_claims_by_run", "run"),
)
"""One row a question that a run is about to answer."""

runs = Table(
    "isoform_runs",
    metadata,
    Column("run", String(32), primary_key=True),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("started", String(32), nullable=False),
    Column("seen", Float, nullable=False),
)
"""One row a run that has the store open. `seen` is when it last said that it is there, by the store's clock."""
