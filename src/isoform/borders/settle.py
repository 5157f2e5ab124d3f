"""Settling the contract of a question: where the signature comes from, and which assumptions that makes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from isoform.borders.bools import bool_assumptions, bool_cells, bool_variables
from isoform.borders.callees import CalleeTable
from isoform.borders.convention import argument_assumptions, place_signature
from isoform.borders.inferred import Inferred, infer, readings_as_bool, refuse_unlikely_void
from isoform.borders.known_calls import known_calls, library_assumptions
from isoform.borders.linking import fixed_assumptions, link_assumptions
from isoform.borders.other_convention import (
    refuse_declared_conventions,
    refuse_kept_registers,
    refuse_other_conventions,
)
from isoform.borders.padding import padded_arguments, padded_variables
from isoform.borders.question import Options, Question
from isoform.borders.result_space import RESULT_APART
from isoform.borders.two_machines import with_own_abis
from isoform.borders.unusual_returns import unusual_return_assumptions
from isoform.lift.function import Function
from isoform.lift.known_calls import with_known_calls
from isoform.lift.library import library_calls, written_out
from isoform.lift.pointers import Passed, with_pointer_types
from isoform.lift.refusals import refuse_code
from isoform.lift.returning import never_returning, without_returns
from isoform.load.prototype import parse_prototype
from isoform.load.shape import shaped
from isoform.model.contract import CallRule, Contract, MemoryRule, RestrictRule, ReturnAs, SignatureSource
from isoform.model.errors import Unsupported, UserError
from isoform.model.library import library_function
from isoform.model.machine import Machine
from isoform.model.placement import Placement
from isoform.model.signature import VOID, CType, Signature, TypeKind
from isoform.model.verdict import Assumption

if TYPE_CHECKING:
    from isoform.borders.precondition import Precondition

Functions = tuple[Function, Function]


def settle(target: Function, rewrite: Function, options: Options) -> Question:
    """The question that these two functions and options make."""
    refuse_declared_conventions(target, rewrite)
    refuse_code(target)
    refuse_code(rewrite)
    no_return = never_returning((target, rewrite))
    functions = without_returns(target, no_return), without_returns(rewrite, no_return)
    contract = with_own_abis(_contract(functions, options, no_return), functions, options.signature)
    if contract.source is SignatureSource.DWARF:
        contract = _held_against_code(contract, functions, no_return)
    _refuse_without_result(contract, options)
    target, rewrite = (
        with_pointer_types(function, _single_words(function, contract.of(side)))
        for side, function in enumerate(functions)
    )
    assumptions = [*_contract_assumptions(contract, target, rewrite)]
    assumptions += link_assumptions(target, rewrite)
    assumptions += fixed_assumptions(target, rewrite)
    assumptions += unusual_return_assumptions(target, rewrite)
    for function in (target, rewrite):
        refuse_kept_registers(function)
    callees = CalleeTable(target, rewrite, contract)
    library = known_calls(target, rewrite, options.pure, callees.of)
    assumptions += library_assumptions(library)
    target, rewrite = (with_known_calls(function, library) for function in (target, rewrite))
    assumptions += callees.assumptions()
    question = Question(target, rewrite, contract, callees.of, tuple(assumptions), options)
    return _with_loops_for_calls(question, callees)


# -- the contract ---------------------------------------------------------------------------------


def _contract(functions: Functions, options: Options, no_return: Collection[str]) -> Contract:
    target, rewrite = functions
    machine = target.machine
    declared, source = _signature(target, rewrite, options)
    inferred = None
    if declared is None and any(function.machine.convention.extends_by_rule for function in functions):
        raise Unsupported(
            f"how wide the arguments of {target.name} are is not known, and code relies on it: give --signature, or "
            "build the files with debug information"
        )
    if declared is None:
        inferred = infer(target, rewrite, options.calls is not CallRule.UNINTERPRETED, no_return)
        declared = inferred.signature
    signature = shaped(declared, options.shapes, machine.word_bits)
    placement = place_signature(machine, signature, True) if inferred is None else _placed(machine, signature, inferred)
    contract = Contract(
        machine=machine,
        signature=signature,
        source=source,
        arguments=placement.arguments,
        results=() if options.return_as is ReturnAs.VOID else (inferred or placement).results,
        stack_argument_bytes=placement.stack_argument_bytes,
        result_space=placement.result_space,
        result_beside=placement.result_beside,
        return_as=options.return_as,
        memory=_memory_rule(machine, options),
        aborts=options.aborts,
        calls=options.calls,
        data=options.data,
        pure=options.pure,
        idempotent=options.idempotent,
        bounds=options.bounds,
        restrict=options.restrict,
        restricted=_restricted(functions, options, declared, placement),
        termination=options.termination,
        bools=bool_cells(placement.arguments),
        bool_variables=bool_variables(target, rewrite),
        preconditions=_preconditions(options, signature),
    )
    if options.return_as is ReturnAs.BOOL and inferred is None:
        _refuse_without_zero(signature)
    return contract if inferred is None else _with_inferred(contract, inferred)


def _restricted(functions: Functions, options: Options, declared: Signature, placement: Placement) -> tuple[int, ...]:
    """Positions of the arguments that are `restrict` by the user's word or the target's declaration. What only the
    rewrite declares does not count: its overlapping arguments are the target's business as well, and a rewrite that
    promises more than the target may do something else on them."""
    two_machines = functions[0].machine.name != functions[1].machine.name
    own = functions[0].image.signatures.get(functions[0].name)
    is_own = options.signature is not None or own == declared
    if options.restrict is RestrictRule.IGNORE or not is_own or two_machines:
        return ()
    first = 1 if placement.result_space else 0
    return tuple(n for n, parameter in enumerate(declared.parameters, first) if parameter.type.is_restrict)


def _with_inferred(contract: Contract, inferred: Inferred) -> Contract:
    """The contract with what is certain, and what is not, where only the code tells the signature."""
    narrow, bytes_read = inferred.narrow, inferred.bytes_read
    beside = next(iter(contract.machine.convention.not_across_calls), "")
    contract = replace(contract, certain=inferred.certain, narrow=narrow, bytes_read=bytes_read, result_beside=beside)
    if contract.return_as is not ReturnAs.BOOL:
        return contract
    certain, possible = readings_as_bool(contract.machine, inferred)
    return replace(contract, certain=certain, possible=possible)


def _held_against_code(contract: Contract, functions: Functions, no_return: Collection[str]) -> Contract:
    """A contract from debug information with the padding that this tells of; refused where the code contradicts it."""
    signature = contract.signature
    assert signature is not None
    for function in functions:
        refuse_other_conventions(function, signature, place_signature(function.machine, signature, True))
        if signature.result.kind is TypeKind.VOID:
            refuse_unlikely_void(function, contract.calls is not CallRule.UNINTERPRETED, no_return)
    if contract.abis is not None:
        return contract  # a structure need not have the same padding on another machine
    declared = [function.image.signatures.get(function.name) for function in functions]
    return replace(
        contract,
        padded=padded_arguments(contract.arguments, declared),
        padded_behind=padded_arguments(contract.arguments, declared, through=True),
        padded_variables=padded_variables(*functions),
    )


def _refuse_without_result(contract: Contract, options: Options) -> None:
    if contract.result_space and (options.memory is MemoryRule.IGNORE or options.return_as is ReturnAs.VOID):
        name = contract.signature.name if contract.signature is not None else "the function"
        raise Unsupported(
            f"the result of {name} is in memory, so that it cannot be compared without memory, or left out: "
            "compare without --memory ignore and --return-as void"
        )


def _contract_assumptions(contract: Contract, target: Function, rewrite: Function) -> Iterator[Assumption]:
    for side in range(1 if contract.abis is None else 2):
        yield from argument_assumptions(contract.of(side).machine, contract.of(side).arguments)
    if contract.signature is not None:
        yield from _source_assumptions(contract.source, target, rewrite, contract.signature)
    if contract.result_space:
        yield RESULT_APART
    yield from bool_assumptions((*contract.bools, *contract.bool_variables))


def _placed(machine: Machine, signature: Signature, inferred: Inferred) -> Placement:
    """Where arguments are that only the code tells of: those on the stack are where the code finds them."""
    parameters = signature.parameters[: len(signature.parameters) - len(inferred.stack)]
    placement = place_signature(machine, replace(signature, parameters=parameters, result=VOID))
    size = sum(place.size for argument in inferred.stack for place in argument.places)
    arguments = (*placement.arguments, *inferred.stack)
    return replace(placement, arguments=arguments, stack_argument_bytes=size)


def _refuse_without_zero(signature: Signature) -> None:
    """C compares numbers and pointers with 0, but no structures and vectors."""
    result = signature.result
    if result.kind is TypeKind.STRUCT or (result.kind is TypeKind.FLOAT and result.bits > 64):
        raise UserError(
            f"{signature.name} returns '{result.spelling}', which C does not compare with 0; --return-as bool needs an "
            "integer, a pointer, a float or a double."
        )


def _with_loops_for_calls(question: Question, callees: CalleeTable) -> Question:
    """The question with the library calls that only one side makes written out as the loops they stand for. A call that
    both make is kept: equal calls are easier to prove than equal loops. But where one side makes it more often, the
    other may have a loop in its place, so there is also a version with all of these as loops."""
    left, right = library_calls(question.target), library_calls(question.rewrite)
    names = frozenset(n for n in left.keys() | right.keys() if left[n] != right[n] and callees.of(n).is_library)
    if not names:
        return question
    of_one_side = names & (left.keys() ^ right.keys())
    versions = [_written_out(question, names)]
    if of_one_side != names:
        versions.append(_written_out(question, of_one_side))
    if any(not meaning.has_direction for name in names if (meaning := library_function(name).meaning) is not None):
        versions.append(_written_out(question, names, downward=True))
    return replace(_written_out(question, of_one_side), versions=tuple(versions))


def _written_out(question: Question, names: Collection[str], downward: bool = False) -> Question:
    target, rewrite = (written_out(side, names, downward) for side in (question.target, question.rewrite))
    before = (target, question.target), (rewrite, question.rewrite)
    return replace(question, target=target, rewrite=rewrite, before_expansion=before)


def _single_words(function: Function, contract: Contract) -> Passed:
    """The parameters that are one word each, with the types that this side declares."""
    if contract.machine.convention.stack_pointer is None:
        return ()
    arguments = contract.arguments
    own = function.image.signatures.get(function.name)
    if own is not None and contract.source is SignatureSource.DWARF:
        try:
            arguments = place_signature(contract.machine, own, True).arguments
        except (Unsupported, UserError):
            return ()
    return tuple((a.places[0].register, a.places[0].offset, a.type) for a in arguments if len(a.places) == 1)


def _memory_rule(machine: Machine, options: Options) -> MemoryRule:
    """On a machine whose whole memory is the program's, no caller sees memory, and there is nothing to compare."""
    private = machine.memory is None or machine.memory.zeroed
    return MemoryRule.IGNORE if private else options.memory


