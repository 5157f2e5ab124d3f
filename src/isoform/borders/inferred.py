"""The signature of two functions without debug information: what their code shows of parameters and results.

A register at return is the result, or it is what a computation left behind. Compilers write no register for
nothing, so a value that nothing but the caller can read was computed for the caller: that register is (part of) the
result. Where the code also uses the value itself, both are possible. What may be the result is compared, so that
`equivalent` holds either way; but a difference counts only if it shows in what certainly is the result, at every width
and in every format that the code allows (`Contract.certain`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Flag, IntEnum, auto
from functools import reduce
from operator import or_

from isoform.borders.moves import MOVES, ZERO, Trace, lanes_of, sets_above
from isoform.lift.cfg import control_flow_graph
from isoform.lift.function import Block, BlockId, Call, Function, Return
from isoform.lift.liveness import Liveness, byte_of, output_containers, sources
from isoform.lift.pointers import stack_argument_bytes
from isoform.lift.returning import without_returns
from isoform.lift.simplify import overlaps
from isoform.model.contract import Argument, Place, Reading, Result, ResultPart
from isoform.model.errors import Unsupported
from isoform.model.machine import Machine
from isoform.model.microop import Kind, MicroOp, Space, Var, number_of
from isoform.model.placement import MOST_STACK_ARGUMENTS
from isoform.model.signature import VOID, CType, Parameter, Signature, TypeKind

_WORD = CType(TypeKind.INTEGER, 64, spelling="unsigned long")
_FLOATS = {
    4: CType(TypeKind.FLOAT, 32, spelling="float"),
    8: CType(TypeKind.FLOAT, 64, spelling="double"),
    16: CType(TypeKind.FLOAT, 128, spelling="__m128"),
}
_WIDE = 8
"""Bytes of the largest integer in one register."""
_VECTOR = 16
"""Bytes of a vector register."""
_BITWISE = frozenset({Kind.INT_AND, Kind.INT_OR, Kind.INT_XOR, Kind.INT_NEGATE})
_INTEGER_BITS = (8, 16, 32, 64)


@dataclass(frozen=True)
class Inferred:
    signature: Signature
    results: tuple[Result, ...]
    """Everything that may be the result."""
    certain: tuple[ResultPart, ...]
    """What certainly is."""
    narrow: tuple[tuple[str, int], ...]
    """Argument registers of which one side reads only so many low bits: the caller may have extended them, or not."""
    bytes_read: tuple[str, ...] = ()
    """Argument registers of which a side reads one byte only."""
    stack: tuple[Argument, ...] = ()
    """Arguments on the stack, word by word, whichever registers are used: a large structure is passed there."""


class _Evidence(IntEnum):
    """How strongly the code suggests that a register is written for the caller."""

    NONE = 0
    WEAK = 1
    """Nothing else reads the value, but the instruction was needed for something else as well."""
    STRONG = 2
    """The instruction has no other use."""


class _Origin(Flag):
    """Where a byte of a register comes from."""

    ENTRY = auto()
    """It was there at entry."""
    CONSTANT = auto()
    ZERO = auto()
    """A constant zero."""
    ZEROED = auto()
    """The zeros above a value that is narrower than the register."""
    COMPUTED = auto()
    MASKED = auto()
    """Computed bit by bit in a whole vector register: how the sign of a scalar is changed as well."""
    CALL = auto()
    MOVED = auto()
    """It was moved between registers."""
    PLACED = auto()
    """It was moved to another lane of a vector register, from or to somewhere above the lowest 64 bits."""
    ADDED = auto()
    """An instruction that leaves the scalar below as it is has set it: nothing but a vector has a use for that."""


_MADE = _Origin.COMPUTED | _Origin.MASKED
_VECTOR_MADE = _MADE | _Origin.PLACED | _Origin.CONSTANT
_HARMLESS = _Origin.ENTRY | _Origin.CALL | _Origin.ZERO | _Origin.ZEROED
"""What lies above 128 bits where no wider vector is returned."""


_Site = tuple[BlockId, int] | None
"""A micro-op in a block; None for a call, or for what was there at entry."""


@dataclass(frozen=True)
class _Left:
    """What one function leaves in one register where it returns."""

    always: int
    """Low bytes that every path writes."""
    evidence: _Evidence
    origins: tuple[_Origin, ...]
    """For each byte, lowest first, all that it may be."""
    widths: frozenset[int]
    """Bytes of the values that are written there; 0 for a constant, whose width says nothing."""
    is_extended: bool
    """Whether an `int` is sign-extended to the whole register, which compilers do not do for an `int` result."""

    @property
    def makes_vector(self) -> bool:
        """Whether it may have made a vector of 128 bits: above 64 bits, or with a lane from above as the lowest."""
        return bool(self.origin(8, _VECTOR) & _VECTOR_MADE or self.origin(0, 8) & _Origin.PLACED)

    def adds(self, first: int, end: int) -> bool:
        """Whether it sets these bytes for the caller, and nothing below them."""
        return self.evidence is _Evidence.STRONG and bool(self.origin(first, end) & _Origin.ADDED)

    def origin(self, first: int, end: int) -> _Origin:
        """All that the bytes from `first` to `end` may be."""
        return reduce(or_, self.origins[first:end])


def infer(target: Function, rewrite: Function, inline: bool, gone: Collection[str]) -> Inferred:
    """What two functions take and give back, from their code alone. Functions in `gone` do not return."""
    machine = target.machine
    convention = machine.convention
    sides = [_Leaving(function, inline, gone) for function in (target, rewrite)]
    _refuse_wide_vectors(machine, sides)
    found: list[_Found] = []
    for number, name in enumerate(convention.result):
        if number == 0 or (found and found[-1].certain):  # the second register of a pair is only used with the first
            found += _integer_result(machine, name, number == 0, sides)
        elif found:
            # The first one may be both: part of the result, and used to compute the second.
            found += _beside_uncertain(machine, name, sides)
    certainly_integer = any(part.certain for part in found)
    for number, name in enumerate(convention.float_result):
        pieces = list(_float_result(name, number == 0 and not certainly_integer, sides))
        # The first register of a pair may hold what was passed in it.
        if number == 0 or any(part.certain for part in (*found, *pieces)):
            found += pieces
    if any(part.certain for part in found if part.results[0].register in convention.float_result):
        # Beside a floating-point result, what is used elsewhere in the integer registers is a leftover.
        found = [part for part in found if part.certain or part.results[0].register in convention.float_result]
    if len(found) == 1 and not any(side.has_effects for side in sides):
        found = [replace(found[0], certain=found[0].guess)]  # a function without other effects returns something
    results = tuple(result for part in found for result in part.results)
    parameters, reads = _parameters(machine, (target, rewrite), results)
    certain = tuple(part.certain for part in found if part.certain)
    stack = tuple(_on_stack(machine, max(stack_argument_bytes(function) for function in (target, rewrite))))
    parameters += tuple(Parameter(argument.name, argument.type) for argument in stack)
    narrow = tuple((name, 8 * min(sizes)) for name, sizes in reads.items() if len(sizes) > 1 and min(sizes) < 4)
    bytes_read = tuple(name for name, sizes in reads.items() if 1 in sizes)
    signature = Signature(target.name, parameters, _result_type(results))
    return Inferred(signature, results, certain, narrow, bytes_read, stack)


def refuse_unlikely_void(function: Function, inline: bool, gone: Collection[str]) -> None:
    """Ends the question if a function that is said to return nothing sets a result register for nobody but its caller:
    what was read of its type is not true then."""
    convention = function.machine.convention
    if not convention.result or not convention.float_result:
        return
    leaving = _Leaving(function, inline, gone)
    for name in (convention.result[0], convention.float_result[0]):
        left = leaving.left_in(name)
        if left.always and left.evidence is _Evidence.STRONG:
            raise Unsupported(
                f"debug information says that {function.name} returns nothing, but it sets {name} for its caller: give "
                "--signature"
            )


def readings_as_bool(machine: Machine, found: Inferred) -> tuple[tuple[ResultPart, ...], ResultPart]:
    """What is certainly and what is possibly the result where only zero or nonzero counts. Equal values are equal in
    every type, but what is nonzero in one type may be zero in another: 256 in a `char`, -0.0 in a `double`. So the
    readings in all possible types are compared. Of two registers that may both be the result, either may also be a
    leftover: then no difference is certain. (If each register is zero on both sides or on neither, so is the pair.)"""
    possible = tuple(
        dict.fromkeys(reading for result in found.results for reading in _bool_readings(machine, found, result))
    )
    is_one = len(found.results) == 1 and found.certain
    return (possible,) if is_one else (), possible


def _bool_readings(machine: Machine, found: Inferred, whole: Result) -> Iterator[Reading]:
    certain = [
        reading for part in found.certain for reading in part if any(r.register == whole.register for r in reading)
    ]
    if whole.register not in machine.convention.float_result:
        least = min((reading[0].bits for reading in certain), default=8)
        widths = [bits for bits in _INTEGER_BITS if least <= bits < whole.bits]
        yield from ((replace(whole, bits=bits),) for bits in (*widths, whole.bits))
        return
    if not whole.is_float:
        raise Unsupported("the result may be a vector, of which zero or nonzero says nothing: give --signature")
    yield (whole,)
    if whole.bits == 64:
        low, high = (replace(whole, bits=32, offset=whole.offset + offset) for offset in (0, 4))
        yield from certain or ((low,), (low, high))


def _on_stack(machine: Machine, size: int) -> Iterator[Argument]:
    if size > MOST_STACK_ARGUMENTS:
        raise Unsupported(f"more than {MOST_STACK_ARGUMENTS} bytes of arguments on the stack are not handled")
    first = machine.convention.stack_arguments_offset
    for offset in range(first, first + size, _WIDE):
        yield Argument(f"stack{offset}", _WORD, (Place(None, offset, _WIDE),))


# -- results --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Found:
    """A register that is, or may be, part of the result."""

    results: tuple[Result, ...]
    certain: ResultPart
    """Empty if it may as well be a leftover."""
    guess: ResultPart
    """What is certain once it is known not to be one."""


def _integer_result(machine: Machine, name: str, is_first: bool, sides: Sequence[_Leaving]) -> Iterator[_Found]:
    left = [side.left_in(name) for side in sides]
    strong = any(each.evidence is _Evidence.STRONG for each in left)
    size = min(min(each.always for each in left), machine.registers[name].size)
    if strong and not size:
        silent = next(side.name for side, each in zip(sides, left, strict=True) if not each.always)
        raise Unsupported(f"{silent} does not always set {name}, which looks like its result: give --signature")
    weak = all(each.evidence is _Evidence.WEAK for each in left)
    if not size or not (strong or weak or is_first):
        return
    part: ResultPart = ((Result(name, 8 * _certain_bytes(size, left, sides)),),)
    # Unoptimised code computes both halves of a wide number of which it returns one: one side alone proves nothing.
    certain = strong if is_first else all(each.evidence is _Evidence.STRONG for each in left)
    yield _Found((Result(name, 8 * size),), part if certain else (), part)


def _beside_uncertain(machine: Machine, name: str, sides: Sequence[_Leaving]) -> Iterator[_Found]:
    """The second register of a pair whose first one may be a leftover: compared if it is written for someone."""
    left = [side.left_in(name) for side in sides]
    size = min(min(each.always for each in left), machine.registers[name].size)
    if size and any(each.evidence is _Evidence.STRONG for each in left):
        part: ResultPart = ((Result(name, 8 * _certain_bytes(size, left, sides)),),)
        yield _Found((Result(name, 8 * size),), (), part)


def _certain_bytes(size: int, left: Sequence[_Left], sides: Sequence[_Leaving]) -> int:
    """Bytes that belong to an integer result whatever its type is. The register is undefined above a `char`; if the
    code handles no `char` or `short`, above an `int`."""
    narrowest = min(side.narrowest for side in sides)
    if narrowest < 4:
        return min(size, narrowest)
    wide = all(_WIDE in each.widths and not each.widths & {1, 2, 4} for each in left)
    return min(size, _WIDE if wide or any(each.is_extended for each in left) else 4)


def _refuse_wide_vectors(machine: Machine, sides: Sequence[_Leaving]) -> None:
    """Ends the question if a result may be a vector of more than 128 bits. A function that returns no such vector
    leaves the upper parts of the registers as they were, or zero: VEX instructions on 128 bits and vzeroupper clear
    them."""
    for name in machine.convention.float_result:
        for side in sides:
            if side.above(name) & ~_HARMLESS:
                what = f"a vector of more than 128 bits in {name.replace('x', 'y', 1)}"
                raise Unsupported(
                    f"{side.name} may return {what}, which is not handled: if it does not, give --signature"
                )


def _float_result(name: str, may_be_used: bool, sides: Sequence[_Leaving]) -> Iterator[_Found]:
    left = [side.left_in(name) for side in sides]
    strong = any(each.evidence is _Evidence.STRONG for each in left)
    written = all(side.may_return(name) for side in sides) and any(side.writes(name) for side in sides)
    weak = all(each.evidence is _Evidence.WEAK for each in left)
    if not (strong or (written and (weak or may_be_used))):
        return
    size = _float_bytes(left)
    low, high = Result(name, 32, 0, True), Result(name, 32, 4, True)
    double = Result(name, 64, 0, True)
    if size == 4:
        yield _Found((low,), ((low,),) if strong else (), ((low,),))
        return
    # Two floats may be as possible as one double, and which NaN it is differs from compiler to compiler.
    certain: ResultPart = ((double,), (low, high))
    doubles = any(side.has_numbers(8) for side in sides)
    if any(side.has_numbers(4) for side in sides):
        computed = all(_Origin.COMPUTED in each.origins[4] for each in left)
        certain = certain if computed else ((low,),)
    elif not any(each.origins[4] & (_MADE if doubles else _Origin.COMPUTED) for each in left):
        certain = ((low,),)
    whole = (double,) if size == 8 else (Result(name, 64), Result(name, 64, 8))
    yield _Found(whole, certain if strong else (), certain)


def _float_bytes(left: Sequence[_Left]) -> int:
    """Bytes of a vector register that may belong to the result: a float, a double, or all of it. Above a scalar at
    least one side leaves zeros or what was there before; a vector is made whole by both sides, or one of them has an
    instruction that sets nothing but what lies above the scalar."""
    if all(each.makes_vector for each in left) or any(each.adds(8, _VECTOR) for each in left):
        return _VECTOR
    beyond_float = [each.origin(4, 8) for each in left]
    if any(each.adds(4, 8) for each in left):
        return 8
    if any(not origin & (_MADE | _Origin.ENTRY) and origin & _Origin.ZEROED for origin in beyond_float):
        return 4
    if not any(origin & (_MADE | _Origin.ENTRY) for origin in beyond_float):
        return 4 if any(origin & _Origin.ZEROED for origin in beyond_float) else 8
    return 8


def _result_type(results: Sequence[Result]) -> CType:
    if not results:
        return VOID
    if len(results) == 1 and not results[0].is_float:
        return CType(TypeKind.INTEGER, results[0].bits, spelling=f"uint{results[0].bits}_t")
    if len({result.register for result in results}) == 1:
        return _FLOATS[sum(result.bits for result in results) // 8]
    fields = tuple((r.register, 8 * n, _member(r)) for n, r in enumerate(results))
    registers = " and ".join(dict.fromkeys(result.register for result in results))
    return CType(TypeKind.STRUCT, 64 * len(results), spelling=f"({registers})", fields=fields)


def _member(result: Result) -> CType:
    if result.is_float:
        return _FLOATS[result.bits // 8]
    return CType(TypeKind.INTEGER, result.bits, spelling=f"uint{result.bits}_t")


# -- parameters -----------------------------------------------------------------------------------


def _parameters(
    machine: Machine, functions: Sequence[Function], results: Sequence[Result]
) -> tuple[tuple[Parameter, ...], dict[str, frozenset[int]]]:
    """Registers read before they are written, and those before them in the convention's order; and up to which byte
    each side reads them."""
    convention = machine.convention
    parts = [Var(Space.REGISTER, machine.registers[r.register].offset + r.offset, r.bits // 8) for r in results]
    lives = [Liveness(f, output_containers(machine, ()), parts) for f in functions]
    integers = [[_bytes_read(live, machine.registers[name]) for live in lives] for name in convention.integer_arguments]
    floats = [[_bytes_read(live, machine.registers[name]) for live in lives] for name in convention.float_arguments]
    parameters = [Parameter(name, _WORD) for name in convention.integer_arguments[: _used(integers)]]
    for name, sizes in zip(convention.float_arguments[: _used(floats)], floats, strict=False):
        wanted = max(sizes) or 8
        parameters.append(Parameter(name, _FLOATS[next(size for size in _FLOATS if size >= wanted)]))
    own = zip(convention.integer_arguments, _own_reads(machine, functions, parts), strict=True)
    reads = {name: frozenset(sizes) - {0} for name, sizes in own}
    # What is read in all its 64 bits is no narrow number.
    for name in (name for name, sizes in reads.items() if max(sizes, default=0) <= 4):
        register = machine.registers[name]
        reads[name] |= {size for function in functions for size in _narrow_reads(function, register)}
    return tuple(parameters), reads


def _narrow_reads(function: Function, register: Var) -> frozenset[int]:
    """Sizes of the reads of 8 or 16 bits from a register, or from those that it is copied to: a copy of 32 bits,
    then an extension of its lowest byte. What else these registers hold in between is not told apart."""
    ops = [op for block in function.blocks.values() for op in block.ops]
    copies = {register.offset}
    while True:
        more = {op.out.offset for op in ops if op.out is not None and _copies(op, copies)} - copies
        if not more:
            break
        copies |= more
    reads = (var for op in ops for var in op.ins if var.space is Space.REGISTER and var.offset in copies)
    return frozenset(var.size for var in reads if var.size < 4)


def _copies(op: MicroOp, registers: Collection[int]) -> bool:
    whole = op.kind in (Kind.COPY, Kind.INT_ZEXT) and op.out is not None and op.out.space is Space.REGISTER
    return whole and op.ins[0].space is Space.REGISTER and op.ins[0].size >= 4 and op.ins[0].offset in registers


def _own_reads(machine: Machine, functions: Sequence[Function], results: Sequence[Var]) -> list[list[int]]:
    """For each argument register and function: up to which byte the function itself reads it. Reads by the
    function itself decide; a value that merely stays in the register until an outside call, as an argument or a
    leftover, does not, unless there is no other read."""
    names = machine.convention.integer_arguments
    return [[_own_read(machine, function, results, name) for function in functions] for name in names]


def _own_read(machine: Machine, function: Function, results: Sequence[Var], name: str) -> int:
    register = machine.registers[name]
    read = _bytes_read(Liveness(function, output_containers(machine, ()), results), register)
    if read < register.size or not any(isinstance(block.exit, Call) for block in function.blocks.values()):
        return read
    return _bytes_read(Liveness(function, output_containers(machine, ()), results, (name,)), register) or read


def _used(sizes: Sequence[Sequence[int]]) -> int:
    return max((number for number, each in enumerate(sizes, 1) if any(each)), default=0)


def _bytes_read(live: Liveness, register: Var) -> int:
    """Up to which byte a register's value at entry is read."""
    size = min(register.size, 16)
    return max((byte + 1 for byte in range(size) if live.is_live_at_entry(byte_of(register, byte))), default=0)


