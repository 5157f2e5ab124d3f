"""How the small machines pass arguments: one register each, in order, and nothing but integers and pointers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from isoform.model.contract import Argument, Place, Result
from isoform.model.errors import UserError
from isoform.model.machine import Convention
from isoform.model.microop import Var
from isoform.model.placement import Placement
from isoform.model.signature import CType, Signature, TypeKind
from isoform.model.values import dataclass


def in_order(title: str, convention: Convention, registers: Mapping[str, Var]) -> Callable[[Signature], Placement]:
    return _InOrder(title, convention, registers).place


@dataclass(frozen=True)
class _InOrder:
    title: str
    convention: Convention
    registers: Mapping[str, Var]

    def place(self, signature: Signature) -> Placement:
        names = self.convention.integer_arguments
        if len(signature.parameters) > len(names):
            raise UserError(
                f"The signature of {signature.name} has {len(signature.parameters)} parameters, but {self.title} "
                f"takes at most {len(names)}; shorten --signature."
            )
        arguments = []
        for parameter, register in zip(signature.parameters, names, strict=False):
            size = self._whole_register(signature, f"parameter {parameter.name}", parameter.type, register)
            arguments.append(Argument(parameter.name, parameter.type, (Place(register, 0, size),)))
        results = []
        if signature.result.kind is not TypeKind.VOID:
            register = self.convention.result[0]
            size = self._whole_register(signature, "the result", signature.result, register)
            results.append(Result(register, 8 * size))
        return Placement(tuple(arguments), tuple(results), 0)

    def _whole_register(self, signature: Signature, what: str, ctype: CType, register: str) -> int:
        """Bytes of the register that hold the value."""
        size = self.registers[register].size
        if ctype.kind in (TypeKind.FLOAT, TypeKind.STRUCT) or ctype.bits > 8 * size:
            raise UserError(
                f"The signature of {signature.name} gives {what} the type '{ctype.spelling}', which does not fit a "
                f"{8 * size}-bit register of {self.title}; use int or unsigned in --signature."
            )
        return ctype.bits // 8
