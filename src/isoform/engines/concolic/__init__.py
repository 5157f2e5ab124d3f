"""The concolic engine: see `engine.py`."""

from isoform.engines.concolic.engine import Concolic, Finding, WithinPaths

__all__ = ["Concolic", "Finding", "WithinPaths"]