# -- what a function leaves behind ----------------------------------------------------------------


@dataclass(frozen=True)
class _State:
    """Which writes, and which origins, may have made the registers what they are at some point."""

    sites: dict[str, frozenset[_Site]]
    origins: dict[int, _Origin]
    """By byte of the register file; what is not there is as at entry."""


class _Leaving:
    """One function's registers where it returns. Works on the code as listed: simplified code no longer shows that a
    value was needed to make another one."""

    def __init__(self, function: Function, inline: bool, gone: Collection[str]) -> None:
        self.name = function.name
        machine = function.machine
        self._machine = machine
        self._simplified = function
        listed = control_flow_graph(function.image, machine, function.name, function.entry.address, inline)
        self._function = without_returns(listed, gone)
        convention = machine.convention
        self._registers = (*convention.result, *convention.float_result)
        self._own = _own_addresses(function)
        self._lanes = lanes_of(machine)
        self._returned = self._at_returns()

    @property
    def narrowest(self) -> int:
        """Bytes of the narrowest number that the code handles in memory or a register, flags aside."""
        general = [self._machine.registers[name] for name in self._machine.convention.integer_arguments]
        general += [self._machine.registers[name] for name in self._machine.convention.result]
        sizes = [4]
        for block in self._function.blocks.values():
            truths: set[Var] = set()
            for op in block.ops:
                if _is_truth(op, truths, general):
                    truths.add(op.out)  # type: ignore[arg-type]  # what has a truth value has a result
                    continue
                used = [var for var in (op.out, *op.ins) if var is not None and _inside(var, general)]
                sizes += (var.size for var in used if var not in truths)
                truths -= {var for var in truths if op.out is not None and overlaps(var, op.out)}
                if op.kind is Kind.LOAD and op.out is not None:
                    sizes.append(op.out.size)
                elif op.kind is Kind.STORE:
                    sizes.append(op.ins[1].size)
        return min(sizes)

    @property
    def has_effects(self) -> bool:
        """Whether it may do anything but return: store outside its own frame, or call."""
        pointer = self._machine.convention.stack_pointer
        blocks = self._function.blocks.values()
        if pointer is None or any(isinstance(block.exit, Call) for block in blocks):
            return True
        frame = {self._machine.registers[pointer], *self._frame_pointers(self._machine.registers[pointer])}
        return any(_stores_outside(block, frame) for block in blocks)

    def _frame_pointers(self, pointer: Var) -> Iterator[Var]:
        """Callee-saved registers that are only ever copies of the stack pointer, or restored."""
        for name in self._machine.convention.callee_saved:
            register = self._machine.registers[name]
            ops = [op for b in self._function.blocks.values() for op in b.ops if op.out == register]
            copies = [op for op in ops if op.kind is Kind.COPY and op.ins[0] == pointer]
            others = [op for op in ops if op not in copies]
            if copies and all(op.kind in (Kind.COPY, Kind.LOAD) and op.ins[0].space is Space.TEMP for op in others):
                yield register

    def may_return(self, name: str) -> bool:
        """Whether a register that also carries an argument can be the result: it is set on all paths, or on none."""
        register = self._machine.registers[name]
        return not self._returned.sites[name] or self._always(register) > 0

    def has_numbers(self, size: int) -> bool:
        """Whether the code handles numbers of so many bytes in vector registers."""
        vectors = [self._machine.registers[name] for name in self._machine.convention.float_arguments]
        ops = (op for block in self._function.blocks.values() for op in block.ops)
        return any(
            var.size == size and _inside(var, vectors) for op in ops for var in (op.out, *op.ins) if var is not None
        )

    def writes(self, name: str) -> bool:
        """Whether the code itself, not only what it calls, may have set a register where it returns."""
        return bool(self._returned.sites[name] - {None})

    def left_in(self, name: str) -> _Left:
        register = self._machine.registers[name]
        sites = [site for site in self._returned.sites[name] if site is not None]
        origins = tuple(
            self._returned.origins.get(register.offset + byte, _Origin.ENTRY) for byte in range(register.size)
        )
        widths = frozenset(self._width(site) for site in sites)
        extended = any(self._op(site).kind is Kind.INT_SEXT for site in sites)
        return _Left(self._always(register), self._evidence(name, sites), origins, widths, extended)

    def above(self, name: str) -> _Origin:
        """All that may be above 128 bits in a vector register."""
        first = self._machine.registers[name].offset
        bytes_ = range(first + _VECTOR, first + self._machine.vector_bytes)
        return reduce(or_, (self._returned.origins.get(byte, _Origin.ENTRY) for byte in bytes_), _Origin.ENTRY)

    def _always(self, register: Var) -> int:
        sizes = (size for size in (8, 4, 2, 1) if size <= register.size)
        return next((s for s in sizes if always_written(self._simplified, register._replace(size=s))), 0)

    def _evidence(self, name: str, sites: Sequence[tuple[BlockId, int]]) -> _Evidence:
        own = [site for site in sites if not site[0].context and self._address(site) in self._own]
        if not own:
            return _Evidence.NONE
        live = Liveness(self._function, output_containers(self._machine, self._others(name)))
        return max(self._use(live, site, name) for site in own)

    def _others(self, name: str) -> tuple[str, ...]:
        """The result registers that count as read when asking whether `name` is written for the caller: the second
        register of a pair is only used with the first one."""
        integer, floating = self._machine.convention.result, self._machine.convention.float_result
        if name in integer:
            return (*integer[: integer.index(name)], *floating)
        return (*integer, *floating[: floating.index(name)])

    def _use(self, live: Liveness, site: tuple[BlockId, int], name: str) -> _Evidence:
        block, index = self._function.blocks[site[0]], site[1]
        address = block.addresses[index]
        after = live.live_out(block)
        register = self._machine.registers[name]
        shared = False
        for number in range(len(block.ops) - 1, -1, -1):
            op = block.ops[number]
            needed = live.needed(op, after)
            if number == index and live.mask(op.out) & after:  # type: ignore[arg-type]  # a site writes a register
                return _Evidence.NONE
            if block.addresses[number] == address and needed and number != index:
                shared = shared or op.kind is Kind.STORE or _writes_other(op, register)
            if needed:
                after = live.before(op, after)
            if number < index and block.addresses[number] != address:
                break
        return _Evidence.WEAK if shared else _Evidence.STRONG

    def _address(self, site: tuple[BlockId, int]) -> int:
        return self._function.blocks[site[0]].addresses[site[1]]

    def _op(self, site: tuple[BlockId, int]) -> MicroOp:
        return self._function.blocks[site[0]].ops[site[1]]

    def _width(self, site: tuple[BlockId, int]) -> int:
        op = self._op(site)
        assert op.out is not None
        number = number_of(op.ins[0]) if op.kind in (Kind.INT_ZEXT, Kind.COPY) else None
        if number is not None:
            return _WIDE if number >> 32 or op.ins[0].space is Space.ADDRESS else 0
        return op.ins[0].size if op.kind is Kind.INT_ZEXT else op.out.size

    # -- data flow ------------------------------------------------------------------------------

    def _at_returns(self) -> _State:
        function = self._function
        found: _State | None = None
        states = {function.entry: _State({name: frozenset() for name in self._registers}, {})}
        pending = [function.entry]
        while pending:
            block = function.blocks[pending.pop()]
            after = self._after(block, states[block.id])
            if isinstance(block.exit, Return) and block.exit.to is None:
                found = _joined(found, after)
            for successor in block.successors:
                joined = _joined(states.get(successor), after)
                if joined != states.get(successor):
                    states[successor] = joined
                    pending.append(successor)
        return found or _State({name: frozenset() for name in self._registers}, {})

    def _after(self, block: Block, before: _State) -> _State:
        sites, origins = dict(before.sites), dict(before.origins)
        temps: dict[int, _Origin] = {}
        trace, current = Trace(), None
        for index, op in enumerate(block.ops):
            if op.out is None:
                continue
            if block.addresses[index] != current:
                self._mark(trace, origins)
                trace, current = Trace(), block.addresses[index]
            came = trace.step(op)
            values = _origins_of(op, origins, temps)
            if op.out.space is Space.REGISTER and op.out.offset in self._lanes:
                values = [
                    v | self._moved(op.out.offset + n, b) for n, (v, b) in enumerate(zip(values, came, strict=True))
                ]
            for byte, value in enumerate(values):
                (origins if op.out.space is Space.REGISTER else temps)[op.out.offset + byte] = value
            for name in self._registers:
                if op.out.space is Space.REGISTER and _covers(op.out, self._machine.registers[name].offset):
                    sites[name] = frozenset({(block.id, index)})
        self._mark(trace, origins)
        if isinstance(block.exit, Call) and not block.exit.carried_out:
            written = self._machine.convention.result[:1] if block.exit.system else self._registers
            for name in written:
                sites[name] = frozenset({None})
                register = self._machine.registers[name]
                size = self._machine.vector_bytes if register.offset in self._lanes else register.size
                origins |= {register.offset + byte: _Origin.CALL for byte in range(size)}
        return _State(sites, origins)

    def _mark(self, trace: Trace, origins: dict[int, _Origin]) -> None:
        """Notes what an instruction sets above scalars that it leaves as they are."""
        for first in [byte for byte in trace.registers if self._lanes.get(byte) == 0]:
            for size in (4, 8, _VECTOR):
                if sets_above(trace, self._lanes, first, size):
                    for byte in range(first + size, first + 2 * size):
                        origins[byte] = origins.get(byte, _Origin.ENTRY) | _Origin.ADDED

    def _moved(self, byte: int, came: int | None) -> _Origin:
        """What is known of a byte of a vector register that one instruction moved there."""
        if came is None or came in (byte, ZERO):
            return _Origin(0)
        lane, other = self._lanes[byte], self._lanes.get(came, 0)
        in_place = lane == other or max(lane, other) < _WIDE
        return _Origin.MOVED if in_place else _Origin.MOVED | _Origin.PLACED


