"""Calls of library functions that compilers substitute for loops, expanded to the loops they stand for.

`for (i = 0; i < n; i++) a[i] = 0;` becomes a call of memset, and code that searches the end of a text one of strlen.
Once expanded, such a call is an ordinary loop for everything that follows. The loop uses registers that the callee may
change. It ends with a `Call` with `carried_out`, which has the effects of every call.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

from isoform.lift.function import Block, BlockId, Branch, Call, Exit, Function, Goto
from isoform.lift.simplify import overlaps
from isoform.model.library import library_function
from isoform.model.library_function import Meaning
from isoform.model.microop import Kind, MicroOp, Space, Var, const

MOST_BYTES = 1024
"""Calls with a constant size up to this are executed at once, without a loop."""
_SIZE = 2
"""Which argument is the size, if there are three."""
_MOST_ZEROS = 4
MOST_STEP = 64
"""Bytes that a loop processes in one iteration."""
_PART = 1 << 21
"""Micro-op index of the blocks made here: no instruction has so many, and no tail call (`cfg.py`)."""


def library_calls(function: Function) -> Counter[str]:
    """The functions that it calls and that `written_out` can expand, with the number of places."""
    sizes = _sizes(function)
    return Counter(name for block in function.blocks.values() if (name := _callee(block, sizes)) is not None)


def written_out(function: Function, names: Collection[str], downward: bool = False) -> Function:
    """The function with its calls of `names` expanded to loops, except those with a small constant size. `downward`:
    from the last byte to the first, if the direction does not matter."""
    sizes = _sizes(function)
    blocks: dict[BlockId, Block] = {}
    for number, block in function.blocks.items():
        name = _callee(block, sizes)
        made = (
            [block]
            if name is None or name not in names
            else _Body(function, block, name, sizes[number], downward).blocks()
        )
        blocks.update((made_block.id, made_block) for made_block in made)
    return replace(function, blocks=blocks, written_out=function.written_out | frozenset(names))


def _callee(block: Block, sizes: Mapping[BlockId, _Number]) -> str | None:
    """The function called at the end of a block, if that call can be expanded and is not better executed at once."""
    call, meaning = block.exit, _meaning(block)
    if not isinstance(call, Call) or meaning is None:
        return None
    if call.then is None or call.system or call.present or call.carried_out or block.id not in sizes:
        return None
    size = sizes[block.id].value if meaning.arguments > _SIZE else None
    return call.callee if size is None or size > MOST_BYTES else None


def _meaning(block: Block) -> Meaning | None:
    call = block.exit
    return library_function(call.callee or "").meaning if isinstance(call, Call) else None


class _Body:
    """The replacement of one block that ends in a call. The loops do what the C standard says, for every size up to
    2^63 bytes; there are no larger objects."""

    def __init__(self, function: Function, block: Block, name: str, size: _Number, downward: bool) -> None:
        assert isinstance(block.exit, Call)
        self._block, self._call, self._downward = block, block.exit, downward
        self._meaning = library_function(name).meaning
        self._address = block.steps[-1] if block.steps else block.id.address
        registers, convention = function.machine.registers, function.machine.convention
        self._result = registers[convention.result[0]]
        self._first, self._second, self._size = (registers[n] for n in convention.integer_arguments[:3])
        # A size that is a multiple of the step is used up in whole steps. That the lowest bits are 0 implies this also
        # modulo 2^64; if the step is not a power of 2, the size is known not to have wrapped.
        factor = _factor(_ops_up_to(function, block), self._size)
        self._unit = factor if 1 << size.zeros < factor <= MOST_STEP else 1 << size.zeros
        self._words = _words(self._unit)
        self._made: list[Block] = []
        self._temps = _PART

    def blocks(self) -> list[Block]:
        match self._meaning:
            case Meaning.FILL:
                self._memset()
            case Meaning.COPY | Meaning.MOVE:
                self._memory_copy()
            case Meaning.LENGTH:
                self._strlen()
        self._add(_END, [], replace(self._call, carried_out=True))
        return self._made

    def _memset(self) -> None:
        word = self._second._replace(size=max(size for _, size in self._words))
        self._begin([self._set(self._result, self._first), *self._repeated_byte(word)], _FORWARD)
        values = [word._replace(size=size) for _, size in self._words]
        less = self._step(self._size, -1)
        if self._downward:
            self._loop(_FORWARD, [less, *self._from_end(self._first, lambda place: self._stores(place, values))])
        else:
            self._loop(_FORWARD, [*self._stores(self._first, values), self._step(self._first, 1), less])

    def _repeated_byte(self, word: Var) -> list[MicroOp]:
        """Makes a word of the low byte."""
        ops, part = [], word._replace(size=1)
        while part.size < word.size:
            double = word if 2 * part.size == word.size else self._temp(2 * part.size)
            ops.append(MicroOp(Kind.PIECE, double, (part, part)))
            part = double
        return ops

    def _memory_copy(self) -> None:
        """memcpy may be called only if the two do not overlap; it is modelled as memmove in any case."""
        self._begin([self._set(self._result, self._first)], _CHOICE)
        self._choice()
        # All words of a step are read before any is written, so only the order of steps matters.
        values = [self._temp(size) for _, size in self._words]
        less = self._step(self._size, -1)
        both = [*self._loads(self._second, values), *self._stores(self._first, values)]
        self._loop(_FORWARD, [*both, self._step(self._first, 1), self._step(self._second, 1), less])
        loads = self._from_end(self._second, lambda place: self._loads(place, values))
        stores = self._from_end(self._first, lambda place: self._stores(place, values))
        self._loop(_BACKWARD, [less, *loads, *stores])

    def _choice(self) -> None:
        """The direction of the copy. Let d be the distance from source to target modulo 2^64. Forward is wrong only if
        the target begins inside the source, 0 < d < size; backward only if 0 < -d < size. For sizes up to 2^63 each of
        these rules is right: forward unless d < size (correct also without overlap); backward unless -d < size; and
        forward unless d > 0 as a signed number, which needs no size: compilers turn a shift of an array into a memmove
        with constant d."""
        distance, first_choice = self._temp(self._first.size), self._temp(1)
        is_copy = self._meaning is Meaning.COPY
        ends = (self._second, self._first) if is_copy and self._downward else (self._first, self._second)
        subtract = MicroOp(Kind.INT_SUB, distance, ends)
        directions = (_BACKWARD, _FORWARD) if ends[0] == self._first else (_FORWARD, _BACKWARD)
        if is_copy:
            compare = MicroOp(Kind.INT_LESS, first_choice, (distance, self._size))
        else:
            compare = MicroOp(Kind.INT_SLESS, first_choice, (const(0, distance.size), distance))
        self._add(_CHOICE, [subtract, compare], Branch(first_choice, *map(self._id, directions)))

    def _strlen(self) -> None:
        """The result register moves along the text."""
        load, ends = self._test_text()
        exit_ = Branch(ends, self._id(_LENGTH), self._id(_FORWARD))
        self._add_to_call([self._set(self._result, self._first), *load], exit_)
        ahead = MicroOp(Kind.INT_ADD, self._result, (self._result, const(1, self._result.size)))
        self._add(_FORWARD, [ahead, *load], exit_)
        length = MicroOp(Kind.INT_SUB, self._result, (self._result, self._first))
        self._add(_LENGTH, [length], Goto(self._id(_END)))

    def _test_text(self) -> tuple[list[MicroOp], Var]:
        byte, ends = self._temp(1), self._temp(1)
        load = MicroOp(Kind.LOAD, byte, (self._result,))
        return [load, MicroOp(Kind.INT_EQUAL, ends, (byte, const(0, 1)))], ends

    # -- parts of a loop ------------------------------------------------------------------------

    def _stores(self, start: Var, values: list[Var]) -> list[MicroOp]:
        """One step's words to memory."""
        return self._at_each_word(start, lambda place, number: MicroOp(Kind.STORE, None, (place, values[number])))

    def _loads(self, start: Var, values: list[Var]) -> list[MicroOp]:
        return self._at_each_word(start, lambda place, number: MicroOp(Kind.LOAD, values[number], (place,)))

    def _at_each_word(self, start: Var, access: Callable[[Var, int], MicroOp]) -> list[MicroOp]:
        ops = []
        for number, (offset, _) in enumerate(self._words):
            place = self._temp(start.size) if offset else start
            if offset:
                ops.append(MicroOp(Kind.INT_ADD, place, (start, const(offset, start.size))))
            ops.append(access(place, number))
        return ops

    def _from_end(self, start: Var, accesses: Callable[[Var], list[MicroOp]]) -> list[MicroOp]:
        """The accesses for the last step of a range, after the size was decreased by one step."""
        place = self._temp(start.size)
        return [MicroOp(Kind.INT_ADD, place, (start, self._size)), *accesses(place)]

    def _begin(self, ops: list[MicroOp], first: int) -> None:
        """Before a loop: it makes no iteration for a size of zero."""
        test, empty = self._test_size()
        self._add_to_call([*ops, test], Branch(empty, self._id(_END), self._id(first)))

    def _loop(self, part: int, ops: list[MicroOp]) -> None:
        """A loop that runs until the size is used up."""
        test, done = self._test_size()
        self._add(part, [*ops, test], Branch(done, self._id(_END), self._id(part)))

    def _test_size(self) -> tuple[MicroOp, Var]:
        done = self._temp(1)
        return MicroOp(Kind.INT_EQUAL, done, (self._size, const(0, self._size.size))), done

    def _step(self, register: Var, sign: int) -> MicroOp:
        return MicroOp(Kind.INT_ADD, register, (register, const(sign * self._unit, register.size)))

    def _set(self, register: Var, value: Var) -> MicroOp:
        return MicroOp(Kind.COPY, register, (value,))

    def _temp(self, size: int) -> Var:
        self._temps += 16
        return Var(Space.TEMP, self._temps, size)

    def _id(self, part: int) -> BlockId:
        return BlockId(self._block.id.context, self._address, _PART + part)

    def _add(self, part: int, ops: list[MicroOp], exit_: Exit) -> None:
        self._made.append(Block(self._id(part), tuple(ops), (self._address,) * len(ops), (), exit_))

    def _add_to_call(self, ops: list[MicroOp], exit_: Exit) -> None:
        self._made.append(self._block.extended(ops, self._address, exit_))


