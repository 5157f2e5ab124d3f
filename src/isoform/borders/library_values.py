"""What library functions give for concrete arguments: the real values with which a witness is recomputed."""

from __future__ import annotations

from collections.abc import Mapping

from isoform.borders.library_floats import FLOATS
from isoform.borders.library_integers import INTEGERS, Value
from isoform.borders.library_texts import TEXTS


def _constant(number: int) -> Value:
    return lambda a, read: (number,)


_STATE = 0x7F00_0000_0000
"""Where the library keeps what it gives the address of: away from all that a test makes up."""

VALUES: Mapping[str, Value] = {
    **FLOATS,
    **INTEGERS,
    **TEXTS,
    "__errno_location": _constant(_STATE),
    "__ctype_b_loc": _constant(_STATE + 0x1000),
    "__ctype_tolower_loc": _constant(_STATE + 0x1008),
    "__ctype_toupper_loc": _constant(_STATE + 0x1010),
}
"""By name."""
