"""The naive compiler: a stack machine. Every operand is pushed, every variable is in the frame.

`$30` points at the top of the stack, `$29` at the first local variable (arguments are above it, locals below), `$4` is
4 and `$11` is 1. A caller keeps its own `$29` and `$31` on the stack. Values are computed in `$3`.
"""

from __future__ import annotations

from collections.abc import Sequence

from minicompiler.assembly import Assembly, compared_as, multiplied_by
from minicompiler.bugs import Bug
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


def compile_naive(program: Program, bug: Bug | None = None) -> str:
    out = Assembly(bug)
    out.word("$4", 4)
    out.word("$11", 1)
    _push(out, "$1")
    _push(out, "$2")
    for procedure in program.all:
        _Procedure(out, procedure, procedure is program.main).generate()
    return out.text()


def _push(out: Assembly, register: str) -> None:
    out.do("sw", register, "-4($30)")
    out.do("sub", "$30", "$30", "$4")


def _pop(out: Assembly, register: str) -> None:
    out.do("add", "$30", "$30", "$4")
    out.do("lw", register, "-4($30)")


class _Procedure:
    def __init__(self, out: Assembly, procedure: Procedure, is_main: bool) -> None:
        self._out = out
        self._procedure = procedure
        self._keeps_link = is_main or out.bug is not Bug.LINK_NOT_SAVED
        self._offsets = self._placed()

    def _placed(self) -> dict[str, int]:
        parameters, names = self._procedure.parameters, self._procedure.locals
        offsets = {name: 4 * (len(parameters) - index) for index, name in enumerate(parameters)}
        offsets |= {name: -4 * index for index, name in enumerate(names)}
        if self._out.bug is Bug.FRAME_OFFSET and len(names) > 1:
            offsets[names[-1]] += 4
        return offsets

    def generate(self) -> None:
        out = self._out
        out.label(f"P_{self._procedure.name}")
        out.do("sub", "$29", "$30", "$4")
        for _ in self._procedure.locals:
            _push(out, "$0")
        self._block(self._procedure.body)
        self._value(self._procedure.result)
        out.do("add", "$30", "$29", "$4")
        out.do("jr", "$31")

    def _block(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            match statement:
                case Assign(name, value):
                    self._value(value)
                    self._out.do("sw", "$3", f"{self._offsets[name]}($29)")
                case If():
                    self._if(statement)
                case While():
                    self._while(statement)

    def _if(self, statement: If) -> None:
        out, condition = self._out, statement.condition
        if out.bug is Bug.BRANCH_SENSE and condition.operator in ("==", "!="):
            condition = Compare(NEGATED[condition.operator], condition.left, condition.right)
        otherwise, end = out.new_label(), out.new_label()
        self._condition(condition)
        out.do("beq", "$3", "$0", otherwise)
        self._block(statement.then)
        if out.bug is not Bug.ELSE_NOT_SKIPPED:
            out.jump(end)
        out.label(otherwise)
        self._block(statement.otherwise)
        out.label(end)

    def _while(self, statement: While) -> None:
        out = self._out
        again, end = out.new_label(), out.new_label()
        out.label(again)
        self._condition(statement.condition)
        out.do("beq", "$3", "$0", end)
        self._block(statement.body)
        if out.bug is not Bug.LOOP_ONCE:
            out.jump(again)
        out.label(end)

    def _condition(self, condition: Compare) -> None:
        """1 in `$3` if it holds, else 0."""
        out = self._out
        self._operands(condition.left, condition.right)
        operator = compared_as(condition.operator, out.bug)
        if operator in ("==", "!="):
            out.do("slt", "$6", "$5", "$3")
            out.do("slt", "$7", "$3", "$5")
            out.do("add", "$3", "$6", "$7")
        elif operator in ("<", ">="):
            out.less("$3", "$5", "$3")
        else:
            out.less("$3", "$3", "$5")
        if operator in ("==", ">=", "<="):
            out.do("sub", "$3", "$11", "$3")

    def _operands(self, left: Expression, right: Expression) -> None:
        """The left one in `$5`, the right one in `$3`."""
        self._value(left)
        _push(self._out, "$3")
        self._value(right)
        _pop(self._out, "$5")

    def _value(self, expression: Expression) -> None:
        match expression:
            case Number(value):
                self._out.constant("$3", value)
            case Name(name):
                self._out.do("lw", "$3", f"{self._offsets[name]}($29)")
            case Binary("*", left, Number(value)):
                self._operands(left, Number(multiplied_by(value, self._out.bug)))
                self._out.arithmetic("*", "$3", "$5", "$3")
            case Binary(operator, left, right):
                self._operands(left, right)
                self._out.arithmetic(operator, "$3", "$5", "$3")
            case Call():
                self._call(expression)

    def _call(self, call: Call) -> None:
        out = self._out
        _push(out, "$29")
        if self._keeps_link:
            _push(out, "$31")
        arguments = call.arguments[::-1] if out.bug is Bug.ARGUMENT_ORDER else call.arguments
        for argument in arguments:
            self._value(argument)
            _push(out, "$3")
        out.call(call.name)
        for _ in arguments:
            out.do("add", "$30", "$30", "$4")
        if self._keeps_link:
            _pop(out, "$31")
        _pop(out, "$29")