_CHOICE, _FORWARD, _BACKWARD, _LENGTH, _END = range(5)
"""The blocks of a body."""


# -- what is known of sizes -------------------------------------------------------------------------


def _words(size: int) -> list[tuple[int, int]]:
    """A number of bytes as words of 8, 4, 2 and 1: the offset and size of each."""
    words, start = [], 0
    for width in (8, 4, 2, 1):
        while size - start >= width:
            words.append((start, width))
            start += width
    return words


def _ops_up_to(function: Function, block: Block) -> list[MicroOp]:
    """The last micro-ops on every path to the end of a block: a tail call is a block of its own."""
    ops, seen = list(block.ops), {block.id}
    while len(before := function.predecessors[block.id]) == 1 and block.id != function.entry:
        block = function.blocks[before[0]]
        if block.id in seen or not isinstance(block.exit, Goto | Branch):
            break
        seen.add(block.id)
        ops = [*block.ops, *ops]
    return ops


def _factor(ops: list[MicroOp], register: Var) -> int:
    """A number that divides the register's value after all of `ops`, because that value is a multiple of a 32-bit
    count. With a factor below 2^31 nothing wraps in 64 bits. 1 if nothing is known."""
    known: dict[Var, tuple[int, int]] = {}  # the count, identified by the micro-op that extends it, and the factor
    for number, op in enumerate(ops):
        found = None
        ins = [known.get(var) for var in op.ins]
        match op.kind, ins:
            case Kind.INT_ZEXT, _ if op.ins[0].size <= 4:
                found = number, 1
            case Kind.COPY, [tuple() as scaled]:
                found = scaled
            case Kind.INT_MULT, [tuple() as scaled, None] if op.ins[1].space is Space.CONST:
                found = scaled[0], scaled[1] * op.ins[1].offset
            case Kind.INT_LEFT, [tuple() as scaled, None] if op.ins[1].space is Space.CONST and op.ins[1].offset < 31:
                found = scaled[0], scaled[1] << op.ins[1].offset
            case Kind.INT_ADD, [tuple() as scaled, tuple() as other] if scaled[0] == other[0]:
                found = scaled[0], scaled[1] + other[1]
        if op.out is not None:
            for var in [v for v in known if overlaps(v, op.out)]:
                del known[var]
            if found is not None and op.out.size == 8 and 0 < found[1] < 1 << 31:
                known[op.out] = found
    return known.get(register, (0, 1))[1]


