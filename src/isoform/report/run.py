"""One concrete run for a person: what it returned, how it ended, what it left behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from isoform.model.contract import ReturnAs, show_float
from isoform.model.outcome import CallRecord, Outcome, Status
from isoform.model.signature import TypeKind
from isoform.report.terminal import LABEL, Span, Spans, print_lines

if TYPE_CHECKING:
    from isoform.api import ConcreteRun

MOST_ROWS = 16
MOST_STEPS = 2000
"""Executed instructions that a trace shows: the first and last half of these."""
NOT_DONE = 3
"""Exit code of a run that did not return."""


def print_run(result: ConcreteRun) -> int:
    print_lines(list(_lines(result)))
    return 0 if result.outcome.status is Status.DONE else NOT_DONE


def _lines(result: ConcreteRun) -> Iterator[Spans]:
    if result.outcome.trace:
        yield from _trace(result)
        yield ()
    for label, texts in _entries(result):
        for position, text in enumerate(texts):
            yield (Span(("" if position else label).ljust(LABEL), "label"), Span(text))


def _entries(result: ConcreteRun) -> Iterator[tuple[str, list[str]]]:
    outcome = result.outcome
    signature = result.contract.signature
    yield "function", [str(signature) if signature is not None else result.function.name]
    if outcome.status is Status.DONE:
        yield "returned", [_returned(result)]
    else:
        yield "ended", [_ended(outcome)]
    yield "steps", [f"{outcome.steps:,}"]
    yield "wrote", _at_most(list(_memory_rows(outcome.writes)))
    yield "called", _at_most([_call(call) for call in outcome.calls])
    if outcome.reads:
        yield "read", [f"{len(outcome.reads)} bytes of memory that nothing had set, taken as zero"]


def _ended(outcome: Outcome) -> str:
    return f"{outcome.status.value}: {outcome.reason}" if outcome.reason else outcome.status.value


def _returned(result: ConcreteRun) -> str:
    """Signed decimal and hex; only hex where it is an address."""
    contract = result.contract
    bits = contract.result_bits()
    if contract.return_as is ReturnAs.VOID or not bits:
        return "nothing"
    value = contract.result_value(result.outcome)
    if contract.signature is not None and contract.signature.result.kind is TypeKind.POINTER:
        return hex(value)
    if contract.signature is not None and contract.signature.result.is_float:
        return f"{show_float(value, bits)} ({value:#x})"
    signed = value - (1 << bits) if value >> (bits - 1) else value
    return f"{signed} ({value:#x})"


def _memory_rows(writes: Mapping[int, int]) -> Iterator[str]:
    addresses = sorted(writes)
    while addresses:
        run = addresses[:1]
        for address in islice(addresses, 1, 8):
            if address != run[-1] + 1:
                break
            run.append(address)
        addresses = addresses[len(run) :]
        yield f"{run[0]:#x}: {' '.join(f'{writes[a]:02x}' for a in run)}"


def _call(call: CallRecord) -> str:
    return f"{call.callee}({', '.join(f'{a:#x}' for a in call.shown)})"


def _at_most(rows: list[str]) -> list[str]:
    return rows if len(rows) <= MOST_ROWS else [*rows[: MOST_ROWS - 1], f"… and {len(rows) - MOST_ROWS + 1} more"]


def _trace(result: ConcreteRun) -> Iterator[Spans]:
    trace = result.outcome.trace
    shown = range(len(trace))
    if len(trace) > MOST_STEPS:
        shown = range(MOST_STEPS // 2)
    yield from (_step(result, position) for position in shown)
    if len(trace) > MOST_STEPS:
        yield (Span(f"  ⋮ {len(trace) - MOST_STEPS:,} more", "dim"),)
        yield from (_step(result, position) for position in range(len(trace) - MOST_STEPS // 2, len(trace)))


def _step(result: ConcreteRun, position: int) -> Spans:
    address = result.outcome.trace[position]
    offset = f"{address - result.function.entry.address:+#x}"
    text = result.function.instructions[address].text
    return (Span(f"{position + 1:>6}  ", "dim"), Span(f"{offset:>8}  ", "dim"), Span(text))