def _own_addresses(function: Function) -> range:
    """The addresses of the function itself, without what it calls or jumps to."""
    start = function.entry.address
    size = next((s.size for s in function.image.symbols if s.address == start and s.size), 0)
    return range(start, start + size) if size else range(1 << 64)


def _joined(one: _State | None, other: _State) -> _State:
    if one is None:
        return other
    sites = {name: one.sites[name] | other.sites[name] for name in one.sites}
    bytes_ = one.origins.keys() | other.origins.keys()
    return _State(sites, {b: one.origins.get(b, _Origin.ENTRY) | other.origins.get(b, _Origin.ENTRY) for b in bytes_})


def _origins_of(op: MicroOp, registers: dict[int, _Origin], temps: dict[int, _Origin]) -> list[_Origin]:
    assert op.out is not None
    if op.kind in MOVES:
        return [_origin(source, registers, temps) for source in sources(op)]
    if op.kind is Kind.INT_XOR and op.ins[0] == op.ins[1]:
        return [_Origin.ZERO] * op.out.size
    if op.kind in _BITWISE and op.out.size >= _VECTOR:
        return [_Origin.MASKED] * op.out.size
    return [_Origin.COMPUTED] * op.out.size


def _origin(source: Var | None, registers: dict[int, _Origin], temps: dict[int, _Origin]) -> _Origin:
    if source is None:
        return _Origin.ZEROED
    if source.space in (Space.CONST, Space.ADDRESS):
        return _Origin.CONSTANT if number_of(source) else _Origin.ZERO
    if source.space is Space.TEMP:
        return temps.get(source.offset, _Origin.COMPUTED)
    return registers.get(source.offset, _Origin.ENTRY)


