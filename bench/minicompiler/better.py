"""The better compiler: variables and temporaries in registers, folded constants, loops tested at their end.

Arguments are in `$1`, `$2` and `$4`, the result in `$3`. Variables have `$10` and up, which a procedure restores before
it returns. The n-th temporary of an expression has `$5` to `$9` and beyond that a place in the frame; a caller puts
those that it still needs into the frame. `$24` and `$25` carry values between frame and operation.
"""

from __future__ import annotations

from collections.abc import Sequence

from minicompiler.assembly import Assembly, compared_as, multiplied_by
from minicompiler.bugs import Bug
from minicompiler.fold import folded
from minicompiler.tree import (
    NEGATED,
    Assign,
    Binary,
    Call,
    Compare,
    Expression,
    If,
    Name,
    Number,
    Procedure,
    Program,
    Statement,
    While,
)

ARGUMENTS = ("$1", "$2", "$4")
_TEMPORARIES = ("$5", "$6", "$7", "$8", "$9")
_FIRST_VARIABLE, _LAST_VARIABLE = 10, 23

Value = str | int
"""The register that holds a value, or the number of the temporary that is kept in the frame."""


def compile_better(program: Program, bug: Bug | None = None) -> str:
    out = Assembly(bug)
    program = folded(program, bug)
    for procedure in program.all:
        _Procedure(out, procedure, procedure is program.main).generate()
    return out.text()


