"""Preconditions: C's meaning checked against a real compiler, ranges against sets of bytes, an SMT algebra against
plain numbers, and texts that are none."""

from __future__ import annotations

import contextlib
import pickle
import random
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import z3

from isoform.borders.precondition import ConcreteAlgebra, Number, Precondition, parse_precondition
from isoform.borders.precondition.tree import Constant, Disjoint, Index, Name, Range
from isoform.load.prototype import parse_prototype
from isoform.model.errors import UserError
from isoform.model.signature import CType, Parameter, Signature, TypeKind

SIGNATURE = parse_prototype(
    "struct inner { short s; char t[5]; };"
    "struct node { int v; struct node *next; unsigned buf[8]; struct inner in; unsigned bit : 3; };"
    "int f(int x, unsigned n, unsigned char c, long y, struct node *p, int *q, void *v, double d, int ***deep,"
    "      struct inner by, bool flag)"
)
VALUES = {"x": -5, "n": 7, "c": 200, "y": 1 << 40, "p": 1000, "q": 1200, "v": 1300, "deep": 1400, "flag": 1}


def memory(address: int, size: int) -> int:
    return int.from_bytes(bytes((address + i) * 7 & 0xFF for i in range(size)), "little")


def holds(text: str, **changed: int) -> bool:
    return parse_precondition(text, SIGNATURE).holds(VALUES | changed, memory)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 <= x && x <= 255 && n > 0", False),
        ("x < 0", True),
        ("x < n", False),
        ("-1 < n", False),
        ("-1 < y", True),
        ("c > 199 && c + 100 == 300", True),
        ("(signed char)c < 0", True),
        ("(bool)n == 1", True),
        ("flag", True),
        ("!flag || flag == 1", True),
        ("x / 2 == -2 && x % 2 == -1", True),
        ("x >> 1 == -3 && n >> 1 == 3", True),
        ("1 << n == 128", True),
        ("~n == -8u", True),
        ("n > 5 ? x < 0 : 0", True),
        ("'a' == 97 && '\\n' == 10 && 0x10 == 020 && 0b11 == 3", True),
        ("x <= INT_MAX && n <= UINT_MAX && y > INT_MAX && y < LONG_MAX && SIZE_MAX == -1", True),
        ("sizeof(int) == 4 && sizeof *q == 4 && sizeof x == 4", True),
        ("(x < 0) == (n > 0)", True),
        ("p % 8 == 0 && p != NULL && p > q == 0", True),
        ("q + 1 == (int *)1204 && 1 + q == (int *)1204 && q - 1 == (int *)1196", True),
        ("v + 1 == (void *)1301", True),
        ("q - (int *)1000 == 50 && (int *)1000 - q == -50", True),
        ("&q[2] == q + 2 && &*q == q", True),
        ("&p->buf[2] == (unsigned *)1024 && &p->in.s == (short *)1048", True),
        ("(int)(unsigned char)x == 251", True),
    ],
)
def test_meaning(text: str, expected: bool) -> None:
    assert holds(text) is expected


@pytest.mark.parametrize(
    ("text", "address", "size", "signed"),
    [
        ("*q", 1200, 4, True),
        ("q[3]", 1212, 4, True),
        ("q[x]", 1180, 4, True),
        ("3[q]", None, 0, False),
        ("p->v", 1000, 4, True),
        ("(*p).v", 1000, 4, True),
        ("p[1].v", 1064, 4, True),
        ("p->buf[n]", 1044, 4, False),
        ("p->in.t[2]", 1052, 1, True),
        ("p->next", 1008, 8, False),
        ("((unsigned char *)v)[1]", 1301, 1, False),
    ],
)
def test_memory_reads(text: str, address: int | None, size: int, signed: bool) -> None:
    if address is None:
        with pytest.raises(UserError):
            parse_precondition(text, SIGNATURE)
        return
    value = memory(address, size)
    if signed and value >> (8 * size - 1):
        value -= 1 << (8 * size)
    precondition = parse_precondition(f"{text} == {value}{'' if signed else 'u'}", SIGNATURE)
    assert precondition.reads_memory
    assert precondition.holds(VALUES, memory)
    assert not parse_precondition(f"{text} == {value}{'' if signed else 'u'} + 1", SIGNATURE).holds(VALUES, memory)