_TRUTHS = frozenset(
    {
        *(Kind.INT_EQUAL, Kind.INT_NOTEQUAL, Kind.INT_LESS, Kind.INT_LESSEQUAL, Kind.INT_SLESS, Kind.INT_SLESSEQUAL),
        *(Kind.BOOL_AND, Kind.BOOL_OR, Kind.BOOL_XOR, Kind.BOOL_NEGATE),
    }
)


def _is_truth(op: MicroOp, truths: set[Var], general: Sequence[Var]) -> bool:
    """Whether the result is 0 or 1 because it is a truth value, not a number of a narrow type."""
    if op.out is None or op.out.size != 1:
        return False
    if op.kind in _TRUTHS:
        return True
    source = op.ins[0] if op.kind is Kind.COPY else None
    return source is not None and (
        source in truths or (source.space is Space.REGISTER and not _inside(source, general))
    )


def _stores_outside(block: Block, frame: set[Var]) -> bool:
    known = set(frame)
    for op in block.ops:
        if op.kind is Kind.STORE and op.ins[0] not in known:
            return True
        if op.out is None or op.out in frame:
            continue
        in_frame = op.kind in (Kind.COPY, Kind.INT_ADD, Kind.INT_SUB) and op.ins[0] in known
        if in_frame and all(var.space is Space.CONST for var in op.ins[1:]):
            known.add(op.out)
        else:
            known -= {var for var in known if overlaps(var, op.out)}
    return False


