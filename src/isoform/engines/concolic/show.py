"""Terms as a person writes them: `n ≠ 42`, `p + 8 < 100`. Long ones are shortened."""

from __future__ import annotations

from isoform.model.contract import show_number
from isoform.smt import shapes
from isoform.smt.shapes import Shape
from isoform.smt.terms import Term
from isoform.sym.entry import argument_term
from isoform.sym.side import Side
from isoform.sym.state import State, initial_state
from isoform.sym.world import World

DEEPEST = 6
_WORD_BYTES = 8
_INFIX: dict[type[Shape], str] = {
    shapes.Equal: "=",
    shapes.UnsignedLess: "<",
    shapes.SignedLess: "<",
    shapes.Add: "+",
    shapes.Subtract: "-",
    shapes.Multiply: "*",
    shapes.And: "&",
    shapes.Or: "|",
    shapes.Xor: "^",
    shapes.UnsignedQuotient: "/",
    shapes.UnsignedRemainder: "%",
    shapes.SignedQuotient: "/",
    shapes.SignedRemainder: "%",
    shapes.Conjunction: "and",
    shapes.Disjunction: "or",
    shapes.Exclusive: "xor",
    shapes.ShiftLeft: "<<",
    shapes.ShiftRight: ">>",
    shapes.ArithmeticShiftRight: ">>",
}
_NEGATED: dict[type[Shape], str] = {shapes.Equal: "≠", shapes.UnsignedLess: "≥", shapes.SignedLess: "≥"}


class TermWriter:
    def __init__(self, world: World) -> None:
        self._terms = world.terms
        self._names: dict[Term, str] = {}
        self._registers: dict[Term, tuple[str, int]] = {}
        """Registers that hold an argument in their low bits: its name and how many bits."""

    def name_arguments(self, entry: State) -> None:
        """Call the value of an argument at entry by the argument's name."""
        for argument in entry.side.contract.arguments:
            self._names.setdefault(argument_term(entry, argument), argument.name)
            place = argument.places[0] if len(argument.places) == 1 else None
            if place is not None and place.register is not None and place.offset == 0:
                self._registers[entry.container_named(place.register)] = argument.name, 8 * place.size

    def text(self, term: Term, depth: int = 0) -> str:
        name = self._names.get(term)
        if name is not None:
            return name
        value = self._terms.value(term)
        if value is not None:
            width = self._terms.width(term)
            return show_number(value, width, width in (8, 16, 32, 64)).split(" ")[0]
        if term.is_const():
            return str(term.symbol())
        if depth >= DEEPEST:
            return "…"
        return self._compound(term, depth)

    def _compound(self, term: Term, depth: int) -> str:
        shape = self._terms.shape(term)
        bytes_compared = self._compared_word(term, depth)
        if bytes_compared:
            return f"{bytes_compared[0]} = {bytes_compared[1]}"
        loaded = self._loaded(term)
        if loaded is not None:
            return f"[{self.text(loaded, depth + 1)}]"
        match shape:
            case shapes.Negation(inner):
                return self._negated(inner, depth)
            case shapes.Binary():
                return self._infix(_INFIX[type(shape)], shape, depth)
            case shapes.Choice():
                parts = [self._operand(t, depth) for t in shape.operands]
                return f"{parts[0]} ? {parts[1]} : {parts[2]}"
            case shapes.Extension(inner):
                return self.text(inner, depth)
            case shapes.Extract(inner, high, low):
                name, bits = self._registers.get(inner, ("", 0))
                shown = name if high < bits else self._operand(inner, depth)
                return f"{shown}[{high}:{low}]"
            case shapes.Negative(inner):
                return f"-{self._operand(inner, depth)}"
            case shapes.Not(inner):
                return f"~{self._operand(inner, depth)}"
            case shapes.Concat(top, bottom):
                return f"{self._operand(top, depth)}:{self._operand(bottom, depth)}"
            case shapes.Scaled(inner, bits):
                return f"{self._operand(inner, depth)} << {bits}"
        return "…"

    def _negated(self, inner: Term, depth: int) -> str:
        shape = self._terms.shape(inner)
        bytes_compared = self._compared_word(inner, depth)
        if bytes_compared:
            return f"{bytes_compared[0]} ≠ {bytes_compared[1]}"
        if isinstance(shape, shapes.Binary) and type(shape) in _NEGATED:
            return self._infix(_NEGATED[type(shape)], shape, depth)
        return f"not ({self.text(inner, depth + 1)})"

    def _loaded(self, term: Term) -> Term | None:
        """The address of a word that was loaded from memory, if a term is one."""
        built = [self._terms.shape(part) for part in self._parts(term)]
        addresses = [shape.address for shape in built if isinstance(shape, shapes.Select)]
        return self._lowest(addresses) if addresses and len(addresses) == len(built) else None

    def _parts(self, term: Term) -> list[Term]:
        """What is joined in a term, at most the bytes of a word."""
        parts: list[Term] = []
        pending = [term]
        while pending and len(parts) <= _WORD_BYTES:
            top = pending.pop()
            shape = self._terms.shape(top)
            if isinstance(shape, shapes.Concat):
                pending += shape.operands
            else:
                parts.append(top)
        return parts if len(parts) <= _WORD_BYTES else []

    def _lowest(self, addresses: list[Term]) -> Term | None:
        """The first of consecutive addresses, given in any order."""
        split = [self._terms.split_sum(address) for address in addresses]
        split.sort(key=lambda place: place[1])
        base, start = split[0]
        if any(b != base or c != start + i for i, (b, c) in enumerate(split)):
            return None
        return next(a for a in addresses if self._terms.split_sum(a)[1] == start)

    def _compared_word(self, term: Term, depth: int) -> tuple[str, str] | None:
        """A word in memory that is compared with a number byte by byte, as both."""
        found: list[tuple[Term, int]] = []
        pending = [term]
        while pending and len(found) <= _WORD_BYTES:
            shape = self._terms.shape(pending.pop())
            if isinstance(shape, shapes.Conjunction):
                pending += shape.operands
                continue
            if not isinstance(shape, shapes.Equal):
                return None
            byte, value = self._terms.shape(shape.left), self._terms.value(shape.right)
            if not isinstance(byte, shapes.Select) or value is None:
                return None
            found.append((byte.address, value))
        if not 1 < len(found) <= _WORD_BYTES or (first := self._lowest([a for a, _ in found])) is None:
            return None
        ordered = sorted(found, key=lambda place: self._terms.split_sum(place[0])[1])
        number = sum(value << (8 * i) for i, (_, value) in enumerate(ordered))
        return f"[{self.text(first, depth + 1)}]", show_number(number, 8 * len(found), True).split(" ")[0]

    def _infix(self, sign: str, shape: shapes.Binary, depth: int) -> str:
        shown = f"{self._operand(shape.left, depth)} {sign} {self._operand(shape.right, depth)}"
        return f"{shown} (unsigned)" if isinstance(shape, shapes.UnsignedLess) else shown

    def _operand(self, term: Term, depth: int) -> str:
        text = self.text(term, depth + 1)
        return f"({text})" if " " in text else text


def writer_for(side: Side) -> TermWriter:
    writer = TermWriter(side.world)
    writer.name_arguments(initial_state(side))
    return writer