class _Number(NamedTuple):
    """What is known about a number on every path to its place."""

    value: int | None
    zeros: int
    """How many of its lowest bits are 0 (of at most `_MOST_ZEROS`)."""


_ANY = _Number(None, 0)
_Numbers = dict[Var, _Number]


def _sizes(function: Function) -> dict[BlockId, _Number]:
    """The third argument at the end of each block that calls one of the functions (forward data flow)."""
    names = function.machine.convention.integer_arguments
    calls = {n for n, b in function.blocks.items() if _meaning(b) is not None}
    if not calls or len(names) <= _SIZE:
        return {}
    lost = _lost_in_calls(function)
    at_entry: dict[BlockId, _Numbers] = {function.entry: {}}
    at_exit: dict[BlockId, _Numbers] = {}
    pending = deque([function.entry])
    while pending:
        block = function.blocks[pending.popleft()]
        numbers = dict(at_entry[block.id])
        for op in block.ops:
            _after(op, numbers)
        at_exit[block.id] = numbers
        if isinstance(block.exit, Call):
            numbers = {
                var: known for var, known in numbers.items() if not any(overlaps(var, written) for written in lost)
            }
        numbers = {var: known for var, known in numbers.items() if var.space is Space.REGISTER}
        for successor in block.successors:
            before = at_entry.get(successor)
            joined = numbers if before is None else _either(before, numbers)
            if joined != before:
                at_entry[successor] = joined
                pending.append(successor)
    size = function.machine.registers[names[_SIZE]]
    return {number: _read(size, at_exit.get(number, {})) for number in calls}


