"""Small C programs as trees, and their text.

Every expression has a C type and its value is defined for all operands: arithmetic is done on unsigned types
and cast back, shift counts are masked, divisors are never 0 or -1. So all compilers and levels must agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any


@dataclass(frozen=True)
class Type:
    bits: int
    signed: bool

    @property
    def name(self) -> str:
        return f"{'s' if self.signed else 'u'}{self.bits}"

    @property
    def wide(self) -> str:
        """The unsigned type in which arithmetic cannot overflow into undefined behaviour."""
        return "u64" if self.bits == 64 else "u32"

    def wrap(self, value: int) -> int:
        value &= (1 << self.bits) - 1
        return value - (1 << self.bits) if self.signed and value >> (self.bits - 1) else value


TYPES = tuple(Type(bits, signed) for bits in (8, 16, 32, 64) for signed in (False, True))
U8, S8, U16, S16, U32, S32, U64, S64 = TYPES


# -- expressions ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Constant:
    type: Type
    value: int


@dataclass(frozen=True)
class Read:
    """A local variable or parameter."""

    type: Type
    name: str


@dataclass(frozen=True)
class Cell:
    """Memory: `base[index & mask]`, or `base` itself (a global, a field) where there is no index."""

    type: Type
    base: str
    index: Expression | None = None
    mask: int = 0


@dataclass(frozen=True)
class Unary:
    type: Type
    operator: str
    argument: Expression


@dataclass(frozen=True)
class Binary:
    """+ - * & | ^ << >> / %, all in `type`."""

    type: Type
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Comparison:
    """Both sides converted to `at`; the result is 0 or 1."""

    at: Type
    operator: str
    left: Expression
    right: Expression
    type: Type = S32


@dataclass(frozen=True)
class Logical:
    operator: str
    left: Expression
    right: Expression
    type: Type = S32


@dataclass(frozen=True)
class Choice:
    type: Type
    condition: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True)
class Cast:
    type: Type
    argument: Expression


@dataclass(frozen=True)
class Helped:
    """A call of one of the file's own static functions, which have no side effects."""

    type: Type
    helper: str
    arguments: tuple[Expression, ...]


Expression = Constant | Read | Cell | Unary | Binary | Comparison | Logical | Choice | Cast | Helped


# -- statements -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Assign:
    target: Read | Cell
    value: Expression


@dataclass(frozen=True)
class If:
    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


@dataclass(frozen=True)
class Switch:
    value: Expression
    cases: tuple[tuple[int, tuple[Statement, ...]], ...]
    default: tuple[Statement, ...]


@dataclass(frozen=True)
class Repeat:
    counter: str
    count: int
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class CallOutside:
    target: Read | None
    callee: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Leave:
    """An early return."""

    value: Expression


Statement = Assign | If | Switch | Repeat | CallOutside | Leave


@dataclass(frozen=True)
class Helper:
    name: str
    type: Type
    parameters: tuple[Read, ...]
    value: Expression


@dataclass(frozen=True)
class Function:
    name: str
    result: Type
    parameters: tuple[tuple[str, str], ...]
    """(C type, name)"""
    locals: tuple[tuple[Read, Expression], ...]
    arrays: tuple[tuple[str, Type, int], ...]
    """(name, element type, length); zero at first."""
    tables: tuple[tuple[str, Type, tuple[Constant, ...]], ...]
    """Constant tables of the function's own: (name, element type, contents)."""
    helpers: tuple[Helper, ...]
    body: tuple[Statement, ...]
    value: Expression


# -- text -------------------------------------------------------------------------------------------

# Every global is larger than anything a pointer accesses: compilers take an access that is larger than an object
# not to touch it, which no contract of machine code says.
PRELUDE = """\
typedef unsigned char u8; typedef signed char s8; typedef unsigned short u16; typedef short s16;
typedef unsigned int u32; typedef int s32; typedef unsigned long u64; typedef long s64;
struct item { s32 a; u8 b; s16 c; u64 d; u32 e[4]; };
extern u32 outside_one(u32 x); extern s64 outside_two(s64 x, u8 y); extern void outside_tell(u64 x);
extern u64 outside_many(u64 a, u8 b, s16 c, u32 d, u64 e, s32 f, u64 g, u32 h); extern u32 outside_pointer(void *p);
u32 global_words[16]; s16 global_shorts[32]; u64 global_longs[8]; u8 global_bytes[64];
static const u32 table_words[8] = { 7, 0, 0xffffffff, 0x80000000, 12, 1, 255, 0x7fffffff };
static const s8 table_bytes[16] = { 0, 1, -1, 127, -128, 3, 5, 8, 13, 21, 34, 55, 89, -89, 2, -2 };
"""


def constant_text(constant: Constant) -> str:
    value = constant.type.wrap(constant.value)
    if constant.type.signed and value < 0:
        digits = f"(-{-value - 1}l - 1)"
    else:
        digits = f"{value}{'ul' if constant.type.bits == 64 else 'u'}"
    return f"({constant.type.name}){digits}"


