"""Random x86-64 functions as assembly text, equivalent rewrites by other instruction selection, and bugs.

All functions have one signature: four numbers and two pointers that may overlap. `rdi` and `rsi` hold the
pointers throughout; control only goes forward.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from soundness.batch import Batch, Build, Pair

SIGNATURE = (
    "unsigned long {0}(unsigned long *p, unsigned long *q, unsigned long x, unsigned y, long z, unsigned char w)"
)
_FAMILIES = {
    "rax": ("rax", "eax", "ax", "al"),
    "rcx": ("rcx", "ecx", "cx", "cl"),
    "rdx": ("rdx", "edx", "dx", "dl"),
    "r8": ("r8", "r8d", "r8w", "r8b"),
    "r9": ("r9", "r9d", "r9w", "r9b"),
    "r10": ("r10", "r10d", "r10w", "r10b"),
    "r11": ("r11", "r11d", "r11w", "r11b"),
    "rbx": ("rbx", "ebx", "bx", "bl"),
}
_WIDTHS = (8, 4, 2, 1)
_SIZES = {8: "qword ptr ", 4: "dword ptr ", 2: "word ptr ", 1: "byte ptr "}
_CONDITIONS = ("e", "ne", "b", "ae", "be", "a", "l", "ge", "le", "g", "s", "ns", "o", "no", "p", "np")
_OPPOSITE = {a: b for x, y in zip(_CONDITIONS[::2], _CONDITIONS[1::2], strict=True) for a, b in ((x, y), (y, x))}
_OPPOSITE |= {"be": "a", "a": "be", "l": "ge", "ge": "l", "le": "g", "g": "le"}
_TWO = ("add", "sub", "and", "or", "xor", "mov", "cmp", "test", "adc", "sbb")


@dataclass(frozen=True)
class Line:
    """An instruction; a label has no operands and its mnemonic ends in a colon."""

    mnemonic: str
    operands: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.mnemonic.endswith(":"):
            return self.mnemonic
        return f"    {self.mnemonic} {', '.join(self.operands)}".rstrip()


Code = tuple[Line, ...]


def _line(text: str) -> Line:
    mnemonic, _, rest = text.strip().partition(" ")
    return Line(mnemonic, tuple(part.strip() for part in rest.split(",")) if rest else ())


# -- generating -------------------------------------------------------------------------------------


class AssemblyGenerator:
    def __init__(self, random: Random, name: str) -> None:
        self._random = random
        self._name = name
        self._labels = 0
        self._saves = random.random() < 0.3
        self._families = [f for f in _FAMILIES if f != "rbx" or self._saves]
        self._wide = random.random() < 0.5

    def code(self) -> Code:
        body = list(self._block(self._random.choice((2, 3, 5, 8, 12, 16)), 2))
        if self._random.random() < 0.9 and any("rsp-" in operand for line in body for operand in line.operands):
            # What a frame holds before it is written is each side's own, and says nothing.
            given = ("rdx", "r8", "r9", "rdx")
            body = [*(_line(f"mov qword ptr [rsp-{8 * n}], {r}") for n, r in enumerate(given, 1)), *body]
        if self._saves:
            body = [_line("push rbx"), *body, _line("pop rbx")]
        return (*body, _line("ret"))

    def _block(self, size: int, nesting: int) -> Iterator[Line]:
        for _ in range(size):
            draw = self._random.random()
            if nesting and draw < 0.14:
                yield from self._branch(nesting)
            elif draw < 0.24:
                yield from self._comparison()
                yield self._conditional()
            elif draw < 0.27 and nesting == 2:
                inner = self._register(8)
                yield Line("push", (inner,))
                yield from self._block(self._random.randint(1, 2), 0)
                yield Line("pop", (self._register(8),))
            elif draw < 0.30:
                yield from self._indexed()
            else:
                yield self._plain()

    def _branch(self, nesting: int) -> Iterator[Line]:
        yield from self._comparison()
        self._labels += 1
        otherwise, end = f".L{self._name}_{self._labels}", f".L{self._name}_{self._labels}e"
        yield Line(f"j{self._random.choice(_CONDITIONS)}", (otherwise,))
        yield from self._block(self._random.randint(1, 3), nesting - 1)
        if self._random.random() < 0.5:
            yield Line("jmp", (end,))
            yield Line(f"{otherwise}:")
            yield from self._block(self._random.randint(1, 3), nesting - 1)
            yield Line(f"{end}:")
        else:
            yield Line(f"{otherwise}:")

    def _comparison(self) -> Iterator[Line]:
        if self._random.random() < 0.15:
            return
        width = self._width()
        mnemonic = self._random.choice(("cmp", "cmp", "test"))
        yield Line(mnemonic, (self._register(width), self._source(width, memory=mnemonic == "cmp")))

    def _conditional(self) -> Line:
        condition = self._random.choice(_CONDITIONS)
        if self._random.random() < 0.4:
            return Line(f"set{condition}", (self._register(1),))
        width = self._random.choice((8, 4, 2))
        return Line(f"cmov{condition}", (self._register(width), self._register(width)))

    def _indexed(self) -> Iterator[Line]:
        index = self._random.choice(self._families)
        width = self._width()
        yield Line("and", (_FAMILIES[index][1], "7"))
        place = f"{_SIZES[width]}[{self._random.choice(('rdi', 'rsi'))}+{index}*{self._random.choice((1, 2, 4, 8))}]"
        yield Line("mov", self._random.choice(((place, self._register(width)), (self._register(width), place))))

    def _plain(self) -> Line:
        random, width = self._random, self._width()
        draw = random.random()
        if draw < 0.45:
            return self._two(random.choice(_TWO), width)
        if draw < 0.55:
            return Line(random.choice(("inc", "dec", "neg", "not")), (self._place(width),))
        if draw < 0.66:
            count = "cl" if random.random() < 0.25 else str(random.randrange(1, 8 * width))
            return Line(random.choice(("shl", "shr", "sar", "rol", "ror")), (self._place(width), count))
        if draw < 0.76:
            return self._lea(random.choice((8, 4)))
        if draw < 0.86:
            return self._extension()
        if draw < 0.90:
            return Line("imul", (self._register(max(2, width)), self._register(max(2, width))))
        if draw < 0.93:
            return Line("xchg", (self._register(width), self._place(width)))
        return random.choice(
            (_line("cdqe"), _line("cqo"), _line("cdq"), Line("bswap", (self._register(8),)), self._bit())
        )

    def _bit(self) -> Line:
        mnemonic = self._random.choice(("bt", "bts", "btr", "btc"))
        return Line(mnemonic, (self._register(8), str(self._random.randrange(64))))

    def _two(self, mnemonic: str, width: int) -> Line:
        if self._random.random() < 0.25:
            return Line(mnemonic, (self._memory(width), self._register_or_number(width)))
        return Line(mnemonic, (self._register(width), self._source(width, memory=mnemonic != "test")))

    def _lea(self, width: int) -> Line:
        scale = self._random.choice((1, 2, 4, 8))
        inner = f"{self._register(8)}+{self._register(8)}*{scale}{self._random.randrange(-200, 200):+d}"
        return Line("lea", (self._register(width), f"[{inner}]"))

    def _extension(self) -> Line:
        narrow = self._random.choice((1, 2))
        wide = self._random.choice((8, 4))
        if self._random.random() < 0.2:
            return Line("movsxd", (self._register(8), self._place(4)))
        return Line(self._random.choice(("movzx", "movsx")), (self._register(wide), self._place(narrow)))

    # -- operands -------------------------------------------------------------------------------

    def _width(self) -> int:
        return self._random.choice((8, 4, 4, 8, 2, 1) if self._wide else (8, 4))

    def _register(self, width: int) -> str:
        return _FAMILIES[self._random.choice(self._families)][_WIDTHS.index(width)]

    def _memory(self, width: int) -> str:
        if self._random.random() < 0.3:
            return f"{_SIZES[width]}[rsp-{8 * self._random.randint(1, 3)}]"
        return f"{_SIZES[width]}[{self._random.choice(('rdi', 'rsi'))}+{self._random.choice((0, 0, 4, 8, 1))}]"

    def _place(self, width: int) -> str:
        return self._memory(width) if self._random.random() < 0.2 else self._register(width)

    def _source(self, width: int, memory: bool) -> str:
        if memory and self._random.random() < 0.25:
            return self._memory(width)
        return self._register_or_number(width)

    def _register_or_number(self, width: int) -> str:
        return self._register(width) if self._random.random() < 0.6 else str(self.number(width))

    def number(self, width: int) -> int:
        bits = min(32, 8 * width)
        near = 1 << self._random.randrange(bits - 1)
        return self._random.choice((0, 1, -1, 2, 8, 127, -128, near, near - 1, -near))


# -- rewriting --------------------------------------------------------------------------------------

_ALL_FLAGS = frozenset(("add", "sub", "and", "or", "xor", "cmp", "test", "neg"))
_NO_FLAGS = frozenset(
    ("mov", "lea", "movzx", "movsx", "movsxd", "xchg", "not", "bswap", "cdqe", "cqo", "cdq", "push", "pop")
)


def flags_dead(code: Code, index: int) -> bool:
    """Whether no flag that is set before instruction `index` is read at or after it, as far as straight-line code
    shows."""
    for line in code[index:]:
        if line.mnemonic == "ret" or line.mnemonic in _ALL_FLAGS:
            return True
        if line.mnemonic not in _NO_FLAGS:
            return False
    return False


def _replacements(code: Code, index: int) -> Iterator[tuple[str, Code]]:
    """Other ways to say instruction `index`."""
    line = code[index]
    dead = flags_dead(code, index + 1)
    match line.mnemonic, line.operands:
        case "mov", (register, "0") if dead and _is_wide(register):
            yield "mov 0 = xor", (Line("xor", (register, register)),)
        case "xor", (left, right) if left == right and dead and _is_wide(left):
            yield "xor = mov 0", (Line("mov", (left, "0")),)
        case "add", (register, number) if dead and _is_number(number) and _whole(register):
            yield "add = lea", (Line("lea", (register, f"[{register}{int(number):+d}]")),)
            if number != "-128":
                yield "add = sub", (Line("sub", (register, str(-int(number)))),)
        case "add", (register, other) if dead and _whole(register) and _whole(other):
            yield "add = lea", (Line("lea", (register, f"[{register}+{other}]")),)
        case "add", (place, "1") if dead:
            yield "add 1 = inc", (Line("inc", (place,)),)
        case "inc", (place,) if dead:
            yield "inc = add 1", (Line("add", (place, "1")),)
            yield "inc = sub -1", (Line("sub", (place, "-1")),)
        case "dec", (place,) if dead:
            yield "dec = sub 1", (Line("sub", (place, "1")),)
        case "sub", (place, number) if dead and _is_number(number) and 0 < int(number) < 1 << 30:
            yield "sub = add", (Line("add", (place, str(-int(number)))),)
        case "neg", (place,) if dead:
            yield "neg = not, inc", (Line("not", (place,)), Line("inc", (place,)))
            yield "neg = dec, not", (Line("dec", (place,)), Line("not", (place,)))
        case "not", (place,) if dead:
            yield "not = xor -1", (Line("xor", (place, "-1")),)
            yield "not = neg, dec", (Line("neg", (place,)), Line("dec", (place,)))
        case "shl", (register, "1") if dead and _is_register(register):
            yield "shl 1 = add", (Line("add", (register, register)),)
        case "shl", (register, ("2" | "3") as count) if dead and _whole(register):
            yield "shl = lea", (Line("lea", (register, f"[{register}*{1 << int(count)}]")),)
        case "shl", (register, count) if dead and _is_number(count) and int(count) < 30 and _is_wide(register):
            yield "shl = imul", (Line("imul", (register, register, str(1 << int(count)))),)
        case "cmp", (register, "0") if _is_register(register):
            yield "cmp 0 = test", (Line("test", (register, register)),)
        case "test", (left, right) if left == right:
            yield "test = cmp 0", (Line("cmp", (left, "0")),)
            yield "test = and", (Line("and", (left, left)),)
        case (("and" | "or"), (left, right)) if left == right and _is_wide(left):
            yield "itself = test, mov", (Line("test", (left, left)), Line("mov", (left, left)))
        case ("xchg", (left, right)) if _whole(left) and _whole(right) and dead and left != right:
            swap = (Line("xor", (left, right)), Line("xor", (right, left)), Line("xor", (left, right)))
            yield "xchg = three xors", swap
        case "movzx", (wide, narrow) if dead and wide[:1] == "e" and narrow == _narrow(wide):
            yield "movzx = and 255", (Line("and", (wide, "255")),)
        case mnemonic, (register, other) if mnemonic.startswith("cmov"):
            yield from _as_branch(code, index, mnemonic[4:], register, other)
        case "push", (register,):
            yield (
                "push = sub, mov",
                (
                    Line("lea", ("rsp", "[rsp-8]")),
                    Line("mov", ("qword ptr [rsp]", register)),
                ),
            )
        case "pop", (register,):
            yield (
                "pop = mov, add",
                (
                    Line("mov", (register, "qword ptr [rsp]")),
                    Line("lea", ("rsp", "[rsp+8]")),
                ),
            )


def _as_branch(code: Code, index: int, condition: str, register: str, other: str) -> Iterator[tuple[str, Code]]:
    label = ".Lcmov_0"
    branch: Code = (Line(f"j{_OPPOSITE[condition]}", (label,)), Line("mov", (register, other)), Line(f"{label}:"))
    if _is_narrow_write(register):
        # cmov of 32 bits clears the upper half whatever the condition.
        branch = (*branch, Line("mov", (register, register)))
    yield "cmov = branch", branch


def _is_narrow_write(register: str) -> bool:
    return any(names[1] == register for names in _FAMILIES.values())


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?\d+", text) is not None


def _is_register(text: str) -> bool:
    return any(text in names for names in _FAMILIES.values())


def _whole(text: str) -> bool:
    return text in _FAMILIES


def _is_wide(text: str) -> bool:
    return any(text in names[:2] for names in _FAMILIES.values())


def _narrow(register: str) -> str:
    return next((names[3] for names in _FAMILIES.values() if names[1] == register), "")


def rewritten(code: Code, random: Random, name: str) -> tuple[Code, str]:
    done: list[str] = []
    for _ in range(random.randint(1, 4)):
        places = [(index, what, lines) for index in range(len(code)) for what, lines in _replacements(code, index)]
        places += [
            (index, "reordered", ()) for index in range(len(code) - 1) if _independent(code[index], code[index + 1])
        ]
        if not places:
            break
        index, what, lines = random.choice(places)
        if what == "reordered":
            code = (*code[:index], code[index + 1], code[index], *code[index + 2 :])
        else:
            code = (*code[:index], *_relabelled(lines, f"{name}_{len(done)}"), *code[index + 1 :])
        done.append(what)
    return code, ", ".join(done) or "nothing"


def _relabelled(lines: Code, suffix: str) -> Code:
    def new(text: str) -> str:
        return re.sub(r"\.Lcmov_\w+", f".Lcmov_{suffix}", text)

    return tuple(Line(new(line.mnemonic), tuple(new(o) for o in line.operands)) for line in lines)


def _independent(first: Line, second: Line) -> bool:
    """Two moves without flags or memory, over different registers."""
    plain = ("mov", "lea", "movzx", "movsx", "movsxd", "not", "bswap")
    if first.mnemonic not in plain or second.mnemonic not in plain:
        return False
    if any("ptr" in o for line in (first, second) for o in line.operands):
        return False
    return not (_registers(first.operands[:1]) & _registers(second.operands)) and not (
        _registers(second.operands[:1]) & _registers(first.operands)
    )


def _registers(operands: tuple[str, ...]) -> set[str]:
    words = {word for operand in operands for word in re.findall(r"[a-z][a-z0-9]*", operand)}
    return {family for family, names in _FAMILIES.items() if words & set(names)}


# -- bugs -------------------------------------------------------------------------------------------


def mutated(code: Code, random: Random) -> tuple[Code, str]:
    places: list[tuple[int, str, Line | None]] = []
    places += [(index, what, line) for index in range(len(code) - 1) for what, line in _bugs(code[index], random)]
    places += [(index, "instruction dropped", None) for index in range(len(code) - 1) if _droppable(code[index])]
    places += [
        (index, "instructions exchanged", None)
        for index in range(len(code) - 2)
        if _droppable(code[index]) and _droppable(code[index + 1])
    ]
    if not places:
        return code, "nothing"
    index, what, line = random.choice(places)
    if line is not None:
        return (*code[:index], line, *code[index + 1 :]), what
    if what == "instruction dropped":
        return (*code[:index], *code[index + 1 :]), what
    return (*code[:index], code[index + 1], code[index], *code[index + 2 :]), what


def _droppable(line: Line) -> bool:
    return (
        not line.mnemonic.endswith(":")
        and not line.mnemonic.startswith("j")
        and line.mnemonic not in ("push", "pop", "ret")
    )


def _bugs(line: Line, random: Random) -> Iterator[tuple[str, Line]]:
    mnemonic = line.mnemonic
    for group in (
        ("add", "sub", "and", "or", "xor", "adc", "sbb"),
        ("shl", "shr", "sar", "rol", "ror"),
        ("inc", "dec", "neg", "not"),
    ):
        if mnemonic in group:
            yield "operator", replace(line, mnemonic=random.choice([m for m in group if m != mnemonic]))
    if mnemonic in ("movzx", "movsx"):
        yield "sign", replace(line, mnemonic="movsx" if mnemonic == "movzx" else "movzx")
    for prefix in ("cmov", "set", "j"):
        if mnemonic.startswith(prefix) and mnemonic[len(prefix) :] in _CONDITIONS:
            yield "condition", replace(line, mnemonic=prefix + random.choice(_CONDITIONS))
    for position, operand in enumerate(line.operands):
        if _is_number(operand):
            number = max(1, int(operand) ^ 1) if mnemonic in ("shl", "shr", "sar", "rol", "ror") else int(operand) ^ 1
            yield "constant", _with(line, position, str(number))
        for names in _FAMILIES.values():
            if operand in names and mnemonic not in ("push", "pop") and operand not in ("cl", "rbx"):
                width = names.index(operand)
                others = [f[width] for f in _FAMILIES.values() if f[width] != operand and f[0] != "rbx"]
                yield "operand", _with(line, position, random.choice(others))
        if operand.endswith("[rdi+0]"):
            yield "operand", _with(line, position, operand.replace("rdi+0", "rsi+0"))


def _with(line: Line, position: int, operand: str) -> Line:
    return replace(line, operands=(*line.operands[:position], operand, *line.operands[position + 1 :]))


# -- batches ----------------------------------------------------------------------------------------


def assembly_batch(number: int, seed: int, size: int) -> Batch:
    build = Build("cc", ())
    pairs = tuple(
        _pair(Random(f"{seed} assembly {number} {index}"), f"s{number}.{index}", index) for index in range(size)
    )
    return Batch(number, ".s", ".intel_syntax noprefix\n.text\n", (build, build), pairs)


def _pair(random: Random, label: str, index: int) -> Pair:
    name = f"f{index}"
    code = AssemblyGenerator(random, name).code()
    if random.random() < 0.5:
        other, change = rewritten(code, random, name)
        kind, equal = "rewrite", True
    else:
        other, change = mutated(code, random)
        kind, equal = "bug", change == "nothing"
    return Pair(label, kind, equal, change, name, _text(name, code), _text(name, other), SIGNATURE.format(name))


def _text(name: str, code: Code) -> str:
    lines = [f".globl {name}", f".type {name}, @function", f"{name}:", *map(str, code), f".size {name}, .-{name}"]
    return "\n".join(lines) + "\n"
