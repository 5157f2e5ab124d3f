"""Injected bugs: one operator, constant, width, sign, condition or operand changed; a store dropped or moved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

from soundness.program import (
    TYPES,
    Assign,
    Binary,
    Cast,
    Cell,
    Choice,
    Comparison,
    Constant,
    Function,
    If,
    Logical,
    Path,
    Read,
    Repeat,
    Switch,
    Unary,
    nodes,
    replaced,
)

Mutation = tuple[str, Callable[[Random], Any]]

_OPERATORS = ("+", "-", "&", "|", "^", "<<", ">>")
_NEAR = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
_STATEMENT_KINDS = (Assign, If, Switch, Repeat)


def mutated(function: Function, random: Random) -> tuple[Function, str]:
    """The function with one bug, and its name."""
    variables = sorted({node for _, node in nodes(function) if isinstance(node, Read)}, key=lambda v: v.name)
    by_name: dict[str, list[tuple[Any, Mutation]]] = {}
    for path, node in nodes(function):
        if _is_declaration(path):
            continue
        for mutation in _mutations(node, _visible(variables, path)):
            by_name.setdefault(mutation[0], []).append((path, mutation))
    if not by_name:
        return function, "nothing"
    name = random.choice(sorted(by_name))
    path, (_, make) = random.choice(by_name[name])
    return replaced(function, path, make(random)), name


def _is_declaration(path: Path) -> bool:
    """Whether the node is what is declared or assigned rather than a value."""
    first = path[:1]
    if first in (("parameters",), ("result",), ("arrays",), ("name",), ("tables", 0, 1)) or path[-1:] == ("target",):
        return True
    return (first == ("locals",) and path[2:] == (0,)) or (first == ("helpers",) and path[2:3] == ("parameters",))


def _visible(variables: list[Read], path: tuple[Any, ...]) -> list[Read]:
    """Variables that may be named anywhere in the body: parameters and, after the declarations, locals."""
    prefixes = ("h",) if path[:1] == ("helpers",) else ("x",) if path[:1] == ("locals",) else ("x", "v")
    if prefixes == ("h",):
        return []
    return [v for v in variables if v.name.startswith(prefixes)]


def _mutations(node: Any, variables: list[Read]) -> Iterator[Mutation]:
    match node:
        case Binary(kind, operator, left, right):
            others = [o for o in _OPERATORS if o != operator]
            yield "operator", lambda random: replace(node, operator=random.choice(others))
            yield "width", lambda random: replace(node, type=random.choice([t for t in TYPES if t.bits != kind.bits]))
            yield "sign", lambda _: replace(node, type=replace(kind, signed=not kind.signed))
            yield "operands exchanged", lambda _: replace(node, left=right, right=left)
        case Comparison(at, operator, left, right):
            yield "condition", lambda _: replace(node, operator=_NEAR[operator])
            yield "sign", lambda _: replace(node, at=replace(at, signed=not at.signed))
            yield "width", lambda random: replace(node, at=random.choice([t for t in TYPES if t.bits != at.bits]))
        case Logical(operator, left, right):
            yield "condition", lambda _: replace(node, operator="||" if operator == "&&" else "&&")
        case Unary(_, operator, _):
            yield "operator", lambda random: replace(node, operator=random.choice("~-!".replace(operator, "")))
        case Constant(kind, value):
            yield "constant", lambda random: Constant(kind, kind.wrap(_other_constant(value, kind.bits, random)))
        case Cast(kind, _):
            yield "width", lambda random: replace(node, type=random.choice([t for t in TYPES if t.bits != kind.bits]))
            yield "sign", lambda _: replace(node, type=replace(kind, signed=not kind.signed))
        case Choice(_, _, then, otherwise):
            yield "operands exchanged", lambda _: replace(node, then=otherwise, otherwise=then)
        case Cell(_, _, index, mask) if isinstance(index, Constant):
            yield "operand", lambda random: replace(node, index=Constant(index.type, random.randint(0, mask)))
        case Read(_, name) if not name.startswith("p") and [v for v in variables if v != node]:
            yield "operand", lambda random: random.choice([v for v in variables if v != node])
        case If(condition, _, _):
            yield "branch never taken", lambda _: replace(node, condition=Constant(condition.type, 0))
        case Repeat(_, count, _):
            yield "loop count", lambda random: replace(node, count=max(1, count + random.choice((-1, 1))))
        case tuple() if node and all(isinstance(s, _STATEMENT_KINDS) for s in node):
            yield from _of_block(node)


def _of_block(block: tuple[Any, ...]) -> Iterator[Mutation]:
    for index, statement in enumerate(block):
        if isinstance(statement, Assign):
            what = "store dropped" if isinstance(statement.target, Cell) else "assignment dropped"
            yield what, _constantly((*block[:index], *block[index + 1 :]))
        if index + 1 < len(block):
            yield "statements moved", _constantly((*block[:index], block[index + 1], block[index], *block[index + 2 :]))


def _constantly(block: tuple[Any, ...]) -> Callable[[Random], Any]:
    return lambda _: block


def _other_constant(value: int, bits: int, random: Random) -> int:
    return random.choice((value + 1, value - 1, value ^ 1 << random.randrange(bits), -value - 1))
