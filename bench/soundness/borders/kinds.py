"""The types that cross a border: for each one C text that makes a value, records it without padding, and changes it.

A leaf is a part of a value that its reader may read: a number, a member, a bit-field, a lane.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

INTEGERS = (
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long",
    "unsigned long",
)
_WIDTH = {"char": 8, "short": 16, "int": 32, "unsigned": 32, "long": 64}


@dataclass(frozen=True)
class Leaf:
    path: str
    """With {} for the value: `{}.a`, `__real__ {}`, `{}[1]`."""
    kind: str
    """integer, wide, bool, float, double, extended or pointer."""

    def of(self, value: str) -> str:
        return self.path.format(value)

    def changed(self, value: str) -> str:
        """A statement after which the leaf is another one."""
        place = self.of(value)
        return {
            "bool": f"{place} = !{place};",
            "integer": f"{place} = {place} ^ 1;",
            "wide": f"{place} = {place} ^ ((unsigned __int128)1 << 70);",
            "pointer": f"{place} = {place} + 1;",
        }.get(self.kind, f"{place} = {place} + 1;")


@dataclass(frozen=True)
class Kind:
    name: str
    leaves: tuple[Leaf, ...]
    definition: str = ""
    padded: bool = False

    @property
    def plain(self) -> bool:
        return len(self.leaves) == 1 and self.leaves[0].path == "{}"

    @property
    def identifier(self) -> str:
        return "".join(c if c.isalnum() else "_" for c in self.name)

    def maker(self) -> str:
        """`make_K()` and `record_K(v)`, for the harness."""
        made = " ".join(f"{leaf.of('v')} = {_DRAWN[leaf.kind]};" for leaf in self.leaves)
        kept = " ".join(_RECORDED[leaf.kind].format(leaf.of("v")) for leaf in self.leaves)
        return (
            f"static {self.name} make_{self.identifier}(void) {{ {self.name} v; {made} return v; }}\n"
            f"static void record_{self.identifier}({self.name} v) {{ {kept} }}\n"
        )


_DRAWN = {
    "integer": "drawn()",
    "wide": "((unsigned __int128)drawn() << 64 | drawn())",
    "bool": "drawn() & 1",
    "float": "drawn_float()",
    "double": "drawn_float()",
    "extended": "drawn_float()",
    "pointer": "(void *)&memory[drawn() & 7]",
}
_RECORDED = {
    "integer": "record((word)({}));",
    "wide": "record((word)({0})); record((word)((unsigned __int128)({0}) >> 64));",
    "bool": "record((word)({}));",
    "float": "{{ float x = {}; record(*(unsigned *)&x); }}",
    "double": "{{ double x = {}; record(*(word *)&x); }}",
    "extended": "{{ long double x = {}; record(*(word *)&x); record(((unsigned short *)&x)[4]); }}",
    "pointer": "record((word)({}));",
}


def scalar(name: str) -> Kind:
    leaf = {"_Bool": "bool", "float": "float", "double": "double", "long double": "extended"}.get(name, "integer")
    if "__int128" in name:
        leaf = "wide"
    if name.endswith("*"):
        leaf = "pointer"
    return Kind(name, (Leaf("{}", leaf),))


INT, LONG, DOUBLE, FLOAT, CHARS = (scalar(n) for n in ("int", "long", "double", "float", "char *"))
SCALARS = tuple(
    scalar(n) for n in (*INTEGERS, "_Bool", "float", "double", "long double", "__int128", "unsigned __int128", "char *")
)
COMPLEX = tuple(
    Kind(f"{base} _Complex", (Leaf("__real__ {}", leaf), Leaf("__imag__ {}", leaf)))
    for base, leaf in (("float", "float"), ("double", "double"), ("long double", "extended"))
)
VECTORS = tuple(
    Kind(
        name,
        tuple(Leaf(f"{{}}[{n}]", leaf) for n in range(size // width)),
        f"typedef {base} {name} __attribute__((vector_size({size})));\n",
    )
    for name, base, width, size, leaf in (
        ("v4i", "int", 4, 16, "integer"),
        ("v2d", "double", 8, 16, "double"),
        ("v16c", "char", 1, 16, "integer"),
        ("v2f", "float", 4, 8, "float"),
    )
)


class Kinds:
    """Draws types; the structures that it makes are its own."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._made = 0

    def any(self) -> Kind:
        draw = self._random.random()
        if draw < 0.60:
            return self._random.choice(SCALARS)
        if draw < 0.66:
            return self._random.choice(COMPLEX)
        if draw < 0.72:
            return self._random.choice(VECTORS)
        return self.structure()

    def number(self) -> Kind:
        return self._random.choice([k for k in SCALARS if k.leaves[0].kind in ("integer", "float", "double", "bool")])

    def structure(self) -> Kind:
        random = self._random
        self._made += 1
        name = f"struct s{self._made}"
        members: list[str] = []
        leaves: list[Leaf] = []
        for number in range(random.choice((1, 2, 2, 3, 3, 4, 5))):
            member = "abcdefgh"[number]
            draw = random.random()
            if draw < 0.25:
                base = random.choice(("unsigned", "int", "unsigned long", "_Bool", "unsigned char"))
                most = {"_Bool": 1, "unsigned char": 8, "unsigned long": 40}.get(base, 31)
                members.append(f"{base} {member} : {random.randint(1, most)};")
                leaves.append(Leaf(f"{{}}.{member}", "bool" if base == "_Bool" else "integer"))
            elif draw < 0.30:
                members.append(f"struct {{ short x; int y : 9; }} {member};")
                leaves += [Leaf(f"{{}}.{member}.{inner}", "integer") for inner in "xy"]
            elif draw < 0.40:
                base = random.choice(("char", "short", "int", "float"))
                size = random.choice((2, 3))
                members.append(f"{base} {member}[{size}];")
                leaf = "float" if base == "float" else "integer"
                leaves += [Leaf(f"{{}}.{member}[{n}]", leaf) for n in range(size)]
            else:
                kind = random.choice(SCALARS)
                if kind.name == "long double" and random.random() < 0.6:
                    kind = DOUBLE
                members.append(f"{kind.name} {member};")
                leaves.append(Leaf(f"{{}}.{member}", kind.leaves[0].kind))
        packed = random.choices(("", " __attribute__((packed))", " __attribute__((aligned(16)))"), (84, 10, 6))[0]
        return Kind(name, tuple(leaves), f"{name} {{ {' '.join(members)} }}{packed};\n", True)


def definitions(kinds: list[Kind]) -> str:
    return "".join(dict.fromkeys(kind.definition for kind in kinds))


def makers(kinds: list[Kind]) -> str:
    return "".join(dict.fromkeys(kind.maker() for kind in kinds))
