"""An adaptor between two functions, and the answers to the question for one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from isoform.model.evaluate_floats import to_float
from isoform.model.expression import (
    Built,
    Change,
    Constant,
    Conversion,
    Expression,
    FloatOperation,
    FloatOperator,
    Loaded,
    Operation,
    Operator,
    Variable,
    parts_of,
)
from isoform.model.signature import Signature
from isoform.model.values import dataclass
from isoform.model.verdict import Assumption, Equivalent, Subject


class Family(Enum):
    """Kinds of adaptors, simplest first."""

    SUBSTITUTION = "substitution"
    """Each argument is a parameter or a constant."""
    WIDTH = "width"
    """With sign or zero extension, truncation, or the truth value."""
    ARITHMETIC = "arithmetic"
    """Trees of operators."""
    RETURN = "return"
    """The same on the result."""
    FLOAT = "float"
    """Conversions between integers and floating point, and between its sizes, with one step of scaling: an operation
    with a usual constant or one of the code, the same for all arguments that have one."""
    MEMORY = "memory"
    """Structures whose members are at other offsets or have other widths."""


class Emit(Enum):
    """What an adaptor is written as, to be used elsewhere."""

    C = "c"
    """A wrapper: the rewrite under the target's prototype."""
    SMT = "smt"
    """Definitions in SMT-LIB."""


@dataclass(frozen=True)
class Adaptor:
    arguments: tuple[tuple[str, Expression], ...]
    """By the name of the rewrite's parameter, in its order; without those that the rewrite ignores."""
    result: Expression | None = None
    """Over the parameters and what the rewrite returned; None where that is returned as it is."""

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (*(e for _, e in self.arguments), *((self.result,) if self.result is not None else ()))

    @property
    def cost(self) -> tuple[int, int, int, int]:
        """Simplest first: fewest operators, then smallest constants, then parameters before constants."""
        parts = [part for expression in self.expressions for part in parts_of(expression)]
        constants = [part for part in parts if isinstance(part, Constant)]
        return (
            sum(isinstance(part, Operation | FloatOperation) for part in parts),
            sum(_size_of(constant) for constant in constants),
            len(constants),
            sum(isinstance(part, Conversion) for part in parts),
        )

    def __str__(self) -> str:
        shown = [f"{name} = {expression_text(e)}" for name, e in self.arguments]
        if self.result is not None:
            shown.append(f"return {expression_text(self.result)}")
        return ", ".join(shown) or "(no arguments)"


def _size_of(constant: Constant) -> int:
    """How much there is to read in it."""
    return len(float_text(constant)) if constant.is_float else abs(constant.signed_value).bit_length()


@dataclass(frozen=True)
class AdaptorQuestion:
    """What an answer is about."""

    target: Subject
    rewrite: Subject
    signatures: tuple[Signature, Signature]
    families: tuple[Family, ...]
    """Those that were searched; of `none`, those of which it was shown that they have no adaptor."""
    depth: int
    domain: str
    """The preconditions, as text; "" where all inputs count."""


@dataclass(frozen=True)
class Answered:
    asked: AdaptorQuestion
    seconds: float
    assumptions: tuple[Assumption, ...] = ()

    word = ""
    exit_code = 3


@dataclass(frozen=True)
class AdaptorFound(Answered):
    """With this adaptor the rewrite does what the target does."""

    adaptor: Adaptor | None = None
    family: Family = Family.SUBSTITUTION
    proof: Equivalent | None = None
    """The verdict on the target and the adapted rewrite."""
    others: tuple[Adaptor, ...] = ()
    """More that were proved too, and mean something else."""
    anything_fits: bool = False
    """Whether neither function does anything that is compared."""
    suggested_domain: str = ""
    """A restriction that was added to the domain so that the adaptor fits."""
    emitted: str = ""
    """The adaptor as a text to use elsewhere (`--emit`)."""

    word = "adaptor"
    exit_code = 0


@dataclass(frozen=True)
class Example:
    """An input, with what the target does on it."""

    inputs: Mapping[str, int | str]
    """By parameter; numbers in floating point as text."""
    target: str


@dataclass(frozen=True)
class NoAdaptor(Answered):
    """It was shown that no adaptor of the families fits all of these inputs."""

    counterexamples: tuple[Example, ...] = ()
    undecided: Mapping[Family, str] = field(default_factory=dict)
    """Further families that were searched, where none was named, and why they are not decided."""

    word = "none"
    exit_code = 1