def test_pointers_are_followed_through_memory() -> None:
    node = memory(1008, 8)
    assert holds(f"p->next->v == (int){memory(node, 4)}u")


def test_what_has_no_value_is_false_where_it_is_evaluated() -> None:
    for text in ("100 / n == 0 || 1", "!(100 / n)", "100 % n == 0 || 1", "(n ? 0 : 1 / n) == 0", "1 / n && 0 || 1"):
        assert holds(text, n=0) is False
    for text in ("n == 0 || 100 / n > 3", "n == 0 || (n != 0 && 100 / n)", "(n ? 1 / n : 7) == 7"):
        assert holds(text, n=0) is True
    assert holds("100 / n == 14")
    assert not holds("1 << n || 1", n=32)
    assert holds("1 << n || 1", n=31)
    assert not holds("n >> x || 1")
    assert not holds("x << y || 1", y=1 << 32)
    assert holds("x << y == 4 * x", y=2)


def test_names_of_small_machines() -> None:
    integer = CType(TypeKind.INTEGER, 32, True, "int")
    signature = Signature("program", (Parameter("$1", integer), Parameter("$2", integer)), integer)
    precondition = parse_precondition("$1 > 0 && $2 < $1", signature)
    assert precondition.widths == (("$1", 32), ("$2", 32))
    assert precondition.holds({"$1": 3, "$2": 2})
    assert not precondition.holds({"$1": 3, "$2": 4})


def test_pointers_of_32_bits() -> None:
    signature = parse_prototype("int f(int *p, int n)", word_bits=32)
    precondition = parse_precondition("p[1] == 7 && &p[n] == (int *)12 && p[0..n] disjoint p[n..2]", signature)
    assert precondition.holds({"p": 4, "n": 2}, lambda address, size: 7 if (address, size) == (8, 4) else 0)


def test_pickles_and_compares() -> None:
    precondition = parse_precondition(" p->v > 3 && q[0..n] disjoint v[0..8] ", SIGNATURE)
    assert pickle.loads(pickle.dumps(precondition)) == precondition
    assert precondition.text == "p->v > 3 && q[0..n] disjoint v[0..8]"
    assert precondition.reads_memory
    assert [name for name, _ in precondition.widths] == ["n", "p", "q", "v"]


BUFFERS = parse_prototype("int f(char *p, short *q, int n, unsigned m)")
TOP = 1 << 64


def disjoint(p: int, q: int, n: int, m: int) -> bool:
    """The meaning of `p[n..3] disjoint q[0..m]` by exact numbers."""
    m &= 0xFFFFFFFF
    left, right = (p + n, p + 3), (q, q + 2 * m)
    for low, high in (left, right):
        if low < high and not (low >= 0 and high <= TOP):
            return False
    return max(left[0], right[0]) >= min(left[1], right[1]) or left[0] >= left[1] or right[0] >= right[1]


