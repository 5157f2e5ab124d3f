"""One instruction on Unicorn, QEMU's CPU model."""

from __future__ import annotations

from typing import Any

from isoform.check.unicorn_x86 import MISTAKEN_INSTRUCTIONS, RIP_RELATIVE_MISTAKEN
from semantics.encoding import CODE_ADDRESS, DATA_ADDRESS, DATA_SIZE, GENERAL, Template
from semantics.state import FLAGS, VECTORS, State

_FLAG_BITS = {"cf": 0, "pf": 2, "zf": 6, "sf": 7, "df": 10, "of": 11}
_FAULTS = {0: "division fault", 3: "trap", 6: "undefined instruction"}
_LOW_HALF = (1 << 128) - 1
_REPEAT_LIMIT = 64
_TWO_NANS = frozenset(
    {f"{name}{suffix}" for name in ("ADD", "SUB", "MUL", "DIV") for suffix in ("SS", "SD", "PS", "PD")}
    | {f"{name}{suffix}" for name in ("HADD", "HSUB", "ADDSUB") for suffix in ("PS", "PD")}
)
"""Of two NaNs it takes the one with the larger payload rather than the first. Replays are not refused for it: results
that are NaNs count as the same, and where one is stored and the model disagrees the verdict is `unknown`."""

_UNKNOWN = ("SHA1", "SHA256")
"""Starts of names that are undefined instructions to it."""


def is_mistaken(template: Template) -> bool:
    """What QEMU's model gets wrong, as real processors show."""
    name = template.mnemonic
    # Vector instructions in VEX encoding run with their legacy meaning.
    if name.startswith(("V", *_UNKNOWN)) or name.lower() in MISTAKEN_INSTRUCTIONS or name in _TWO_NANS:
        return True
    # An address relative to rip is off by the length of the immediate.
    if name.lower() in RIP_RELATIVE_MISTAKEN and template.memory and "Ib" in template.operands:
        return True
    # The flags after a locked NEG are those of another value.
    return name == "NEG" and template.prefix == b"\xf0"


class UnicornOracle:
    name = "unicorn"

    def __init__(self) -> None:
        import unicorn
        from unicorn import x86_const

        self._unicorn = unicorn
        self._machine: Any = unicorn.Uc(unicorn.UC_ARCH_X86, unicorn.UC_MODE_64)
        self._machine.ctl_set_cpu_model(x86_const.UC_CPU_X86_SKYLAKE_SERVER)
        self._machine.mem_map(DATA_ADDRESS, DATA_SIZE)
        self._machine.mem_map(CODE_ADDRESS, 0x1000)
        self._machine.hook_add(unicorn.UC_HOOK_INTR, self._on_interrupt)
        names = (*GENERAL, "rip", "eflags", *(f"xmm{n}" for n in VECTORS))
        self._numbers = {name: getattr(x86_const, f"UC_X86_REG_{name.upper()}") for name in names}
        self._pristine = self._machine.context_save()
        self._fault = ""

    def knows(self, template: Template) -> bool:
        return not is_mistaken(template)

    def run(self, code: bytes, state: State, branch: bool) -> State:
        self._machine.ctl_flush_tb()
        self._machine.context_restore(self._pristine)  # an exception leaves a trace that changes the next one
        self._machine.mem_write(CODE_ADDRESS, code)
        self._machine.mem_write(DATA_ADDRESS, state.memory)
        for name in GENERAL:
            self._set(name, state.general[name])
        self._set("eflags", 0x202 | sum(state.flags[name] << bit for name, bit in _FLAG_BITS.items()))
        for number in VECTORS:
            self._set(f"xmm{number}", state.vectors[number] & _LOW_HALF)
        self._fault = ""
        self._start(len(code), branch)
        return self._after(state)

    def _start(self, length: int, branch: bool) -> None:
        count = 1 if branch else _REPEAT_LIMIT
        try:
            self._machine.emu_start(CODE_ADDRESS, CODE_ADDRESS + length, count=count)
        except self._unicorn.UcError as error:
            if not self._fault and not (branch and error.errno == self._unicorn.UC_ERR_FETCH_UNMAPPED):
                invalid = error.errno == self._unicorn.UC_ERR_INSN_INVALID
                unmapped = (self._unicorn.UC_ERR_READ_UNMAPPED, self._unicorn.UC_ERR_WRITE_UNMAPPED)
                memory = "memory" if error.errno in unmapped else str(error)
                self._fault = "undefined instruction" if invalid else memory

    def _on_interrupt(self, _machine: Any, number: int, _data: Any) -> None:
        self._fault = _FAULTS.get(number, f"interrupt {number}")
        self._machine.emu_stop()

    def _after(self, before: State) -> State:
        flags = self._get("eflags")
        halves = [self._get(f"xmm{n}") for n in VECTORS]
        return State(
            {name: self._get(name) for name in GENERAL},
            {name: flags >> bit & 1 for name, bit in _FLAG_BITS.items() if name in FLAGS},
            [before.vectors[n] & ~_LOW_HALF | halves[n] for n in VECTORS],
            bytes(self._machine.mem_read(DATA_ADDRESS, DATA_SIZE)),
            self._get("rip"),
            self._fault,
        )

    def _get(self, name: str) -> int:
        return int(self._machine.reg_read(self._numbers[name]))

    def _set(self, name: str, value: int) -> None:
        self._machine.reg_write(self._numbers[name], value)
