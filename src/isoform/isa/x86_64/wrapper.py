"""Machine code of wrappers: the parameters are saved in the frame, each argument is computed from there, and the callee
is called. Plain rather than short: a few instructions for each operator, all values zero-extended in rax."""

from __future__ import annotations

from isoform.model.contract import Argument
from isoform.model.errors import Unsupported
from isoform.model.expression import (
    RESULT,
    Built,
    Change,
    Constant,
    Conversion,
    Expression,
    FloatOperation,
    FloatOperator,
    Loaded,
    Operation,
    Operator,
    Variable,
)
from isoform.model.signature import TypeKind
from isoform.model.wrapper import Wrapper

_NUMBERS = {name: number for number, name in enumerate(("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"))}
_NUMBERS |= {f"r{number}": number for number in range(8, 16)}
_SLOT = 8
_ALIGNMENT = 16
"""Of structures in the frame: as much as any type needs that has members here."""
_FARTHEST = 1 << 31


def wrapper_code(wrapper: Wrapper, at: int, callee: int) -> bytes:
    """Code for the address `at` that calls the function at `callee`."""
    return _Assembly(wrapper, at, callee).code()


class _Assembly:
    """The frame, from the stack pointer up: arguments on the stack for the callee, saved parameters, computed
    arguments, the result, values of expressions that wait for the other operand, and structures."""

    def __init__(self, wrapper: Wrapper, at: int, callee: int) -> None:
        self._wrapper = wrapper
        self._at = at
        self._callee = callee
        self._bytes = bytearray()
        own, outgoing = wrapper.own.arguments, wrapper.callee.stack_argument_bytes
        for argument in (*own, *wrapper.callee.arguments):
            _require_scalar(argument)
        first = -(-outgoing // _SLOT) * _SLOT
        self._saved = {argument.name: first + _SLOT * n for n, argument in enumerate(own)}
        self._computed = first + _SLOT * len(own)
        self._saved[RESULT] = self._computed + _SLOT * len(wrapper.arguments)
        self._waiting = self._saved[RESULT] + _SLOT
        expressions = (*wrapper.arguments, *((wrapper.result,) if wrapper.result is not None else ()))
        size = self._waiting + _SLOT * max(map(_most_waiting, expressions), default=0)
        self._buffers: dict[int, int] = {}
        """Where the structure for an argument is."""
        for number, expression in enumerate(wrapper.arguments):
            if isinstance(expression, Built):
                self._buffers[number] = size = -(-size // _ALIGNMENT) * _ALIGNMENT
                size += -(-expression.size // _SLOT) * _SLOT
        self._frame = size + _SLOT if size % 16 == 0 else size
        """At entry the stack pointer is 8 below a multiple of 16, and at a call it must be at one."""

    def code(self) -> bytes:
        self._emit(b"\x48\x81\xec", self._frame)  # sub rsp, frame
        for argument in self._wrapper.own.arguments:
            self._save(argument)
        for number, expression in enumerate(self._wrapper.arguments):
            if isinstance(expression, Built):
                self._build(expression, self._buffers[number])
            else:
                self._compute(expression, 0)
            self._store("rax", self._computed + _SLOT * number)
        for number, argument in enumerate(self._wrapper.callee.arguments):
            self._pass(argument, self._computed + _SLOT * number)
        if self._may_jump:
            self._emit(b"\x48\x81\xc4", self._frame)  # add rsp, frame
            self._go_to_callee(b"\xe9")  # jmp
            return bytes(self._bytes)
        self._go_to_callee(b"\xe8")  # call
        self._copy_back()
        if self._wrapper.result is not None:
            self._adapt_result(self._wrapper.result)
        self._emit(b"\x48\x81\xc4", self._frame)  # add rsp, frame
        self._bytes += b"\xc3"
        return bytes(self._bytes)

    # -- structures -------------------------------------------------------------------------------

    def _build(self, built: Built, start: int) -> None:
        """Its address in rax."""
        for cell in built.cells:
            self._compute(cell.value, 0)
            self._emit(_STORES[cell.value.bits] + b"\x84\x24", start + cell.offset)
        self._emit(b"\x48\x8d\x84\x24", start)  # lea rax, [rsp + start]

    def _copy_back(self) -> None:
        arguments = enumerate(self._wrapper.arguments)
        built = [(self._buffers[number], one) for number, one in arguments if isinstance(one, Built)]
        copies = [(start, cell, cell.back) for start, one in built for cell in one.cells if cell.back is not None]
        returns = bool(copies and self._wrapper.own.results)
        if returns:
            self._store("rax", self._saved[RESULT])
        for start, cell, back in copies:
            self._emit(_LOADS[cell.value.bits] + b"\x84\x24", start + cell.offset)
            if cell.signed and back.bits > cell.value.bits:
                self._sign_extend(cell.value.bits)
            self._load("rcx", self._saved[back.pointer])
            self._emit(_STORES[back.bits] + b"\x81", back.offset)  # to [rcx + offset]
        if returns:
            self._load("rax", self._saved[RESULT])

    # -- parameters, arguments, result ------------------------------------------------------------

    def _save(self, argument: Argument) -> None:
        place, slot = argument.places[0], self._saved[argument.name]
        if place.register is None:
            self._load("rax", self._frame + place.offset)
            self._store("rax", slot)
        elif place.register.startswith("xmm"):
            self._vector(b"\x0f\x11", place.register, slot, place.size)
        else:
            self._store(place.register, slot)

    def _pass(self, argument: Argument, slot: int) -> None:
        place = argument.places[0]
        if place.register is None:
            self._load("rax", slot)
            # The offset is from the callee's stack pointer, which is eight bytes lower: the call pushes an address.
            self._store("rax", place.offset - _SLOT)
        elif place.register.startswith("xmm"):
            self._vector(b"\x0f\x10", place.register, slot, place.size)
        else:
            self._load(place.register, slot)
            self._extend_argument(argument)

    def _extend_argument(self, argument: Argument) -> None:
        """Callers extend narrow integers to 32 bits with the sign of their type."""
        bits, register = argument.type.bits, argument.places[0].register
        assert register is not None
        if argument.type.kind is TypeKind.INTEGER and argument.type.signed and bits < 32:
            number = _NUMBERS[register]
            rex = 0x40 | (5 if number > 7 else 0)
            opcode = b"\x0f\xbe" if bits == 8 else b"\x0f\xbf"  # movsx r32, r8 / r16
            self._bytes += bytes((rex,)) + opcode + bytes((0xC0 | (number & 7) << 3 | number & 7,))

    @property
    def _may_jump(self) -> bool:
        """Whether the callee can return in the wrapper's place: nothing is left to do, and nothing in the wrapper's
        frame is used any more. What the callee then jumps to returns to the same place, too."""
        wrapper = self._wrapper
        return wrapper.result is None and not self._buffers and not wrapper.callee.stack_argument_bytes

    def _go_to_callee(self, opcode: bytes) -> None:
        distance = self._callee - (self._at + len(self._bytes) + 5)
        if not -_FARTHEST <= distance < _FARTHEST:
            raise Unsupported("the rewrite is too far away for a call")
        self._bytes += opcode + distance.to_bytes(4, "little", signed=True)

    def _adapt_result(self, expression: Expression) -> None:
        results = self._wrapper.callee.results
        if results and results[0].register.startswith("xmm"):
            self._vector(b"\x0f\x11", results[0].register, self._saved[RESULT], results[0].bits // 8)
        else:
            self._store("rax", self._saved[RESULT])
        self._compute(expression, 0)
        own = self._wrapper.own.results
        if own and own[0].register.startswith("xmm"):
            self._store("rax", self._saved[RESULT])
            self._vector(b"\x0f\x10", own[0].register, self._saved[RESULT], own[0].bits // 8)

    # -- expressions ----------------------------------------------------------------------------

    def _compute(self, expression: Expression, waiting: int) -> None:
        """The value in rax, zero-extended. `waiting`: how many slots hold operands that are computed already."""
        match expression:
            case Variable(name, bits):
                self._load("rax", self._saved[name])
                self._normalise(bits)
            case Loaded(pointer, offset, bits):
                self._load("rax", self._saved[pointer])
                self._emit(_LOADS[bits] + b"\x80", offset)  # from [rax + offset], zero-extended
            case Constant(value):
                self._bytes += b"\x48\xb8" + value.to_bytes(8, "little")  # mov rax, value
            case Conversion(change, operand, bits):
                self._compute(operand, waiting)
                self._convert(change, operand.bits, bits)
            case Operation(operator, (left,)):
                self._compute(left, waiting)
                self._bytes += b"\x48\xf7" + (b"\xd8" if operator is Operator.NEGATE else b"\xd0")  # neg, not
                self._normalise(expression.bits)
            case Operation(operator, (left, right)):
                self._compute_both(left, right, waiting)
                self._operate(operator, expression.bits)
                self._normalise(expression.bits)
            case FloatOperation(float_operator, (left, right)):
                self._compute_both(left, right, waiting)
                self._operate_on_floats(float_operator, expression.bits)
                self._normalise(expression.bits)
            case _:
                raise Unsupported(f"an adaptor cannot have {expression!r} in it")

    def _compute_both(self, left: Expression, right: Expression, waiting: int) -> None:
        """The values in rax and rcx."""
        slot = self._waiting + _SLOT * waiting
        self._compute(right, waiting)
        self._store("rax", slot)
        self._compute(left, waiting + 1)
        self._load("rcx", slot)

    def _operate(self, operator: Operator, bits: int) -> None:
        """rax operator rcx, both zero-extended."""
        plain = _PLAIN.get(operator)
        if plain is not None:
            self._bytes += plain
        elif operator.is_shift:
            self._bytes += b"\x83\xe1" + bytes((bits - 1,))  # and ecx, bits - 1
            if operator.is_signed:
                self._sign_extend(bits)
            self._bytes += b"\x48\xd3" + _SHIFTS[operator]
        else:
            self._divide(operator, bits)

    def _divide(self, operator: Operator, bits: int) -> None:
        """As the operators are defined: no division traps. In 32 bits where the operands fit, which is easier to
        reason about."""
        if operator.is_signed:
            self._sign_extend(bits)
            self._sign_extend(bits, register=1)
        wide = b"\x48" if bits > 32 else b""
        take = b"\x48\x89\xd0" if operator in _REMAINDERS else b""  # mov rax, rdx
        if operator.is_signed:
            by_minus_one = b"\x31\xc0" if take else b"\x48\xf7\xd8"  # xor eax, eax / neg rax
            plainly = wide + b"\x99" + wide + b"\xf7\xf9" + take  # cqo; idiv
            careful = b"\x48\x83\xf9\xff" + _unless_equal(by_minus_one, plainly)
        else:
            careful = b"\x31\xd2" + wide + b"\xf7\xf1" + take  # xor edx, edx; div
        self._bytes += b"\x48\x85\xc9" + _unless_equal(b"\x31\xc0", careful)

    def _convert(self, change: Change, bits: int, wanted: int) -> None:
        match change:
            case Change.ZERO_EXTENDED:
                return
            case Change.SIGN_EXTENDED:
                self._sign_extend(bits)
                self._normalise(wanted)
            case Change.TRUNCATED:
                self._normalise(wanted)
            case Change.TRUTH:
                self._bytes += b"\x48\x85\xc0\x0f\x95\xc0\x0f\xb6\xc0"  # test rax, rax; setne al; movzx eax, al
            case _:
                self._convert_float(change, bits, wanted)

    def _convert_float(self, change: Change, bits: int, wanted: int) -> None:
        """Integers here have 32 or 64 bits, and the instruction is that for their width."""
        match change:
            case Change.FROM_SIGNED:
                wide = b"\x48" if bits == 64 else b""
                self._bytes += _scalar(wanted) + wide + b"\x0f\x2a\xc0"  # cvtsi2ss / cvtsi2sd xmm0, rax
                self._bytes += b"\x66\x48\x0f\x7e\xc0"  # movq rax, xmm0
            case Change.TO_SIGNED:
                wide = b"\x48" if wanted == 64 else b""
                self._bytes += b"\x66\x48\x0f\x6e\xc0"  # movq xmm0, rax
                self._bytes += _scalar(bits) + wide + b"\x0f\x2c\xc0"  # cvttss2si / cvttsd2si rax, xmm0
            case _:
                self._bytes += b"\x66\x48\x0f\x6e\xc0"
                self._bytes += _scalar(bits) + b"\x0f\x5a\xc0"  # cvtss2sd / cvtsd2ss
                self._bytes += b"\x66\x48\x0f\x7e\xc0"
        self._normalise(wanted)

    def _operate_on_floats(self, operator: FloatOperator, bits: int) -> None:
        """rax operator rcx."""
        self._bytes += b"\x66\x48\x0f\x6e\xc0\x66\x48\x0f\x6e\xc9"  # movq xmm0, rax; movq xmm1, rcx
        self._bytes += _scalar(bits) + b"\x0f" + _FLOAT[operator] + b"\xc1"
        self._bytes += b"\x66\x48\x0f\x7e\xc0"  # movq rax, xmm0

    # -- single instructions ----------------------------------------------------------------------

    def _normalise(self, bits: int) -> None:
        """Zero above the low bits of rax."""
        self._bytes += {8: b"\x0f\xb6\xc0", 16: b"\x0f\xb7\xc0", 32: b"\x89\xc0"}.get(bits, b"")

    def _sign_extend(self, bits: int, register: int = 0) -> None:
        operands = bytes((0xC0 | register << 3 | register,))
        opcode = {8: b"\x48\x0f\xbe", 16: b"\x48\x0f\xbf", 32: b"\x48\x63"}.get(bits)  # movsx, movsxd
        self._bytes += opcode + operands if opcode is not None else b""

    def _load(self, register: str, offset: int) -> None:
        self._move(b"\x8b", register, offset)

    def _store(self, register: str, offset: int) -> None:
        self._move(b"\x89", register, offset)

    def _move(self, opcode: bytes, register: str, offset: int) -> None:
        """Between a register and eight bytes of the frame."""
        number = _NUMBERS[register]
        rex = 0x48 | (4 if number > 7 else 0)
        self._emit(bytes((rex,)) + opcode + bytes((0x84 | (number & 7) << 3, 0x24)), offset)

    def _vector(self, opcode: bytes, register: str, offset: int, size: int) -> None:
        number = int(register.removeprefix("xmm"))
        prefix = b"\xf3" if size == 4 else b"\xf2"  # movss, movsd
        self._emit(prefix + opcode + bytes((0x84 | number << 3, 0x24)), offset)

    def _emit(self, code: bytes, number: int) -> None:
        self._bytes += code + number.to_bytes(4, "little", signed=True)


_PLAIN = {
    Operator.ADD: b"\x48\x01\xc8",
    Operator.SUBTRACT: b"\x48\x29\xc8",
    Operator.MULTIPLY: b"\x48\x0f\xaf\xc1",
    Operator.AND: b"\x48\x21\xc8",
    Operator.OR: b"\x48\x09\xc8",
    Operator.XOR: b"\x48\x31\xc8",
}
"""On rax and rcx. The low bits of these do not depend on higher ones."""
_SHIFTS = {
    Operator.SHIFT_LEFT: b"\xe0",
    Operator.SHIFT_RIGHT: b"\xe8",
    Operator.ARITHMETIC_SHIFT_RIGHT: b"\xf8",
}
_LOADS = {8: b"\x0f\xb6", 16: b"\x0f\xb7", 32: b"\x8b", 64: b"\x48\x8b"}
"""Into rax, zero-extended."""
_STORES = {8: b"\x88", 16: b"\x66\x89", 32: b"\x89", 64: b"\x48\x89"}
"""From rax."""
_FLOAT = {
    FloatOperator.ADD: b"\x58",
    FloatOperator.MULTIPLY: b"\x59",
    FloatOperator.SUBTRACT: b"\x5c",
    FloatOperator.DIVIDE: b"\x5e",
}
_REMAINDERS = (Operator.UNSIGNED_REMAINDER, Operator.SIGNED_REMAINDER)


def _scalar(bits: int) -> bytes:
    """The prefix for one number of this format."""
    return b"\xf3" if bits == 32 else b"\xf2"


def _unless_equal(equal: bytes, unequal: bytes) -> bytes:
    """After a comparison: one code or the other, with short jumps around them."""
    first = equal + b"\xeb" + bytes((len(unequal),))
    return b"\x75" + bytes((len(first),)) + first + unequal


def _most_waiting(expression: Expression) -> int:
    """How many values wait at most while it is computed."""
    match expression:
        case Operation(_, (left, right)) | FloatOperation(_, (left, right)):
            return max(_most_waiting(right), 1 + _most_waiting(left))
        case Operation(_, (operand,)) | Conversion(_, operand, _):
            return _most_waiting(operand)
        case Built(_, cells):
            return max((_most_waiting(cell.value) for cell in cells), default=0)
        case _:
            return 0


def _require_scalar(argument: Argument) -> None:
    place = argument.places[0] if len(argument.places) == 1 else None
    if place is None or place.size > _SLOT or argument.type.kind is TypeKind.STRUCT:
        raise Unsupported(f"{argument.name} is '{argument.type.spelling}', and adaptors pass numbers and pointers only")
