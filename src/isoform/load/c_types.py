"""From pycparser's declarations to `CType`s: names resolved, structs laid out by the System V rules."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from isoform.load.c_constants import constant_value
from isoform.load.c_text import Source
from isoform.load.layout import Laid, StructLayout
from isoform.model.signature import LONG_DOUBLE_BITS, VOID, CType, TypeKind

POINTER_DEPTH = 2
"""How many pointers are followed when a type is spelled out; what lies beyond is `void`."""
LARGEST_OBJECT = 1 << 40
"""Bytes."""

_INTEGER_WORDS: dict[tuple[str, ...], tuple[int, bool]] = {
    ("char",): (8, True),
    ("char", "signed"): (8, True),
    ("char", "unsigned"): (8, False),
    ("short",): (16, True),
    ("short", "unsigned"): (16, False),
    (): (32, True),
    ("unsigned",): (32, False),
    ("long",): (0, True),
    ("long", "unsigned"): (0, False),
    ("long", "long"): (64, True),
    ("long", "long", "unsigned"): (64, False),
    ("__int128",): (128, True),
    ("__int128", "unsigned"): (128, False),
}
"""Width and sign by the words of a type, sorted, without `int` and `signed`; 0 is the width of an address."""

_NAMED: dict[str, tuple[int, bool]] = {
    "size_t": (0, False),
    "ssize_t": (0, True),
    "ptrdiff_t": (0, True),
    "intptr_t": (0, True),
    "uintptr_t": (0, False),
    "off_t": (0, True),
    "time_t": (0, True),
    "clock_t": (0, True),
    "intmax_t": (64, True),
    "uintmax_t": (64, False),
    "wchar_t": (32, True),
    "wint_t": (32, False),
    "pid_t": (32, True),
    "mode_t": (32, False),
    "uid_t": (32, False),
    "gid_t": (32, False),
    "socklen_t": (32, False),
    **{f"int{bits}_t": (bits, True) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}_t": (bits, False) for bits in (8, 16, 32, 64)},
}


def integer(bits: int, signed: bool, spelling: str) -> CType:
    return CType(TypeKind.INTEGER, bits, signed, spelling)


class CTypeReader:
    """Reads the types of one parsed text. `word_bits` is the width of an address and of `long`."""

    def __init__(
        self, source: Source, word_bits: int, definitions: Iterable[Any] = (), char_is_signed: bool = True
    ) -> None:
        self.source = source
        self._char_is_signed = char_is_signed
        self.word_bits = word_bits
        self._typedefs: dict[str, Any] = {}
        self._tagged: dict[tuple[str, str], Any] = {}
        self._enumerators: dict[str, int] = {}
        self._laid: dict[tuple[int, int], Laid] = {}
        self._open: set[tuple[int, int]] = set()
        """Definitions that are being read. Following a pointer lowers the depth, so meeting one of these again means
        that the type contains itself."""
        for declaration in definitions:
            self._collect(declaration)

    def _collect(self, declaration: Any) -> None:
        """Note every definition in it, in order. An explicit stack: the tree may be deep."""
        pending = [declaration]
        while pending:
            node = pending.pop()
            name = type(node).__name__
            if name == "Typedef":
                self._typedefs[node.name] = node.type
            elif name in ("Struct", "Union") and node.decls is not None and node.name:
                self._tagged[name, node.name] = node
            elif name == "Enum" and node.values is not None:
                self._note_enumerators(node)
                if node.name:
                    self._tagged[name, node.name] = node
            pending.extend(reversed([child for _, child in node.children()]))

    def _note_enumerators(self, enum: Any) -> None:
        following = 0
        for enumerator in enum.values.enumerators:
            value = self.constant(enumerator.value) if enumerator.value is not None else following
            self._enumerators[enumerator.name] = value
            following = value + 1

    def read(self, node: Any, depth: int = POINTER_DEPTH) -> CType:
        return self.lay(node, depth).type

    def parameter(self, node: Any) -> CType:
        """The type of a parameter: arrays and functions become pointers."""
        node = self._behind_typedefs(node)
        if type(node).__name__ == "ArrayDecl":
            return self._pointer(node.type, POINTER_DEPTH).type
        if type(node).__name__ == "FuncDecl":
            return self._opaque_pointer().type
        return self.read(node)

    def _behind_typedefs(self, node: Any) -> Any:
        """What an array or function typedef stands for; any other node as it is."""
        target = node
        for _ in range(len(self._typedefs) + 1):
            if type(target).__name__ in ("ArrayDecl", "FuncDecl"):
                return target
            names = target.type.names if type(getattr(target, "type", None)).__name__ == "IdentifierType" else []
            if type(target).__name__ != "TypeDecl" or len(names) != 1:
                break
            target = self._typedefs.get(names[0])
        return node

    def lay(self, node: Any, depth: int) -> Laid:
        """The type of a declaration node, pointers followed `depth` deep."""
        kind = type(node).__name__
        if kind in ("Decl", "Typename", "Typedef"):
            return self.lay(node.type, depth)
        if kind == "TypeDecl":
            laid = self.lay(node.type, depth)
            if "const" in (node.quals or ()) and not laid.type.spelling.startswith("const "):
                return replace(laid, type=replace(laid.type, spelling=f"const {laid.type.spelling}"))
            return laid
        if kind == "IdentifierType":
            return self._named(tuple(node.names), depth)
        if kind == "PtrDecl":
            return _qualified(self._pointer(node.type, depth), node)
        if kind == "Enum":
            return self._enum(node)
        if kind in ("Struct", "Union"):
            return self._aggregate(node, depth)
        if kind == "ArrayDecl":
            raise self.source.error("has an array where only a scalar or struct can be; use a pointer")
        raise self.source.error(f"uses a type that isoform does not understand ({kind})")

    def _named(self, names: tuple[str, ...], depth: int) -> Laid:
        if len(names) == 1:
            if names[0] in self._typedefs:
                return self._typedef(names[0], depth)
            known = self._known(names[0])
            if known is not None:
                return known
        words = tuple(sorted(w for w in names if w != "int"))
        if words != ("char", "signed"):
            words = tuple(w for w in words if w != "signed")
        if words == ("double", "long"):
            return self._scalar(CType(TypeKind.FLOAT, LONG_DOUBLE_BITS, True, "long double"))
        if words not in _INTEGER_WORDS:
            raise self.source.error(f"uses the type '{' '.join(names)}', which isoform does not know")
        bits, signed = _INTEGER_WORDS[words]
        signed = self._char_is_signed if words == ("char",) else signed
        return self._scalar(integer(bits or self.word_bits, signed, " ".join(names)))

    def _known(self, name: str) -> Laid | None:
        """A type that is one word and needs no definition."""
        if name in _NAMED:
            bits, signed = _NAMED[name]
            return self._scalar(integer(bits or self.word_bits, signed, name))
        if name in ("_Bool", "bool"):
            return self._scalar(CType(TypeKind.BOOL, 8, spelling=name))
        if name in ("float", "double"):
            return self._scalar(CType(TypeKind.FLOAT, 32 if name == "float" else 64, True, name))
        if name == "void":
            return Laid(VOID, 1)
        if name == "FILE":
            return Laid(replace(VOID, spelling="FILE"), 1)
        if name == "va_list":
            opaque = self._opaque_pointer()
            return replace(opaque, type=replace(opaque.type, spelling="va_list"))
        return None

    def _typedef(self, name: str, depth: int) -> Laid:
        target = self._typedefs[name]
        with self._reading(target, depth, name):
            laid = self.lay(target, depth)
        return replace(laid, type=replace(laid.type, spelling=name))

    @contextmanager
    def _reading(self, node: Any, depth: int, name: str) -> Iterator[None]:
        key = (id(node), depth)
        if key in self._open:
            raise self.source.error(f"defines '{name}' as a part of itself; use a pointer")
        self._open.add(key)
        yield
        self._open.discard(key)

    def _scalar(self, ctype: CType) -> Laid:
        return Laid(ctype, ctype.size)

    def _opaque_pointer(self) -> Laid:
        return self._scalar(CType(TypeKind.POINTER, self.word_bits, spelling="void *", pointee=VOID))

    def _pointer(self, target: Any, depth: int) -> Laid:
        target = self._behind_typedefs(target)
        if depth == 0 or type(target).__name__ == "FuncDecl":
            return self._opaque_pointer()
        if type(target).__name__ == "ArrayDecl":
            pointee, weight = self._array(target), 1
        elif self._is_complete(target):
            laid = self.lay(target, depth - 1)
            pointee, weight = laid.type, laid.weight
        else:
            pointee, weight = replace(VOID, spelling=self._tag_spelling(target)), 1
        spelling = f"{pointee.spelling}*" if pointee.spelling.endswith("*") else f"{pointee.spelling} *"
        pointer = CType(TypeKind.POINTER, self.word_bits, spelling=spelling, pointee=pointee)
        return Laid(pointer, self.word_bits // 8, 1 + weight)

    def _array(self, node: Any) -> CType:
        """What a pointer to an array points to: only the extent matters."""
        element, dimensions = self._dimensions(node)
        bits = 8 * math.prod(dimensions) * self.read(element, 0).size
        if bits > 8 * LARGEST_OBJECT:
            raise self.source.error("points to an array that is larger than any memory")
        return CType(TypeKind.STRUCT, bits, spelling="void")

    def _is_complete(self, node: Any) -> bool:
        for _ in range(len(self._typedefs) + 2):
            node = node.type if type(node).__name__ == "TypeDecl" else node
            if type(node).__name__ != "IdentifierType" or len(node.names) != 1:
                break
            node = self._typedefs.get(node.names[0], node)
        return type(node).__name__ not in ("Struct", "Union") or self._definition(node).decls is not None

    def _tag_spelling(self, node: Any) -> str:
        inner = node.type if type(node).__name__ == "TypeDecl" else node
        kind = type(inner).__name__
        if kind == "IdentifierType":
            return " ".join(inner.names)
        return f"{kind.lower()} {inner.name}" if getattr(inner, "name", None) else "void"

    def _definition(self, node: Any) -> Any:
        return self._tagged.get((type(node).__name__, node.name), node) if node.name else node

    def _enum(self, node: Any) -> Laid:
        """`unsigned` if no enumerator is negative, as gcc and clang choose; wider only if a value needs it."""
        if getattr(node, "underlying_type", None) is not None:
            return self.lay(node.underlying_type, 0)
        node = self._definition(node)
        values = [self._enumerators[e.name] for e in node.values.enumerators] if node.values is not None else [0]
        signed = min(values) < 0
        narrow = min(values) >= -(1 << 31) and max(values) < (1 << (31 if signed else 32))
        spelling = f"enum {node.name}" if node.name else ("int" if signed else "unsigned")
        return self._scalar(integer(32 if narrow else 64, signed, spelling))

    def _aggregate(self, node: Any, depth: int) -> Laid:
        node = self._definition(node)
        word = type(node).__name__.lower()
        name = f"{word} {node.name}" if node.name else word
        if node.decls is None:
            raise self.source.error(f"passes '{name}' by value without defining it; put its definition in front")
        key = (id(node), depth)
        if key not in self._laid:
            with self._reading(node, depth, name):
                self._laid[key] = self._lay_members(node, name, depth)
        return self._laid[key]

    def _lay_members(self, node: Any, name: str, depth: int) -> Laid:
        layout = StructLayout(union=type(node).__name__ == "Union")
        for member in node.decls:
            if type(member).__name__ != "Decl":
                raise self.source.error(f"has something in '{name}' that is no member ({type(member).__name__})")
            if member.bitsize is not None:
                self._add_bit_field(layout, member, name)
            else:
                self._add_member(layout, member, name, depth)
        return layout.finish(name)

    def _add_member(self, layout: StructLayout, member: Any, name: str, depth: int) -> None:
        node, dimensions = self._dimensions(member.type)
        laid = self.lay(node, depth)
        if laid.type.kind is TypeKind.VOID:
            raise self.source.error(f"has a member without a size in '{name}'")
        if member.name is None and type(node).__name__ not in ("Struct", "Union"):
            raise self.source.error(f"has a member without a name in '{name}'")
        if math.prod(dimensions) * laid.size > LARGEST_OBJECT:
            raise self.source.error(f"has a member in '{name}' that is larger than any memory")
        layout.add(member.name or "", laid, dimensions)

    def _dimensions(self, node: Any) -> tuple[Any, tuple[int, ...]]:
        """The element and the dimensions of an array; no dimensions for anything else."""
        dimensions: list[int] = []
        node = self._behind_typedefs(node)
        while type(node).__name__ == "ArrayDecl":
            count = self.constant(node.dim) if node.dim is not None else 0
            if count < 0:
                raise self.source.error("has an array of negative length")
            dimensions.append(count)
            node = self._behind_typedefs(node.type)
        return node, tuple(dimensions)

    def _add_bit_field(self, layout: StructLayout, member: Any, name: str) -> None:
        laid, width = self.lay(member.type, 0), self.constant(member.bitsize)
        if laid.type.kind not in (TypeKind.INTEGER, TypeKind.BOOL) or not 0 <= width <= laid.type.bits:
            raise self.source.error(f"has a bit-field in '{name}' that does not fit its type")
        if width == 0:
            layout.end_bit_fields(laid)
        elif member.name is None:
            # Its bits have no meaning, and a result with such bits could not be compared.
            raise self.source.error(f"has a nameless bit-field in '{name}'; give it a name")
        else:
            layout.add_bit_field(laid, width)

    def constant(self, node: Any) -> int:
        """The value of a constant expression: an enumerator, an array length, a bit-field width."""
        value = self._constant(node)
        if value is None or not -(1 << 63) <= value < 1 << 64:
            raise self.source.error("has a length or enumerator that is not a constant isoform can compute")
        return value

    def _constant(self, node: Any) -> int | None:
        kind = type(node).__name__
        if kind == "Constant":
            return constant_value(self.source, node, self.word_bits)[0]
        if kind == "ID":
            return self._enumerators.get(node.name)
        if kind == "UnaryOp" and node.op in _UNARY:
            return _UNARY[node.op](self.constant(node.expr))
        if kind == "UnaryOp" and node.op == "sizeof" and type(node.expr).__name__ == "Typename":
            return self.read(node.expr, 0).size
        if kind == "BinaryOp" and node.op in _BINARY:
            left, right = self.constant(node.left), self.constant(node.right)
            return _BINARY[node.op](left, right) if node.op not in ("<<", ">>") or 0 <= right < 64 else None
        return None


_UNARY: dict[str, Callable[[int], int]] = {"-": operator.neg, "+": operator.pos, "~": operator.invert}
_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "|": operator.or_,
    "&": operator.and_,
    "^": operator.xor,
}
"""These agree with C's operators on constants that fit their type. Division, which Python rounds differently, is left
out."""


def _qualified(laid: Laid, node: Any) -> Laid:
    """A pointer that is declared `restrict`."""
    if "restrict" not in (node.quals or ()):
        return laid
    return replace(laid, type=replace(laid.type, spelling=f"{laid.type.spelling} restrict", is_restrict=True))
