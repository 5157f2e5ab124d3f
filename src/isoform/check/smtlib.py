"""A reader of the SMT-LIB 2 files in a certificate, independent of whatever wrote them.

It knows the operators of bit-vectors and arrays, and takes every other operator as it is written. It is strict: a
command, binder or sort mistake that it does not know is refused, never skipped. Terms are read without recursion, so
their depth does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from isoform.check.sorts import BOOL, SORT_RULES, WIDEST, Indices, ReadError, SExpression, Sort, bit_vector, width_of
from isoform.check.sorts import number as plain_number

_TOKEN = re.compile(r';[^\n]*|"(?:[^"]|"")*"|\|[^|\\]*\||[()]|[^\s()|;"]+')
_OPERATOR = re.compile(r"=>?|[+-]?[A-Za-z][A-Za-z0-9._]*")
_BINDERS = frozenset(("forall", "exists", "lambda", "match", "choice"))
_RESERVED = frozenset(("let", "!", "_", "as"))
CONSTANT_ARRAY = "const"
"""The operator of an array that is the same everywhere; its sort is its index."""


class Node(NamedTuple):
    """One term. Equal terms have equal numbers in a `ReadTerms`."""

    operator: str
    """For a declared symbol its name after a space (no operator begins with one); for a bit-vector constant "value"."""
    indices: Indices
    operands: tuple[int, ...]

    @property
    def is_symbol(self) -> bool:
        """Whether this is a declared constant."""
        return self.operator[0] == " " and not self.operands


class FunctionSort(NamedTuple):
    """Of a declared function."""

    operands: tuple[Sort, ...]
    result: Sort


class ReadTerms:
    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.sorts: list[Sort] = []
        self._numbers: dict[Node, int] = {}

    def intern(self, node: Node, sort: Sort) -> int:
        number = self._numbers.setdefault(node, len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(node)
            self.sorts.append(sort)
        return number

    def width(self, number: int) -> int | None:
        return width_of(self.sorts[number])

    def operands_first(self, roots: Sequence[int], done: Container[int] = ()) -> Iterator[int]:
        """The subterms of some terms, each once, without those already done."""
        seen: set[int] = set()
        stack = list(reversed(roots))
        while stack:
            number = stack[-1]
            if number in seen or number in done:
                stack.pop()
                continue
            waiting = [o for o in self.nodes[number].operands if o not in seen and o not in done]
            if waiting:
                stack.extend(waiting)
                continue
            stack.pop()
            seen.add(number)
            yield number


@dataclass
class Script:
    """What a file says: its assertions in order, each with its label."""

    terms: ReadTerms = field(default_factory=ReadTerms)
    logic: str = "ALL"
    names: dict[str, int] = field(default_factory=dict)
    """Declared and defined constants."""
    functions: dict[str, FunctionSort] = field(default_factory=dict)
    assertions: list[tuple[str, int]] = field(default_factory=list)
    checks: int = 0

    def declare(self, name: str, sort: Sort) -> None:
        self._claim(name)
        width_of(sort)
        self.names[name] = self.terms.intern(Node(" " + name, (), ()), sort)

    def declare_function(self, name: str, signature: FunctionSort) -> None:
        self._claim(name)
        for sort in (*signature.operands, signature.result):
            width_of(sort)
        self.functions[name] = signature

    def define(self, name: str, sort: Sort, body: SExpression) -> None:
        number = read_term(body, self)
        if self.terms.sorts[number] is None:
            self.terms.sorts[number] = sort
        if self.terms.sorts[number] != sort:
            raise ReadError(f"defines {name} with another sort than its term has")
        self.name(name, number)

    def name(self, name: str, number: int) -> None:
        self._claim(name)
        self.names[name] = number

    def _claim(self, name: str) -> None:
        if name in self.names or name in self.functions or name in SORT_RULES or name in _RESERVED:
            raise ReadError(f"declares {name} twice or gives it the name of an operator")


def read_script(text: str) -> Script:
    script = Script()
    try:
        for command in s_expressions(text):
            _obey(command, script)
    except RecursionError:
        raise ReadError("nests a sort too deeply") from None
    return script


def _obey(command: SExpression, script: Script) -> None:
    match command:
        case ("set-info", *_):
            pass
        case ("set-logic", str(logic)):
            script.logic = logic
        case ("declare-const", str(name), sort) | ("declare-fun", str(name), (), sort):
            script.declare(_bare(name), sort)
        case ("declare-fun", str(name), tuple(operands), sort):
            script.declare_function(_bare(name), FunctionSort(operands, sort))
        case ("define-fun", str(name), (), sort, body):
            script.define(_bare(name), sort, body)
        case ("assert", ("!", body, ":named", str(label))):
            script.assertions.append((_bare(label), _assertion(body, script)))
        case ("assert", body):
            script.assertions.append(("", _assertion(body, script)))
        case ("check-sat",):
            script.checks += 1
        case _:
            raise ReadError("contains a command that no certificate has")


def _assertion(body: SExpression, script: Script) -> int:
    if script.checks:
        raise ReadError("asserts something after its check-sat")
    return read_term(body, script)


def s_expressions(text: str) -> Iterator[SExpression]:
    """The top-level expressions of a text."""
    open_lists: list[list[SExpression]] = []
    for token in _tokens(text):
        if token == "(":
            open_lists.append([])
            continue
        if token == ")":
            if not open_lists:
                raise ReadError("closes a parenthesis that was not opened")
            done: SExpression = tuple(open_lists.pop())
        else:
            done = token
        if open_lists:
            open_lists[-1].append(done)
        else:
            yield done
    if open_lists:
        raise ReadError("ends inside an expression")


def _tokens(text: str) -> Iterator[str]:
    end = 0
    for match in _TOKEN.finditer(text):
        if text[end : match.start()].strip():
            break
        end = match.end()
        if match.group()[0] != ";":
            yield match.group()
    if text[end:].strip():
        raise ReadError("contains a character that SMT-LIB does not have there")


def _bare(symbol: str) -> str:
    return symbol[1:-1] if symbol[0] == "|" else symbol


def read_term(expression: SExpression, script: Script) -> int:
    return _TermReader(script).read(expression)


class _TermReader:
    """Reads one term. Pending steps are on one stack, finished values on another."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._steps: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        self._values: list[int] = []
        self._bound: dict[str, int] = {}

    def read(self, expression: SExpression) -> int:
        self._steps.append((self._visit, (expression,)))
        while self._steps:
            step, arguments = self._steps.pop()
            step(*arguments)
        (value,) = self._values
        return value

    def _visit(self, expression: SExpression) -> None:
        match expression:
            case str():
                self._values.append(self._symbol(_bare(expression)))
            case ("let", tuple(bindings), body):
                self._enter_let(bindings, body)
            case ("!", body, ":named", str()):
                self._steps.append((self._visit, (body,)))
            case ("_", str(name), str(width)) if re.fullmatch("bv[0-9]+", name):
                self._values.append(self._value(plain_number(name[2:]), width_of(("_", "BitVec", width)) or 0))
            case ("_", str(name), *indices):
                self._values.append(self._script.terms.intern(Node(_known(name), _indices(indices), ()), None))
            case (head, _, *_):
                operands = expression[1:]
                self._steps.append((self._apply, (head, len(operands))))
                self._steps.extend((self._visit, (operand,)) for operand in reversed(operands))
            case _:
                raise ReadError("applies an operator to nothing")

    def _enter_let(self, bindings: tuple[SExpression, ...], body: SExpression) -> None:
        names, values = [], []
        for binding in bindings:
            match binding:
                case (str(name), value):
                    names.append(_bare(name))
                    values.append(value)
                case _:
                    raise ReadError("contains a let without a binding")
        if len(set(names)) != len(names):
            raise ReadError("binds a name twice in one let")
        self._steps.append((self._bind, (names, body)))
        self._steps.extend((self._visit, (value,)) for value in reversed(values))

    def _bind(self, names: list[str], body: SExpression) -> None:
        hidden = {name: self._bound.get(name) for name in names}
        self._bound.update(zip(names, self._taken(len(names)), strict=True))
        self._steps.append((self._unbind, (hidden,)))
        self._steps.append((self._visit, (body,)))

    def _unbind(self, hidden: dict[str, int | None]) -> None:
        for name, value in hidden.items():
            if value is None:
                del self._bound[name]
            else:
                self._bound[name] = value

    def _taken(self, count: int) -> list[int]:
        start = len(self._values) - count
        taken = self._values[start:]
        del self._values[start:]
        return taken

    def _symbol(self, name: str) -> int:
        if name in self._bound:
            return self._bound[name]
        if name in self._script.names:
            return self._script.names[name]
        if re.fullmatch("#b[01]+", name):
            return self._value(int(name[2:], 2), len(name) - 2)
        if re.fullmatch("#x[0-9a-fA-F]+", name):
            return self._value(int(name[2:], 16), 4 * (len(name) - 2))
        return self._script.terms.intern(Node(_known(name), (), ()), BOOL if name in ("true", "false") else None)

    def _value(self, value: int, width: int) -> int:
        if value >> width or width > WIDEST:
            raise ReadError("contains a constant that does not fit its width")
        return self._script.terms.intern(Node("value", (value, width), ()), bit_vector(width))

    def _apply(self, head: SExpression, count: int) -> None:
        self._values.append(self._application(head, tuple(self._taken(count))))

    def _application(self, head: SExpression, operands: tuple[int, ...]) -> int:
        terms, functions = self._script.terms, self._script.functions
        indices: Indices = ()
        match head:
            case str(name):
                name = _bare(name)
            case ("_", str(name), *rest):
                indices = _indices(rest)
            case ("as", "const", sort):
                return terms.intern(Node(CONSTANT_ARRAY, (as_text(sort),), operands), sort)
            case _:
                raise ReadError("applies something that is no operator")
        sorts = [terms.sorts[operand] for operand in operands]
        if name in functions:
            _require_signature(functions[name], sorts, indices)
            return terms.intern(Node(" " + name, (), operands), functions[name].result)
        rule = SORT_RULES.get(_known(name))
        return terms.intern(Node(name, indices, operands), rule(sorts, indices) if rule else None)


def _require_signature(signature: FunctionSort, sorts: list[Sort], indices: Indices) -> None:
    """A sort that is not known is left to the solver."""
    fits = len(sorts) == len(signature.operands) and not indices
    if not fits or any(s not in (None, o) for s, o in zip(sorts, signature.operands, strict=True)):
        raise ReadError("applies a function to other operands than it was declared with")


def as_text(expression: SExpression) -> str:
    """As it is written in a file. Does not recurse."""
    pieces: list[str] = []
    stack: list[SExpression] = [expression]
    while stack:
        top = stack.pop()
        if isinstance(top, str):
            pieces.append(top)
        else:
            pieces.append("(")
            stack.append(")")
            stack.extend(reversed(top))
    return " ".join(pieces)


def _known(name: str) -> str:
    """An operator's name, if it cannot be mistaken for a declared symbol, a constant or a binder."""
    if name in _BINDERS or name in ("value", CONSTANT_ARRAY) or not _OPERATOR.fullmatch(name):
        raise ReadError(f"contains {name!r} where an operator should be")
    return name


def _indices(written: list[SExpression]) -> Indices:
    return tuple(int(i) if isinstance(i, str) and i.isdecimal() and len(i) < 10 else as_text(i) for i in written)
