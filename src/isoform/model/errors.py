"""The reasons why a question is not answered, kept apart from each other and from bugs."""

from __future__ import annotations


class UserError(Exception):
    """The user can fix this. The message is one sentence that names the argument and the fix (exit code 2)."""


class Unsupported(Exception):
    """isoform cannot answer this question. Becomes an `unknown` verdict, in the ladder and nowhere else."""


class OutOfLimits(BaseException):
    """The question must end here and now: time, memory or the user's patience is exhausted. A timer raises it at any
    point of the work, so it is not an `Exception`: no code may mistake it for a failed attempt and continue."""
