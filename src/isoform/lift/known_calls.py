"""Marks the calls of library functions about which something is known. Functions that are a few machine instructions
are replaced by them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from isoform.lift.function import Block, Call, Function
from isoform.model.allocation import LibraryCall
from isoform.model.contract import OutputCall, PureCall
from isoform.model.microop import MicroOp


def with_known_calls(function: Function, library: Iterable[LibraryCall]) -> Function:
    """The function with its calls annotated with what is known about the callees."""
    known = {call.name: call for call in library}
    if not known:
        return function
    blocks = {number: _marked(function, block, known) for number, block in function.blocks.items()}
    return replace(function, blocks=blocks, library=tuple(known.values()))


def _marked(function: Function, block: Block, known: Mapping[str, LibraryCall]) -> Block:
    call = block.exit
    if not isinstance(call, Call) or call.then is None or call.system:
        return block
    match known.get(call.callee or ""):
        case None:
            return block
        case PureCall() as pure if pure.code and not call.carried_out:
            return _written_out(function, block, call, pure)
        case one:
            return replace(block, exit=with_meaning(call, one, is_written_out=call.carried_out))


def with_meaning(call: Call, known: LibraryCall, is_written_out: bool = False) -> Call:
    """A call with what is known about its callee. Functions that are a few instructions are known only where these are
    written out."""
    match known:
        case PureCall() as pure:
            return call if pure.code and not is_written_out else replace(call, pure=pure)
        case OutputCall() as output:
            return replace(call, output=output)
        case allocation:
            return replace(call, allocation=allocation)


def _written_out(function: Function, block: Block, call: Call, pure: PureCall) -> Block:
    address = block.steps[-1] if block.steps else block.id.address
    return block.extended(_ops(function, pure.code), address, replace(call, pure=pure, carried_out=True))


def _ops(function: Function, code: bytes) -> Iterator[MicroOp]:
    """The micro-ops of machine code without branches."""
    start = 0
    while start < len(code):
        instruction = function.machine.decode(code[start:], start)
        yield from instruction.ops
        start += instruction.length
