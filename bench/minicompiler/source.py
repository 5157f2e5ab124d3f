"""Programs as text. The language is written as a subset of Python, so Python's own parser reads it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from minicompiler.tree import (
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

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Mod: "%",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_INDENT = "    "


def parse(text: str) -> Program:
    """Functions that end in their only `return`; the one called `main` is the program."""
    procedures = [_procedure(node) for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    main = next(p for p in procedures if p.name == "main")
    return Program(main, tuple(p for p in procedures if p is not main))


def _procedure(node: ast.FunctionDef) -> Procedure:
    *body, last = node.body
    assert isinstance(last, ast.Return)
    assert last.value is not None
    return Procedure(node.name, tuple(a.arg for a in node.args.args), _block(body), _expression(last.value))


def _block(nodes: Sequence[ast.stmt]) -> tuple[Statement, ...]:
    return tuple(_statement(node) for node in nodes if not isinstance(node, ast.Pass))


def _statement(node: ast.stmt) -> Statement:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return Assign(name, _expression(value))
        case ast.If(test=test, body=then, orelse=otherwise):
            return If(_condition(test), _block(then), _block(otherwise))
        case ast.While(test=test, body=body, orelse=[]):
            return While(_condition(test), _block(body))
        case _:
            raise ValueError(f"no statement of the language: {ast.unparse(node)}")


def _condition(node: ast.expr) -> Compare:
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return Compare(_OPERATORS[type(operator)], _expression(left), _expression(right))
        case _:
            raise ValueError(f"no condition of the language: {ast.unparse(node)}")


def _expression(node: ast.expr) -> Expression:
    match node:
        case ast.Constant(value=int(value)):
            return Number(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return Number(-value)
        case ast.Name(id=name):
            return Name(name)
        case ast.BinOp(left=left, op=operator, right=right):
            return Binary(_OPERATORS[type(operator)], _expression(left), _expression(right))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return Call(name, tuple(_expression(a) for a in arguments))
        case _:
            raise ValueError(f"no expression of the language: {ast.unparse(node)}")


def written(program: Program) -> str:
    """The text of a program, which `parse` reads back."""
    lines: list[str] = []
    for procedure in program.all:
        lines.append(f"def {procedure.name}({', '.join(procedure.parameters)}):")
        lines += _written_block(procedure.body, 1) if procedure.body else []
        lines.append(f"{_INDENT}return {written_expression(procedure.result)}")
    return "\n".join(lines) + "\n"


def _written_block(statements: Sequence[Statement], depth: int) -> Iterator[str]:
    indent = depth * _INDENT
    for statement in statements:
        match statement:
            case Assign(name, value):
                yield f"{indent}{name} = {written_expression(value)}"
            case If(condition, then, otherwise):
                yield f"{indent}if {_written_condition(condition)}:"
                yield from _written_block(then, depth + 1)
                if otherwise:
                    yield f"{indent}else:"
                    yield from _written_block(otherwise, depth + 1)
            case While(condition, body):
                yield f"{indent}while {_written_condition(condition)}:"
                yield from _written_block(body, depth + 1)
    if not statements:
        yield f"{indent}pass"


def _written_condition(condition: Compare) -> str:
    return f"{written_expression(condition.left)} {condition.operator} {written_expression(condition.right)}"


def written_expression(expression: Expression) -> str:
    match expression:
        case Number(value):
            return str(value)
        case Name(name):
            return name
        case Binary(operator, left, right):
            return f"({written_expression(left)} {operator} {written_expression(right)})"
        case Call(name, arguments):
            return f"{name}({', '.join(written_expression(a) for a in arguments)})"