def text_of(node: Expression) -> str:
    match node:
        case Constant():
            return constant_text(node)
        case Read(_, name):
            return name
        case Cell(_, base, None, _):
            return base
        case Cell(_, base, index, mask) if index is not None:
            return f"{base}[(u32)({text_of(index)}) & {mask}u]"
        case Unary(kind, "!", argument):
            return f"({kind.name})!({text_of(argument)})"
        case Unary(kind, operator, argument):
            return f"({kind.name})({operator}({kind.wide})({text_of(argument)}))"
        case Binary():
            return _binary_text(node)
        case Comparison(at, operator, left, right):
            return f"(({at.name})({text_of(left)}) {operator} ({at.name})({text_of(right)}))"
        case Logical(operator, left, right):
            return f"(({text_of(left)}) {operator} ({text_of(right)}))"
        case Choice(kind, condition, then, otherwise):
            return f"(({text_of(condition)}) ? ({kind.name})({text_of(then)}) : ({kind.name})({text_of(otherwise)}))"
        case Cast(kind, argument):
            return f"({kind.name})({text_of(argument)})"
        case Helped(_, helper, arguments):
            return f"{helper}({', '.join(text_of(a) for a in arguments)})"
    raise AssertionError(node)


def _binary_text(node: Binary) -> str:
    kind, operator = node.type, node.operator
    left, right = text_of(node.left), text_of(node.right)
    if operator in ("<<", ">>"):
        count = f"((u32)({right}) & {kind.bits - 1}u)"
        inner = kind.wide if operator == "<<" else kind.name
        first = f"({inner})({kind.name})({left})" if operator == "<<" else f"({kind.name})({left})"
        return f"({kind.name})({first} {operator} {count})"
    if operator in ("/", "%"):
        divisor = f"({kind.name})(({kind.wide})({right}) & {(1 << (kind.bits - 1)) - 1}u | 1u)"
        return f"({kind.name})(({kind.name})({left}) {operator} {divisor})"
    return f"({kind.name})(({kind.wide})({left}) {operator} ({kind.wide})({right}))"


def _lines(body: tuple[Statement, ...], depth: int) -> Iterator[str]:
    space = "    " * depth
    for statement in body:
        match statement:
            case Assign(target, value):
                yield f"{space}{text_of(target)} = {text_of(value)};"
            case If(condition, then, otherwise):
                yield f"{space}if ({text_of(condition)}) {{"
                yield from _lines(then, depth + 1)
                if otherwise:
                    yield f"{space}}} else {{"
                    yield from _lines(otherwise, depth + 1)
                yield f"{space}}}"
            case Switch(value, cases, default):
                yield f"{space}switch ((u32)({text_of(value)}) & 15u) {{"
                for number, inner in cases:
                    yield f"{space}case {number}: {{"
                    yield from _lines(inner, depth + 1)
                    yield f"{space}    break; }}"
                yield f"{space}default: {{"
                yield from _lines(default, depth + 1)
                yield f"{space}    break; }}"
                yield f"{space}}}"
            case Repeat(counter, count, inner):
                yield f"{space}for (u32 {counter} = 0; {counter} < {count}u; {counter}++) {{"
                yield from _lines(inner, depth + 1)
                yield f"{space}}}"
            case CallOutside(result, callee, arguments):
                call = f"{callee}({', '.join(text_of(a) for a in arguments)});"
                yield f"{space}{text_of(result)} = {call}" if result is not None else space + call
            case Leave(value):
                yield f"{space}return {text_of(value)};"


def function_text(function: Function) -> str:
    lines = []
    for name, kind, contents in function.tables:
        inner = ", ".join(text_of(c) for c in contents)
        lines.append(f"static const {kind.name} {name}[{len(contents)}] = {{ {inner} }};")
    for helper in function.helpers:
        given = ", ".join(f"{p.type.name} {p.name}" for p in helper.parameters)
        lines.append(f"static {helper.type.name} {helper.name}({given}) {{ return {text_of(helper.value)}; }}")
    given = ", ".join(f"{kind} {name}" for kind, name in function.parameters)
    lines.append(f"{function.result.name} {function.name}({given}) {{")
    for variable, value in function.locals:
        lines.append(f"    {variable.type.name} {variable.name} = {text_of(value)};")
    for name, kind, length in function.arrays:
        lines.append(f"    {kind.name} {name}[{length}] = {{0}};")
    lines += _lines(function.body, 1)
    lines += [f"    return {text_of(function.value)};", "}"]
    return "\n".join(lines) + "\n"


# -- trees ------------------------------------------------------------------------------------------

Path = tuple[str | int, ...]


def nodes(root: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every node below `root`, with the way to it; tuples are nodes too."""
    yield path, root
    if isinstance(root, tuple):
        for index, child in enumerate(root):
            yield from nodes(child, (*path, index))
    elif hasattr(root, "__dataclass_fields__") and not isinstance(root, Type):
        for field in fields(root):
            yield from nodes(getattr(root, field.name), (*path, field.name))


def replaced(root: Any, path: Path, new: Any) -> Any:
    """`root` with the node at `path` exchanged."""
    if not path:
        return new
    first, rest = path[0], path[1:]
    if isinstance(root, tuple):
        assert isinstance(first, int)
        return (*root[:first], replaced(root[first], rest, new), *root[first + 1 :])
    assert isinstance(first, str)
    return replace(root, **{first: replaced(getattr(root, first), rest, new)})
