"""Damaged certificates. Half of them have their hashes made again, so that the damage gets past the hashes."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from random import Random
from typing import Any

from hostile.case import Case, Damaged, Expect, File, Odd

Certificate = dict[str, bytes]
_PAIRS = (
    ("int f(int x) { return x * 2; }", "int f(int x) { return x << 1; }"),
    (
        "unsigned f(unsigned x, unsigned y) { return x * (y + 3); }",
        "unsigned f(unsigned x, unsigned y) { return x * y + 3 * x; }",
    ),
    ("int f(int *p, int i) { p[i] = 3; return p[0]; }", "int f(int *p, int i) { p[i] = 3; return i ? *p : 3; }"),
)
_VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1e308,
    10**400,
    "",
    "x" * 100_000,
    [],
    {},
    [[]],
    "../../etc/passwd",
    "\0",
    "\x1b[31m",
    "/dev/zero",
)
_ATOMS = (
    "(",
    ")",
    "assert",
    "true",
    "false",
    "let",
    "not",
    "and",
    "bvadd",
    "bvmul",
    "bvudiv",
    "ite",
    "select",
    "store",
    "|",
    '"',
    ";",
)
_MORE_ATOMS = (
    "#b1",
    "#x0",
    "#x" + "f" * 5000,
    "(_ BitVec 1000000000)",
    "(_ bv1 0)",
    "(exit)",
    "(reset)",
    "(check-sat)",
    "(push 1)",
    "|a b|",
    "é",
)


def build(folder: Path) -> list[Certificate]:
    """Valid certificates, as isoform writes them."""
    from isoform import api
    from isoform.borders.question import Options

    found = []
    for number, sources in enumerate(_PAIRS):
        paths = [folder / f"{number}{side}.c" for side in "ab"]
        for path, source in zip(paths, sources, strict=True):
            path.write_text(source)
        place = folder / f"certificate{number}"
        # Compilers make the same code of some of them at one level, and a certificate of that has no formulas.
        api.compare(f"{paths[0]}:f", f"{paths[1]}:f", Options(budget=20, cert=str(place)), cflags_b="-O0")
        found.append({path.name: path.read_bytes() for path in place.iterdir()})
    return found


def certificate_case(random: Random, certificates: list[Certificate]) -> Case:
    files: Certificate = dict(random.choice(certificates))
    name = random.choice(list(files))
    rehashed = random.random() < 0.5
    before = dict(files)
    what = _damage(random, files, name)
    if rehashed:
        _rehash(files)
    changed = files != before
    shown: dict[str, File] = {f"cert/{n}": Damaged(content) for n, content in files.items()}
    if random.random() < 0.08:
        changed = True
        odd = random.choice(list(Odd))
        shown[f"cert/{name}"] = odd
        what = f"{name} is {odd.value}"
    expect = Expect.NEVER_CONFIRMED if changed and not rehashed else Expect.ANYTHING
    words = ("check", "cert", "--budget", random.choice(("0.5", "1", "3")))
    return Case("certificate", what + (", hashes made anew" if rehashed else ""), words, shown, expect)


def _damage(random: Random, files: Certificate, name: str) -> str:
    way = random.randrange(6)
    if way == 0:
        del files[name]
        return f"{name} is missing"
    if way == 1:
        content = bytearray(files[name])
        for _ in range(random.randrange(1, 4)):
            content[random.randrange(len(content))] = random.randrange(256)
        files[name] = bytes(content)
        return f"random bytes in {name}"
    if way == 2:
        files[name] = files[name][: random.randrange(len(files[name]))]
        return f"{name} is cut"
    if name == "index.json":
        return _index(random, files)
    return _formula(random, files, name)


def _index(random: Random, files: Certificate) -> str:
    if random.random() < 0.1:
        deep = random.choice((100, 5000, 200_000))
        files["index.json"] = random.choice((b"[" * deep, b'{"a":' * deep, b"[" * deep + b"]" * deep))
        return "an index nested without end"
    index = json.loads(files["index.json"])
    holder, key = random.choice(list(_places(index)))
    value = random.choice(_VALUES)
    if random.random() < 0.3:
        del holder[key]
    elif random.random() < 0.2 and isinstance(holder, list):
        holder.extend(holder * random.choice((1, 50)))
    else:
        holder[key] = value
    files["index.json"] = json.dumps(index).encode()
    return f"the index's {key!r} is {str(value)[:40]!r}"


def _places(value: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        for key, inner in value.items():
            found += [(value, key), *_places(inner)]
    elif isinstance(value, list):
        for key, inner in enumerate(value):
            found += [(value, key), *_places(inner)]
    return found


def _formula(random: Random, files: Certificate, name: str) -> str:
    text = files[name].decode()
    if random.random() < 0.1:
        files[name] = _formula_bomb(random).encode()
        return f"a bomb in {name}"
    atoms = re.findall(r"[()]|[^\s()]+|\n", text)
    for _ in range(random.choice((1, 1, 2, 5))):
        at = random.randrange(len(atoms))
        way = random.randrange(4)
        if way == 0:
            del atoms[at : at + random.choice((1, 3))]
        elif way == 1:
            atoms[at] = random.choice((*_ATOMS, *_MORE_ATOMS, random.choice(atoms)))
        elif way == 2:
            atoms.insert(at, random.choice((*_ATOMS, *_MORE_ATOMS)))
        else:
            other = random.randrange(len(atoms))
            atoms[at], atoms[other] = atoms[other], atoms[at]
        atoms = atoms or ["("]
    files[name] = " ".join(atoms).encode()
    return f"words of {name} changed"


def _formula_bomb(random: Random) -> str:
    count = random.choice((1000, 100_000))
    head = "(set-logic QF_BV)\n(declare-const x (_ BitVec 64))\n"
    tail = "\n(check-sat)\n"
    doubling = "".join(f"(define-fun d{i} () (_ BitVec 64) (bvmul d{i - 1} d{i - 1}))\n" for i in range(1, 60))
    return random.choice(
        (
            head + "(assert " + "(not " * count + "true" + ")" * count + ")" + tail,
            "(" * count,
            head + "(assert (! (= (bvmul x x) (bvmul x x)) :named lemma-1))" * (count // 50) + tail,
            head
            + "(define-fun d0 () (_ BitVec 64) (bvadd x x))\n"
            + doubling
            + "(assert (! (= d59 x) :named lemma-1))"
            + tail,
            head + f"(declare-const y (_ BitVec {10**9}))(assert (= y y))" + tail,
            head + "(assert (= (bvurem (bvmul x x) #x00000000ffffffc5) #x0000000012345678))" + tail,
        )
    )


def _rehash(files: Certificate) -> None:
    """Hashes and digest as somebody would write them who wants the damage believed."""
    try:
        index = json.loads(files["index.json"])
        for obligation in index["obligations"]:
            obligation["sha256"] = hashlib.sha256(files[obligation["file"]]).hexdigest()
        for side in ("target", "rewrite"):
            index[side]["sha256"] = hashlib.sha256(bytes.fromhex(index[side]["code"])).hexdigest()
        index.pop("digest", None)
        canonical = json.dumps(index, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        index["digest"] = hashlib.sha256(canonical.encode()).hexdigest()
        files["index.json"] = json.dumps(index, indent=2).encode()
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return