@dataclass(frozen=True)
class AdaptorUnknown(Answered):
    why: str = ""
    candidate: Adaptor | None = None
    """One that fits all tests, and was not proved."""
    advice: str = ""
    excluded: tuple[Family, ...] = ()
    """Families of which it was shown that no adaptor fits."""
    is_unfinished: bool = True
    """Whether time ran out, so that more of it may decide; else something stands in the way that it does not change."""

    word = "unknown"
    exit_code = 3


# -- text -----------------------------------------------------------------------------------------

_PRECEDENCE = {
    Operator.MULTIPLY: 10,
    Operator.UNSIGNED_DIVIDE: 10,
    Operator.SIGNED_DIVIDE: 10,
    Operator.UNSIGNED_REMAINDER: 10,
    Operator.SIGNED_REMAINDER: 10,
    Operator.ADD: 9,
    Operator.SUBTRACT: 9,
    Operator.SHIFT_LEFT: 8,
    Operator.SHIFT_RIGHT: 8,
    Operator.ARITHMETIC_SHIFT_RIGHT: 8,
    Operator.AND: 5,
    Operator.XOR: 4,
    Operator.OR: 3,
}
_UNARY = 11
_LOWEST = 0
_HEX_FROM = 1 << 16
"""Larger constants are shown in hexadecimal."""


def expression_text(expression: Expression) -> str:
    """An expression as a person would write it, with C's precedence."""
    return _text(expression, _LOWEST)


def _text(expression: Expression, around: int) -> str:
    match expression:
        case Variable(name):
            return name
        case Constant():
            return _number(expression, around)
        case Conversion(change, operand, bits):
            return _conversion(change, operand, bits)
        case Loaded(label=label):
            return label
        case Built():
            return _structure(expression)
        case Operation(operator, (operand,)):
            return ("-" if operator is Operator.NEGATE else "~") + _text(operand, _UNARY)
        case Operation(operator, (left, right)):
            return _binary(operator, left, right, around)
        case FloatOperation(float_operator, (left, right)):
            return _float_operation(float_operator, left, right, around)
        case _:
            raise TypeError(expression)


def _structure(built: Built) -> str:
    """Its members, and after a semicolon what is copied back."""
    inside = ", ".join(f"{cell.label} = {expression_text(cell.value)}" for cell in built.cells)
    back = ", ".join(f"{cell.back.label} = {cell.label}" for cell in built.cells if cell.back is not None)
    return f"&{{{inside}; {back}}}" if back else f"&{{{inside}}}"


def _binary(operator: Operator, left: Expression, right: Expression, around: int) -> str:
    own = _PRECEDENCE[operator]
    sign = operator.value
    if operator is Operator.ADD and isinstance(right, Constant) and right.signed_value < 0:
        sign, right = "-", Constant(-right.value % (1 << right.bits), right.bits)
    if operator.is_shift and isinstance(right, Constant):
        right = Constant(right.value % left.bits, right.bits)
    if own <= _PRECEDENCE[Operator.SHIFT_LEFT]:  # C's precedence surprises here: always with parentheses
        text = f"{_text(left, _UNARY)} {sign} {_text(right, _UNARY)}"
    else:
        text = f"{_text(left, own)} {sign} {_text(right, own + 1)}"
    return f"({text})" if around > own else text


def _float_operation(operator: FloatOperator, left: Expression, right: Expression, around: int) -> str:
    own = _PRECEDENCE[Operator.ADD if operator in (FloatOperator.ADD, FloatOperator.SUBTRACT) else Operator.MULTIPLY]
    text = f"{_text(left, own)} {operator.value} {_text(right, own + 1)}"
    return f"({text})" if around > own else text


def float_text(constant: Constant) -> str:
    """The number that a bit pattern stands for, in decimal: read with its precision it is that number again."""
    return repr(to_float(constant.value, constant.bits // 8))


def _number(constant: Constant, around: int) -> str:
    if constant.is_float:
        text = float_text(constant)
        return f"({text})" if text.startswith("-") and around > _LOWEST else text
    value = constant.signed_value
    if abs(value) >= _HEX_FROM:
        return hex(constant.value)
    return f"({value})" if value < 0 and around > _LOWEST else str(value)


def _conversion(change: Change, operand: Expression, bits: int) -> str:
    inner = _text(operand, _LOWEST)
    match change:
        case Change.TRUTH:
            return f"({_text(operand, _UNARY)} != 0)"
        case Change.SIGN_EXTENDED:
            return f"sext{bits}({inner})"
        case Change.ZERO_EXTENDED:
            return f"zext{bits}({inner})"
        case Change.TRUNCATED:
            return f"trunc{bits}({inner})"
        case Change.FROM_SIGNED | Change.RESIZED_FLOAT:
            return f"{'float' if bits == 32 else 'double'}({inner})"
        case Change.TO_SIGNED:
            return f"int{bits}({inner})"
