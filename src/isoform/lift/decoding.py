"""Instructions of one lifting, each decoded once, with the linked addresses in them."""

from __future__ import annotations

from isoform.lift.addresses import with_addresses
from isoform.lift.thread import with_thread_pointer
from isoform.lift.weak import with_weak_addresses
from isoform.load.image import Image
from isoform.model.budget import Budget
from isoform.model.errors import Unsupported, UserError
from isoform.model.machine import Machine
from isoform.model.microop import Instruction, Kind, MicroOp

MOST_INSTRUCTIONS = 50_000
_MOST_FETCHED = 16
"""Bytes that a decoder gets at once, as `Image.code_at` returns them."""


class Decoding:
    """The instructions that one lifting reaches."""

    def __init__(self, image: Image, machine: Machine, name: str, budget: Budget | None = None) -> None:
        self.image = image
        self.machine = machine
        self.name = name
        self._budget = budget
        self.instructions: dict[int, Instruction] = {}
        self.guessed = False
        """Whether a jump table was followed. Its end is a guess, so bytes that are no instruction may have been decoded
        as one; an engine must then show that it is never reached."""

    def decode(self, address: int) -> Instruction:
        found = self.instructions.get(address)
        if found is None:
            found = self._decode(address)
            self.instructions[address] = found
        return found

    def _decode(self, address: int) -> Instruction:
        if len(self.instructions) >= MOST_INSTRUCTIONS:
            raise Unsupported(f"{self.name} has more than {MOST_INSTRUCTIONS} instructions")
        if len(self.instructions) % 256 == 0:
            self.spend()
        code = self.image.code_at(address)
        if self.machine.memory is not None and self.machine.memory.zeroed:
            # Zeros follow the program, so an instruction at its end may reach into them. Arriving in the zeros is a
            # fault of the program, unless it wrote there (`Function.writable_code`).
            return self.machine.decode(code and code.ljust(_MOST_FETCHED, b"\0"), address)
        if not code and self.guessed:
            return _nowhere(address)
        if not code:
            raise UserError(
                f"{self.name} in {self.image.path} runs off its code at {address:#x}: "
                "there are no instructions there; name a whole function."
            )
        instruction = with_addresses(self.machine, self.image, code, self.machine.decode(code, address))
        instruction = with_weak_addresses(instruction, self.image, self.machine)
        instruction = with_thread_pointer(instruction, self.image, self.machine)
        if instruction.length > len(code) and self.guessed:
            return _nowhere(address)
        if instruction.length > len(code):
            raise UserError(f"{self.name} in {self.image.path} ends in the middle of an instruction at {address:#x}.")
        if self.image.broken:
            for byte in range(address, instruction.next_address):
                if byte in self.image.broken:
                    raise Unsupported(f"{self.name} at {address:#x}: {self.image.broken[byte]}")
        return instruction

    def spend(self) -> None:
        if self._budget is not None:
            self._budget.require(f"lifting {self.name}")


def _nowhere(address: int) -> Instruction:
    """What stands where there is no code."""
    return Instruction(address, 1, "(no code)", (MicroOp(Kind.UNSUPPORTED, None, ()),))
