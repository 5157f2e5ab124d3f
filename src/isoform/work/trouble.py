"""What a database complains about, as one sentence that names the store and what to do."""

from __future__ import annotations

from sqlalchemy.exc import DBAPIError

from isoform.model.errors import UserError


class StoreTrouble(UserError):
    """The store cannot be used, or not any more. What was kept before is still there."""


_SENTENCES = (
    ("readonly database", "can only be read: check its permissions, or name another"),
    ("unable to open database file", "cannot be opened: check that its folder is there and can be written"),
    ("disk is full", "cannot grow, because the disk is full: make room, and run the same command again"),
    ("file is not a database", "is not a store of isoform: name another file, or remove it"),
    ("malformed", "is damaged: remove it, or name another"),
    ("disk I/O error", "cannot be written (the disk is full, or broken): make room, and run the same command again"),
    ("database is locked", "is locked by another program: wait for it, or name another"),
    ("No space left on device", "cannot grow, because the disk is full: make room, and run the same command again"),
)
"""By what SQLite or PostgreSQL says."""


_UNREACHABLE = ("connection failed", "connection is bad", "connection refused", "server closed the connection")


def trouble(error: Exception, named: str) -> StoreTrouble:
    """`named` is the store as the user named it, without a password."""
    said = str(error.orig) if isinstance(error, DBAPIError) else str(error)
    for words, sentence in _SENTENCES:
        if words in said:
            return StoreTrouble(f"{named} {sentence}.")
    if any(words in said.lower() for words in _UNREACHABLE) and "FATAL" not in said:
        return StoreTrouble(f"{named} cannot be reached: check that the database runs there, or name another.")
    first = next((line.strip() for line in said.splitlines() if line.strip()), type(error).__name__)
    return StoreTrouble(f"{named} cannot be used: {first.rstrip('.')}.")
