"""C's typing rules for preconditions: promotions, conversions, pointers and members made explicit."""

from __future__ import annotations

import difflib
from typing import Any

from isoform.borders.precondition.arithmetic import (
    EQUALITY,
    INT,
    OPERATORS,
    ORDER,
    Typed,
    balanced,
    calculated,
    compared,
    converted,
    mask,
    shifted,
    truth,
)
from isoform.borders.precondition.tree import (
    Choice,
    Complement,
    Condition,
    Constant,
    Every,
    Index,
    Indicator,
    Load,
    Name,
    Narrowed,
    Negation,
    Not,
    Operation,
    Operator,
    Some,
    Term,
)
from isoform.load.c_constants import constant_value, named_constant
from isoform.load.c_text import Source, printable
from isoform.load.c_types import CTypeReader
from isoform.model.errors import UserError
from isoform.model.signature import CType, Signature, TypeKind
from isoform.model.values import dataclass

_BYTES = [(TypeKind.VOID, spelling) for spelling in ("", "void", "const void")]
"""Pointees whose elements are bytes."""


@dataclass(frozen=True)
class InMemory:
    """What an expression names in memory; of an array, the type is an element's."""

    address: Term
    type: CType
    array: bool = False


class Elaborator:
    """Gives every expression its type. Notes which parameters were used and whether memory is read."""

    def __init__(self, source: Source, signature: Signature, word_bits: int) -> None:
        self._source = source
        self._signature = signature
        pointers = [p.type.bits for p in signature.parameters if p.type.kind is TypeKind.POINTER]
        self._word = CType(TypeKind.INTEGER, pointers[0] if pointers else word_bits, False, "uintptr_t")
        self.widths: dict[str, int] = {}
        self.reads_memory = False

    def condition(self, node: Any) -> Condition:
        """The truth of an expression."""
        if _is_operation(node, ("&&", "||")):
            parts = tuple(self.condition(part) for part in _chain(node))
            return Every(parts) if node.op == "&&" else Some(parts)
        if type(node).__name__ == "UnaryOp" and node.op == "!":
            return Not(self.condition(node.expr))
        return truth(self._value(node))

    def index(self, node: Any) -> Index:
        value = self._integer(node)
        return Index(value.term, value.type.bits, value.type.signed)

    def buffer(self, node: Any) -> tuple[Term, int, int]:
        """Base address, its width, and the size in bytes of an element of a buffer."""
        value = self._value(node)
        if value.type.kind is not TypeKind.POINTER:
            raise self._source.error(f"takes elements of '{_shown(node)}', which is no pointer")
        return value.term, value.type.bits, self._element(node, value.type)

    def _value(self, node: Any) -> Typed:
        match type(node).__name__:
            case "Constant":
                value, ctype = constant_value(self._source, node, self._word.bits)
                return Typed(Constant(value & mask(ctype.bits), ctype.bits), ctype)
            case "ID":
                return self._named(node.name)
            case "UnaryOp":
                return self._unary(node)
            case "BinaryOp":
                return self._binary(node)
            case "TernaryOp":
                return self._ternary(node)
            case "Cast":
                return self._cast(node)
            case "ArrayRef" | "StructRef":
                return self._loaded(node)
            case other:
                raise self._source.error(_refusal(other))

    def _named(self, name: str) -> Typed:
        for parameter in self._signature.parameters:
            if parameter.name == name:
                return self._parameter(name, parameter.type)
        named = named_constant(name, self._word.bits)
        if named is not None:
            value, ctype = named
            return Typed(Constant(value & mask(ctype.bits), ctype.bits), ctype)
        raise self._unknown(name)

    def _parameter(self, name: str, ctype: CType) -> Typed:
        if ctype.kind not in (TypeKind.INTEGER, TypeKind.BOOL, TypeKind.POINTER):
            raise self._source.error(
                f"names '{name}', a parameter of type '{ctype.spelling}'; only integers and pointers can be used"
            )
        self.widths[name] = ctype.bits
        return Typed(Name(name, ctype.bits), ctype)

    def _unknown(self, name: str) -> UserError:
        function, names = self._signature.name, [parameter.name for parameter in self._signature.parameters]
        shown = printable(name)
        if not names:
            return self._source.error(f"names '{shown}', but {function} has no parameters")
        close = difflib.get_close_matches(name, names, n=1)
        hint = f" (did you mean '{close[0]}'?)" if close else ""
        listed = ", ".join(names)
        verb = "parameters are" if len(names) > 1 else "only parameter is"
        return self._source.error(f"names '{shown}', which is no parameter of {function}{hint}; the {verb} {listed}")

    def _integer(self, node: Any) -> Typed:
        """A value after the integer promotions, a pointer as an unsigned number."""
        return self._promoted(self._value(node))

    def _promoted(self, value: Typed) -> Typed:
        if value.type.kind is TypeKind.POINTER:
            return Typed(value.term, CType(TypeKind.INTEGER, value.type.bits, False, "uintptr_t"))
        return converted(value, INT) if value.type.bits < INT.bits else value

    def _unary(self, node: Any) -> Typed:
        if node.op == "!":
            return Typed(Indicator(self.condition(node)), INT)
        if node.op == "*":
            return self._loaded(node)
        if node.op == "&":
            place = self._single(node.expr)
            return Typed(place.address, self._pointer_to(place.type))
        if node.op == "sizeof":
            return self._size_of(node.expr)
        if node.op not in ("-", "+", "~"):
            raise self._source.error(f"uses '{node.op.strip('p')}', which would change an input; only read them")
        operand = self._integer(node.expr)
        if node.op == "+":
            return operand
        return Typed((Negation if node.op == "-" else Complement)(operand.term), operand.type)

    def _size_of(self, node: Any) -> Typed:
        if type(node).__name__ == "Typename":
            ctype = self._read_type(node)
        elif _is_object(node):
            ctype = self._single(node).type
        else:
            ctype = self._value(node).type
        return Typed(Constant(ctype.size, self._word.bits), self._word)

    def _binary(self, node: Any) -> Typed:
        if node.op in ("&&", "||"):
            return Typed(Indicator(self.condition(node)), INT)
        if node.op in ORDER or node.op in EQUALITY:
            return Typed(Indicator(self._comparison(node)), INT)
        if node.op not in OPERATORS:
            raise self._source.error(f"uses '{node.op}', which has no meaning in a condition")
        left, right = self._value(node.left), self._value(node.right)
        if node.op in ("+", "-") and TypeKind.POINTER in (left.type.kind, right.type.kind):
            return self._pointer_arithmetic(node, left, right)
        left, right = self._promoted(left), self._promoted(right)
        if node.op in ("<<", ">>"):
            return shifted(node.op, left, right)
        return calculated(node.op, left, right)

    def _comparison(self, node: Any) -> Condition:
        chained = node.op in ORDER and any(_is_operation(side, ORDER) for side in (node.left, node.right))
        chained |= (
            node.op in EQUALITY
            and _is_operation(node.left, EQUALITY)
            and not _is_operation(node.right, EQUALITY + ORDER)
        )
        if chained:
            raise self._source.error(
                "compares a comparison, as 0 <= x <= 255 does; join the two with &&, as in 0 <= x && x <= 255"
            )
        left, right = balanced(self._integer(node.left), self._integer(node.right))
        return compared(node.op, left, right)

    def _pointer_arithmetic(self, node: Any, left: Typed, right: Typed) -> Typed:
        if left.type.kind is right.type.kind and node.op == "-":
            return self._distance(node, left, right)
        if left.type.kind is right.type.kind:
            raise self._source.error("adds two pointers; subtract them or cast them to uintptr_t")
        if right.type.kind is TypeKind.POINTER:
            if node.op == "-":
                raise self._source.error("subtracts a pointer from a number; cast it to uintptr_t")
            return self._moved(node.right, right, left, Operator.ADD)
        return self._moved(node.left, left, right, Operator.ADD if node.op == "+" else Operator.SUB)

    def _moved(self, node: Any, pointer: Typed, count: Typed, operator: Operator) -> Typed:
        bits = pointer.type.bits
        wide = converted(self._promoted(count), CType(TypeKind.INTEGER, bits, False)).term
        element = self._element(node, pointer.type)
        offset = wide if element == 1 else Operation(Operator.MUL, wide, Constant(element & mask(bits), bits), bits)
        return Typed(Operation(operator, pointer.term, offset, bits), pointer.type)

    def _distance(self, node: Any, left: Typed, right: Typed) -> Typed:
        element = self._element(node.left, left.type)
        if element != self._element(node.right, right.type) or left.type.bits != right.type.bits or element == 0:
            raise self._source.error("subtracts pointers to different types; cast them to uintptr_t")
        bits = left.type.bits
        difference = Operation(Operator.SUB, left.term, right.term, bits)
        ctype = CType(TypeKind.INTEGER, bits, True, "ptrdiff_t")
        return Typed(Operation(Operator.SDIV, difference, Constant(element, bits), bits), ctype)

    def _element(self, node: Any, pointer: CType) -> int:
        """Bytes of what a pointer points to. `void` counts bytes where the user wrote it; further in, it may also
        stand for a type that was not spelled out."""
        pointee = pointer.pointee
        if pointee is not None and pointee.size:
            return pointee.size
        written = type(node).__name__ in ("ID", "Cast")
        if written and (pointee is None or (pointee.kind, pointee.spelling) in _BYTES):
            return 1
        raise self._source.error(
            f"counts elements of '{_shown(node)}', whose type is not known; cast it, as in ((char *)p)[0..n]"
        )

    def _ternary(self, node: Any) -> Typed:
        condition = self.condition(node.cond)
        yes, no = self._value(node.iftrue), self._value(node.iffalse)
        pointer = next((side.type for side in (yes, no) if side.type.kind is TypeKind.POINTER), None)
        first, second = balanced(self._promoted(yes), self._promoted(no))
        return Typed(Choice(condition, first.term, second.term), pointer or first.type)

    def _cast(self, node: Any) -> Typed:
        ctype = self._read_type(node.to_type)
        value = self._value(node.expr)
        if ctype.kind is TypeKind.BOOL:
            return Typed(Narrowed(Indicator(truth(value)), 8), ctype)
        if ctype.kind not in (TypeKind.INTEGER, TypeKind.POINTER):
            raise self._source.error(f"casts to '{ctype.spelling}'; only integer and pointer types can be used")
        return Typed(converted(value, ctype).term, ctype)

    def _read_type(self, node: Any) -> CType:
        return CTypeReader(self._source, self._word.bits).read(node)

    def _pointer_to(self, ctype: CType) -> CType:
        return CType(TypeKind.POINTER, self._word.bits, spelling=f"{ctype.spelling} *", pointee=ctype)

    def _loaded(self, node: Any) -> Typed:
        """The value of an object in memory; an array becomes a pointer to its first element."""
        place = self._object(node)
        if place.array:
            return Typed(place.address, self._pointer_to(place.type))
        if place.type.kind not in (TypeKind.INTEGER, TypeKind.BOOL, TypeKind.POINTER):
            raise self._source.error(
                f"reads '{_shown(node)}' of type '{place.type.spelling}'; only integers and pointers can be used"
            )
        self.reads_memory = True
        return Typed(Load(place.address, place.type.bits // 8), place.type)

    def _single(self, node: Any) -> InMemory:
        place = self._object(node)
        if place.array:
            raise self._source.error(f"takes the array '{_shown(node)}' as a whole; name an element of it")
        return place

    def _object(self, node: Any) -> InMemory:
        match type(node).__name__:
            case "UnaryOp" if node.op == "*":
                pointer = self._value(node.expr)
                return InMemory(pointer.term, self._pointee(node.expr, pointer))
            case "ArrayRef":
                pointer = self._value(node.name)
                ctype = self._pointee(node.name, pointer)
                count = self._value(node.subscript)
                if count.type.kind is TypeKind.POINTER:
                    raise self._source.error(f"uses the pointer '{_shown(node.subscript)}' as an index")
                return InMemory(self._moved(node.name, pointer, count, Operator.ADD).term, ctype)
            case "StructRef":
                return self._member(node)
            case _:
                raise self._source.error(f"takes '{_shown(node)}' for something in memory, which it is not")

    def _member(self, node: Any) -> InMemory:
        struct = self._struct(node)
        wanted = node.field.name
        for name, offset, ctype in struct.type.fields:
            if name in (wanted, f"{wanted}[0]"):
                return InMemory(self._at(struct.address, offset), ctype, array=name != wanted)
        names = list(dict.fromkeys(name.split("[")[0] for name, _, _ in struct.type.fields if name))
        known = f"its members are {', '.join(names[:20])}" if names else "its members are not known"
        raise self._source.error(
            f"reads '{_shown(node)}', which '{struct.type.spelling}' does not have as a number or list; {known}"
        )

    def _struct(self, node: Any) -> InMemory:
        """The struct that a member is taken of."""
        if node.type == "->":
            pointer = self._value(node.name)
            struct = InMemory(pointer.term, self._pointee(node.name, pointer))
        elif _is_object(node.name):
            struct = self._single(node.name)
        else:
            raise self._source.error(
                f"takes a member of '{_shown(node.name)}', which is no struct in memory; structs passed by value "
                f"cannot be used"
            )
        if struct.type.kind is not TypeKind.STRUCT:
            raise self._source.error(f"takes a member of '{_shown(node.name)}', which is no struct")
        return struct

    def _at(self, base: Term, offset: int) -> Term:
        bits = self._word.bits
        return Operation(Operator.ADD, base, Constant(offset, bits), bits) if offset else base

    def _pointee(self, node: Any, pointer: Typed) -> CType:
        if pointer.type.kind is not TypeKind.POINTER:
            raise self._source.error(f"reads through '{_shown(node)}', which is no pointer")
        pointee = pointer.type.pointee
        if pointee is None or pointee.kind is TypeKind.VOID:
            raise self._source.error(
                f"reads through '{_shown(node)}', but what it points to is not known; cast it, as in *(int *)p"
            )
        return pointee


def _is_operation(node: Any, operators: tuple[str, ...]) -> bool:
    return type(node).__name__ == "BinaryOp" and node.op in operators


def _is_object(node: Any) -> bool:
    kind = type(node).__name__
    return kind in ("ArrayRef", "StructRef") or (kind == "UnaryOp" and node.op == "*")


def _chain(node: Any) -> list[Any]:
    """The operands of `a && b && c`, in order. A chain leans to the left and may be long."""
    operands, operator = [], node.op
    while _is_operation(node, (operator,)):
        operands.append(node.right)
        node = node.left
    return [node, *reversed(operands)]


def _shown(node: Any) -> str:
    from pycparser.c_generator import CGenerator

    return printable(CGenerator().visit(node))


def _refusal(kind: str) -> str:
    """Why a construct of C is no part of a precondition."""
    reasons = {
        "Assignment": "assigns with '='; compare with '=='",
        "FuncCall": "calls a function; only operators can be used",
        "ExprList": "has a ',' between expressions; join conditions with &&",
    }
    return reasons.get(kind, f"has a construct that cannot be used in a condition ({kind})")
