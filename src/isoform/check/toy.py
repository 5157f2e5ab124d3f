"""A plain interpreter of the toy machine, written from its description (docs/machines/toy.md) and sharing no
code with the lifter, so that a witness can be replayed on something independent."""

from __future__ import annotations

from collections.abc import Mapping

from isoform.check.stepped import Stepped
from isoform.load.image import Image
from isoform.model.outcome import RETURN_ADDRESS, Inputs, Outcome, Status

_SIGN = 1 << 31
_MODULUS = 1 << 32


def _signed(value: int) -> int:
    return (value ^ _SIGN) - _SIGN


class _Toy:
    def __init__(self, program: bytes, argument: int) -> None:
        self.program = program
        self.registers = [argument % _MODULUS, 0, 0, 0]
        self.position = 0
        self.returned: int | None = None
        self.fault = ""

    def step(self) -> None:
        """Execute one instruction, or set `fault`."""
        at = self.position
        instruction = self.program[at : at + 8] if at >= 0 else b""
        if not instruction:
            self.fault = "jump outside the program"
            return
        if len(instruction) < 8 or instruction[0] > 15 or instruction[1] > 3 or instruction[2] > 3:
            self.fault = "invalid instruction"
            return
        self.position = at + 8
        self._execute(
            instruction[0], instruction[1], instruction[2], int.from_bytes(instruction[4:8], "little", signed=True)
        )

    def _execute(self, opcode: int, x: int, y: int, number: int) -> None:
        left, right = _signed(self.registers[x]), _signed(self.registers[y])
        match opcode:
            case 0:
                pass
            case 1:
                self._set(x, left + right)
            case 2:
                self._set(x, left + number)
            case 3:
                self._set(x, right)
            case 4:
                self._set(x, number)
            case 5:
                self._set(x, max(left, right))
            case 6:
                self._set(x, max(left, number))
            case 7:
                self._skip(True, number)
            case 8:
                self._skip(left == right, number)
            case 9:
                self._skip(left > right, number)
            case 10:
                self._skip(left >= right, number)
            case 11:
                self._skip(left < right, number)
            case 12:
                self._skip(left <= right, number)
            case 13 | 14:
                self.returned = left % _MODULUS
            case _:
                self.returned = number % _MODULUS

    def _set(self, register: int, value: int) -> None:
        self.registers[register] = value % _MODULUS

    def _skip(self, taken: bool, offset: int) -> None:
        if taken:
            self.position += 8 * offset


def run(image: Image, entry: int, inputs: Inputs, fuel: int, trace: bool = False) -> Outcome:
    """Run the program at `entry`. The only input is r0; the other registers start at 0."""
    section = image.section_at(entry)
    program = section.data if section is not None and section.executable else b""
    base = section.address if section is not None else 0
    machine = _Toy(program, inputs.registers.get("r0", 0))
    machine.position = entry - base
    visited: list[int] = []
    steps = 0
    while steps < fuel and machine.returned is None and not machine.fault:
        if trace:
            visited.append(base + machine.position)
        machine.step()
        steps += 1
    return _outcome(machine, steps, tuple(visited))


def execute_one(image: Image, address: int, registers: Mapping[str, int]) -> Stepped:
    """The instruction at `address` from any state of the registers."""
    section = image.section_at(address)
    assert section is not None
    machine = _Toy(section.data, 0)
    machine.registers = [registers[f"r{number}"] for number in range(4)]
    machine.position = address - section.address
    machine.step()
    after = {f"r{number}": value for number, value in enumerate(machine.registers)}
    if machine.returned is not None:
        return Stepped({**registers, **after, "out": machine.returned}, {}, None, machine.fault)
    return Stepped({**registers, **after}, {}, section.address + machine.position, machine.fault)


def _outcome(machine: _Toy, steps: int, visited: tuple[int, ...]) -> Outcome:
    if machine.fault:
        status = Status.ABORTED
    else:
        status = Status.OUT_OF_FUEL if machine.returned is None else Status.DONE
    registers = {f"r{number}": value for number, value in enumerate(machine.registers)}
    registers |= {"out": machine.returned or 0, "ra": RETURN_ADDRESS}
    return Outcome(
        status,
        reason=machine.fault,
        registers=registers,
        return_target=RETURN_ADDRESS if status is Status.DONE else 0,
        steps=steps,
        trace=visited,
    )