def _preconditions(options: Options, signature: Signature) -> tuple[Precondition, ...]:
    if not options.assume:
        return ()
    from isoform.borders.precondition import parse_precondition  # most questions have none

    return tuple(parse_precondition(text, signature) for text in options.assume)


# -- the signature --------------------------------------------------------------------------------


def _signature(target: Function, rewrite: Function, options: Options) -> tuple[Signature | None, SignatureSource]:
    """None where only the code itself can tell."""
    if options.signature is not None:
        machine = target.machine
        return parse_prototype(options.signature, machine.word_bits, machine.char_is_signed), SignatureSource.OPTION
    for function in (target, rewrite):
        found = function.image.signatures.get(function.name)
        if found is not None:
            fixed = function.machine.fixes_signature
            return found, SignatureSource.MACHINE if fixed else SignatureSource.DWARF
    return None, SignatureSource.LIVENESS


def _source_assumptions(
    source: SignatureSource, target: Function, rewrite: Function, signature: Signature
) -> Iterable[Assumption]:
    if source is SignatureSource.LIVENESS:
        yield Assumption(
            "signature-from-liveness",
            f"the signature is taken to be {signature}, from the registers the code uses; --signature would settle it",
        )
    if source is SignatureSource.DWARF:
        yield from _about_declarations(target, rewrite, signature)


