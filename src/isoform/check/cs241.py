"""A plain interpreter of the cs241 machine, written from its instruction table (docs/machines/cs241.md) and
sharing no code with the lifter, so that a witness can be replayed on something independent.

It fetches every word from memory, so a program that writes its own code runs what it wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from isoform.check.stepped import Stepped
from isoform.load.image import Image
from isoform.model.outcome import RETURN_ADDRESS, Inputs, Outcome, Status

_MEMORY_END = 0x0100_0000
_HOME = 0x8123_456C
_MODULUS = 1 << 32

# The instruction table as the reference sheet prints it: s, t, d and i are operand bits.
_TABLE = {
    "add": "000000ssssstttttddddd00000100000",
    "sub": "000000ssssstttttddddd00000100010",
    "mult": "000000sssssttttt0000000000011000",
    "multu": "000000sssssttttt0000000000011001",
    "div": "000000sssssttttt0000000000011010",
    "divu": "000000sssssttttt0000000000011011",
    "mfhi": "0000000000000000ddddd00000010000",
    "mflo": "0000000000000000ddddd00000010010",
    "lis": "0000000000000000ddddd00000010100",
    "lw": "100011ssssstttttiiiiiiiiiiiiiiii",
    "sw": "101011ssssstttttiiiiiiiiiiiiiiii",
    "slt": "000000ssssstttttddddd00000101010",
    "sltu": "000000ssssstttttddddd00000101011",
    "beq": "000100ssssstttttiiiiiiiiiiiiiiii",
    "bne": "000101ssssstttttiiiiiiiiiiiiiiii",
    "jr": "000000sssss000000000000000001000",
    "jalr": "000000sssss000000000000000001001",
}
_PATTERNS = tuple(
    (
        name,
        int("".join("1" if bit in "01" else "0" for bit in pattern), 2),
        int("".join(bit if bit in "01" else "0" for bit in pattern), 2),
    )
    for name, pattern in _TABLE.items()
)


class _FaultError(Exception):
    """An instruction that cannot complete; the message is the reason of the abort."""


def _signed(value: int) -> int:
    return value - _MODULUS if value >= 1 << 31 else value


def _quotient_and_remainder(dividend: int, divisor: int) -> tuple[int, int]:
    """As in C: the quotient is cut towards zero and the remainder has the dividend's sign."""
    if divisor == 0:
        raise _FaultError("division fault")
    quotient = abs(dividend) // abs(divisor)
    if (dividend < 0) != (divisor < 0):
        quotient = -quotient
    return quotient, dividend - quotient * divisor


class _Cs241:
    def __init__(self, image: Image, inputs: Inputs) -> None:
        self.registers = [0] * 32
        self.registers[1] = inputs.registers.get("$1", 0) % _MODULUS
        self.registers[2] = inputs.registers.get("$2", 0) % _MODULUS
        self.registers[30] = _MEMORY_END
        self.registers[31] = _HOME
        self.hi = self.lo = 0
        self.pc = 0
        self.memory: dict[int, int] = {}
        """Words by address; all others are zero."""
        self.program = range(0)
        for section in image.sections:
            self._place(section.address, section.data)
            if section.executable:
                self.program = range(section.address, section.end)

    def _place(self, start: int, data: bytes) -> None:
        padded = data + bytes(-len(data) % 4)
        for offset in range(0, len(padded), 4):
            self.memory[start + offset] = int.from_bytes(padded[offset : offset + 4], "big")

    def step(self) -> None:
        if self.pc % 4 or self.pc >= _MEMORY_END:
            raise _FaultError("jump outside the program")
        word = self.memory.get(self.pc, 0)
        names = [name for name, mask, value in _PATTERNS if word & mask == value]
        if not names:
            raise _FaultError("invalid instruction" if self.pc in self.program else "jump outside the program")
        self.pc += 4
        _EXECUTE[names[0]](self, word)

    def set(self, register: int, value: int) -> None:
        if register != 0:
            self.registers[register] = value % _MODULUS

    def s(self, word: int) -> int:
        return self.registers[word >> 21 & 31]

    def t(self, word: int) -> int:
        return self.registers[word >> 16 & 31]

    def set_t(self, word: int, value: int) -> None:
        self.set(word >> 16 & 31, value)

    def set_d(self, word: int, value: int) -> None:
        self.set(word >> 11 & 31, value)

    def address(self, word: int) -> int:
        address = (self.s(word) + _offset(word)) % _MODULUS
        if address % 4:
            raise _FaultError("unaligned access")
        if address >= _MEMORY_END:
            raise _FaultError("access outside memory")
        return address


def _offset(word: int) -> int:
    low = word % 0x1_0000
    return low - 0x1_0000 if low >= 0x8000 else low


def _add(cpu: _Cs241, word: int) -> None:
    cpu.set_d(word, cpu.s(word) + cpu.t(word))


def _sub(cpu: _Cs241, word: int) -> None:
    cpu.set_d(word, cpu.s(word) - cpu.t(word))


def _set_product(cpu: _Cs241, product: int) -> None:
    cpu.hi = (product >> 32) % _MODULUS
    cpu.lo = product % _MODULUS


def _mult(cpu: _Cs241, word: int) -> None:
    _set_product(cpu, _signed(cpu.s(word)) * _signed(cpu.t(word)))


