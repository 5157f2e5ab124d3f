"""What is raised where debug information says nothing."""

from __future__ import annotations


class Unusable(Exception):
    """This entry says nothing isoform can use."""
