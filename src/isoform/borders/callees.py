"""What outside functions take: where the arguments of a call are, by the callee's name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from isoform.borders.convention import place_signature
from isoform.contract import Argument, CallArguments, Contract, Place, SignatureSource
from isoform.lift.cfg import SELF
from isoform.lift.function import Call, Function
from isoform.load.known import known_signature
from isoform.load.signature import Signature, TypeKind
from isoform.microop import Space
from isoform.verdict import Assumption


class Callees:
    """Where the arguments of outside functions are.

    With an unknown signature it is every leading argument register that both sides may have set: a
    function that both call correctly cannot take more than that, so no argument is left out.
    """

    def __init__(self, target: Function, rewrite: Function, contract: Contract) -> None:
        self._functions = (target, rewrite)
        self._contract = contract
        self._machine = contract.machine
        self.places: CallArguments = cache(self._places)

    def names(self) -> set[str]:
        return {
            block.exit.callee or ""
            for function in self._functions
            for block in function.blocks.values()
            if isinstance(block.exit, Call) and not block.exit.system
        }

    def assumptions(self) -> list[Assumption]:
        found = []
        unknown = sorted(
            name or "a function called through a pointer" for name in self.names() if self._signature(name) is None
        )
        if unknown:
            shown = ", ".join(unknown[:4]) + (", …" if len(unknown) > 4 else "")
            why = f"the arguments of {shown} are in the registers that both functions set, and none on the stack"
            found.append(Assumption("callee-arguments", why))
        present = self._present_but_outside()
        if present:
            why = f"{', '.join(present)} behave alike on both sides: --calls uninterpreted leaves them out"
            found.append(Assumption("callees-agree", why))
        return found

    def _present_but_outside(self) -> list[str]:
        return sorted(
            n for n in self.names() if n and n != SELF and any(n in f.image.functions for f in self._functions)
        )

    def _places(self, name: str) -> tuple[Place, ...]:
        if name == SELF:
            return _flat(self._contract.arguments)
        signature = self._signature(name)
        if signature is None:
            return self._registers_set(0, 0)
        placement = place_signature(self._machine, signature)
        places = _flat(placement.arguments)
        if not signature.variadic:
            return places
        names = [p.register for p in places]
        integers = sum(1 for r in self._machine.convention.integer_arguments if r in names)
        floats = sum(1 for r in self._machine.convention.float_arguments if r in names)
        return (*places, *self._registers_set(integers, floats))

    def is_as_known(self, name: str) -> bool:
        """Whether a library function takes its arguments from where its prototype in the C standard says."""
        known = known_signature(name)
        return known is not None and self.places(name) == _flat(place_signature(self._machine, known).arguments)

    def _signature(self, name: str) -> Signature | None:
        if not name:
            return None
        if name == SELF:
            return self._contract.signature
        declared = [f.image.signatures[name] for f in self._functions if name in f.image.signatures]
        declared = [s for s in declared if s.parameters or s.result.kind is not TypeKind.VOID] or declared
        return declared[0] if declared else known_signature(name)

    def _registers_set(self, integers: int, floats: int) -> tuple[Place, ...]:
        """Argument registers after the first few that both sides may have set."""
        convention = self._machine.convention
        found = []
        for names, skip in ((convention.integer_arguments, integers), (convention.float_arguments, floats)):
            for register in names[skip:]:
                if not all(self._may_set(f, register) for f in self._functions):
                    break
                found.append(Place(register, 0, self._machine.registers[register].size))
        return tuple(found)

    def _may_set(self, function: Function, register: str) -> bool:
        passed = {p.register for a in self._contract.arguments for p in a.places}
        if register in passed or self._contract.source is SignatureSource.LIVENESS:
            return True
        return _written(function, self._machine.registers[register].offset)


def _written(function: Function, offset: int) -> bool:
    return any(
        op.out is not None and op.out.space is Space.REGISTER and op.out.offset <= offset < op.out.offset + op.out.size
        for block in function.blocks.values()
        for op in block.ops
    )


def _flat(arguments: Iterable[Argument]) -> tuple[Place, ...]:
    """All places, those of narrow arguments widened to the 32 bits that callees may rely on."""
    places: list[Place] = []
    for argument in arguments:
        narrow = argument.type.kind in (TypeKind.INTEGER, TypeKind.BOOL) and argument.type.bits < 32
        places.extend(
            replace(place, size=4) if narrow and place.register is not None else place for place in argument.places
        )
    return tuple(places)
