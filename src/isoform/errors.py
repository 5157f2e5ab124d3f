"""The two ways a question can fail to be answered, kept apart from each other and from bugs."""

from __future__ import annotations


class UserError(Exception):
    """The user can mend this. The message is one sentence that names the argument and the fix (exit code 2)."""


class Unsupported(Exception):
    """isoform cannot answer this question. Becomes an `unknown` verdict, in the ladder and nowhere else."""
