"""Expressions of adaptors in C, with exactly the meaning that `model/expression.py` gives them.

Every part is a value of the unsigned type of its width, so that arithmetic wraps around; narrow operands are widened to
32 bits first, because C would compute with `int`. Division is guarded, and of a shift amount the low bits count. What C
leaves to the compiler is only that a number which does not fit a signed type wraps around, and that `>>` of a negative
one copies its sign.
"""

from __future__ import annotations

from collections.abc import Mapping

from isoform.model.adaptor import float_text
from isoform.model.errors import Unsupported
from isoform.model.evaluate_floats import infinity, sign_bit
from isoform.model.expression import (
    Change,
    Constant,
    Conversion,
    Expression,
    FloatOperation,
    Loaded,
    Operation,
    Operator,
    Variable,
)
from isoform.model.signature import CType, TypeKind

_HEX_FROM = 1 << 16
_PROMOTED = 32
"""Narrower operands become `int` before C computes with them."""
_SIGNS = {
    Operator.UNSIGNED_DIVIDE: "/",
    Operator.SIGNED_DIVIDE: "/",
    Operator.UNSIGNED_REMAINDER: "%",
    Operator.SIGNED_REMAINDER: "%",
    Operator.SHIFT_RIGHT: ">>",
}
_WORDS = {
    Operator.UNSIGNED_DIVIDE: "divided",
    Operator.SIGNED_DIVIDE: "divided",
    Operator.UNSIGNED_REMAINDER: "remainder",
    Operator.SIGNED_REMAINDER: "remainder",
}


class CExpressions:
    """Texts of expressions, and the functions that they call."""

    def __init__(self, variables: Mapping[str, tuple[str, CType]]) -> None:
        self._variables = variables
        """What each variable is called in C, and its type."""
        self.functions: dict[str, str] = {}
        """Definitions by name."""

    def text(self, expression: Expression) -> str:
        """As a value of the unsigned type of its width, or `float` or `double`; not an operand of anything."""
        text = self._operand(expression)
        is_whole = text.startswith("(") and text.endswith(")") and _closes_last(text)
        return text[1:-1] if is_whole else text

    def _operand(self, expression: Expression) -> str:
        match expression:
            case Variable(name, bits):
                return self._variable(name, bits)
            case Constant():
                return constant_text(expression)
            case Conversion(change, operand, bits):
                return self._conversion(change, operand, bits)
            case Loaded(pointer, offset, bits):
                return self.loaded(f"(const char *){self._variables[pointer][0]} + {offset}", bits)
            case FloatOperation(float_operator, (left, right)):
                return f"({self._operand(left)} {float_operator.value} {self._operand(right)})"
            case Operation(operator, (operand,)):
                sign = "-" if operator is Operator.NEGATE else "~"
                return _cut(f"{sign}{self._wide(operand)}", expression.bits)
            case Operation(operator, (left, right)):
                return self._binary(operator, left, right)
            case _:
                raise TypeError(expression)

    def loaded(self, place: str, bits: int) -> str:
        """What is in memory there."""
        name = f"loaded_{bits}"
        self.functions[name] = _load(name, bits)
        return f"{name}({place})"

    def _variable(self, name: str, bits: int) -> str:
        shown, ctype = self._variables[name]
        is_plain = ctype.kind is TypeKind.INTEGER and not ctype.signed
        return shown if is_plain or ctype.kind is TypeKind.FLOAT else f"({unsigned(bits)}){shown}"

    def _wide(self, operand: Expression) -> str:
        text = self._operand(operand)
        return f"(uint32_t){text}" if operand.bits < _PROMOTED and not isinstance(operand, Constant) else text

    def _binary(self, operator: Operator, left: Expression, right: Expression) -> str:
        bits = left.bits
        if operator.divides:
            return self._divided(operator, left, right)
        if operator is Operator.ADD and isinstance(right, Constant) and 0 > right.signed_value > -_HEX_FROM:
            operator, right = Operator.SUBTRACT, Constant(-right.signed_value, right.bits)
        if not operator.is_shift:
            return _cut(f"{self._wide(left)} {operator.value} {self._wide(right)}", bits)
        amount = self._amount(right, bits)
        if operator is Operator.ARITHMETIC_SHIFT_RIGHT:
            return f"({unsigned(bits)})({self._signed(left)} >> {amount})"
        return _cut(f"{self._wide(left)} {_SIGNS.get(operator, operator.value)} {amount}", bits)

    def _amount(self, amount: Expression, bits: int) -> str:
        if isinstance(amount, Constant):
            return str(amount.value % bits)
        return f"({self._operand(amount)} & {bits - 1}u)"

    def _signed(self, operand: Expression) -> str:
        """As a value of the signed type of its width."""
        if isinstance(operand, Variable):
            shown, ctype = self._variables[operand.name]
            return shown if ctype.kind is TypeKind.INTEGER and ctype.signed else f"({signed(operand.bits)}){shown}"
        if isinstance(operand, Constant) and abs(operand.signed_value) < _HEX_FROM:
            return str(operand.signed_value)
        return f"({signed(operand.bits)}){self._operand(operand)}"

    def _divided(self, operator: Operator, left: Expression, right: Expression) -> str:
        bits, sign = left.bits, _SIGNS[operator]
        is_plain = isinstance(right, Constant) and right.value and right.signed_value != -1
        if is_plain and operator.is_signed:
            return f"({unsigned(bits)})({self._signed(left)} {sign} {self._signed(right)})"
        if is_plain:
            return _cut(f"{self._wide(left)} {sign} {self._wide(right)}", bits)
        name = f"{_WORDS[operator]}_{'signed' if operator.is_signed else 'unsigned'}_{bits}"
        self.functions[name] = _division(name, operator, bits)
        return f"{name}({self.text(left)}, {self.text(right)})"

    def _conversion(self, change: Change, operand: Expression, bits: int) -> str:
        match change:
            case Change.SIGN_EXTENDED:
                return f"({unsigned(bits)})({signed(bits)}){self._signed(operand)}"
            case Change.ZERO_EXTENDED | Change.TRUNCATED:
                return f"({unsigned(bits)}){self._operand(operand)}"
            case Change.TRUTH:
                return f"({unsigned(bits)})({self._operand(operand)} != 0)"
            case Change.FROM_SIGNED:
                return f"({_float(bits)}){self._signed(operand)}"
            case Change.RESIZED_FLOAT:
                return f"({_float(bits)}){self._operand(operand)}"
            case Change.TO_SIGNED:
                name = f"truncated_{bits}"
                self.functions[name] = _truncation(name, bits)
                return f"{name}({self.text(operand)})"