def test_disjoint_is_exact() -> None:
    precondition = parse_precondition("p[n..3] disjoint q[0..m]", BUFFERS)
    places = [0, 1, 2, 5, 8, TOP // 2, TOP - 9, TOP - 4, TOP - 3, TOP - 2, TOP - 1]
    seen = set()
    for p, q, n, m in product(places, places, [-6, -1, 0, 1, 2, 3, 4, 1 << 30], [0, 1, 2, 3, 4, -1]):
        expected = disjoint(p, q, n, m)
        seen.add(expected)
        assert precondition.holds({"p": p, "q": q, "n": n, "m": m}) is expected, (p, q, n, m)
    assert seen == {True, False}


@pytest.mark.parametrize("element", [1, 2, 3, 8])
@pytest.mark.parametrize("index_bits", [2, 3, 4])
@pytest.mark.parametrize("signed", [False, True])
def test_disjoint_from_their_base_is_exact(element: int, index_bits: int, signed: bool) -> None:
    """All there is, on a machine of 16 addresses."""
    top = 16

    def buffer(name: str, count: str) -> Range:
        zero = Index(Constant(0, index_bits), index_bits, True)
        return Range(Name(name, 4), 4, zero, Index(Name(count, index_bits), index_bits, signed), element)

    condition = Disjoint(buffer("p", "n"), replace(buffer("q", "m"), element=2))
    widths = (("p", 4), ("q", 4), ("n", index_bits), ("m", index_bits))
    precondition = Precondition("", condition, widths)
    counts = range(1 << index_bits)
    for p, q, n, m in product(range(top), range(top), counts, counts):
        ranges = []
        for low, count, size in ((p, n, element), (q, m, 2)):
            if signed and count >> (index_bits - 1):
                count -= 1 << index_bits
            ranges.append(range(low, low + size * count))
        valid = all(not r or r[-1] < top for r in ranges)
        expected = valid and set(ranges[0]).isdisjoint(ranges[1])
        assert precondition.holds({"p": p, "q": q, "n": n, "m": m}) is expected, (p, q, n, m)


def test_ranges_count_elements_of_the_pointee() -> None:
    assert holds("q[0..25] disjoint v[0..1]")
    assert not holds("q[0..26] disjoint v[0..1]")
    assert holds("p[0..n] disjoint q[0..x]")
    assert holds("((char *)q)[0..100] disjoint v[0..1]")
    assert not holds("((char *)q)[0..101] disjoint v[0..1] && 1")
    assert holds("p->buf[0..8] disjoint p->in.t[0..5]")
    assert not holds("p->buf[0..9] disjoint p->in.t[-2..5]")


def test_elements_need_a_size() -> None:
    signature = parse_prototype("struct none {}; int f(long double *p, struct none *e, struct hidden *h, char *c)")
    assert parse_precondition("p[0..2] disjoint c[0..1]", signature).holds({"p": 0, "c": 32})
    assert not parse_precondition("p[0..2] disjoint c[0..1]", signature).holds({"p": 0, "c": 31})
    assert parse_precondition("sizeof *p == 16", signature).holds({"p": 0})
    for name in ("e", "h"):
        with pytest.raises(UserError, match="type is not known"):
            parse_precondition(f"{name}[0..2] disjoint c[0..1]", signature)


def test_a_chain_is_pairwise() -> None:
    assert holds("q[0..1] disjoint v[0..1] disjoint p[0..1]")
    assert not holds("q[0..1] disjoint v[0..1] disjoint q[0..1]")
    assert not holds("q[0..1] disjoint v[0..1] && x > 0")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "is empty"),
        ("m > 3", "names 'm', which is no parameter of f; the parameters are x, n, c, y, p, q, v, d, deep, by, flag."),
        ("flug", "did you mean 'flag'?"),
        ("0 <= x <= 255", "0 <= x && x <= 255"),
        ("x == 3 == n", "&&"),
        ("x = 3", "'=='"),
        ("foo(x)", "calls a function"),
        ("x, n", "','"),
        ("x++", "'++'"),
        ("d > 1", "only integers and pointers"),
        ("by.s > 1", "by value"),
        ("by", "only integers and pointers"),
        ("p->in", "only integers and pointers"),
        ("p->bit", "p->bit"),
        ("p->zz", "its members are v, next, buf, in"),
        ("p->next->next->v", "not known"),
        ("*v", "cast it"),
        ("(**deep)[0..4] disjoint q[0..1]", "type is not known"),
        ("q[p]", "as an index"),
        ("p + q", "adds two pointers"),
        ("1 - p", "uintptr_t"),
        ("p - q", "different types"),
        ("x & &n", "in memory"),
        ("&p->buf", "name an element"),
        ("x &&", "does not parse"),
        ("x y", "column 3, before 'y'"),
        ("n > 0 && x y", "column 12, before 'y'"),
        ("q[0..n] disjoint v[0..8] && x y", "column 31, before 'y'"),
        ("x > 3)", "column 6"),
        ("(x > 3", "never closed"),
        ("x > 3; 1", "column 6"),
        ("1;} int g(void){return 1", "column 2"),
        ("(int){3}", "'{'"),
        ("1.5 < x", "no integer"),
        ('"a"', "no integer"),
        ("0x1ffffffffffffffff", "64 bits"),
        ("n < 18446744073709551615", "write 18446744073709551615u"),
        ("(float)x > 1", "casts to 'float'"),
        ("q disjoint v", "write p[0..n]"),
        ("q[0..n] disjoint", "write p[0..n]"),
        ("q[0...n] disjoint v[0..1]", "write p[0..n]"),
        ("q[..n] disjoint v[0..1]", "missing"),
        ("x[0..n] disjoint v[0..1]", "no pointer"),
        ("x || q[0..n] disjoint v[0..1]", "only && can join it"),
        ("(q[0..n] disjoint v[0..1])", "without"),
        ("x && && q[0..n] disjoint v[0..1]", "missing"),
        ("x // y", "comments"),
        ("x" + " " * 5000, "characters long"),
        ("!" * 3000 + "x", "nested too deeply"),
        ("-(" * 1000 + "x" + ")" * 1000, "nested too deeply"),
        ("x" + " + x" * 900, "nested too deeply"),
    ],
)
def test_errors_are_one_sentence(text: str, part: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_precondition(text, SIGNATURE)
    message = str(caught.value)
    assert message.startswith("--assume ")
    assert part in message
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message) < 300