def _about_declarations(target: Function, rewrite: Function, signature: Signature) -> Iterable[Assumption]:
    declared = [function.image.signatures.get(function.name) for function in (target, rewrite)]
    if None in declared:
        side = "rewrite" if declared[0] is None else "target"
        why = f"both are called as {signature}: only the {side} has debug information"
        yield Assumption("signature-declared-once", why)
    theirs = declared[1]
    machine = target.machine
    if theirs is not None and place_signature(machine, theirs, True) != _renamed(machine, signature, theirs):
        why = f"both are called as {signature}, though the rewrite is declared as {theirs}"
        yield Assumption("target-signature", why)


def _renamed(machine: Machine, signature: Signature, like: Signature) -> Placement:
    """Where `signature` puts things, with the parameter names and spellings of `like`: what remains is layout."""
    placement = place_signature(machine, signature, True)
    other = place_signature(machine, like, True)
    if len(placement.arguments) != len(other.arguments):
        return placement
    arguments = tuple(
        replace(a, name=b.name, type=b.type if _are_passed_alike(a.type, b.type) else a.type)
        for a, b in zip(placement.arguments, other.arguments, strict=True)
    )
    return replace(placement, arguments=arguments)


_EXTENDED_BITS = 32
"""Up to which the sign of its type says how an integer is extended."""


def _are_passed_alike(one: CType, other: CType) -> bool:
    """Callers extend narrow integers, with the sign that their type has; a bool is 0 or 1."""
    if one.bits != other.bits:
        return False
    return one.bits >= _EXTENDED_BITS or (one.kind, one.signed) == (other.kind, other.signed)
