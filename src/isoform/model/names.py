"""Names of functions as their authors wrote them: `ns::f(int)` for `_ZN2ns1fEi`."""

from __future__ import annotations

import re
from functools import lru_cache

LONGEST_MANGLED = 4_000
"""Characters. Names come from untrusted files, and the library that reads them recurses."""
MOST_BACK_REFERENCES = 32
"""A name may refer to its own parts, and these to theirs, so its text can grow exponentially with the number of such
references: with 32 of them to about 100,000 parts."""
_MANGLED = ("_Z", "__Z", "_R")
_BACK_REFERENCE = re.compile(r"[ST][0-9A-Z]*_")
_IN_PROTOTYPE = re.compile(r"\b_Z\w+(?=\()")
_CLONE = re.compile(r" \((\.[\w.]+)\)$")
"""What a compiler adds to the name of a copy or a part of a function, as the library shows it."""


@lru_cache(maxsize=1 << 16)
def shown_name(name: str) -> str:
    """The name for people. C names, and what cannot be read as a C++ or Rust name, stay as they are; a version
    (`@VERSION`) and the suffix of a clone (`.part.0`) are kept."""
    if not name.startswith(_MANGLED):
        return name
    mangled, at, version = name.partition("@")
    if len(mangled) > LONGEST_MANGLED or len(_BACK_REFERENCE.findall(mangled)) > MOST_BACK_REFERENCES:
        return name
    import pydemumble

    found = str(pydemumble.demangle(mangled))
    if not found or not found.isprintable():
        return name
    return _CLONE.sub(r" [\1]", found) + at + version


def with_shown_names(text: str) -> str:
    """A text with prototypes in it: `int ns::f(int x)` for `int _ZN2ns1fEi(int x)`."""
    return _IN_PROTOTYPE.sub(lambda found: without_parameters(shown_name(found[0])), text)


def without_spaces(shown: str) -> str:
    return "".join(shown.split())


def without_parameters(shown: str) -> str:
    """`ns::f` of `int ns::f<int>(int) const`, with its template arguments and without the result."""
    end = _parameters(shown)
    name = shown if end is None else shown[:end]
    return name[_start_of_name(name) :]


def spellings(name: str) -> tuple[str, ...]:
    """A symbol, and if it is a C++ name also what people write: with parameters and without, blanks aside."""
    shown = shown_name(name)
    if shown == name:
        return (name,)
    return name, without_spaces(shown), without_spaces(without_parameters(shown))


def _parameters(shown: str) -> int | None:
    """Where the list of parameters begins: the last opening parenthesis outside of angle brackets that ends a name."""
    close = shown.rfind(")")
    depth = 0
    for at in range(close, -1, -1):
        depth += {")": 1, "(": -1}.get(shown[at], 0)
        if depth == 0:
            return at or None
    return None


def _start_of_name(name: str) -> int:
    """After the result type, which template functions have: what follows the last blank that is in no brackets. The
    name of an operator has blanks itself."""
    operator = name.find("operator")
    depth, start = 0, 0
    for at, letter in enumerate(name[: operator if operator >= 0 else len(name)]):
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(letter, 0)
        if letter == " " and depth == 0:
            start = at + 1
    return start
