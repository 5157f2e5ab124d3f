"""Settling the contract of a question: where the signature comes from, and which assumptions that makes."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from isoform.borders.callees import CalleeTable
from isoform.borders.convention import Placement, argument_assumptions, place_signature
from isoform.borders.known_calls import known_calls, library_assumptions
from isoform.borders.linking import link_assumptions
from isoform.contract import Contract, MemoryRule, ReturnAs, SignatureSource
from isoform.errors import Unsupported, UserError
from isoform.isa.machine import Machine
from isoform.lift.function import Call, Function, Return
from isoform.lift.known_calls import with_known_calls
from isoform.lift.library import EITHER_WAY, library_calls, written_out
from isoform.lift.liveness import Liveness, output_containers
from isoform.lift.pointers import Passed, with_pointer_types
from isoform.lift.returning import never_returning, without_returns
from isoform.load.prototype import parse_prototype
from isoform.load.shape import shaped
from isoform.load.signature import VOID, CType, Parameter, Signature, TypeKind
from isoform.microop import Space, Var
from isoform.precondition import Precondition, parse_precondition
from isoform.question import Options, Question
from isoform.verdict import Assumption

_WORD = CType(TypeKind.INTEGER, 64, spelling="unsigned long")


def settle(target: Function, rewrite: Function, options: Options) -> Question:
    """The question that these two functions and options make."""
    machine = target.machine
    gone = never_returning((target, rewrite))
    target, rewrite = without_returns(target, gone), without_returns(rewrite, gone)
    signature, source = _signature(target, rewrite, options)
    signature = shaped(signature, options.shapes)
    placement = place_signature(machine, signature)
    contract = Contract(
        machine=machine,
        signature=signature,
        source=source,
        arguments=placement.arguments,
        results=() if options.return_as is ReturnAs.VOID else placement.results,
        stack_argument_bytes=placement.stack_argument_bytes,
        return_as=options.return_as,
        memory=_memory_rule(machine, options),
        aborts=options.aborts,
        calls=options.calls,
        data=options.data,
        pure=options.pure,
        bounds=options.bounds,
    )
    contract = replace(contract, preconditions=_preconditions(options, signature))
    target, rewrite = (with_pointer_types(side, _single_words(side, contract)) for side in (target, rewrite))
    assumptions = [*argument_assumptions(placement.arguments), *_source_assumptions(source, target, rewrite, signature)]
    assumptions += link_assumptions(target, rewrite)
    callees = CalleeTable(target, rewrite, contract)
    library = known_calls(target, rewrite, options.pure, callees.of)
    assumptions += library_assumptions(library)
    target, rewrite = (with_known_calls(function, library) for function in (target, rewrite))
    assumptions += callees.assumptions()
    question = Question(target, rewrite, contract, callees.of, tuple(assumptions), options)
    return _with_loops_for_calls(question, callees)


def _with_loops_for_calls(question: Question, callees: CalleeTable) -> Question:
    """The question with the library calls that only one side makes written out as the loops they stand for. What both
    call may well be the same call, which is easier to see than that two loops are; but where one calls it more often
    than the other, it may be a loop of the other's, so that there is also a version with all of these as loops."""
    left, right = library_calls(question.target), library_calls(question.rewrite)
    names = frozenset(n for n in left.keys() | right.keys() if left[n] != right[n] and callees.of(n).is_library)
    if not names:
        return question
    of_one_side = names & (left.keys() ^ right.keys())
    versions = [_written_out(question, names)]
    if of_one_side != names:
        versions.append(_written_out(question, of_one_side))
    if names & EITHER_WAY:
        versions.append(_written_out(question, names, downward=True))
    return replace(_written_out(question, of_one_side), versions=tuple(versions))


def _written_out(question: Question, names: Collection[str], downward: bool = False) -> Question:
    target, rewrite = (written_out(side, names, downward) for side in (question.target, question.rewrite))
    return replace(question, target=target, rewrite=rewrite)


def _single_words(function: Function, contract: Contract) -> Passed:
    """The parameters that are one word each, with the types that this side declares."""
    if contract.machine.convention.stack_pointer is None:
        return ()
    arguments = contract.arguments
    own = function.image.signatures.get(function.name)
    if own is not None and contract.source is SignatureSource.DWARF:
        try:
            arguments = place_signature(contract.machine, own).arguments
        except (Unsupported, UserError):
            return ()
    return tuple((a.places[0].register, a.places[0].offset, a.type) for a in arguments if len(a.places) == 1)


