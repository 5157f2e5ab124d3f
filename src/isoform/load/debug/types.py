"""C types from debug information."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from isoform.load.debug.entries import Entry, Unit
from isoform.load.debug.unusable import Unusable
from isoform.model.signature import VOID, CType, Parameter, Passing, Signature, TypeKind

DEPTH_LIMIT = 24
ELEMENT_LIMIT = 64
FIELD_LIMIT = 256
SIZE_LIMIT = 1 << 32
POINTER_DEPTH = 2

C_LANGUAGES = frozenset({0x1, 0x2, 0xC, 0x1D, 0x2C, 0x3E})
"""DW_LANG_C89, C, C99, C11, C17 and C23."""

NO_CALL = 3
"""DW_CC_nocall: the function does not obey the calling convention."""
_USUAL_CONVENTIONS = frozenset({1, 2, 0xC2})
"""DW_CC_normal, program and LLVM_X86_64SysV."""
_CONVENTIONS = {
    NO_CALL: "of the compiler's own choice",
    0xC0: "vectorcall",
    0xC1: "ms_abi",
    0xC5: "intel_ocl_bicc",
    0xC8: "swiftcall",
    0xC9: "preserve_most",
    0xCA: "preserve_all",
    0xCB: "regcall",
    0xCD: "preserve_none",
    0xCF: "swiftasynccall",
}
"""By the number that clang gives them (DW_CC_LLVM_Win64 and so on): the attributes that ask for them."""

_PASSING = {4: Passing.BY_REFERENCE, 5: Passing.BY_VALUE}
"""DW_CC_pass_by_reference and DW_CC_pass_by_value."""

BOOLEAN, _COMPLEX, _FLOAT, _SIGNED, _SIGNED_CHAR = 2, 3, 4, 5, 6
_INTEGERS = frozenset({_SIGNED, _SIGNED_CHAR, 7, 8, 0x10})
"""DW_ATE_signed, signed_char, unsigned, unsigned_char and UTF."""
_QUALIFIERS = {
    "DW_TAG_const_type": "const ",
    "DW_TAG_volatile_type": "volatile ",
    "DW_TAG_restrict_type": "restrict ",
    "DW_TAG_atomic_type": "_Atomic ",
}
_POINTERS = ("DW_TAG_pointer_type", "DW_TAG_reference_type", "DW_TAG_rvalue_reference_type")
_AGGREGATES = ("DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type")
_WRAPPERS = ("DW_TAG_typedef", "DW_TAG_array_type", *_QUALIFIERS)
"""Types whose alignment is that of the underlying type, unless they state one."""


_EVERY_BIT = 0xFF
_Bits = dict[int, int]
"""Bits by the byte that they are in."""


def _whole_bytes(start: int, end: int) -> _Bits:
    return dict.fromkeys(range(start, end), _EVERY_BIT)


def declared_convention(entry: Entry) -> str:
    """The calling convention of a function or function type; "" if it is the default or not stated."""
    if "DW_AT_calling_convention" not in entry:
        return ""
    found = entry.number("DW_AT_calling_convention")
    if found in _USUAL_CONVENTIONS:
        return ""
    return _CONVENTIONS.get(found or 0, f"DW_AT_calling_convention {found}")


def as_passed(kind: CType) -> CType:
    """The type that a caller passes for a parameter: for some structures, a pointer to a copy."""
    if kind.kind is not TypeKind.STRUCT or kind.passing is Passing.BY_VALUE:
        return kind
    if kind.passing is Passing.NOT_SAID:
        raise Unusable("a structure without a word on how it is passed")
    return CType(TypeKind.POINTER, 64, spelling=f"{kind.spelling} *", pointee=kind)


def as_returned(kind: CType) -> CType:
    if kind.kind is TypeKind.STRUCT and kind.passing is Passing.NOT_SAID:
        raise Unusable("a structure without a word on how it is returned")
    return kind


class DebugTypeReader:
    """Types of one unit."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.spend = unit.spend
        self._known: dict[tuple[Entry, int], CType] = {}
        self._alignments: dict[Entry, int] = {}

    def of(self, entry: Entry) -> CType:
        """The type that an entry has; void without one."""
        return self._target(entry, 0, POINTER_DEPTH)

    def _target(self, entry: Entry, depth: int, pointers: int) -> CType:
        target = entry.linked("DW_AT_type")
        if target is None:
            return VOID
        key = (target, pointers)
        if key not in self._known:
            self.spend()
            if depth > DEPTH_LIMIT:
                raise Unusable("types are nested too deep")
            self._known[key] = self._build(target, depth, pointers)
        return self._known[key]

    def _build(self, entry: Entry, depth: int, pointers: int) -> CType:
        tag = entry.tag
        if tag == "DW_TAG_base_type":
            return self._base(entry)
        if tag in _POINTERS:
            return self._pointer(entry, depth, pointers)
        if tag in _QUALIFIERS:
            inner = self._target(entry, depth + 1, pointers)
            if tag == "DW_TAG_restrict_type":
                inner = replace(inner, is_restrict=inner.kind is TypeKind.POINTER)
            return self._spelled(inner, _qualified(inner, _QUALIFIERS[tag]))
        if tag == "DW_TAG_typedef":
            return self._spelled(self._target(entry, depth + 1, pointers), entry.name or "?")
        if tag == "DW_TAG_enumeration_type":
            return self._enumeration(entry, depth)
        if tag in _AGGREGATES:
            return self._struct(entry, depth)
        if tag == "DW_TAG_array_type" and "DW_AT_GNU_vector" in entry:
            return self._vector(entry, depth)
        if tag == "DW_TAG_unspecified_type":
            return CType(TypeKind.POINTER, 64, spelling="void *") if entry.name else VOID
        raise Unusable(f"{tag} as a type")

    def _base(self, entry: Entry) -> CType:
        name = entry.name or "?"
        bits = 8 * _number(entry, "DW_AT_byte_size")
        encoding = _number(entry, "DW_AT_encoding")
        if encoding == _COMPLEX:
            part = CType(TypeKind.FLOAT, bits // 2, spelling=name.removeprefix("complex "))
            return CType(TypeKind.STRUCT, bits, spelling=name, fields=(("real", 0, part), ("imag", bits // 16, part)))
        if encoding == _FLOAT:
            # The extended format: 80 bits in a room of 16 bytes, and not in a vector register as _Float128 is.
            return CType(TypeKind.FLOAT, 80 if name == "long double" else bits, spelling=name)
        if encoding == BOOLEAN:
            return CType(TypeKind.BOOL, bits, spelling=name)
        if not 8 <= bits <= 128 or "_BitInt(" in name or encoding not in _INTEGERS:
            raise Unusable("an integer of impossible or unusual size, or no integer")
        return CType(TypeKind.INTEGER, bits, encoding in (_SIGNED, _SIGNED_CHAR), name)

    def _pointer(self, entry: Entry, depth: int, pointers: int) -> CType:
        target = self._behind_names(entry)
        if target is not None and target.tag == "DW_TAG_subroutine_type":
            function = self.function(target, depth + 1) if pointers else None
            return CType(TypeKind.POINTER, 64, spelling="void (*)()", function=function)
        if pointers == 0 or target is None:
            return CType(TypeKind.POINTER, 64, spelling="void *", pointee=VOID)
        try:
            pointee = self._target(entry, depth + 1, pointers - 1)
        except Unusable:
            pointee = VOID
        stars = "*" if pointee.spelling.endswith("*") else " *"
        return CType(TypeKind.POINTER, 64, spelling=(pointee.spelling or "void") + stars, pointee=pointee)

    def _behind_names(self, entry: Entry) -> Entry | None:
        """The type that an entry has, behind typedefs and qualifiers."""
        target = entry.linked("DW_AT_type")
        while target is not None and (target.tag in _QUALIFIERS or target.tag == "DW_TAG_typedef"):
            self.spend()
            target = target.linked("DW_AT_type")
        return target

    def function(self, entry: Entry, depth: int = 0) -> Signature | None:
        """What functions of a type take and return; None if that is not declared or not understood."""
        parameters: list[Parameter] = []
        variadic = False
        try:
            for child in entry.children():
                if child.tag == "DW_TAG_formal_parameter":
                    kind = as_passed(self._target(child, depth + 1, 0))
                    parameters.append(Parameter(f"arg{len(parameters)}", kind))
                variadic = variadic or child.tag == "DW_TAG_unspecified_parameters"
            result = as_returned(self._target(entry, depth + 1, 0))
        except Unusable:
            return None
        if not parameters and (variadic or "DW_AT_prototyped" not in entry):
            return None
        return Signature("(*)", tuple(parameters), result, variadic, convention=declared_convention(entry))

    def of_variable(self, entry: Entry) -> CType:
        """The type of a variable; for an array, the type of its elements."""
        target = self._behind_names(entry)
        if target is not None and target.tag == "DW_TAG_array_type" and "DW_AT_GNU_vector" not in target:
            return self._target(target, 0, POINTER_DEPTH)
        return self.of(entry)

    def _enumeration(self, entry: Entry, depth: int) -> CType:
        bits = 8 * _number(entry, "DW_AT_byte_size", 4)
        signed = False
        if "DW_AT_type" in entry:
            underlying = self._target(entry, depth + 1, 0)
            if underlying.kind is TypeKind.BOOL:
                return replace(underlying, spelling=f"enum {entry.name}".strip())
            signed = underlying.signed
        return CType(TypeKind.INTEGER, bits, signed, f"enum {entry.name}".strip())

    def _vector(self, entry: Entry, depth: int) -> CType:
        element = self._target(entry, depth + 1, 0)
        if element.kind is TypeKind.BOOL:
            raise Unusable("a vector of truth values, which may take a bit each")
        bits = element.bits * self._count(entry)
        if bits not in (64, 128, 256, 512):
            raise Unusable("a vector of unusual size")
        return CType(TypeKind.FLOAT, bits, spelling=f"{element.spelling} vector", pointee=element)

    def _struct(self, entry: Entry, depth: int) -> CType:
        word = str(entry.tag).removeprefix("DW_TAG_").removesuffix("_type").replace("structure", "struct")
        spelling = f"{word} {entry.name}".strip()
        size = _number(entry, "DW_AT_byte_size", 0)
        if size > SIZE_LIMIT:
            raise Unusable("a type of impossible size")
        fields: tuple[tuple[str, int, CType], ...] = ()
        if word != "union" and size <= ELEMENT_LIMIT * 8:
            fields = self._fields(entry, depth)
        padding, perhaps = self._paddings(entry, size) if self.is_c and size <= ELEMENT_LIMIT * 8 else ((), ())
        return CType(
            TypeKind.STRUCT,
            8 * size,
            spelling=spelling,
            fields=fields,
            padding=padding,
            perhaps_padding=perhaps,
            alignment=self._declared_alignment(entry, depth),
            passing=self._passing(entry),
        )

    def _passing(self, entry: Entry) -> Passing:
        if "DW_AT_declaration" in entry or "DW_AT_byte_size" not in entry:
            return Passing.NOT_SAID  # it is described in another unit or file
        if self.is_c:
            return Passing.BY_VALUE
        return _PASSING.get(entry.number("DW_AT_calling_convention") or 0, Passing.NOT_SAID)

    def _paddings(self, entry: Entry, size: int) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
        """The padding, and the bytes that may be padding: those after an array at the end."""
        certain = dict(self._padding(entry, size))
        likely = dict(self._padding(entry, size, arrays_end=True))
        return tuple(certain.items()), tuple(b for b, bits in likely.items() if bits == _EVERY_BIT and b not in certain)

    def _declared_alignment(self, entry: Entry, depth: int) -> int:
        """What attributes say about a structure or about a type inside it. The attribute of a typedef counts for
        members declared with it, not for a parameter: gcc and clang pass a parameter as the type behind the typedef."""
        if entry not in self._alignments:
            if depth > DEPTH_LIMIT:
                raise Unusable("types are nested too deep")
            self._alignments[entry] = max(self._alignments_inside(entry, depth))
        return self._alignments[entry]

    def _alignments_inside(self, entry: Entry, depth: int) -> list[int]:
        found = [_number(entry, "DW_AT_alignment", 0)]
        for child in entry.children():
            if child.tag not in ("DW_TAG_member", "DW_TAG_inheritance"):
                continue
            found.append(_number(child, "DW_AT_alignment", 0))
            target = child.linked("DW_AT_type")
            while target is not None:
                self.spend()
                if target.tag in _AGGREGATES:
                    found.append(self._declared_alignment(target, depth + 1))
                    break
                found.append(_number(target, "DW_AT_alignment", 0))
                target = target.linked("DW_AT_type") if target.tag in _WRAPPERS else None
        return found

    def _padding(self, entry: Entry, size: int, arrays_end: bool = False) -> Iterator[tuple[int, int]]:
        """The bytes of a structure that have bits which belong to no member, and these bits, where that is certain.
        With `arrays_end`, also where it is certain if no array of several elements at the end of a structure is used
        beyond its size."""
        try:
            taken = self._taken(entry, 0, arrays_end)
        except Unusable:
            return
        for byte in range(size):
            unused = _EVERY_BIT & ~taken.get(byte, 0)
            if unused:
                yield byte, unused

    def _taken(self, entry: Entry, depth: int, arrays_end: bool) -> _Bits:
        """The bits of a type that carry its value; all others are padding."""
        size = _number(entry, "DW_AT_byte_size", 0)
        if depth > DEPTH_LIMIT or size > ELEMENT_LIMIT * 8:
            raise Unusable("a type whose padding is not looked for")
        if entry.tag != "DW_TAG_structure_type":
            # The members of a union overlap: padding of one may be part of another.
            return _whole_bytes(0, size or 8)
        taken: _Bits = {}
        for child in entry.children():
            if child.tag == "DW_TAG_member":
                for byte, bits in self._taken_by_member(child, size, depth, arrays_end).items():
                    taken[byte] = taken.get(byte, 0) | bits
            elif child.tag == "DW_TAG_inheritance":
                raise Unusable("a class")
        return taken

    def _taken_by_member(self, entry: Entry, size: int, depth: int, arrays_end: bool) -> _Bits:
        """Relative to the enclosing structure, whose size is known."""
        target = self._behind_names(entry)
        if target is None:
            raise Unusable("a member without a type")
        first = self._first_bit(entry, target)
        if first is not None:
            width = _number(entry, "DW_AT_bit_size")
            if not 0 <= first <= first + width <= 8 * size:
                raise Unusable("a bit-field outside its structure")
            bits = ((1 << width) - 1) << first
            return {byte: bits >> (8 * byte) & _EVERY_BIT for byte in range(first // 8, -(-(first + width) // 8))}
        start = _number(entry, "DW_AT_data_member_location", 0)
        if target.tag != "DW_TAG_array_type" or "DW_AT_GNU_vector" in target:
            inside = self._taken_by_value(target, size - start, depth, arrays_end)
            return {start + byte: bits for byte, bits in inside.items()}
        count, element = self._count(target), self._behind_names(target)
        step = _number(element, "DW_AT_byte_size", 0) if element is not None else 0
        is_open = (not arrays_end or count == 1) and self._is_last(entry, start)
        if element is None or not count or not step or start + count * step > size or is_open:
            # An array without a size, or with one element at the end, may use all bytes up to the end, and more.
            return _whole_bytes(start, size)
        inside = self._taken_by_value(element, step, depth, arrays_end)
        return {start + index * step + byte: bits for index in range(count) for byte, bits in inside.items()}

    def _is_last(self, entry: Entry, start: int) -> bool:
        """Whether no member of its structure comes after it."""
        structure = entry.parent
        if structure is None:
            raise Unusable("a member of no structure")
        members = [child for child in structure.children() if child.tag == "DW_TAG_member"]
        starts = [self._first_byte(member) for member in members if member.offset != entry.offset]
        return all(other <= start for other in starts)

    def _first_byte(self, entry: Entry) -> int:
        first = self._first_bit(entry, self._behind_names(entry))
        return _number(entry, "DW_AT_data_member_location", 0) if first is None else first // 8

    def _taken_by_value(self, target: Entry, room: int, depth: int, arrays_end: bool) -> _Bits:
        if target.tag == "DW_TAG_structure_type":
            return self._taken(target, depth + 1, arrays_end)
        if target.tag in ("DW_TAG_base_type", "DW_TAG_enumeration_type", *_POINTERS):
            return _whole_bytes(0, _number(target, "DW_AT_byte_size", 8))
        if "DW_AT_GNU_vector" in target:
            return _whole_bytes(0, min(room, self._vector_bytes(target) or room))
        return _whole_bytes(0, min(room, _number(target, "DW_AT_byte_size", room)))

    def _vector_bytes(self, entry: Entry) -> int:
        """The bytes of a vector, 0 if they are not known: vectors of three elements take the room of four."""
        element = self._behind_names(entry)
        used = self._count(entry) * _number(element, "DW_AT_byte_size", 0) if element is not None else 0
        return 1 << (used - 1).bit_length() if used else 0

    @property
    def is_c(self) -> bool:
        return self.unit.top.number("DW_AT_language") in C_LANGUAGES

    def _fields(self, entry: Entry, depth: int) -> tuple[tuple[str, int, CType], ...]:
        fields: list[tuple[str, int, CType]] = []
        for child in entry.children():
            if child.tag in ("DW_TAG_member", "DW_TAG_inheritance"):
                fields.extend(self._field(child, depth))
                if len(fields) > FIELD_LIMIT:
                    raise Unusable("a struct of too many fields")
        return tuple(fields)

    def _field(self, entry: Entry, depth: int) -> list[tuple[str, int, CType]]:
        if "DW_AT_external" in entry or "DW_AT_const_value" in entry:
            return []  # a static member of C++
        target = self._behind_names(entry)
        first = self._first_bit(entry, target)
        if first is not None:
            inner = self._target(entry, depth + 1, 1)
            width = _number(entry, "DW_AT_bit_size")
            field = CType(inner.kind, width, inner.signed, inner.spelling, is_bit_field=True, low=first % 8)
            return [("", first // 8, field)]  # members are read by name, in whole bytes
        start = _number(entry, "DW_AT_data_member_location", 0)
        if target is not None and target.tag == "DW_TAG_array_type" and "DW_AT_GNU_vector" not in target:
            element = self._target(target, depth + 1, 1)
            count = min(self._count(target), ELEMENT_LIMIT)
            step = element.bits // 8
            return [(f"{entry.name}[{i}]", start + i * step, element) for i in range(count)]
        inner = self._target(entry, depth + 1, 1)
        if inner.kind is TypeKind.STRUCT and inner.passing is Passing.NOT_SAID and not inner.bits:
            raise Unusable("a member that is described elsewhere")
        return [(entry.name, start, inner)]

    def _first_bit(self, entry: Entry, target: Entry | None) -> int | None:
        """Where in the struct a bit-field begins; None for any other member."""
        if "DW_AT_bit_size" not in entry:
            return None
        if "DW_AT_data_bit_offset" in entry:
            return _number(entry, "DW_AT_data_bit_offset")
        size = _number(target, "DW_AT_byte_size", 4) if target is not None else 4
        unit = _number(entry, "DW_AT_byte_size", size)  # before DWARF 4: counted from the top of a storage unit
        above = _number(entry, "DW_AT_bit_offset", 0) + _number(entry, "DW_AT_bit_size")
        return 8 * _number(entry, "DW_AT_data_member_location", 0) + 8 * unit - above

    def _count(self, entry: Entry) -> int:
        """Number of elements of an array, over all its dimensions; 0 if it is not said (gcc: some `__m512i`)."""
        dimensions = list(entry.children())
        total = 1 if dimensions else 0
        for child in dimensions:
            if "DW_AT_count" in child:
                total *= _number(child, "DW_AT_count")
            elif "DW_AT_upper_bound" in child:
                total *= _number(child, "DW_AT_upper_bound") + 1
            else:
                total = 0
        return total

    def _spelled(self, inner: CType, spelling: str) -> CType:
        return replace(inner, spelling=spelling)


def _qualified(inner: CType, word: str) -> str:
    if inner.kind is TypeKind.POINTER and word:
        return f"{inner.spelling} {word.strip()}"
    return word + (inner.spelling or "void")


def _number(entry: Entry, attribute: str, default: int | None = None) -> int:
    if attribute not in entry and default is not None:
        return default
    found = entry.number(attribute)
    if found is None or not 0 <= found < 1 << 63:
        raise Unusable(f"{attribute} is missing or impossible")
    return found
