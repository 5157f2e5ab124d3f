"""Local variables whose address a function gives to outside functions, and where debug information says they are.

Such a variable lives in memory that both sides share, at an address of its own, like a block from an allocator
(docs/borders.md, "Locals that are given away").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from isoform.lift.function import BlockId, Function
from isoform.load.described import Local
from isoform.model.values import dataclass
from isoform.smt.terms import Term, Terms

MOST_BYTES = 1 << 16
"""Of a variable that is given away."""
_Context = tuple[int, ...]
"""The calls through which code is inlined."""


_Scope = tuple[tuple[int, int], ...] | None
"""As in `Local`."""


class NotALocalError(Exception):
    """An address of the frame that is not known to be one of a variable."""


@dataclass(frozen=True)
class GivenLocal:
    """A variable that outside functions may read and write."""

    name: str
    offset: int
    """From the stack pointer at entry."""
    size: int
    context: _Context
    """The calls through which the function is inlined that has it in its frame."""
    scope: _Scope
    address: Term
    """The address that stands for it in memory, the same on both sides."""
    ended: Term
    """What stands for its first byte when it no longer exists, the same on both sides."""

    @property
    def end(self) -> int:
        return self.offset + self.size

    def holds(self, offset: int) -> bool:
        return self.offset <= offset < self.end

    def overlaps(self, offset: int, size: int) -> bool:
        return offset < self.end and self.offset < offset + size


def given_parts(given: Sequence[GivenLocal], offset: int, size: int) -> Iterator[tuple[int, int, GivenLocal | None]]:
    """A range of the frame as offset and size of each part, with the given variable that it is in."""
    end = offset + size
    while offset < end:
        local = next((one for one in given if one.holds(offset)), None)
        starts = [one.offset for one in given if offset < one.offset < end]
        stop = min(end, local.end) if local is not None else min([end, *starts])
        yield offset, stop - offset, local
        offset = stop


class FrameLocals:
    """The variables in the frame of one function and of those inlined into it, and which of them are given away."""

    def __init__(
        self,
        terms: Terms,
        width: int,
        function: Function,
        here: Callable[[], tuple[_Context, int]],
        steps: Callable[[], Sequence[int]],
        leave_out: Callable[[Term, str], None],
    ) -> None:
        """`here` is the place in the code that is executed; `steps` are instructions up to there, with no place in
        between to which other code jumps; `leave_out` records inputs about which nothing is claimed."""
        self._terms = terms
        self._width = width
        self._here = here
        self._steps = steps
        self.leave_out = leave_out
        self._described: dict[int, list[Local]] = {}
        self._function = function
        for local in function.image.arrays:
            self._described.setdefault(local.start, []).append(local)
        self._tops: dict[tuple[_Context, int], int | None] = {}
        """By inlined function: where its frame begins, from the stack pointer at entry."""
        self.given: dict[_Placed, GivenLocal] = {}
        """All that were given away so far."""
        self._numbers: dict[tuple[str, int], int] = {}
        self._known: dict[Term, frozenset[Term]] = {}
        self._stored: dict[tuple[int, int], None] = {}
        self._listed: dict[_Placed, None] = {}
        """All variables that debug information lists in the frames in which one is given away."""
        self._bodies: dict[tuple[_Context, int], int | None] = {}
        """Where the stack pointer is in the body of a function, if variables are counted from there."""

    def enter(self, block: BlockId, top: int | None) -> None:
        """A block is executed with the stack pointer at this distance from its value at entry, if that is known."""
        if block.part == 0 and block.address in self._described:
            key = block.context, block.address
            self._tops[key] = top if self._tops.get(key, top) == top else None

    def at(self, offset: int, body: int | None) -> GivenLocal:
        """The variable that an address of the frame is in, or whose end it is, where the code is that has it. `body` is
        where the stack pointer is, except for what is pushed for a call."""
        variables = list(self._variables(body))
        found = [v for v in variables if v.offset <= offset < v.end] or [v for v in variables if v.end == offset]
        if not found:
            raise NotALocalError("debug information does not say of what")
        largest = max(found, key=lambda v: v.size)
        if any(v.offset < largest.offset or largest.end < v.end for v in found):
            raise NotALocalError("several variables may be meant")
        if largest.size > MOST_BYTES:
            raise NotALocalError(f"{largest.name} is too large")
        return self._as_given(largest)

    def note_stored(self, offset: int, size: int) -> None:
        """Something else than a register that a callee must restore was stored in the frame."""
        if not self._pushes(self._here()[1]):
            self._stored[offset, offset + size] = None

    def _pushes(self, address: int) -> bool:
        """Whether an instruction moves the stack pointer: it saves a register or a return address."""
        machine = self._function.machine
        instruction = self._function.instructions.get(address)
        pointer = machine.registers[machine.convention.stack_pointer or ""]
        return instruction is not None and any(op.out == pointer for op in instruction.ops)

    def shared(self) -> str:
        """A given variable in whose place there may be something longer, too. Compilers give objects that are not alive
        at the same time one place, and debug information lacks compound literals and temporaries. A longer one shows in
        a store behind the end of the variable, to none that is listed there (as in `lift/bounds.py`)."""
        for local in self.given.values():
            is_stored = any(low <= local.end < high for low, high in self._stored)
            if is_stored and not any(v.offset <= local.end < v.end for v in self._listed):
                return local.name
        return ""

    def _as_given(self, local: _Placed) -> GivenLocal:
        if local not in self.given:
            label = self._label(local.name, local.size)
            address = self._terms.variable(f"local {label}", self._width)
            ended = self._terms.variable(f"ended {label}", 8)
            self.given[local] = GivenLocal(
                local.name, local.offset, local.size, local.context, local.scope, address, ended
            )
        return self.given[local]

    def is_open(self, local: GivenLocal) -> bool:
        """Whether the code that is executed is in the block that declares a variable."""
        context, address = self._here()
        depth = len(local.context)
        return _is_in(local.scope, address if depth == len(context) else context[depth] - 1)

    def has_left(self, local: GivenLocal) -> bool:
        """Whether the code that is executed is outside the block that declares a variable, and was in it just before.
        Where other code jumps to in between does not count: compilers merge code at the ends of two blocks, and debug
        information then says of it that it is in one of them."""
        is_own = local.context == self._here()[0] and local.scope is not None
        return is_own and not self.is_open(local) and any(_is_in(local.scope, step) for step in self._steps())

    def _label(self, name: str, size: int) -> str:
        """The n-th variable of a name and size on one side is paired with the n-th on the other."""
        number = self._numbers[name, size] = self._numbers.get((name, size), 0) + 1
        return f"{name} {size} {number}"

    def _variables(self, body: int | None) -> Iterator[_Placed]:
        """Those of the functions whose code is executed: of a caller, at its call."""
        context, address = self._here()
        for depth in range(len(context) + 1):
            is_inner = depth == len(context)
            here = address if is_inner else context[depth] - 1
            below = body if is_inner else self._body_at_call(context[: depth + 1])
            for (outer, start), top in self._tops.items():
                if outer == context[:depth] and any(v.start <= here < v.end for v in self._described[start]):
                    for placed in self._placed(outer, start, top, below):
                        if _is_in(placed.scope, here):
                            yield placed

    def _body_at_call(self, context: _Context) -> int | None:
        """Where the stack pointer was before a call that is inlined."""
        tops = [top for (other, _), top in self._tops.items() if other == context]
        return None if not tops or tops[0] is None else tops[0] + self._function.machine.convention.stack_adjustment

    def _placed(self, context: _Context, start: int, top: int | None, body: int | None) -> Iterator[_Placed]:
        """The variables of the function at `start`, in scope or not."""
        if any(v.from_body for v in self._described[start]) and self._bodies.setdefault((context, start), body) != body:
            raise NotALocalError("the stack pointer is not always where debug information counts from")
        for local in self._described[start]:
            base = body if local.from_body else top
            if base is not None:
                placed = _Placed(local.name, local.offset + base, local.size, context, local.scope)
                self._listed[placed] = None
                yield placed

    def addresses_in(self, term: Term) -> frozenset[Term]:
        """The addresses of given variables that a value may have been computed from."""
        roots = {local.address for local in self.given.values()}
        pending = [term]
        while pending:
            top = pending[-1]
            if top in self._known:
                pending.pop()
                continue
            if top in roots:
                self._known[top] = frozenset({top})
                continue
            missing = [child for child in top.children() if child not in self._known]
            if missing:
                pending += missing
                continue
            self._known[top] = frozenset().union(*(self._known[child] for child in top.children()))
            pending.pop()
        return self._known[term]


@dataclass(frozen=True)
class _Placed:
    """A variable with its offset from the stack pointer at entry of the function in question."""

    name: str
    offset: int
    size: int
    context: _Context
    scope: _Scope

    @property
    def end(self) -> int:
        return self.offset + self.size


def _is_in(scope: _Scope, address: int) -> bool:
    return scope is None or any(low <= address < high for low, high in scope)
