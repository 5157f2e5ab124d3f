"""Changes to a C function that keep its meaning: algebraic identities, other control flow, reordered statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

from soundness.program import (
    S32,
    U32,
    Assign,
    Binary,
    CallOutside,
    Cast,
    Cell,
    Choice,
    Comparison,
    Constant,
    Expression,
    Function,
    If,
    Leave,
    Logical,
    Read,
    Repeat,
    Statement,
    Switch,
    Unary,
    nodes,
    replaced,
)

_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}


def rewritten(function: Function, random: Random) -> tuple[Function, str]:
    """The function after a few changes, and their names."""
    done = []
    for _ in range(random.randint(1, 4)):
        places = [
            (path, rewrite)
            for path, node in nodes(function)
            if "helpers" not in path[:1] or path[-1:] == ("value",)
            for rewrite in _rewrites(node)
        ]
        if not places:
            break
        path, (name, make) = random.choice(places)
        function = replaced(function, path, make(random))
        done.append(name)
    return function, ", ".join(done) or "nothing"


Rewrite = tuple[str, Callable[[Random], Any]]


def _rewrites(node: Any) -> Iterator[Rewrite]:
    match node:
        case Binary():
            yield from _of_binary(node)
        case Unary():
            yield from _of_unary(node)
        case Comparison():
            yield from _of_comparison(node)
        case Logical(operator, left, right):
            other = "||" if operator == "&&" else "&&"
            yield "de morgan", lambda _: _not(Logical(other, _not(left), _not(right)))
        case Choice(kind, condition, then, otherwise):
            yield "choice turned", lambda _: Choice(kind, _not(condition), otherwise, then)
            yield "choice by mask", lambda _: _masked(node)
        case If(condition, body, other_body):
            yield "branch turned", lambda _: If(_not(condition), other_body, body)
        case Switch():
            yield "switch as branches", lambda _: _as_branches(node)
        case Repeat(counter, count, body):
            yield "loop unrolled", lambda _: If(Constant(S32, 1), _unrolled(counter, count, body))
        case tuple() if len(node) > 1 and all(isinstance(s, _STATEMENTS) for s in node):
            for index in range(len(node) - 1):
                if independent(node[index], node[index + 1]):
                    yield "statements reordered", _exchanged(node, index)


_STATEMENTS = (Assign, If, Switch, Repeat, CallOutside, Leave)


def _exchanged(block: tuple[Statement, ...], index: int) -> Callable[[Random], Any]:
    return lambda _: (*block[:index], block[index + 1], block[index], *block[index + 2 :])


def _not(condition: Expression) -> Expression:
    return Unary(S32, "!", condition)


def _of_binary(node: Binary) -> Iterator[Rewrite]:
    kind, a, b = node.type, node.left, node.right

    def two(operator: str, left: Expression, right: Expression) -> Binary:
        return Binary(kind, operator, left, right)

    def minus(value: Expression) -> Expression:
        return Unary(kind, "-", value)

    def flip(value: Expression) -> Expression:
        return Unary(kind, "~", value)

    one = Constant(kind, 1)
    match node.operator:
        case "+":
            yield "a+b = a-(-b)", lambda _: two("-", a, minus(b))
            yield "a+b = (a^b)+2(a&b)", lambda _: two("+", two("^", a, b), two("<<", two("&", a, b), one))
            yield "a+b = (a|b)+(a&b)", lambda _: two("+", two("|", a, b), two("&", a, b))
            if isinstance(a, Binary) and a.operator == "+" and a.type == kind:
                yield "reassociated", lambda _: two("+", a.left, two("+", a.right, b))
        case "-":
            yield "a-b = a+~b+1", lambda _: two("+", two("+", a, flip(b)), one)
            yield "a-b = -(b-a)", lambda _: minus(two("-", b, a))
            yield "a-b = (a^b)-2(~a&b)", lambda _: two("-", two("^", a, b), two("<<", two("&", flip(a), b), one))
        case "^":
            yield "a^b = (a|b)-(a&b)", lambda _: two("-", two("|", a, b), two("&", a, b))
            yield "a^b = (a|b)&~(a&b)", lambda _: two("&", two("|", a, b), flip(two("&", a, b)))
        case "|":
            yield "a|b = (a&~b)+b", lambda _: two("+", two("&", a, flip(b)), b)
            yield "a|b = ~(~a&~b)", lambda _: flip(two("&", flip(a), flip(b)))
        case "&":
            yield "a&b = ~(~a|~b)", lambda _: flip(two("|", flip(a), flip(b)))
            yield "a&b = (a+b)-(a|b)", lambda _: two("-", two("+", a, b), two("|", a, b))
        case "*":
            if isinstance(b, Constant):
                yield "a*c = a*(c-1)+a", lambda _: two("+", two("*", a, Constant(kind, kind.wrap(b.value - 1))), a)
        case "<<":
            if isinstance(b, Constant) and 0 <= b.value < kind.bits:
                yield "a<<k = a*2^k", lambda _: two("*", a, Constant(kind, kind.wrap(1 << b.value)))
        case ">>":
            if not kind.signed and isinstance(b, Constant) and 0 <= b.value < kind.bits - 1:
                # Divisors are made odd in the text, so the division is spelt as a shift of a shift here.
                half = b.value // 2
                rest = b.value - half
                yield "shift in two", lambda _: two(">>", two(">>", a, Constant(kind, half)), Constant(kind, rest))
    if node.operator in "+*&|^":
        yield "commuted", lambda _: two(node.operator, b, a)
    yield "x = (x+c)-c", lambda random: _there_and_back(node, random)


def _there_and_back(node: Binary, random: Random) -> Expression:
    constant = Constant(node.type, node.type.wrap(random.getrandbits(node.type.bits)))
    out, back = random.choice((("+", "-"), ("-", "+"), ("^", "^")))
    return Binary(node.type, back, Binary(node.type, out, node, constant), constant)


def _of_unary(node: Unary) -> Iterator[Rewrite]:
    kind, a = node.type, node.argument
    match node.operator:
        case "-":
            yield "-a = ~a+1", lambda _: Binary(kind, "+", Unary(kind, "~", a), Constant(kind, 1))
            yield "-a = 0-a", lambda _: Binary(kind, "-", Constant(kind, 0), a)
        case "~":
            yield "~a = -a-1", lambda _: Binary(kind, "-", Unary(kind, "-", a), Constant(kind, 1))
            yield "~a = a^-1", lambda _: Binary(kind, "^", a, Constant(kind, kind.wrap(-1)))
        case "!":
            yield "!a = (a==0)", lambda _: Cast(kind, Comparison(a.type, "==", a, Constant(a.type, 0)))


def _of_comparison(node: Comparison) -> Iterator[Rewrite]:
    at, a, b = node.at, node.left, node.right
    yield "mirrored", lambda _: Comparison(at, _MIRRORED[node.operator], b, a)
    yield "opposite", lambda _: _not(Comparison(at, _OPPOSITE[node.operator], a, b))
    if node.operator in ("==", "!="):
        zero = Constant(at, 0)
        yield "difference with 0", lambda _: Comparison(at, node.operator, Binary(at, "-", a, b), zero)
        yield "a^b with 0", lambda _: Comparison(at, node.operator, Binary(at, "^", a, b), zero)
    else:
        low = Constant(at, at.wrap(1 << (at.bits - 1)))
        other = replace(at, signed=not at.signed)
        yield (
            "other signedness",
            lambda _: Comparison(other, node.operator, Binary(at, "^", a, low), Binary(at, "^", b, low)),
        )


def _masked(node: Choice) -> Expression:
    kind = node.type
    mask = Unary(kind, "-", Comparison(S32, "!=", Cast(S32, _truth(node.condition)), Constant(S32, 0)))
    apart = Binary(kind, "^", node.then, node.otherwise)
    return Binary(kind, "^", node.otherwise, Binary(kind, "&", apart, mask))


def _truth(condition: Expression) -> Expression:
    return _not(_not(condition))


def _as_branches(node: Switch) -> Statement:
    index = Binary(U32, "&", Cast(U32, node.value), Constant(U32, 15))
    rest = node.default
    for number, body in reversed(node.cases):
        rest = (If(Comparison(U32, "==", index, Constant(U32, number)), body, rest),)
    return rest[0] if rest else If(Constant(S32, 0), ())


def _unrolled(counter: str, count: int, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    def iteration(number: int) -> tuple[Statement, ...]:
        changed = body
        for path, node in list(nodes(body)):
            if isinstance(node, Read) and node.name == counter:
                changed = replaced(changed, path, Constant(node.type, number))
        return changed

    return tuple(statement for number in range(count) for statement in iteration(number))


# -- independence -----------------------------------------------------------------------------------

_MEMORY = "memory"
_CONTROL = "control"


def independent(first: Statement, second: Statement) -> bool:
    """Whether the two can change places. All memory counts as one place."""
    reads, writes = _uses(first)
    other_reads, other_writes = _uses(second)
    return not (writes & other_writes or writes & other_reads or reads & other_writes)


def _uses(statement: Statement) -> tuple[set[str], set[str]]:
    reads: set[str] = {_CONTROL}
    writes: set[str] = set()
    for _, node in nodes(statement):
        match node:
            case Assign(target, _):
                writes.add(target.name if isinstance(target, Read) else _MEMORY)
            case CallOutside(result, _, _):
                writes |= {_MEMORY, _CONTROL}
                if result is not None:
                    writes.add(result.name)
            case Leave():
                writes.add(_CONTROL)
            case Read(_, name):
                reads.add(name)
            case Cell(_, base, _, _) if not base.startswith("table_"):
                reads.add(_MEMORY)
    return reads, writes
