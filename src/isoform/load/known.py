"""Signatures of library functions, for calls to code that is not present."""

from __future__ import annotations

from functools import cache

from isoform.model.library import library_function
from isoform.model.signature import Signature

_COMPLEX = {"complex_double": "struct complex_double { double real, imag; }; "}
"""A complex number is returned like a structure of two parts."""


def known_signature(name: str) -> Signature | None:
    """The signature of a library function; None if it is not known."""
    prototype = library_function(name).prototype
    return _parsed(prototype) if prototype else None


@cache
def _parsed(prototype: str) -> Signature:
    from isoform.load.prototype import parse_prototype

    return parse_prototype(_COMPLEX.get(prototype.split()[1], "") + prototype)