class _Procedure:
    def __init__(self, out: Assembly, procedure: Procedure, is_main: bool) -> None:
        self._out = out
        self._procedure = procedure
        names = (*procedure.parameters, *procedure.locals)
        assert _FIRST_VARIABLE + len(names) <= _LAST_VARIABLE + 1
        self._registers = {name: f"${_FIRST_VARIABLE + index}" for index, name in enumerate(names)}
        self._kept = self._kept_registers(is_main)
        self._temporaries = 0
        """How many temporaries have needed a place in the frame."""

    def _kept_registers(self, is_main: bool) -> list[str]:
        """What the frame keeps from entry to exit: nobody looks at the variables of `main` once it ends."""
        bug, kept = self._out.bug, [] if is_main else list(self._registers.values())
        if bug is Bug.REGISTER_NOT_RESTORED and len(kept) > 2:
            kept.pop()
        if self._procedure.calls and (is_main or bug is not Bug.LINK_NOT_SAVED):
            kept.append("$31")
        return kept

    def generate(self) -> None:
        """The body comes first: only then is the size of the frame known."""
        out = self._out
        before, out.lines = out.lines, []
        self._enter()
        self._block(self._procedure.body)
        self._into("$3", self._procedure.result)
        body, out.lines = out.lines, before
        out.label(f"P_{self._procedure.name}")
        self._frame("sub")
        for index, register in enumerate(self._kept):
            out.do("sw", register, f"{4 * index}($30)")
        out.lines += body
        for index, register in enumerate(self._kept):
            out.do("lw", register, f"{4 * index}($30)")
        self._frame("add")
        out.do("jr", "$31")

    def _enter(self) -> None:
        for name, register in zip(self._procedure.parameters, ARGUMENTS, strict=False):
            self._out.move(self._registers[name], register)
        for name in self._procedure.locals:
            self._out.move(self._registers[name], "$0")

    def _frame(self, change: str) -> None:
        if size := 4 * (len(self._kept) + self._temporaries):
            self._out.word("$28", size)
            self._out.do(change, "$30", "$30", "$28")

    # -- statements ---------------------------------------------------------------------------------

    def _block(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            match statement:
                case Assign(name, value):
                    self._into(self._registers[name], value)
                case If():
                    self._if(statement)
                case While():
                    self._while(statement)

    def _if(self, statement: If) -> None:
        out, condition = self._out, statement.condition
        wrong_way = out.bug is Bug.BRANCH_SENSE and condition.operator in ("==", "!=")
        otherwise, end = out.new_label(), out.new_label()
        self._branch(condition, otherwise, wanted=wrong_way)
        self._block(statement.then)
        if statement.otherwise and out.bug is not Bug.ELSE_NOT_SKIPPED:
            out.jump(end)
        out.label(otherwise)
        self._block(statement.otherwise)
        out.label(end)

    def _while(self, statement: While) -> None:
        out = self._out
        body, test, end = out.new_label(), out.new_label(), out.new_label()
        if out.bug is Bug.LOOP_ONCE:
            self._branch(statement.condition, end, wanted=False)
            self._block(statement.body)
            out.label(end)
            return
        out.jump(test)
        out.label(body)
        self._block(statement.body)
        out.label(test)
        self._branch(statement.condition, body, wanted=True)

    def _branch(self, condition: Compare, label: str, wanted: bool) -> None:
        """To `label` if the condition is as `wanted`."""
        out = self._out
        left, right = self._operands(condition.left, condition.right, 0)
        operator = compared_as(condition.operator, out.bug)
        if not wanted:
            operator = NEGATED[operator]
        match operator:
            case "==" | "!=":
                out.do("beq" if operator == "==" else "bne", left, right, label)
            case "<" | ">=":
                out.less("$27", left, right)
                out.do("bne" if operator == "<" else "beq", "$27", "$0", label)
            case _:
                out.less("$27", right, left)
                out.do("bne" if operator == ">" else "beq", "$27", "$0", label)

    # -- expressions --------------------------------------------------------------------------------

    def _into(self, register: str, expression: Expression) -> None:
        """Put a value into a register while no temporary is in use."""
        match expression:
            case Binary(operator, left, right):
                self._out.arithmetic(operator, register, *self._factors(operator, left, right, 0))
            case Number(value) if value:
                self._out.constant(register, value)
            case Call():
                self._call(expression, 0)
                self._out.move(register, "$3")
            case _:
                self._out.move(register, self._loaded(self._value(expression, 0), "$24"))

    def _value(self, expression: Expression, depth: int) -> Value:
        """Compute a value while `depth` temporaries are in use. Variables stay where they are: nothing that an
        expression does changes them."""
        match expression:
            case Name(name):
                return self._registers[name]
            case Number(0):
                return "$0"
            case Number(value):
                self._out.constant(self._destination(depth), value)
            case Binary(operator, left, right):
                operands = self._factors(operator, left, right, depth)
                self._out.arithmetic(operator, self._destination(depth), *operands)
            case Call():
                self._call(expression, depth)
                self._out.move(self._destination(depth), "$3")
        return self._stored(depth)

    def _factors(self, operator: str, left: Expression, right: Expression, depth: int) -> tuple[str, str]:
        if operator == "*" and isinstance(right, Number):
            right = Number(multiplied_by(right.value, self._out.bug))
        return self._operands(left, right, depth)

    def _operands(self, left: Expression, right: Expression, depth: int) -> tuple[str, str]:
        first = self._value(left, depth)
        second = self._value(right, depth + self._is_temporary(first))
        return self._loaded(first, "$24"), self._loaded(second, "$25")

    def _is_temporary(self, value: Value) -> bool:
        return isinstance(value, int) or value in _TEMPORARIES

    def _destination(self, depth: int) -> str:
        return _TEMPORARIES[depth] if depth < len(_TEMPORARIES) else "$24"

    def _stored(self, depth: int) -> Value:
        if depth < len(_TEMPORARIES):
            return _TEMPORARIES[depth]
        self._out.do("sw", "$24", self._place(depth))
        return depth

    def _loaded(self, value: Value, carrier: str) -> str:
        if isinstance(value, str):
            return value
        self._out.do("lw", carrier, self._place(value))
        return carrier

    def _place(self, depth: int) -> str:
        """Where in the frame a temporary has its place."""
        if self._out.bug is Bug.SPILL_SLOT:
            depth = min(depth, len(_TEMPORARIES))
        self._temporaries = max(self._temporaries, depth + 1)
        return f"{4 * (len(self._kept) + depth)}($30)"

    def _call(self, call: Call, depth: int) -> None:
        """The result in `$3`; the temporaries in use are as before."""
        out = self._out
        registers = ARGUMENTS[: len(call.arguments)]
        if out.bug is Bug.ARGUMENT_ORDER:
            registers = registers[::-1]
        if out.bug is Bug.NESTED_ARGUMENTS:
            for register, argument in zip(registers, call.arguments, strict=True):
                out.move(register, self._loaded(self._value(argument, depth), "$24"))
        else:
            self._pass(call.arguments, registers, depth)
        in_use = [] if out.bug is Bug.STALE_AFTER_CALL else list(enumerate(_TEMPORARIES))[:depth]
        for number, temporary in in_use:
            out.do("sw", temporary, self._place(number))
        out.call(call.name)
        for number, temporary in in_use:
            out.do("lw", temporary, self._place(number))

    def _pass(self, arguments: Sequence[Expression], registers: Sequence[str], depth: int) -> None:
        values = []
        used = depth
        for argument in arguments:
            values.append(self._value(argument, used))
            used += self._is_temporary(values[-1])
        for register, value in zip(registers, values, strict=True):
            self._out.move(register, self._loaded(value, register))
