"""Damaged assembly text: toy and cs241 programs."""

from __future__ import annotations

from pathlib import Path
from random import Random

from hostile.case import Case, Damaged, Odd

PAIRS = Path(__file__).resolve().parents[2] / "tests" / "pairs"
_NUMBERS = (
    "0",
    "1",
    "-1",
    "31",
    "32",
    "32767",
    "32768",
    "-32769",
    "4294967295",
    "4294967296",
    "0x",
    "0xffffffffff",
    "9" * 5000,
)
_WORDS = {
    ".toy": ("NOP", "ADDX", "ADDXC", "MAXC", "RET", "RETC", "RETX", "JLT", "r0", "r1", "r99", "inst(", ")", ",", ";"),
    ".asm": (
        *("add", "sub", "mult", "div", "lis", ".word", "lw", "sw", "beq", "bne", "jr", "jalr", "$0", "$31", "$32"),
        *("loop:", "loop", "(", ")", ",", ";", "$", "0($30)", "mfhi"),
    ),
}
_ODD = ("\0", "\x1b[31m", "\u202e", "é", "\ufeff", "٣", "\r", "\x0b", "\u2028", "%s", "{}", "\\", '"')


def text_case(random: Random, suffix: str) -> Case:
    sources = sorted(PAIRS.glob(f"**/*{suffix}"))
    one, other = (random.choice(sources).read_text() for _ in range(2))
    what, damaged = _damaged(random, one, suffix)
    kind = suffix[1:]
    files: dict[str, Damaged | Odd] = {f"a{suffix}": Damaged(damaged), f"b{suffix}": Damaged(other.encode())}
    if random.random() < 0.02:
        files[f"a{suffix}"] = random.choice(list(Odd))
    shape = random.randrange(6)
    if shape == 0:
        return Case(kind, what, ("show", f"a{suffix}"), files)
    if shape == 1:
        return Case(kind, what, ("run", f"a{suffix}", "--fuel", "2000", *["3"] * random.randrange(3)), files)
    pair = [f"a{suffix}", random.choice((f"a{suffix}", f"b{suffix}"))]
    random.shuffle(pair)
    words = ("compare", *pair, "--budget", random.choice(("0.3", "0.3", "1", "3")))
    return Case(kind, what, (*words, *(("--json",) if random.random() < 0.5 else ())), files)


def _damaged(random: Random, text: str, suffix: str) -> tuple[str, bytes]:
    if random.random() < 0.1:
        return _bomb(random, text, suffix)
    if random.random() < 0.1:
        content = bytearray(text.encode())
        for _ in range(random.randrange(1, 5)):
            content[random.randrange(len(content))] = random.randrange(256)
        return "random bytes", bytes(content)
    lines = text.splitlines()
    for _ in range(random.choice((1, 1, 2, 4, 10))):
        lines = _edited(random, lines, suffix)
    return "lines and words changed", "\n".join(lines).encode("utf-8", "surrogatepass")


def _edited(random: Random, lines: list[str], suffix: str) -> list[str]:
    lines = lines or [""]
    at = random.randrange(len(lines))
    line = lines[at]
    words = line.split() or [""]
    position = random.randrange(len(words))
    way = random.randrange(8)
    if way == 0:
        return [*lines[:at], *lines[at + 1 :]]
    if way == 1:
        return [*lines[:at], random.choice(lines), *lines[at:]]
    if way == 2:
        words[position] = random.choice(_NUMBERS)
    elif way == 3:
        words[position] = random.choice(_WORDS[suffix])
    elif way == 4:
        words.insert(position, random.choice(_WORDS[suffix]))
    elif way == 5:
        words[position] += random.choice((*_ODD, ",", "(", ")"))
    elif way == 6:
        del words[position]
    else:
        random.shuffle(words)
    return [*lines[:at], " ".join(words), *lines[at + 1 :]]


def _bomb(random: Random, text: str, suffix: str) -> tuple[str, bytes]:
    count = random.choice((1000, 20_000, 300_000))
    bodies: tuple[str, ...]
    if suffix == ".asm":
        bodies = (
            ".word 0\n" * count,
            "".join(f"l{i}: beq $0, $0, l{i + 1}\n" for i in range(count)) + f"l{count}: jr $31\n",
            "".join(f"l{i}: bne $1, $2, l{(i * 7919) % count}\n" for i in range(count)),
            "mult $1, $2\nmflo $1\n" * count + "jr $31\n",
            "add $1, $1, 5\n" * count,
            "l: " * count + "jr $31\n",
            "sw $1, 0($2)\nlw $2, 4($1)\n" * min(count, 20_000) + "jr $31\n",
            "jalr $31\n" * count,
            "lis $1\n.word 0\njr $1\n",
        )
    else:
        bodies = ("NOP\n" * count, text * (count // 20 + 1), "ADDXC r0, 1\n" * count + "RET r0\n", "; " + "x" * count)
    return "a bomb", random.choice(bodies).encode()[: 8 << 20]