def _multu(cpu: _Cs241, word: int) -> None:
    _set_product(cpu, cpu.s(word) * cpu.t(word))


def _div(cpu: _Cs241, word: int) -> None:
    quotient, remainder = _quotient_and_remainder(_signed(cpu.s(word)), _signed(cpu.t(word)))
    cpu.lo, cpu.hi = quotient % _MODULUS, remainder % _MODULUS


def _divu(cpu: _Cs241, word: int) -> None:
    cpu.lo, cpu.hi = _quotient_and_remainder(cpu.s(word), cpu.t(word))


def _mfhi(cpu: _Cs241, word: int) -> None:
    cpu.set_d(word, cpu.hi)


def _mflo(cpu: _Cs241, word: int) -> None:
    cpu.set_d(word, cpu.lo)


def _lis(cpu: _Cs241, word: int) -> None:
    if cpu.pc >= _MEMORY_END:
        raise _FaultError("invalid instruction")
    cpu.set_d(word, cpu.memory.get(cpu.pc, 0))
    cpu.pc += 4


def _lw(cpu: _Cs241, word: int) -> None:
    cpu.set_t(word, cpu.memory.get(cpu.address(word), 0))


def _sw(cpu: _Cs241, word: int) -> None:
    cpu.memory[cpu.address(word)] = cpu.t(word)


def _slt(cpu: _Cs241, word: int) -> None:
    cpu.set_d(word, 1 if _signed(cpu.s(word)) < _signed(cpu.t(word)) else 0)


def _sltu(cpu: _Cs241, word: int) -> None:
    cpu.set_d(word, 1 if cpu.s(word) < cpu.t(word) else 0)


def _branch(cpu: _Cs241, word: int) -> None:
    cpu.pc = (cpu.pc + 4 * _offset(word)) % _MODULUS


def _beq(cpu: _Cs241, word: int) -> None:
    if cpu.s(word) == cpu.t(word):
        _branch(cpu, word)


def _bne(cpu: _Cs241, word: int) -> None:
    if cpu.s(word) != cpu.t(word):
        _branch(cpu, word)


def _jr(cpu: _Cs241, word: int) -> None:
    cpu.pc = cpu.s(word)


def _jalr(cpu: _Cs241, word: int) -> None:
    target = cpu.s(word)
    cpu.set(31, cpu.pc)
    cpu.pc = target


_EXECUTE: dict[str, Callable[[_Cs241, int], None]] = {
    "add": _add,
    "sub": _sub,
    "mult": _mult,
    "multu": _multu,
    "div": _div,
    "divu": _divu,
    "mfhi": _mfhi,
    "mflo": _mflo,
    "lis": _lis,
    "lw": _lw,
    "sw": _sw,
    "slt": _slt,
    "sltu": _sltu,
    "beq": _beq,
    "bne": _bne,
    "jr": _jr,
    "jalr": _jalr,
}


def run(image: Image, entry: int, inputs: Inputs, fuel: int, trace: bool = False) -> Outcome:
    """Run the program at `entry`. Only `$1` and `$2` are inputs. Memory starts as the program and zeros, whatever
    `inputs` holds, and is not part of the outcome."""
    cpu = _Cs241(image, inputs)
    cpu.pc = entry
    visited: list[int] = []
    steps = 0
    fault = ""
    while steps < fuel and cpu.pc != _HOME and not fault:
        if trace:
            visited.append(cpu.pc)
        steps += 1
        try:
            cpu.step()
        except _FaultError as reason:
            fault = str(reason)
    return _outcome(cpu, fault, steps, tuple(visited))


def execute_one(image: Image, address: int, registers: Mapping[str, int]) -> Stepped:
    """The instruction at `address` from any state of the registers, with memory as the image has it."""
    cpu = _Cs241(image, Inputs({}))
    cpu.registers = [registers[f"${number}"] for number in range(32)]
    cpu.hi, cpu.lo, cpu.pc = registers["hi"], registers["lo"], address
    before = dict(cpu.memory)
    fault = ""
    try:
        cpu.step()
    except _FaultError as reason:
        fault = str(reason)
    after = {f"${number}": value for number, value in enumerate(cpu.registers)} | {"hi": cpu.hi, "lo": cpu.lo}
    stored = {at + n: byte for at in cpu.memory.keys() - before for n, byte in enumerate(_word_bytes(cpu.memory[at]))}
    for at, word in before.items():
        if cpu.memory[at] != word:
            stored |= {at + n: byte for n, byte in enumerate(_word_bytes(cpu.memory[at]))}
    return Stepped(after, stored, cpu.pc, fault)


def _word_bytes(word: int) -> bytes:
    return word.to_bytes(4, "big")


def _outcome(cpu: _Cs241, fault: str, steps: int, visited: tuple[int, ...]) -> Outcome:
    if fault:
        status = Status.ABORTED
    else:
        status = Status.DONE if cpu.pc == _HOME else Status.OUT_OF_FUEL
    registers = {f"${number}": value for number, value in enumerate(cpu.registers)}
    return Outcome(
        status,
        reason=fault,
        registers=registers | {"hi": cpu.hi, "lo": cpu.lo},
        return_target=RETURN_ADDRESS if status is Status.DONE else 0,
        steps=steps,
        trace=visited,
    )
