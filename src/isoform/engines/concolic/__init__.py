"""The concolic engine: see `search.py`."""

from isoform.engines.concolic.engine import Concolic
from isoform.engines.concolic.search import Search

__all__ = ["Concolic", "Search"]