def _closes_last(text: str) -> bool:
    """Whether the parenthesis at the start closes at the end."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return place == len(text) - 1
    return False


def constant_text(constant: Constant) -> str:
    if constant.is_float:
        if constant.value & ~sign_bit(constant.bits // 8) >= infinity(constant.bits // 8):
            raise Unsupported("an infinite constant, or one that is no number, is not written in C")
        text = float_text(constant) + ("f" if constant.bits == 32 else "")
        return f"({text})" if text.startswith("-") else text
    bits, value = constant.bits, constant.value
    number = hex(value) if value >= _HEX_FROM else str(value)
    if constant.signed_value < 0 and -constant.signed_value < _HEX_FROM:
        return f"({unsigned(bits)}){constant.signed_value}"
    return f"UINT64_C({number})" if bits > _PROMOTED else f"{number}u"


def unsigned(bits: int) -> str:
    return f"uint{bits}_t"


def signed(bits: int) -> str:
    return f"int{bits}_t"


def _float(bits: int) -> str:
    return "float" if bits == 32 else "double"


def _cut(text: str, bits: int) -> str:
    return f"({unsigned(bits)})({text})" if bits < _PROMOTED else f"({text})"


def _division(name: str, operator: Operator, bits: int) -> str:
    """Nothing that is undefined in C: not by zero, and not the least number by -1."""
    kind, sign = unsigned(bits), _SIGNS[operator]
    if not operator.is_signed:
        return f"static {kind} {name}({kind} a, {kind} b)\n{{\n    return b == 0 ? 0 : a {sign} b;\n}}"
    own = signed(bits)
    by_minus_one = f"({kind})(0u - a)" if operator is Operator.SIGNED_DIVIDE else "0"
    return (
        f"static {kind} {name}({kind} a, {kind} b)\n{{\n"
        f"    if (b == 0)\n        return 0;\n"
        f"    if (b == ({kind})-1)\n        return {by_minus_one};\n"
        f"    return ({kind})(({own})a {sign} ({own})b);\n}}"
    )


def _load(name: str, bits: int) -> str:
    """Whatever the type of the object is."""
    kind = unsigned(bits)
    body = f"    {kind} x;\n    __builtin_memcpy(&x, p, sizeof x);\n    return x;"
    return f"static {kind} {name}(const char *p)\n{{\n{body}\n}}"


def _truncation(name: str, bits: int) -> str:
    """A double holds every number of 32 bits, and of 64 bits the two ends."""
    least = "-2147483649.0 < x" if bits == 32 else "-0x1p63 <= x"
    end = "2147483648.0" if bits == 32 else "0x1p63"
    lowest = "0x80000000u" if bits == 32 else "UINT64_C(1) << 63"
    kind, own = unsigned(bits), signed(bits)
    return f"static {kind} {name}(double x)\n{{\n    return {least} && x < {end} ? ({kind})({own})x : {lowest};\n}}"