def _memory_rule(machine: Machine, options: Options) -> MemoryRule:
    """A machine whose memory is its own business (no caller to see it) has nothing to compare there."""
    private = machine.memory is None or machine.memory.zeroed
    return MemoryRule.IGNORE if private else options.memory


def _preconditions(options: Options, signature: Signature) -> tuple[Precondition, ...]:
    return tuple(parse_precondition(text, signature) for text in options.assume)


# -- the signature --------------------------------------------------------------------------------


def _signature(target: Function, rewrite: Function, options: Options) -> tuple[Signature, SignatureSource]:
    if options.signature is not None:
        return parse_prototype(options.signature), SignatureSource.OPTION
    for function in (target, rewrite):
        found = function.image.signatures.get(function.name)
        if found is not None:
            fixed = function.machine.name != "x86_64"
            return found, SignatureSource.MACHINE if fixed else SignatureSource.DWARF
    return _from_liveness(target, rewrite), SignatureSource.LIVENESS


def _from_liveness(target: Function, rewrite: Function) -> Signature:
    """Registers read before they are written are parameters; result bytes written on every path the result."""
    machine = target.machine
    convention = machine.convention
    result = _result_from_liveness(target, rewrite)
    results = convention.result[:1] if result.bits else ()
    lives = [Liveness(f, output_containers(machine, results)) for f in (target, rewrite)]
    count = 0
    for number, name in enumerate(convention.integer_arguments):
        if any(live.is_live_at_entry(machine.registers[name]) for live in lives):
            count = number + 1
    parameters = tuple(Parameter(name, _WORD) for name in convention.integer_arguments[:count])
    return Signature(target.name, parameters, result)


def _result_from_liveness(target: Function, rewrite: Function) -> CType:
    sizes = [_result_bytes(function) for function in (target, rewrite)]
    if 0 in sizes and any(sizes):
        # One of them leaves its result out on some path, or has none: guessing either way could be wrong.
        silent = (target, rewrite)[sizes.index(0)].name
        raise Unsupported(f"{silent} does not always set a result and the other one does: give --signature")
    size = min(sizes)
    return CType(TypeKind.INTEGER, 8 * size, spelling=f"uint{8 * size}_t") if size else VOID


def _result_bytes(function: Function) -> int:
    """How many low bytes of the result register every path to a return writes."""
    register = function.machine.registers[function.machine.convention.result[0]]
    sizes = (size for size in (8, 4, 2, 1) if size <= register.size)
    return next((size for size in sizes if _always_written(function, register._replace(size=size))), 0)


def _always_written(function: Function, part: Var) -> bool:
    """Whether every path to a return writes the whole of `part`. An outside call does: it may return something."""
    whole = (1 << part.size) - 1
    missing = {function.entry: whole}
    pending = [function.entry]
    while pending:
        block = function.blocks[pending.pop()]
        left = missing[block.id]
        for op in block.ops:
            left &= ~_bytes_written(op.out, part)
        if isinstance(block.exit, Call):
            left = 0
        if left and isinstance(block.exit, Return) and block.exit.to is None:
            return False
        for successor in block.successors:
            if left & ~missing.get(successor, 0) or successor not in missing:
                missing[successor] = missing.get(successor, 0) | left
                pending.append(successor)
    return True


def _bytes_written(out: Var | None, part: Var) -> int:
    if out is None or out.space is not Space.REGISTER:
        return 0
    return sum(1 << i for i in range(part.size) if out.offset <= part.offset + i < out.offset + out.size)


def _source_assumptions(
    source: SignatureSource, target: Function, rewrite: Function, signature: Signature
) -> Iterable[Assumption]:
    if source is SignatureSource.LIVENESS:
        yield Assumption(
            "signature-from-liveness",
            f"the signature is taken to be {signature}, from the registers the code uses; --signature would settle it",
        )
    if source is SignatureSource.DWARF:
        theirs = rewrite.image.signatures.get(rewrite.name)
        if theirs is not None and place_signature(target.machine, theirs) != _renamed(
            target.machine, signature, theirs
        ):
            yield Assumption(
                "target-signature", f"both are called as {signature}, though the rewrite is declared as {theirs}"
            )


def _renamed(machine: Machine, signature: Signature, like: Signature) -> Placement:
    """Where `signature` puts things, with the parameter names and spellings of `like`: what remains is layout."""
    placement = place_signature(machine, signature)
    other = place_signature(machine, like)
    if len(placement.arguments) != len(other.arguments):
        return placement
    arguments = tuple(
        replace(a, name=b.name, type=b.type if a.type.bits == b.type.bits else a.type)
        for a, b in zip(placement.arguments, other.arguments, strict=True)
    )
    return replace(placement, arguments=arguments)
