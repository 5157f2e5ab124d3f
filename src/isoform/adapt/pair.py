"""The two functions of a question for an adaptor, each with a signature of its own.

An adapted rewrite is machine code: a wrapper with the target's signature that computes the rewrite's arguments and
calls it (`isa/*/wrapper.py`). So everything that compares functions compares it too. For the search there is a wrapper
whose own parameters are the target's and, behind them, one for each argument of the rewrite, which it passes on: the
*open* rewrite. The formula that the two differ is then a formula over the target's inputs and the arguments, made once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from isoform.borders.convention import place_signature
from isoform.borders.inferred import infer
from isoform.borders.question import Options, Question
from isoform.engines.answer import lifted
from isoform.engines.pose import pose
from isoform.isa.registry import machine, wrapper_code
from isoform.lift.discovery import Discovery
from isoform.lift.function import Function
from isoform.load.open import Loaded
from isoform.load.overlay import with_wrapper
from isoform.load.prototype import parse_prototype
from isoform.model.adaptor import Adaptor
from isoform.model.budget import Budget
from isoform.model.errors import Unsupported, UserError
from isoform.model.expression import RESULT, Change, Constant, Conversion, Expression, Variable
from isoform.model.machine import Machine
from isoform.model.signature import CType, Parameter, Signature, TypeKind
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption
from isoform.model.wrapper import Wrapper

WRAPPED = "{}_adapted"
_OPEN = "argument_{}"
"""The parameters of the open rewrite behind those of the target."""


@dataclass(frozen=True)
class Pair:
    loaded: tuple[Loaded, Loaded]
    signatures: tuple[Signature, Signature]
    assumptions: tuple[Assumption, ...] = ()
    """About where the signatures are from."""

    @cached_property
    def machine(self) -> Machine:
        return machine(self.loaded[0].image.machine)

    @property
    def parameters(self) -> tuple[Variable, ...]:
        """Of the target."""
        return tuple(Variable(p.name, p.type.bits, p.type.signed) for p in self.signatures[0].parameters)

    @property
    def typed_parameters(self) -> list[tuple[Variable, CType]]:
        """The same, each with its type."""
        return [*zip(self.parameters, (p.type for p in self.signatures[0].parameters), strict=True)]

    @cached_property
    def open_names(self) -> tuple[str, ...]:
        """What the arguments of the rewrite are called in the open question."""
        taken = {p.name for p in self.signatures[0].parameters}
        names = []
        for number, _ in enumerate(self.signatures[1].parameters, 1):
            name = _OPEN.format(number)
            while name in taken:
                name += "_"
            names.append(name)
        return tuple(names)

    # -- the two questions ------------------------------------------------------------------------

    def adapted(self, adaptor: Adaptor) -> tuple[Loaded, Loaded]:
        """The target, and the rewrite with an adaptor, as two functions of one signature."""
        given = dict(adaptor.arguments)
        arguments = [given.get(p.name, Constant(0, p.type.bits)) for p in self.signatures[1].parameters]
        return self._wrapped(self.signatures[0], arguments, adaptor.result)

    def open(self, result: Expression | None) -> tuple[Loaded, Loaded]:
        """The target, and the open rewrite with one adaptor of its result."""
        theirs = self.signatures[1].parameters
        parameters = [Parameter(name, p.type) for name, p in zip(self.open_names, theirs, strict=True)]
        own = self.signatures[0]
        signature = replace(own, parameters=(*own.parameters, *parameters))
        arguments = [Variable(p.name, p.type.bits, p.type.signed) for p in parameters]
        return self._wrapped(signature, arguments, result)

    def _wrapped(
        self, signature: Signature, arguments: Sequence[Expression], result: Expression | None
    ) -> tuple[Loaded, Loaded]:
        make = wrapper_code(self.machine.name)
        if make is None:
            raise UserError(f"adaptors are not made for {self.machine.title} yet.")
        own, callee = place_signature(self.machine, signature), place_signature(self.machine, self.signatures[1])
        if own.result_space or callee.result_space:
            raise Unsupported("a result in memory is not adapted")
        wrapper = Wrapper(own, callee, tuple(arguments), result)
        target, rewrite = self.loaded
        name = WRAPPED.format(rewrite.symbol.name)
        images = target.image, rewrite.image
        wrapped = with_wrapper(rewrite, replace(signature, name=name), lambda at, to: make(wrapper, at, to), images)
        # Two functions of one file stay functions of one file: every address means the same to both.
        is_one = target.image.sections == rewrite.image.sections
        image = replace(wrapped.image, path=target.image.path) if is_one else target.image
        signatures = {**image.signatures, target.symbol.name: replace(signature, name=target.symbol.name)}
        return replace(target, image=replace(image, signatures=signatures), together=None), wrapped


def posed(sides: tuple[Loaded, Loaded], options: Options, budget: Budget, discovery: Discovery) -> Question:
    target, rewrite = (lifted(side, True, budget, discovery.hints(n)) for n, side in enumerate(sides))
    return pose(target, rewrite, options, budget, discovery)


# -- signatures -----------------------------------------------------------------------------------


def pair_of(loaded: tuple[Loaded, Loaded], said: tuple[str | None, str | None], budget: Budget) -> Pair:
    """The two functions with their signatures: from the options, debug information, or the code itself."""
    found = [_signature(side, text, budget) for side, text in zip(loaded, said, strict=True)]
    assumptions = [assumption for _, assumption in found if assumption is not None]
    for signature, _ in found:
        require_adaptable(signature)
    return Pair(loaded, (found[0][0], found[1][0]), tuple(assumptions))


def _signature(side: Loaded, said: str | None, budget: Budget) -> tuple[Signature, Assumption | None]:
    of = machine(side.image.machine)
    if said is not None:
        said_so = parse_prototype(said, of.word_bits, of.char_is_signed)
        return with_names(replace(said_so, name=side.symbol.name)), None
    declared = side.image.signatures.get(side.symbol.name)
    if declared is not None:
        return with_names(declared), None
    inferred = infer_signature(lifted(side, True, budget))
    return inferred, from_liveness(inferred, "--signature-a and --signature-b")


def infer_signature(function: Function) -> Signature:
    return infer(function, function, True, frozenset()).signature


def from_liveness(inferred: Signature, options: str) -> Assumption:
    why = f"the signature is taken to be {inferred}, from the registers the code uses; {options} would settle it"
    return Assumption("signature-from-liveness", why)


def _own_name(name: str) -> str:
    """`result` is what the rewrite returned, in expressions: a parameter of that name gets another."""
    return f"{name}_" if name == RESULT else name


def with_names(signature: Signature) -> Signature:
    """Debug information may have parameters without a name."""
    names = [_own_name(p.name) or f"parameter_{n}" for n, p in enumerate(signature.parameters, 1)]
    parameters = [replace(p, name=name) for p, name in zip(signature.parameters, names, strict=True)]
    return replace(signature, parameters=tuple(parameters))


def require_adaptable(signature: Signature) -> None:
    if signature.variadic:
        raise UserError(f"{signature.name} takes a variable number of arguments, which adaptors cannot pass.")
    for ctype, what in (*((p.type, p.name) for p in signature.parameters), (signature.result, "the result")):
        if not _is_plain(ctype):
            raise UserError(
                f"{what} of {signature.name} is '{ctype.spelling}': adaptors are for integers, pointers, float and "
                "double."
            )


def _is_plain(ctype: CType) -> bool:
    if ctype.kind is TypeKind.FLOAT:
        return ctype.is_float
    return ctype.kind is not TypeKind.STRUCT and ctype.bits in (0, 8, 16, 32, 64)


# -- the result -----------------------------------------------------------------------------------


def plain_result(pair: Pair, result: Expression) -> Expression | None:
    """None where the wrapper can leave the result as it is."""
    return None if isinstance(result, Variable) and result.bits == pair.signatures[1].result.bits else result


def as_c_converts(value: Expression, signed: bool, bits: int) -> Expression:
    """A value at another width, as C converts it."""
    if value.bits == bits:
        return value
    if value.bits > bits:
        return Conversion(Change.TRUNCATED, value, bits)
    return Conversion(Change.SIGN_EXTENDED if signed else Change.ZERO_EXTENDED, value, bits)
