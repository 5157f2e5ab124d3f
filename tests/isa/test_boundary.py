"""Nothing outside `isa/`, `check/` and the contributors' tools knows a machine by name.

Numbers in memory are read in the machine's byte order. The lists below name the places that fix an order, and why they
may: what is not listed fails, and so does an entry that is no longer true.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import isoform
from isoform.isa.registry import byte_order, machine, machine_names

SOURCE = Path(isoform.__file__).parent
KNOWING = ("isa", "check")
COMMON_WORDS = {"absent", "out", "zero"}
"""Names of registers that are ordinary words."""
FAMILIES = {"x86", "x86_64", "x87", "amd64", "mxcsr", "sse", "avx", "riscv", "riscv64", "rv64", "psabi", "system_v"}
WORD = re.compile(r"\$\d+|[a-z][a-z0-9_]*")

ORDER_OF_THE_FORMAT: dict[str, int] = {
    "load/debug/entries.py": 1,
    "load/debug/forms.py": 1,
    "load/debug/lines.py": 3,
}
"""Numbers of DWARF itself, not of the program. `load/elf.py` refuses files whose numbers have the other order
(`tests/load/test_elf.py`)."""
ORDER_WITHOUT_MEANING = {
    "borders/library_integers.py": 2,  # the two ends of a swap of bytes
    "borders/parts.py": 1,  # what is hashed
    "engines/open_bytes.py": 1,  # one byte repeated
    "engines/loops/observe/inputs.py": 1,  # contents made up
    "engines/loops/observe/own_tests.py": 1,  # the bits of a float
    "grade/examine.py": 1,  # what is hashed
    "model/outcome.py": 1,  # one byte repeated
    "run/outside_calls.py": 2,  # undefined values, cut out of one number
}


@cache
def register_names() -> frozenset[str]:
    return frozenset(name for one in machine_names() for name in machine(one).registers)


@cache
def telling_words() -> frozenset[str]:
    """Words that mean a machine wherever they stand: its name, and names of registers that are not too short."""
    registers = {name for name in register_names() if len(name) >= 3} - COMMON_WORDS
    return frozenset({*machine_names(), *registers, *FAMILIES})


def modules() -> Iterator[tuple[str, str]]:
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if name.split("/")[0] not in KNOWING:
            yield name, path.read_text(encoding="utf-8")


@cache
def nodes(text: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(text)))


def mentions(text: str) -> set[str]:
    """Telling words in names, texts and comments, and texts that are just the name of some register."""
    found = set()
    # A word of a token is one of the text. Hardly any text has a telling one, and to find the tokens takes long.
    has_none = telling_words().isdisjoint(WORD.findall(text.lower()))
    for token in () if has_none else tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.NAME, tokenize.STRING, tokenize.COMMENT):
            words = set(WORD.findall(token.string.lower()))
            found |= words & telling_words()
    for node in nodes(text):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in register_names():
            found.add(node.value)
    return found


def fixed_orders(text: str) -> int:
    """How often numbers are read from or written to memory in an order of bytes that is fixed."""
    calls = [node for node in nodes(text) if isinstance(node, ast.Call)]
    converting = [
        call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr in ("from_bytes", "to_bytes")
    ]
    return sum(
        isinstance(argument, ast.Constant) and argument.value in ("little", "big")
        for call in converting
        for argument in (*call.args, *(keyword.value for keyword in call.keywords))
    )


def test_only_isa_and_check_know_a_machine() -> None:
    assert not {name: words for name, text in modules() if (words := mentions(text))}


def test_numbers_in_memory_have_the_order_of_the_machine() -> None:
    counted = Counter({name: fixed_orders(text) for name, text in modules()})
    assert +counted == Counter(ORDER_OF_THE_FORMAT) + Counter(ORDER_WITHOUT_MEANING)


def test_a_mention_is_found() -> None:
    assert mentions('x = 1  # as in rdi\ny = "$4"\n') == {"rdi", "$4"}
    assert mentions('flag = "cf"\n') == {"cf"}
    assert not mentions("def cf(out: int) -> None: ...\n")
    assert fixed_orders('int.from_bytes(b"", "little")\nint.from_bytes(b"", order)\n') == 1


@pytest.mark.parametrize("name", machine_names())
def test_the_registry_knows_the_order_of_bytes(name: str) -> None:
    assert byte_order(name) == machine(name).byte_order
