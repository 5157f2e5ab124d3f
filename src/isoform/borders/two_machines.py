"""A question whose two sides are for two machines: each has its own ABI, and only what is abstract is compared.

The two find the same parameters and the same memory, and are compared in their results and in memory. What a function
must restore is held against its own state at entry. Whether such a question is asked at all is decided where files are
opened (`load/open.py`); what is refused here is what the engines could not treat if it were.
"""

from __future__ import annotations

from dataclasses import replace

from isoform.borders.convention import place_signature
from isoform.lift.function import Function, outside_call
from isoform.load.prototype import parse_prototype
from isoform.model.abi import Abi
from isoform.model.contract import Contract, Result
from isoform.model.errors import Unsupported
from isoform.model.machine import Machine
from isoform.model.signature import CType, Signature, TypeKind

_SCALARS = (TypeKind.INTEGER, TypeKind.BOOL, TypeKind.POINTER)
_EXTENDED_BITS = 32
"""Up to which the sign of its type says how an integer is extended. From there on it is with the sign."""


def with_own_abis(contract: Contract, functions: tuple[Function, Function], said: str | None) -> Contract:
    """The contract with what each side makes of it, if they are for two machines. `said` is the user's signature."""
    machines = functions[0].machine, functions[1].machine
    if machines[0].name == machines[1].name:
        return contract
    _require_alike(*machines)
    signature = contract.signature
    if signature is None or contract.certain is not None:
        raise Unsupported("two machines are compared only under a signature: give --signature")
    own = _signature_of_rewrite(functions[1], said) or signature
    if any(outside_call(block.exit) is not None for function in functions for block in function.blocks.values()):
        raise Unsupported("outside calls of functions for two machines are not compared yet")
    left, right = _abi(machines[0], signature), _abi(machines[1], own)
    sizes = [[sum(p.size for p in argument.places) for argument in abi.arguments] for abi in (left, right)]
    if sizes[0] != sizes[1] or [r.bits for r in left.results] != [r.bits for r in right.results]:
        raise Unsupported(f"what is passed to {signature.name}, or returned, is not as wide on both machines")
    results = left.results if contract.results else ()
    abis = replace(left, results=results), replace(right, results=right.results if results else ())
    return replace(contract, results=results, bools=(), abis=abis)


def _signature_of_rewrite(rewrite: Function, said: str | None) -> Signature | None:
    """Whether a plain `char` is signed, and so how callers extend it, depends on the machine."""
    if said is not None:
        return parse_prototype(said, char_is_signed=rewrite.machine.char_is_signed)
    return rewrite.image.signatures.get(rewrite.name)


def _require_alike(one: Machine, other: Machine) -> None:
    layouts = one.memory, other.memory
    if layouts[0] is None or layouts[1] is None or layouts[0].zeroed or layouts[1].zeroed:
        raise Unsupported("two machines are compared only if callers see the memory of both")
    if (layouts[0].address_bytes, layouts[0].big_endian) != (layouts[1].address_bytes, layouts[1].big_endian):
        raise Unsupported("two machines are compared only if addresses and the order of bytes are the same")


def _abi(machine: Machine, signature: Signature) -> Abi:
    placement = place_signature(machine, signature)
    types = [argument.type for argument in placement.arguments]
    result = signature.result
    if any(kind.kind not in _SCALARS for kind in types) or result.kind not in (*_SCALARS, TypeKind.VOID):
        raise Unsupported("of functions for two machines only integers and pointers are compared")
    results, extended = _compared(placement.results, result)
    sign = result.signed or result.bits >= _EXTENDED_BITS
    return Abi(machine, placement.arguments, results, placement.stack_argument_bytes, 0, extended, sign)


def _compared(results: tuple[Result, ...], ctype: CType) -> tuple[tuple[Result, ...], int]:
    """The bits of a result that are its value, and to how many its convention extends them, 0 where it does not."""
    if not results:
        return (), 0
    (whole,) = results
    bits = min(whole.bits, ctype.bits)
    return (replace(whole, bits=bits),), whole.bits if whole.bits > bits else 0
