"""The machines isoform knows, by the word of `--isa`. A further machine is one more line."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module

from isoform.model.assembled import Assembled
from isoform.model.errors import UserError
from isoform.model.linkage import Linkage
from isoform.model.machine import Machine, Order
from isoform.model.values import dataclass
from isoform.model.wrapper import Wrapper

DEFAULT = "x86_64"
"""What C is compiled for."""


@dataclass(frozen=True)
class _Listed:
    """What is known about a machine before anything of it is imported."""

    elf: int = 0
    """Its number in the header of 64-bit little-endian ELF files."""
    suffix: str = ""
    """Suffix of assembly files, if isoform itself assembles them."""
    byte_order: Order = "little"
    target: str = ""
    """The name that zig's clang has for it, and the flags that restrict it to what isoform reads."""


_MACHINES = {
    "x86_64": _Listed(elf=62, target="x86_64-linux-gnu"),
    "riscv64": _Listed(elf=243, target="riscv64-linux-musl -mcpu=generic_rv64+m+c -mno-relax"),
    "toy": _Listed(suffix=".toy"),
    "cs241": _Listed(suffix=".asm", byte_order="big"),
}

TEXT_ISAS = {listed.suffix: name for name, listed in _MACHINES.items() if listed.suffix}
ELF_ISAS = {listed.elf: name for name, listed in _MACHINES.items() if listed.elf}
TARGETS = {name: listed.target for name, listed in _MACHINES.items() if listed.target}
ELF_TITLES = {
    3: "32-bit x86",
    8: "MIPS",
    21: "64-bit PowerPC",
    22: "s390",
    40: "32-bit Arm",
    62: "x86-64",
    183: "AArch64",
    243: "RISC-V",
    247: "eBPF",
}
"""Machines of ELF files, for messages."""


@cache
def machine(name: str) -> Machine:
    if name not in _MACHINES:
        raise UserError(f"isoform knows no machine '{name}': --isa takes one of {', '.join(_MACHINES)}.")
    found = import_module(f"isoform.isa.{name}.machine").MACHINE
    assert isinstance(found, Machine)
    return found


def assembler(name: str) -> Callable[[str, str], Assembled]:
    """The function that assembles a text, which it gets with the name of its file, for one of the small machines."""
    found: Callable[[str, str], Assembled] = import_module(f"isoform.isa.{name}.assembler").assemble
    return found


@cache
def wrapper_code(name: str) -> Callable[[Wrapper, int, int], bytes] | None:
    """What makes the machine code of a wrapper; None where nothing does."""
    try:
        found: Callable[[Wrapper, int, int], bytes] = import_module(f"isoform.isa.{name}.wrapper").wrapper_code
    except ModuleNotFoundError:
        return None
    return found


@cache
def linkage(name: str) -> Linkage:
    """How object files of a machine are loaded."""
    found = import_module(f"isoform.isa.{name}.linkage").LINKAGE
    assert isinstance(found, Linkage)
    return found


def byte_order(name: str) -> Order:
    return _MACHINES[name].byte_order


def require_machine(name: str) -> None:
    """For options, which are checked when they are made."""
    if name not in _MACHINES:
        raise ValueError(f"isa must be one of {', '.join(map(repr, _MACHINES))}, not {name!r}")


def machine_names() -> tuple[str, ...]:
    return tuple(_MACHINES)
