"""What outside functions returned and wrote in the runs of a witness, in words: the difference may depend on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from isoform.borders.convention import place_signature
from isoform.borders.question import Question
from isoform.load.known import known_signature
from isoform.model.contract import OutputCall, show_float, show_number
from isoform.model.errors import Unsupported, UserError
from isoform.model.outcome import CallResult, Outcome
from isoform.model.signature import CType, Signature, TypeKind

MOST_SHOWN = 8


def outside_results(question: Question, outcomes: tuple[Outcome, Outcome]) -> tuple[str, ...]:
    """One sentence for each call whose result may matter, as `log(0.0) returned -inf`."""
    sentences = (s for outcome in outcomes for result in outcome.results for s in _sentence(question, result))
    return tuple(dict.fromkeys(sentences))[:MOST_SHOWN]


def show_value(ctype: CType, value: int) -> str:
    if ctype.kind in (TypeKind.POINTER, TypeKind.STRUCT):
        return hex(value)
    return show_float(value, ctype.bits) if ctype.is_float else show_number(value, ctype.bits, ctype.signed)


def _sentence(question: Question, result: CallResult) -> Iterator[str]:
    signature = _signature(question, result.callee)
    returned = _returned(question, signature, dict(result.registers))
    wrote = _wrote(result.memory)
    if any(call.name == result.callee and isinstance(call, OutputCall) for call in question.target.library):
        returned = returned if any(value for _, value in result.registers) else ""
    if returned or wrote:
        said = " and ".join(part for part in (returned, wrote) if part)
        yield f"{result.callee}({_arguments(signature, result.arguments)}) {said}"


def _signature(question: Question, name: str) -> Signature | None:
    images = question.target.image, question.rewrite.image
    return next((image.signatures[name] for image in images if name in image.signatures), known_signature(name))


def _arguments(signature: Signature | None, values: tuple[int, ...]) -> str:
    types = [parameter.type for parameter in signature.parameters] if signature is not None else []
    if len(types) != len(values) or any(kind.kind is TypeKind.STRUCT for kind in types):
        return ", ".join(map(hex, values))
    cut = [value & ((1 << kind.bits) - 1) for kind, value in zip(types, values, strict=True)]
    return ", ".join(show_value(kind, value) for kind, value in zip(types, cut, strict=True))


def _returned(question: Question, signature: Signature | None, registers: Mapping[str, int]) -> str:
    if signature is None:
        return f"returned {hex(next(iter(registers.values())))}" if any(registers.values()) else ""
    if signature.result.kind is TypeKind.VOID:
        return ""
    try:
        results = place_signature(question.contract.machine, signature).results
    except (Unsupported, UserError):  # a result that isoform cannot place cannot be shown either
        return ""
    value = shift = 0
    for result in results:
        part = registers.get(result.register, 0) >> (8 * result.offset) & ((1 << result.bits) - 1)
        value |= part << shift
        shift += result.bits
    return f"returned {show_value(signature.result, value)}"


def _wrote(memory: Mapping[int, int]) -> str:
    if not memory:
        return ""
    runs: list[tuple[int, bytearray]] = []
    for address in sorted(memory):
        if runs and address == runs[-1][0] + len(runs[-1][1]):
            runs[-1][1].append(memory[address])
        else:
            runs.append((address, bytearray([memory[address]])))
    shown = "; ".join(f"{bytes(data[:16]).hex(' ')} at {address:#x}" for address, data in runs[:4])
    return f"wrote {shown}"
