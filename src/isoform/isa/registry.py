"""The machines isoform knows, by the word of `--isa`. A further machine is one more line."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from isoform.model.errors import UserError
from isoform.model.machine import Machine

_MODULES = {
    "x86_64": "isoform.isa.x86_64.machine",
    "toy": "isoform.isa.toy.machine",
    "cs241": "isoform.isa.cs241.machine",
}


@cache
def machine(name: str) -> Machine:
    if name not in _MODULES:
        raise UserError(f"isoform knows no machine '{name}': --isa takes one of {', '.join(_MODULES)}.")
    found = import_module(_MODULES[name]).MACHINE
    assert isinstance(found, Machine)
    return found


def machine_names() -> tuple[str, ...]:
    return tuple(_MODULES)