def _covers(out: Var, byte: int) -> bool:
    return out.offset <= byte < out.offset + out.size


def _inside(var: Var, containers: Sequence[Var]) -> bool:
    return var.space is Space.REGISTER and any(_covers(container, var.offset) for container in containers)


def _writes_other(op: MicroOp, register: Var) -> bool:
    out = op.out
    return out is not None and out.space is Space.REGISTER and not _covers(register, out.offset)


def always_written(function: Function, part: Var) -> bool:
    """Whether every path to a return writes the whole of `part`. An outside call does: it may return something."""
    whole = (1 << part.size) - 1
    missing = {function.entry: whole}
    pending = [function.entry]
    while pending:
        block = function.blocks[pending.pop()]
        left = missing[block.id]
        for op in block.ops:
            left &= ~_bytes_written(op.out, part)
        if isinstance(block.exit, Call):
            left = 0
        if left and isinstance(block.exit, Return) and block.exit.to is None:
            return False
        for successor in block.successors:
            if left & ~missing.get(successor, 0) or successor not in missing:
                missing[successor] = missing.get(successor, 0) | left
                pending.append(successor)
    return True


def _bytes_written(out: Var | None, part: Var) -> int:
    if out is None or out.space is not Space.REGISTER:
        return 0
    return sum(1 << i for i in range(part.size) if out.offset <= part.offset + i < out.offset + out.size)