def _lost_in_calls(function: Function) -> list[Var]:
    convention = function.machine.convention
    kept = (*convention.callee_saved, *((convention.stack_pointer,) if convention.stack_pointer else ()))
    return [function.machine.registers[name] for name in function.machine.containers if name not in kept]


def _after(op: MicroOp, numbers: _Numbers) -> None:
    if op.out is None:
        return
    known = _result_of(op, [_read(var, numbers) for var in op.ins])
    for var in [v for v in numbers if overlaps(v, op.out)]:
        del numbers[var]
    if known != _ANY:
        numbers[op.out] = known


def _result_of(op: MicroOp, ins: list[_Number]) -> _Number:
    """A multiple of 2^k stays one when truncated or extended: k is less than the width of any operand."""
    match op.kind, ins:
        case ((Kind.COPY | Kind.INT_ZEXT), [known]):
            return known
        case ((Kind.INT_SEXT | Kind.INT_2COMP), [known]):
            return _Number(None, known.zeros)
        case ((Kind.INT_ADD | Kind.INT_SUB | Kind.INT_OR | Kind.INT_XOR), [left, right]):
            return _Number(None, min(left.zeros, right.zeros))
        case Kind.INT_AND, [left, right]:
            return _Number(None, max(left.zeros, right.zeros))
        case Kind.INT_MULT, [left, right]:
            return _Number(None, min(_MOST_ZEROS, left.zeros + right.zeros))
        case Kind.INT_LEFT, [left, right] if right.value is not None:
            return _Number(None, min(_MOST_ZEROS, left.zeros + right.value))
        case Kind.SELECT, [_, left, right]:
            return _Number(None, min(left.zeros, right.zeros))
        case _:
            return _ANY


def _read(var: Var, numbers: _Numbers) -> _Number:
    if var.space is Space.CONST:
        return _Number(var.offset, _zeros(var.offset))
    for whole, known in numbers.items():
        if whole.space is var.space and whole.offset == var.offset and whole.size >= var.size:
            value = None if known.value is None else known.value & ((1 << (8 * var.size)) - 1)
            return _Number(value, known.zeros)
    return _ANY


def _zeros(value: int) -> int:
    return next((n for n in range(_MOST_ZEROS) if value >> n & 1), _MOST_ZEROS)


def _either(left: _Numbers, right: _Numbers) -> _Numbers:
    joined = {}
    for var in left.keys() & right.keys():
        one, other = left[var], right[var]
        joined[var] = _Number(one.value if one.value == other.value else None, min(one.zeros, other.zeros))
    return joined
