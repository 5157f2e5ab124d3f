"""What isoform knows about a library function, by its name.

A name means the library's function only if nothing says otherwise: see `borders/library.is_library`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

from isoform.model.library_function import LibraryFunction
from isoform.model.library_table import TABLE

HELPERS = ("__x86_", "__llvm_", "__morestack", "__fentry__", "mcount", "_mcount", "__rust_probestack", "__xray_")
"""Prefixes of the names of helpers that compilers call with arguments, results or return addresses in places of their
own: retpolines and return thunks, stacks that grow, profiling at entry."""


def library_function(name: str) -> LibraryFunction:
    """What is known about the library function with this name; only the name if the table does not have it."""
    return _in_table(name) if name in _entries() else LibraryFunction(name)


@cache
def _in_table(name: str) -> LibraryFunction:
    like, prototype = _entries()[name]
    return replace(like, name=name, prototype=prototype)


def in_table_order(names: Iterable[str]) -> list[str]:
    """Those of these names that the table has."""
    order = {name: place for place, name in enumerate(_entries())}
    return sorted((name for name in names if name in order), key=order.__getitem__)


def every_library_function() -> Iterator[LibraryFunction]:
    return map(_in_table, _entries())


def is_reserved(name: str) -> bool:
    """Whether C reserves the name for the implementation: that it means the library's function needs no assumption."""
    return name.startswith("__") or (name[:1] == "_" and name[1:2].isupper())


@cache
def _entries() -> dict[str, tuple[LibraryFunction, str]]:
    """By name: the properties of its group, and its prototype."""
    found: dict[str, tuple[LibraryFunction, str]] = {}
    for like, text in TABLE:
        for line in text.strip().split("\n"):
            declared = _NAME.match(line)
            if declared is not None:
                found[declared[1]] = like, line
            else:
                found.update(dict.fromkeys(line.split(), (like, "")))
    return found


_NAME = re.compile(r"[\w *]*?[ *](\w+)\(")
