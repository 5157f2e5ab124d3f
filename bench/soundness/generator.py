"""Random C functions: all widths, branches, switches, pointers that may alias, globals, tables, loops, calls."""

from __future__ import annotations

from random import Random

from soundness.program import (
    S8,
    S16,
    S32,
    S64,
    TYPES,
    U8,
    U32,
    U64,
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
    Helped,
    Helper,
    If,
    Leave,
    Logical,
    Read,
    Repeat,
    Statement,
    Switch,
    Type,
    Unary,
)

_POINTERS = (
    ("u32 *", (("{0}", U32, 3),)),
    ("s32 *", (("{0}", S32, 3),)),
    ("u8 *", (("{0}", U8, 7),)),
    ("s16 *", (("{0}", S16, 3),)),
    ("u64 *", (("{0}", U64, 1),)),
    (
        "struct item *",
        (("{0}->a", S32, 0), ("{0}->b", U8, 0), ("{0}->c", S16, 0), ("{0}->d", U64, 0), ("{0}->e", U32, 3)),
    ),
)
_GLOBALS = (
    Cell(U32, "global_words", Constant(U32, 0), 3),
    Cell(S16, "global_shorts", Constant(U32, 0), 3),
    Cell(U64, "global_longs", Constant(U32, 0), 1),
    Cell(U8, "global_bytes", Constant(U32, 0), 7),
)
_TABLES = (Cell(U32, "table_words", Constant(U32, 0), 7), Cell(S8, "table_bytes", Constant(U32, 0), 15))
_OUTSIDE: tuple[tuple[str, Type | None, tuple[Type, ...]], ...] = (
    ("outside_one", U32, (U32,)),
    ("outside_two", S64, (S64, U8)),
    ("outside_tell", None, (U64,)),
    ("outside_many", U64, (U64, U8, S16, U32, U64, S32, U64, U32)),
)
_COMMON = ("+", "-", "&", "|", "^", "<<", ">>")
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class Generator:
    """One random function. What it may contain is itself random, so that small plain ones occur as well."""

    def __init__(self, random: Random, name: str, doubtful: bool) -> None:
        self._random = random
        self._name = name
        self._variables: list[Read] = []
        self._fixed: set[str] = set()
        self._pointers: list[str] = []
        self._cells: list[Cell] = []
        self._readable: list[Cell] = []
        self._helpers: list[Helper] = []
        self._loops = 0
        self._has_calls = random.random() < 0.2
        self._has_helpers = random.random() < 0.2
        self._has_memory = random.random() < 0.55
        self._has_globals = (doubtful or not self._has_memory) and random.random() < 0.4
        self._has_tables = random.random() < 0.2
        self._has_loops = random.random() < 0.2
        self._has_division = random.random() < 0.1
        self._has_products = random.random() < 0.3
        self._depth = random.choice((1, 2, 2, 3))
        self._size = random.choice((1, 2, 3, 4, 6, 8))

    def function(self) -> Function:
        parameters = self._parameters()
        if self._has_globals:
            self._cells += self._random.sample(_GLOBALS, 2)
        if self._has_tables:
            self._readable += _TABLES
        if self._has_helpers:
            self._helpers = [self._helper(number) for number in range(self._random.randint(1, 2))]
        given = list(self._variables)
        variables = [Read(self._type(), f"v{number}") for number in range(self._random.randint(1, 3))]
        first = [(variable, self._expression(1)) for variable in variables]
        self._variables = [*given, *variables]
        arrays = self._arrays()
        tables = self._tables()
        body = self._block(self._size, 2)
        result = self._random.choice(TYPES)
        value = self._expression(self._depth)
        if self._random.random() < 0.5:
            # So that whatever was computed shows.
            for variable in variables:
                value = Binary(self._type(), self._random.choice("+^-"), value, variable)
        return Function(
            self._name,
            result,
            parameters,
            tuple(first),
            arrays,
            tables,
            tuple(self._helpers),
            body,
            Cast(result, value),
        )

    # -- what there is --------------------------------------------------------------------------

    def _parameters(self) -> tuple[tuple[str, str], ...]:
        parameters: list[tuple[str, str]] = []
        for number in range(self._random.choice((1, 1, 2, 2, 3, 3, 4, 4, 8))):
            kind = self._type()
            parameters.append((kind.name, f"x{number}"))
            self._variables.append(Read(kind, f"x{number}"))
        if self._random.random() < 0.1:
            parameters.append(("_Bool", "flag"))
            self._variables.append(Read(U8, "flag"))
            self._fixed.add("flag")
        if self._has_memory:
            for number in range(self._random.randint(1, 3)):
                kind_text, cells = self._random.choice(_POINTERS)
                parameters.append((kind_text, f"p{number}"))
                self._pointers.append(f"p{number}")
                for base, kind, mask in cells:
                    index = Constant(U32, 0) if mask else None
                    self._cells.append(Cell(kind, base.format(f"p{number}"), index, mask))
        return tuple(parameters)

    def _helper(self, number: int) -> Helper:
        kept = self._variables, self._cells, self._readable
        parameters = tuple(Read(self._type(), f"h{i}") for i in range(self._random.randint(1, 2)))
        self._variables, self._cells, self._readable = list(parameters), [], []
        kind = self._type()
        value = Cast(kind, self._expression(2))
        self._variables, self._cells, self._readable = kept
        return Helper(f"{self._name}_helper{number}", kind, parameters, value)

    def _arrays(self) -> tuple[tuple[str, Type, int], ...]:
        if self._random.random() > 0.12:
            return ()
        kind = self._random.choice((U8, S16, U32))
        self._cells.append(Cell(kind, "array", Constant(U32, 0), 3))
        return (("array", kind, 4),)

    def _tables(self) -> tuple[tuple[str, Type, tuple[Constant, ...]], ...]:
        if self._random.random() > 0.12:
            return ()
        kind = self._random.choice((U8, S16, U32, S32, U64))
        contents = tuple(Constant(kind, kind.wrap(self._random.getrandbits(kind.bits))) for _ in range(8))
        self._readable.append(Cell(kind, f"{self._name}_table", Constant(U32, 0), 7))
        return ((f"{self._name}_table", kind, contents),)

    def _type(self) -> Type:
        return self._random.choice((*TYPES, U32, S32, U32, S32, U64, S64))

    # -- statements -----------------------------------------------------------------------------

    def _block(self, size: int, nesting: int) -> tuple[Statement, ...]:
        return tuple(self._statement(nesting) for _ in range(size))

    def _statement(self, nesting: int) -> Statement:
        draw = self._random.random()
        if nesting and draw < 0.22:
            return self._if(nesting)
        if nesting and draw < 0.26:
            return self._switch(nesting)
        if nesting and self._has_loops and draw < 0.36:
            return self._repeat(nesting)
        if self._has_calls and draw < 0.46:
            return self._call()
        target = self._target()
        return Assign(target, Cast(target.type, self._expression(self._depth)))

    def _target(self) -> Read | Cell:
        if self._cells and self._random.random() < 0.55:
            return self._indexed(self._random.choice(self._cells))
        return self._random.choice(self._writable())

    def _writable(self) -> list[Read]:
        return [v for v in self._variables if v.name not in self._fixed]

    def _if(self, nesting: int) -> Statement:
        then = self._block(self._random.randint(1, 2), nesting - 1)
        if self._random.random() < 0.12:
            then = (*then, Leave(self._expression(1)))
        otherwise = self._block(self._random.randint(0, 2), nesting - 1)
        return If(self._condition(), then, otherwise)

    def _switch(self, nesting: int) -> Statement:
        numbers = sorted(self._random.sample(range(16), self._random.randint(2, 6)))
        cases = tuple((number, self._block(1, nesting - 1)) for number in numbers)
        return Switch(self._expression(1), cases, self._block(self._random.randint(0, 1), nesting - 1))

    def _repeat(self, nesting: int) -> Statement:
        counter = f"i{self._loops}"
        self._loops += 1
        self._variables.append(Read(U32, counter))
        self._fixed.add(counter)
        body = self._block(self._random.randint(1, 2), min(1, nesting - 1))
        self._variables = [v for v in self._variables if v.name != counter]
        return Repeat(counter, self._random.randint(2, 5), body)

    def _call(self) -> Statement:
        if self._pointers and self._random.random() < 0.3:
            pointer = Read(U64, self._random.choice(self._pointers))
            return CallOutside(self._random.choice(self._writable()), "outside_pointer", (pointer,))
        callee, kind, parameters = self._random.choice(_OUTSIDE)
        arguments = tuple(Cast(p, self._expression(1)) for p in parameters)
        suitable = self._writable() if kind is not None else []
        target = self._random.choice(suitable) if suitable and self._random.random() < 0.8 else None
        return CallOutside(target, callee, arguments)

    # -- expressions ----------------------------------------------------------------------------

    def _condition(self, depth: int = 1) -> Expression:
        operator = self._random.choice(_COMPARISONS)
        comparison = Comparison(self._type(), operator, self._expression(depth), self._expression(depth))
        if self._random.random() < 0.2:
            return Logical(self._random.choice(("&&", "||")), comparison, self._condition(depth - 1))
        return comparison

    def _expression(self, depth: int) -> Expression:
        if depth <= 0 or self._random.random() < 0.15:
            return self._leaf()
        draw = self._random.random()
        if draw < 0.58:
            return Binary(self._type(), self._operator(), self._expression(depth - 1), self._expression(depth - 1))
        if draw < 0.68:
            return Unary(self._type(), self._random.choice("~-!"), self._expression(depth - 1))
        if draw < 0.78:
            return Cast(self._type(), self._expression(depth - 1))
        if draw < 0.86:
            return self._condition(depth - 1)
        if draw < 0.94:
            return Choice(
                self._type(), self._condition(depth - 1), self._expression(depth - 1), self._expression(depth - 1)
            )
        if self._helpers:
            helper = self._random.choice(self._helpers)
            return Helped(helper.type, helper.name, tuple(self._leaf() for _ in helper.parameters))
        return self._leaf()

    def _operator(self) -> str:
        if self._has_division and self._random.random() < 0.1:
            return self._random.choice("/%")
        if self._has_products and self._random.random() < 0.15:
            return "*"
        return self._random.choice(_COMMON)

    def _leaf(self) -> Expression:
        draw = self._random.random()
        cells = [*self._cells, *self._readable]
        if cells and draw < 0.3:
            return self._indexed(self._random.choice(cells))
        if draw < 0.7 and self._variables:
            return self._random.choice(self._variables)
        return self._constant()

    def _indexed(self, cell: Cell) -> Cell:
        if cell.index is None:
            return cell
        if self._random.random() < 0.65:
            index: Expression = Constant(U32, self._random.randint(0, cell.mask))
        else:
            index = self._random.choice(self._variables)
        return Cell(cell.type, cell.base, index, cell.mask)

    def _constant(self) -> Constant:
        kind = self._type()
        near = 1 << self._random.randrange(kind.bits)
        value = self._random.choice(
            (0, 1, 2, 3, -1, -2, 5, 7, 10, near, near - 1, -near, near + 1, self._random.getrandbits(kind.bits))
        )
        return Constant(kind, kind.wrap(value))


def random_function(random: Random, name: str, doubtful: bool = False) -> Function:
    """With `doubtful`, compilers may disagree: they take a pointer to a global never to lie before or behind it."""
    return Generator(random, name, doubtful).function()
