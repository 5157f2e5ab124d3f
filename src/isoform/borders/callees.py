"""What outside functions take and give back, by name: from declarations, else from the C library's prototypes, else
from what the code around their calls shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, cached_property

from isoform.borders.convention import argument_parts, given_results, place_signature
from isoform.borders.evidence import Evidence
from isoform.borders.linking import version_assumptions
from isoform.lift.cfg import SELF
from isoform.lift.function import Function, outside_call
from isoform.lift.returning import leaves
from isoform.load.format_text import promoted_arguments
from isoform.load.known import known_signature
from isoform.model.callee import ArgumentPart, Callee, Callees, CallFormat, Given, Parts, common_results, merged, whole
from isoform.model.contract import Contract, SignatureSource
from isoform.model.errors import Unsupported, UserError
from isoform.model.library import is_reserved, library_function
from isoform.model.placement import Placement
from isoform.model.signature import Parameter, Signature
from isoform.model.verdict import Assumption

LOW_WORD = (1 << 32) - 1
"""An argument of unknown type is read at least so far: narrower ones are extended to 32 bits."""
LOW_BYTE = (1 << 8) - 1
MOST_SHOWN = 4


class CalleeTable:
    """What is known of every outside function that the two call."""

    def __init__(self, target: Function, rewrite: Function, contract: Contract) -> None:
        self._functions = (target, rewrite)
        self._contract = contract
        self._machine = contract.machine
        self.of: Callees = cache(self._callee)
        self._placed = cache(self._place_callee)

    @cached_property
    def _evidence(self) -> tuple[Evidence, Evidence]:
        target, rewrite = (
            Evidence(function, self._at_entry(function, self._contract.of(side)))
            for side, function in enumerate(self._functions)
        )
        return target, rewrite

    def _at_entry(self, function: Function, contract: Contract) -> set[str]:
        """The registers in which a side may find arguments."""
        found = {p.register for a in contract.arguments for p in a.places if p.register is not None}
        if contract.source is SignatureSource.LIVENESS:
            convention = function.machine.convention
            found |= {*convention.integer_arguments, *convention.float_arguments}
        return found

    def names(self) -> set[str]:
        """Names of what is called; "" for pointers of whatever type, tail calls among them."""
        found = {
            call.callee or ""
            for function in self._functions
            for block in function.blocks.values()
            if (call := outside_call(block.exit)) is not None and not call.system
        }
        return found | {""} if any(evidence.calls("") for evidence in self._evidence) else found

    # -- assumptions ----------------------------------------------------------------------------

    def assumptions(self) -> Iterator[Assumption]:
        names = sorted(self.names() - {SELF})
        own = [self._contract.signature] if self._contract.signature is not None else []
        called = [signature for name in names for signature in self._declared(name)]
        yield from self._machine.place_assumptions([*own, *called, *self._pointer_types.values()])
        library = [n for n in names if not self._declared(n) and self._is_library_name(n)]
        unknown = [n or "a function called through a pointer" for n in names if self._is_guessed(n)]
        if library:
            why = f"there is no declaration of {_listed(library)}: each is the C library's function of that name"
            yield Assumption("library-prototypes", why)
        if unknown:
            where = "in the registers set before each of its calls, none on the stack, and without padding in them"
            why = f"the arguments of {_listed(unknown)} are {where}"
            yield Assumption("callee-arguments", why)
        if self._pointer_types:
            why = "functions called through pointers have the types that these pointers are declared with"
            yield Assumption("pointer-types", why)
        guessed = any("" in e.pointer_types for e in self._evidence)
        if guessed and self._only_type is not None:
            why = f"functions called through pointers are of the one type that the files declare: {self._only_type}"
            yield Assumption("pointer-types", why)
        ending = [n or "a function called through a pointer" for n in names if self._ends_for_no_reason(n)]
        if ending:
            why = f"no code follows the calls of {_listed(ending)}: what is called there does not return"
            yield Assumption("does-not-return", why)
        differing = [n or "functions called through pointers" for n in names if self._are_declared_differently(n)]
        if differing:
            why = f"{_listed(differing)}, declared differently on the two sides, may take what either declaration says"
            yield Assumption("callee-declarations-differ", why)
        once = [n for n in names if self._is_declared_once(n)]
        if once:
            why = f"only one of the files declares {_listed(once)}: what that declaration says holds on both sides"
            yield Assumption("callee-declared-once", why)
        repeated = [n for n in names if n in self._contract.idempotent and n not in self._contract.pure]
        if repeated:
            why = (
                f"{_listed(repeated)}, called again with the same arguments after no other call or store, changes "
                "nothing and returns the same (--idempotent)"
            )
            yield Assumption("idempotent-calls", why)
        yield from version_assumptions(*self._functions, names)
        present = self._present_but_outside()
        if present:
            why = f"{', '.join(present)} behave alike on both sides: --calls uninterpreted does not compare them"
            yield Assumption("callees-agree", why)

    def _is_library_name(self, name: str) -> bool:
        """Whether a verdict rests on a name being the C library's."""
        if is_reserved(name):
            return False
        return self._library(name) is not None or (library_function(name).never_returns and not self.of(name).returns)

    def _ends_for_no_reason(self, name: str) -> bool:
        """Whether the only reason to take it as never returning is that no code follows its calls."""
        said = library_function(name).never_returns or any(not signature.returns for signature in self._declared(name))
        return not said and not self.of(name).returns

    def _is_guessed(self, name: str) -> bool:
        """Whether what a call of it takes is known only from the code around the calls."""
        if not name:
            is_called = any("" in evidence.pointer_types for evidence in self._evidence)
            return is_called and self._only_type is None and self._machine.convention.stack_pointer is not None
        callee = self.of(name)
        if callee.vectors and callee.format is None:
            return True
        return not self._declared(name) and self._library(name) is None

    def _present_but_outside(self) -> list[str]:
        return sorted(
            n for n in self.names() if n and n != SELF and any(n in f.image.functions for f in self._functions)
        )

    # -- where it is known from -----------------------------------------------------------------

    def _callee(self, name: str) -> Callee:
        if name == SELF:
            return Callee(tuple(argument_parts(self._machine, self._contract.arguments)), ())
        found = self._with_parts(name)
        returns = {
            call.then is not None
            for evidence in self._evidence
            for block in evidence.calls(name)
            if (call := outside_call(block.exit)) is not None
        }
        if len(returns) > 1:
            why = f"{name} is called in one place as if it returned, and in another as if it did not"
            return replace(found, refused=found.refused or why)
        is_idempotent = name in self._contract.idempotent
        if not returns:  # called through a pointer
            returns = {not leaves(function.image, name) for function in self._functions if name}
        return replace(found, returns=returns != {False}, is_idempotent=is_idempotent)

    def _with_parts(self, name: str) -> Callee:
        if not name or name in self._pointer_types:
            return self._through(name)
        if not name.isidentifier() and "(*)" in name:
            return self._through("")  # a pointer type of a call that was found after the table was made
        declared = self._declared(name)
        library = self._library(name)
        if declared:
            found = self._placed(declared[0], library is not None)
            for other in declared[1:]:
                found = _either(found, self._placed(other, library is not None))
            found = found if self._explains(name, declared) else _either(found, self._unknown(name))
            own = [f.image.signatures.get(name) for f in self._functions]
            return self._checked(found, name, own)
        return self._unknown(name) if library is None else self._placed(library, True)

    @cached_property
    def _pointer_types(self) -> dict[str, Signature]:
        return {key: signature for f in self._functions for key, signature in f.pointer_types.items()}

    def _through(self, key: str) -> Callee:
        """A function that is called through a pointer. Where the types of the pointers that the two sides call through
        are not the same, or not all known, it may be a function of any of them."""
        if self._calls_through_known_types and key:
            known = self._pointer_types[key]
            return self._checked(self._placed(known, False), key, (known, known))
        unknown = self._unknown("")
        kinds = [self._placed(signature, False) for signature in self._pointer_types.values()]
        guessed = any("" in e.pointer_types for e in self._evidence)
        if guessed:
            declared = self._only_type
            if declared is None:
                kinds.append(unknown)
            else:
                kinds.append(self._guessed(declared))
        if not kinds:
            return unknown
        found = kinds[0]
        for kind in kinds[1:]:
            found = _either(found, kind)
        read = {part.where: part.reads for part in unknown.parts} if guessed else {}
        parts = tuple(replace(p, reads=p.reads | read.get(p.where, 0) & p.may) for p in found.parts)
        return replace(found, parts=parts)

    def _guessed(self, declared: Signature) -> Callee:
        """A call through a pointer of unknown type, as one of the only type that is declared: refused where the code
        passes more. Compilers do not describe types that occur in casts only."""
        taken = self._registers_of(declared)
        passed = frozenset().union(*(evidence.set_for_untyped() for evidence in self._evidence))
        more = passed - taken if taken is not None and not declared.variadic else frozenset()
        found = self._placed(declared, False)
        if not more or found.refused:
            return found
        return replace(found, refused=f"a function called through a pointer of unknown type is passed {min(more)}")

    @cached_property
    def _calls_through_known_types(self) -> bool:
        """Whether the types of all pointers that are called through are known, and mean the same on both sides."""
        used = [e.pointer_types for e in self._evidence if e.pointer_types]
        if any("" in keys for keys in used):
            return False
        kinds = [{_shape(self._placed(self._pointer_types[key], False)) for key in keys} for keys in used]
        return all(kind == kinds[0] for kind in kinds)

    @cached_property
    def _only_type(self) -> Signature | None:
        """The type of the functions that declared pointers point to, if there is only one."""
        declared = [f.image.pointers for f in self._functions]
        found = [signature for pointers in declared for signature in pointers.functions]
        shapes = {_shape(self._placed(signature, False)) for signature in found}
        return found[0] if len(shapes) == 1 and all(pointers.are_all for pointers in declared) else None

    def _declared(self, name: str) -> list[Signature]:
        """The declarations of both sides, those that mean the same once."""
        found = [f.image.signatures[name] for f in self._functions if name and name in f.image.signatures]
        if len(found) == 2 and self._placed(found[0], False) == self._placed(found[1], False):
            return found[:1]
        return found

    def _are_declared_differently(self, name: str) -> bool:
        if not name:
            guessed = any("" in e.pointer_types for e in self._evidence)
            return not guessed and not self._calls_through_known_types
        declared = self._declared(name)
        return len(declared) > 1 or (bool(declared) and not self._explains(name, declared))

    def _is_declared_once(self, name: str) -> bool:
        """Whether one side calls it without a declaration, as that of the other side says."""
        sides = zip(self._functions, self._evidence, strict=True)
        silent = any(name not in f.image.signatures and next(iter(e.calls(name)), None) is not None for f, e in sides)
        return silent and bool(self._declared(name)) and self._library(name) is None

    def _library(self, name: str) -> Signature | None:
        """The prototype of the library function that a name stands for: not where the file defines or declares it as
        something else, nor where the code plainly passes something else."""
        known = known_signature(name) if name else None
        if known is None or any(name in f.image.functions for f in self._functions):
            return None
        declared = self._declared(name)
        if declared:
            as_known = self._placed(known, False)
            return known if all(_is_like(self._placed(d, False), as_known) for d in declared) else None
        return known if self._fits(name, known) else None

    def _explains(self, name: str, declared: list[Signature]) -> bool:
        """Whether the side that has no declaration passes nothing beyond what the other one declares."""
        silent = [e for e, f in zip(self._evidence, self._functions, strict=True) if name not in f.image.signatures]
        return all(self._passes_no_more(e, name, signature) for e in silent for signature in declared)

    def _fits(self, name: str, known: Signature) -> bool:
        taken = self._registers_of(known)
        return taken is None or all(
            self._passes_no_more(e, name, known) and (not e.calls(name) or taken <= e.may_hold(name))
            for e in self._evidence
        )

    def _passes_no_more(self, evidence: Evidence, name: str, signature: Signature) -> bool:
        taken = self._registers_of(signature)
        return taken is None or signature.variadic or evidence.plainly_set(name) <= taken

    def _registers_of(self, signature: Signature) -> frozenset[str] | None:
        placement = self._place(signature)
        if isinstance(placement, str):
            return None
        return frozenset(p.register for a in placement.arguments for p in a.places if p.register is not None)

    def _checked(self, callee: Callee, name: str, declared: Sequence[Signature | None]) -> Callee:
        """The callee, refused where the code of a side sets other registers for its calls than those in which the usual
        convention passes what that side declares. gcc's debug information does not tell the convention."""
        for evidence, signature in zip(self._evidence, declared, strict=True):
            taken = self._registers_of(signature) if signature is not None and evidence.calls(name) else None
            if signature is None or taken is None or callee.refused:
                continue
            set_only = frozenset() if signature.variadic else evidence.plainly_set(name) - taken
            if set_only or not taken <= evidence.may_hold(name):
                callee = replace(callee, refused=self._other_convention(name, set_only))
        return callee

    def _other_convention(self, name: str, registers: Iterable[str]) -> str:
        convention = self._machine.convention
        what = "a function called through a pointer" if not name or name in self._pointer_types else name
        ordered = (*convention.integer_arguments, *convention.float_arguments)
        listed = [register for register in ordered if register in registers]
        shown = f"{', '.join(listed)} set only for" if listed else "registers of its arguments not set before"
        return f"{what} is called with {shown} the call: it may follow another calling convention, such as ms_abi"

    # -- from a signature -----------------------------------------------------------------------

    def _place(self, signature: Signature) -> Placement | str:
        """Where its arguments and results are, or why that cannot be said."""
        try:
            return place_signature(self._machine, signature)
        except (Unsupported, UserError) as error:
            return str(error)

    def _place_callee(self, signature: Signature, is_library: bool) -> Callee:
        placement = self._place(signature)
        if isinstance(placement, str):
            return Callee((), (), refused=placement)
        parts = tuple(argument_parts(self._machine, placement.arguments))
        results = tuple(given_results(self._machine, placement.results, signature.result))
        if placement.result_space:
            results = tuple(replace(given, is_space=True, zeros=0) for given in results)
        callee = Callee(parts, results, is_library=is_library)
        return self._variadic(signature, callee) if signature.variadic else callee

    def _variadic(self, signature: Signature, callee: Callee) -> Callee:
        name = signature.name
        key = name if name.isidentifier() else self._key_of(signature)
        more = self._registers_set(key, {part.register for part in callee.parts})
        parts = (*callee.parts, *more, *self._vector_count)
        found = replace(
            callee,
            parts=parts,
            mixed=self._passes_more_in_places(key, parts, certainly=False),
            vectors=self._vectors,
            maybe_on_stack=True,
            uses_last_register=self._uses_last_register(parts),
        )
        found = self._without_wide_vectors(found, name)
        if not callee.is_library or library_function(name).format is None or not signature.parameters:
            return found
        index = len(callee.parts) - 1
        return replace(found, format=CallFormat(index, lambda text: self._formatted(signature, text)))

    def _key_of(self, signature: Signature) -> str:
        """Under which calls through pointers to functions of a type are known; "" are those of every type."""
        return next((key for key, known in self._pointer_types.items() if known == signature), "")

    def _formatted(self, signature: Signature, text: bytes) -> Parts | None:
        types = promoted_arguments(signature.name, text)
        if types is None:
            return None
        more = tuple(Parameter(f"value{number}", ctype) for number, ctype in enumerate(types, 1))
        whole_call = replace(signature, parameters=(*signature.parameters, *more), variadic=False)
        found = self._placed(whole_call, False)
        return None if found.refused else found.parts

    # -- from the code --------------------------------------------------------------------------

    def _unknown(self, name: str) -> Callee:
        convention = self._machine.convention
        parts = self._registers_set(name, set())
        uncounted = self._counted_and_not_set(name, parts)
        if all(self._counts_vectors(evidence, name) for evidence in self._evidence):
            parts += self._vector_count
        results = (*convention.result, *convention.float_result)
        in_runs = 1 if self._machine.convention.extends_by_rule else -1
        given = tuple(Given(register, whole(self._machine, register), in_runs=in_runs) for register in results)
        mixed = self._passes_more_in_places(name, parts) or uncounted
        last = self._uses_last_register(parts)
        callee = Callee(parts, given, maybe_on_stack=True, uses_last_register=last, mixed=mixed)
        callee = self._without_wide_vectors(callee, name)
        skipping = {register for evidence in self._evidence for register in self._set_beyond_a_gap(evidence, name)}
        return replace(callee, refused=self._other_convention(name, skipping)) if skipping else callee

    def _without_wide_vectors(self, callee: Callee, name: str) -> Callee:
        if not any(evidence.passes_wide_vectors(name) for evidence in self._evidence):
            return callee
        what = name or "a function called through a pointer"
        return replace(callee, refused=f"{what} may be passed a vector of more than 128 bits, which is not handled")

    def _set_beyond_a_gap(self, evidence: Evidence, name: str) -> Iterator[str]:
        """Registers that are set only for a call of `name`, though one that the convention uses before them cannot hold
        an argument: the convention must be another one."""
        convention = self._machine.convention
        plain, held = evidence.plainly_set(name), evidence.may_hold(name)
        for names in (convention.integer_arguments, convention.float_arguments):
            gap = next((number for number, register in enumerate(names) if register not in held), len(names))
            yield from (register for register in names[gap:] if register in plain)

    def _registers_set(self, name: str, taken: set[str | None]) -> Parts:
        """Argument registers, except those `taken`, that may hold an argument at every call on both sides: a function
        that both call correctly cannot take more. Registers up to the last one that is plainly set for the call
        certainly hold arguments."""
        convention = self._machine.convention
        found: list[ArgumentPart] = []
        for names in (convention.integer_arguments, convention.float_arguments):
            left = [n for n in names if n not in taken]
            certain = max((left.index(n) + 1 for n in left if self._is_plain(name, n)), default=0)
            for number, register in enumerate(left):
                if not all(register in e.may_hold(name) for e in self._evidence):
                    break
                every = whole(self._machine, register)
                read = every & LOW_WORD if number < certain else 0
                found.append(ArgumentPart(register, 0, self._machine.registers[register].size, every, read))
        return tuple(found)

    def _passes_more_in_places(self, name: str, parts: Parts, certainly: bool = True) -> str:
        """Why calls of one function cannot be compared: some pass more than is passed at all of them, `certainly` or
        perhaps. Of a function that takes any number of arguments, perhaps is enough."""
        common = {part.register for part in parts}
        registers = frozenset(self._machine.convention.integer_arguments)
        for evidence in self._evidence:
            held = evidence.set_somewhere(name) if certainly else evidence.written_somewhere(name) & registers
            more = sorted(held - common)
            if more:
                what = name if name.isidentifier() else "a function called through a pointer"
                return f"{what} is called with {', '.join(more)} set in one place and not in another"
        return ""

    @cached_property
    def _vectors(self) -> Parts:
        """The registers of which a caller says how many hold arguments, as what a callee may read there."""
        machine = self._machine
        names = machine.convention.float_arguments
        return tuple(ArgumentPart(n, 0, machine.registers[n].size, whole(machine, n), 0) for n in names)

    @cached_property
    def _vector_count(self) -> Parts:
        """Where a caller says it; nothing on machines where it does not. A callee that takes fewer arguments does not
        look there, so that no difference rests on it."""
        register = self._machine.convention.result[0]
        size = self._machine.registers[register].size
        return (ArgumentPart(register, 0, size, LOW_BYTE, 0),) if self._vectors else ()

    def _counts_vectors(self, evidence: Evidence, name: str) -> bool:
        said = evidence.vectors_said(name)
        return bool(said) and None not in said

    def _counted_and_not_set(self, name: str, parts: Parts) -> str:
        """Why calls of a function without a declaration cannot be compared: one says that it passes numbers in
        registers that another call does not set. A function that takes any number of arguments may be called so."""
        counts = [said for evidence in self._evidence for said in evidence.vectors_said(name) if said is not None]
        counted = self._machine.convention.float_arguments[: max(counts, default=0)]
        missing = sorted(set(counted) - {part.register for part in parts})
        what = name if name.isidentifier() else "a function called through a pointer"
        return f"{what} may be called with {', '.join(missing)} in one place and not in another" if missing else ""

    def _is_plain(self, name: str, register: str) -> bool:
        return any(register in evidence.plainly_set(name) for evidence in self._evidence)

    def _uses_last_register(self, parts: Iterable[ArgumentPart]) -> bool:
        convention = self._machine.convention
        ends = (convention.integer_arguments[-1:], convention.float_arguments[-1:])
        # Where the code alone tells what our own arguments are, every register may hold one at entry.
        guessed = self._contract.source is SignatureSource.LIVENESS
        held = {part.register for part in parts if part.reads or not guessed}
        return any(name in held for names in ends for name in names)


def _either(one: Callee, other: Callee) -> Callee:
    """What is known where either may be right."""
    return Callee(
        merged(one.parts, other.parts),
        common_results(one.results, other.results),
        one.format if one.format is not None and other.format is not None else None,
        one.is_library and other.is_library,
        one.returns or other.returns,
        one.refused or other.refused,
        one.vectors or other.vectors,
        one.maybe_on_stack or other.maybe_on_stack,
        one.uses_last_register or other.uses_last_register,
        one.mixed or other.mixed,
    )


def _shape(callee: Callee) -> tuple[Parts, tuple[Given, ...], str]:
    return callee.parts, callee.results, callee.refused


def _is_like(one: Callee, other: Callee) -> bool:
    """Whether two take and give the same, apart from what depends on the call."""
    return not one.refused and one.parts == other.parts and one.results == other.results


def _listed(names: list[str]) -> str:
    return ", ".join(names[:MOST_SHOWN]) + (", …" if len(names) > MOST_SHOWN else "")
