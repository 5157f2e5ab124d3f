"""Batches of C functions whose trip counts depend on their inputs: what the loops engine is asked about.

A function is a list of pieces of text. A piece may have other texts that could stand in its place: an injected bug puts
one of them there, so that both texts always compile.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from soundness.batch import Batch, Build, Pair

PRELUDE = """\
typedef unsigned char u8; typedef unsigned int u32; typedef int s32; typedef unsigned long u64;
struct node { struct node *next; u32 value; };
extern u32 outside_one(u32 x); extern void outside_tell(u32 x); extern void exit(int status);
u32 global_word;
"""
# Loops without end are inputs like any other, and so are pointers that overlap as their types do not allow.
_FLAGS = ("-fno-strict-aliasing", "-fno-finite-loops", "-w")
_LEVELS = ("-O0", "-O1", "-O1", "-O2", "-O3", "-Os")
_OPERATORS = ("+", "-", "^", "|", "&", "*")
_COMPARISONS = ("<", "<=", "!=", ">", "==")
_CONSTANTS = (1, 2, 3, 5, 7, 255, 1000, 65536, 0x7FFFFFFF)


@dataclass(frozen=True)
class Piece:
    text: str
    others: tuple[str, ...] = ()


Pieces = tuple[Piece, ...]


def loop_batch(number: int, seed: int, size: int, compilers: tuple[str, ...]) -> Batch:
    random = Random(f"{seed} loops {number}")
    builds = _build(random, compilers), _build(random, compilers)
    pairs = tuple(_pair(Random(f"{seed} loops {number} {index}"), number, index) for index in range(size))
    return Batch(number, ".c", PRELUDE, builds, pairs)


def _build(random: Random, compilers: tuple[str, ...]) -> Build:
    return Build(random.choice(compilers), (random.choice(_LEVELS), *_FLAGS))


def _pair(random: Random, number: int, index: int) -> Pair:
    pieces = _Function(random, f"f{index}").pieces()
    label = f"l{number}.{index}"
    text = _text(pieces)
    if random.random() < 0.4:
        return Pair(label, "levels", True, "another compiler or level", f"f{index}", text, text, engine="loops")
    changed, change = _mutated(pieces, random)
    return Pair(label, "bug", False, change, f"f{index}", text, _text(changed), engine="loops")


def _text(pieces: Pieces) -> str:
    return "".join(p.text for p in pieces)


def _mutated(pieces: Pieces, random: Random) -> tuple[Pieces, str]:
    places = [index for index, piece in enumerate(pieces) if piece.others]
    index = random.choice(places)
    other = random.choice(pieces[index].others)
    change = f"`{pieces[index].text}` became `{other}`"
    return (*pieces[:index], Piece(other), *pieces[index + 1 :]), change


def _one_of(random: Random, choices: tuple[str, ...]) -> Piece:
    text = random.choice(choices)
    return Piece(text, tuple(dict.fromkeys(c for c in choices if c != text)))


class _Function:
    """One random function: `u32 name(u32 n, u32 k, u32 *p, u32 *q, struct node *l)`, some of them unused."""

    def __init__(self, random: Random, name: str) -> None:
        self._random = random
        self._name = name
        self._loops = 0
        self._has_stores = random.random() < 0.5
        self._has_calls = random.random() < 0.15
        self._has_exits = random.random() < 0.15
        self._has_late = random.random() < 0.3

    def pieces(self) -> Pieces:
        head = Piece(f"u32 {self._name}(u32 n, u32 k, u32 *p, u32 *q, struct node *l) {{\n    u32 s = k, t = 0;\n")
        loops = [piece for _ in range(self._random.choice((1, 1, 1, 2))) for piece in self._loop(1)]
        return head, *loops, Piece("    return s "), _one_of(self._random, ("+", "^", "-")), Piece(" t;\n}\n")

    # -- loops ----------------------------------------------------------------------------------

    def _loop(self, depth: int) -> Pieces:
        self._loops += 1
        counter = f"i{self._loops}"
        make = self._random.choice((self._up, self._up, self._down, self._pointers, self._list, self._until))
        return make(counter, depth)

    def _up(self, counter: str, depth: int) -> Pieces:
        random = self._random
        kind = random.choice(("u32", "u32", "u64", "s32"))
        compare = _one_of(random, ("<", "!=", "<=") if kind != "s32" else ("<", "<="))
        limit = _one_of(random, ("n", "n", "n", "n + 1", "k"))
        cast = "(s32)" if kind == "s32" else ""
        # Of signed overflow compilers would make what they like.
        guard = " & 0xffffff" if kind == "s32" else ""
        start = _one_of(random, ("0", "0", "1", "2"))
        step = _one_of(random, ("1", "1", "1", "2", "3"))
        space = "    " * depth
        return (
            Piece(f"{space}for ({kind} {counter} = "),
            start,
            Piece(f"; {counter} "),
            compare,
            Piece(f" {cast}(("),
            limit,
            Piece(f"){guard}); {counter} += "),
            step,
            Piece(") {\n"),
            *self._body(depth + 1, counter, f"p[{counter}]"),
            Piece(f"{space}}}\n"),
        )

    def _down(self, counter: str, depth: int) -> Pieces:
        space = "    " * depth
        start = _one_of(self._random, ("n", "n", "k", "n + 1"))
        test = _one_of(self._random, (f"{counter}--", f"--{counter}", f"{counter}-- > 1"))
        return (
            Piece(f"{space}u32 {counter} = "),
            start,
            Piece(f";\n{space}while ("),
            test,
            Piece(") {\n"),
            *self._body(depth + 1, counter, f"p[{counter}]"),
            Piece(f"{space}}}\n"),
        )

    def _pointers(self, counter: str, depth: int) -> Pieces:
        space = "    " * depth
        end = _one_of(self._random, ("p + n", "p + n", "p + n + 1", "p + k"))
        return (
            Piece(f"{space}for (u32 *{counter} = p; {counter} != "),
            end,
            Piece(f"; {counter}++) {{\n"),
            *self._body(depth + 1, f"*{counter}", f"*{counter}"),
            Piece(f"{space}}}\n"),
        )

    def _list(self, counter: str, depth: int) -> Pieces:
        space = "    " * depth
        return (
            Piece(f"{space}for (struct node *{counter} = l; {counter}; {counter} = {counter}->next) {{\n"),
            *self._body(depth + 1, f"{counter}->value", f"{counter}->value"),
            Piece(f"{space}}}\n"),
        )

    def _until(self, counter: str, depth: int) -> Pieces:
        """Whether it ends is not for a compiler to say."""
        space = "    " * depth
        divisor = _one_of(self._random, ("2", "2", "4"))
        factor = _one_of(self._random, ("3", "3", "5"))
        return (
            Piece(f"{space}u32 {counter} = n;\n{space}while ({counter} > "),
            _one_of(self._random, ("1", "1", "0", "2")),
            Piece(f") {{\n{space}    {counter} = {counter} & 1 ? {counter} * "),
            factor,
            Piece(f" + 1 : {counter} / "),
            divisor,
            Piece(";\n"),
            *self._body(depth + 1, counter, "t"),
            Piece(f"{space}}}\n"),
        )

    # -- bodies ---------------------------------------------------------------------------------

    def _body(self, depth: int, value: str, place: str) -> Pieces:
        random = self._random
        found: list[Piece] = []
        for _ in range(random.choice((1, 1, 2, 3))):
            found += self._statement(depth, value, place)
        if depth == 2 and random.random() < 0.12:
            found += self._loop(2)
        return tuple(found)

    def _statement(self, depth: int, value: str, place: str) -> Pieces:
        random = self._random
        space = "    " * depth
        draw = random.random()
        operator = _one_of(random, _OPERATORS)
        if draw < 0.25:
            condition = self._condition(value, place)
            return (
                Piece(f"{space}if ("),
                *condition,
                Piece(") s = s "),
                operator,
                Piece(" "),
                *self._value(value, place),
                Piece(";\n"),
            )
        if draw < 0.45 and self._has_stores:
            return Piece(f"{space}{self._target(place)} = "), *self._value(value, place), Piece(";\n")
        if draw < 0.55 and self._has_calls:
            call = random.choice(("outside_tell", "s += outside_one"))
            return Piece(f"{space}{call}("), *self._value(value, place), Piece(");\n")
        if draw < 0.65 and self._has_exits:
            leave = random.choice(("break;", "return s;", "exit(s);", "continue;"))
            return Piece(f"{space}if ("), *self._condition(value, place), Piece(f") {leave}\n")
        return Piece(f"{space}{random.choice('sst')} = "), *self._value(value, place), Piece(";\n")

    def _target(self, place: str) -> str:
        where = place if place != "t" else "p[0]"
        return self._random.choice((where, where, "*q", "global_word"))

    def _value(self, value: str, place: str) -> Pieces:
        random = self._random
        operands = ("s", "t", "k", value, place, "*q", "global_word", str(random.choice(_CONSTANTS)))
        left = _one_of(random, operands[:2])
        right = _one_of(random, operands[2:])
        return left, Piece(" "), _one_of(random, _OPERATORS), Piece(" "), right

    def _condition(self, value: str, place: str) -> Pieces:
        random = self._random
        left = _one_of(random, ("s", "k", value, place))
        # A bug behind a condition that no test meets is a bug that only a proof can miss.
        number = random.choice((0x1234567, 100_000)) if self._has_late else random.choice(_CONSTANTS)
        right = _one_of(random, (f"{number}u", f"{number + 1}u", "t"))
        return left, Piece(" "), _one_of(random, _COMPARISONS), Piece(" "), right
