"""The calling convention of the RISC-V ELF psABI for integers and pointers.

What is passed in floating-point registers depends on how the file was compiled, and structures are passed in their own
way: neither is handled.
"""

from __future__ import annotations

from isoform.isa.riscv64.registers import BYTES, KEPT
from isoform.model.contract import Argument, Place, Result
from isoform.model.errors import Unsupported
from isoform.model.machine import Convention
from isoform.model.placement import MOST_STACK_ARGUMENTS, Placement
from isoform.model.signature import CType, Signature, TypeKind

_SAVED = tuple(f"s{number}" for number in range(12))
_TEMPORARY = tuple(f"t{number}" for number in range(7))
_ARGUMENTS = tuple(f"a{number}" for number in range(8))
_RESULTS = _ARGUMENTS[:2]

CONVENTION = Convention(
    integer_arguments=_ARGUMENTS,
    result=_RESULTS,
    callee_saved=("gp", "tp", *_SAVED),
    stack_pointer="sp",
    return_address="ra",
    kept_return_address=KEPT,
    scratch_after_call=("ra", *_TEMPORARY, *_ARGUMENTS[len(_RESULTS) :]),
    stack_alignment=16,
    extended_bytes=BYTES,
    extends_by_rule=True,
)


def place(signature: Signature) -> Placement:
    arguments = []
    for number, parameter in enumerate(signature.parameters):
        _require_word(signature, f"parameter {parameter.name}", parameter.type)
        size, beyond = parameter.type.bits // 8, number - len(_ARGUMENTS)
        at = Place(None, BYTES * beyond, size) if beyond >= 0 else Place(_ARGUMENTS[number], 0, size)
        arguments.append(Argument(parameter.name, parameter.type, (at,)))
    on_stack = BYTES * max(0, len(arguments) - len(_ARGUMENTS))
    if on_stack > MOST_STACK_ARGUMENTS:
        raise Unsupported(f"more than {MOST_STACK_ARGUMENTS} bytes of arguments on the stack are not handled")
    if signature.result.kind is TypeKind.VOID:
        return Placement(tuple(arguments), (), on_stack)
    _require_word(signature, "the result", signature.result)
    # A narrow result is extended as arguments are, and callers rely on all of the register.
    return Placement(tuple(arguments), (Result(_RESULTS[0], 8 * BYTES),), on_stack)


def _require_word(signature: Signature, what: str, ctype: CType) -> None:
    if ctype.kind in (TypeKind.FLOAT, TypeKind.STRUCT) or ctype.bits > 8 * BYTES:
        raise Unsupported(
            f"{what} of {signature.name} has the type '{ctype.spelling}', which isoform cannot place: on this machine "
            "only integers and pointers are handled"
        )
