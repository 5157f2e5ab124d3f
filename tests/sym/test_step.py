"""Reading what micro-ops read."""

from __future__ import annotations

from typing import Any, cast

import pytest

from isoform.model.microop import Space, Var
from isoform.sym.step import UnwrittenTempError, read


def test_a_temporary_that_was_not_written_is_no_missing_key() -> None:
    """Where execution begins inside an instruction, that is not supported; any other missing key is a bug."""
    value = cast(Any, "a term")
    state = cast(Any, None)
    assert read(state, {7: value}, Var(Space.TEMP, 7, 8)) == value
    with pytest.raises(UnwrittenTempError):
        read(state, {7: value}, Var(Space.TEMP, 8, 8))
