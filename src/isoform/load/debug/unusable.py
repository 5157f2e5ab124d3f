"""Raised if debug information says nothing that isoform can use."""

from __future__ import annotations


class Unusable(Exception):
    """This entry says nothing that isoform can use."""