def test_a_function_without_parameters() -> None:
    with pytest.raises(UserError, match="names 'x', but g has no parameters"):
        parse_precondition("x > 0", parse_prototype("int g(void)"))


def test_the_deepest_allowed_still_evaluates() -> None:
    assert holds("!" * 60 + "x")
    assert holds("x" + "".join(f" {'+-'[i % 2]} (c << 1)" for i in range(60)))
    assert holds(" && ".join(["x"] * 800))


def test_hostile_texts_never_escape() -> None:
    seed = 11
    print("seed", seed)
    rng = random.Random(seed)
    words = "x n c p q v by ( ) [ ] .. disjoint && || ! ~ - + * / % << <= == ? : -> . s 3 0x1f 'a'"
    words += ' (int) (char*) sizeof , $ " \\'
    for _ in range(1500):
        text = " ".join(rng.choice(words.split()) for _ in range(rng.randint(1, 9)))
        with contextlib.suppress(UserError):
            parse_precondition(text, SIGNATURE).holds(VALUES, memory)


# Random expressions: the same text given to the compiler and to isoform.

TYPES = ["char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long", "_Bool"]
NAMES = [f"a{i}" for i in range(len(TYPES))]


def random_expression(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.15:
        constants = ["0", "1", "-1", "255", "0x80000000", "2147483647", "4294967296", "7u", "3l", "0xffffffffffffffff"]
        return rng.choice(NAMES) if rng.random() < 0.7 else rng.choice(constants)
    left, right = (random_expression(rng, depth - 1) for _ in range(2))
    kind = rng.randrange(10)
    if kind < 4:
        return f"({left} {rng.choice(['+', '-', '*', '&', '|', '^'])} {right})"
    if kind == 4:
        return f"({left} {rng.choice(['/', '%'])} (({right} & 15) + 1))"
    if kind == 5:
        return f"({left} {rng.choice(['<<', '>>'])} ({right} & 31))"
    if kind == 6:
        comparison = rng.choice(["<", "<=", ">", ">=", "==", "!="])
        return f"(+({left}) {comparison} ~{right})"
    if kind == 7:
        return f"({left} {rng.choice(['&&', '||'])} {right})"
    if kind == 8:
        return f"({rng.choice(['-', '~', '!', '+'])}{left} ? {left} : {right})"
    return f"(({rng.choice(TYPES)}){left})"


def random_value(rng: random.Random) -> int:
    return rng.choice([0, 1, 2, -1, 127, 128, 255, 1 << 31, (1 << 31) - 1, -(1 << 63), rng.getrandbits(64)])


def test_random_expressions_against_the_compiler(tmp_path: Path) -> None:
    seed = 99
    print("seed", seed)
    rng = random.Random(seed)
    parameters = ", ".join(f"{kind} {name}" for kind, name in zip(TYPES, NAMES, strict=True))
    signature = parse_prototype(f"int f({parameters})")
    source, expected = ["#include <stdio.h>"], []
    calls = []
    for number in range(150):
        text = random_expression(rng, 4)
        precondition = parse_precondition(text, signature)
        source.append(f"__attribute__((noinline)) static int f{number}({parameters}) {{ return !!({text}); }}")
        for _ in range(20):
            values = [random_value(rng) & 1 if kind == "_Bool" else random_value(rng) for kind in TYPES]
            shown = ", ".join(f"({kind}){value & (TOP - 1)}ull" for kind, value in zip(TYPES, values, strict=True))
            calls.append(f'putchar("01"[f{number}({shown})]);')
            expected.append((text, dict(zip(NAMES, values, strict=True)), precondition))
    source.append(f"int main(void) {{ {' '.join(calls)} return 0; }}")
    answers = run_c("\n".join(source), tmp_path)
    assert len(answers) == len(expected)
    assert set(answers) == {"0", "1"}
    for answer, (text, given, precondition) in zip(answers, expected, strict=True):
        assert precondition.holds(given) is (answer == "1"), (text, given)


def run_c(source: str, folder: Path) -> str:
    found = shutil.which("gcc") or shutil.which("cc")
    command = [found] if found else [sys.executable, "-m", "ziglang", "cc"]
    (folder / "code.c").write_text(source)
    program = folder / "code"
    flags = ["-O0", "-w", "-fwrapv", "-fno-sanitize=all"]
    subprocess.run([*command, *flags, str(folder / "code.c"), "-o", str(program)], check=True)
    return subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout


class SmtAlgebra:
    """The algebra over z3 terms: what an engine gives to a precondition."""

    def __init__(self) -> None:
        self.memory = z3.Array("memory", z3.BitVecSort(64), z3.BitVecSort(8))

    def constant(self, value: int, bits: int) -> Any:
        return z3.BitVecVal(value, bits)

    def add(self, left: Any, right: Any) -> Any:
        return left + right

    def sub(self, left: Any, right: Any) -> Any:
        return left - right

    def mul(self, left: Any, right: Any) -> Any:
        return left * right

    def udiv(self, left: Any, right: Any) -> Any:
        return z3.UDiv(left, right)

    def sdiv(self, left: Any, right: Any) -> Any:
        return left / right

    def urem(self, left: Any, right: Any) -> Any:
        return z3.URem(left, right)

    def srem(self, left: Any, right: Any) -> Any:
        return z3.SRem(left, right)

    def and_(self, left: Any, right: Any) -> Any:
        return left & right

    def or_(self, left: Any, right: Any) -> Any:
        return left | right

    def xor(self, left: Any, right: Any) -> Any:
        return left ^ right

    def not_(self, operand: Any) -> Any:
        return ~operand

    def neg(self, operand: Any) -> Any:
        return -operand

    def shl(self, left: Any, right: Any) -> Any:
        return left << right

    def lshr(self, left: Any, right: Any) -> Any:
        return z3.LShR(left, right)

    def ashr(self, left: Any, right: Any) -> Any:
        return left >> right

    def equal(self, left: Any, right: Any) -> Any:
        return left == right

    def ult(self, left: Any, right: Any) -> Any:
        return z3.ULT(left, right)

    def ule(self, left: Any, right: Any) -> Any:
        return z3.ULE(left, right)

    def slt(self, left: Any, right: Any) -> Any:
        return left < right

    def sle(self, left: Any, right: Any) -> Any:
        return left <= right

    def conj(self, left: Any, right: Any) -> Any:
        return z3.And(left, right)

    def disj(self, left: Any, right: Any) -> Any:
        return z3.Or(left, right)

    def negate(self, operand: Any) -> Any:
        return z3.Not(operand)

    def ite(self, condition: Any, yes: Any, no: Any) -> Any:
        return z3.If(condition, yes, no)

    def zero_extend(self, operand: Any, bits: int) -> Any:
        return z3.ZeroExt(bits - operand.size(), operand)

    def sign_extend(self, operand: Any, bits: int) -> Any:
        return z3.SignExt(bits - operand.size(), operand)

    def extract(self, operand: Any, high: int, low: int) -> Any:
        return z3.Extract(high, low, operand)

    def load(self, address: Any, size: int) -> Any:
        parts = [z3.Select(self.memory, address + i) for i in reversed(range(size))]
        return z3.Concat(*parts) if len(parts) > 1 else parts[0]


def test_an_smt_algebra_agrees_with_plain_numbers() -> None:
    """Also that both operands of every operation have one width: z3 refuses anything else."""
    seed = 5
    print("seed", seed)
    rng = random.Random(seed)
    signature = parse_prototype(
        f"int f({', '.join(f'{kind} {name}' for kind, name in zip(TYPES, NAMES, strict=True))}, char *p, int *q)"
    )
    for _ in range(60):
        text = random_expression(rng, 3)
        divisor, count = rng.choice(NAMES), rng.choice(NAMES)
        text = f"({text} / {divisor} || {text} << {count}) && p[0..{rng.choice(NAMES)}] disjoint q[{count}..{divisor}]"
        precondition = parse_precondition(text, signature)
        symbols = {name: z3.BitVec(name, bits) for name, bits in precondition.widths}
        formula = precondition.evaluate(SmtAlgebra(), symbols)
        for _ in range(6):
            values = {name: random_value(rng) % (1 << bits) for name, bits in precondition.widths}
            put = [(symbols[name], z3.BitVecVal(values[name], bits)) for name, bits in precondition.widths]
            assert z3.is_true(z3.simplify(z3.substitute(formula, *put))) is precondition.holds(values), (text, values)


def test_an_smt_algebra_reads_memory() -> None:
    precondition = parse_precondition("p->buf[n] > p->in.t[1] && p->next->v == *q", SIGNATURE)
    symbols = {name: z3.BitVec(name, bits) for name, bits in precondition.widths}
    algebra = SmtAlgebra()
    solver = z3.Solver()
    solver.add(precondition.evaluate(algebra, symbols))
    assert solver.check() == z3.sat
    model = solver.model()
    values = {name: model.eval(symbol, True).as_long() for name, symbol in symbols.items()}

    def load(address: int, size: int) -> int:
        loaded = algebra.load(z3.BitVecVal(address, 64), size)
        return int(model.eval(loaded, True).as_long())

    assert precondition.holds(values, load)


def test_concrete_division_is_smt_libs() -> None:
    algebra = ConcreteAlgebra()
    numbers = [Number(value, 8) for value in (0, 1, 2, 7, 127, 128, 129, 200, 255)]
    smt = SmtAlgebra()
    for left, right in product(numbers, repeat=2):
        for name in ("udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr"):
            plain = getattr(algebra, name)(left, right)
            exact = getattr(smt, name)(z3.BitVecVal(left.value, 8), z3.BitVecVal(right.value, 8))
            assert plain == Number(z3.simplify(exact).as_long(), 8), (name, left, right)
