"""Symbolic memory as a chain of stores over a byte array.

A load searches the chain first: an exact hit returns the stored term, a store that is provably elsewhere is skipped,
and only if neither can be shown does the load become a `select` (DESIGN section 5). Nodes are immutable, so states
share them freely.
"""

from __future__ import annotations

from collections.abc import Callable

from isoform.model.errors import Unsupported
from isoform.model.values import dataclass
from isoform.smt.terms import Term, Terms
from isoform.sym.context import Access, Context

_MOST_SWAPS = 32
"""A new store is moved before at most this many others."""
_MOST_NESTED = 400
"""Joins that one load looks through. The formula of 500 branches that each load and store takes more than 2 GB in the
solver, while other engines may still give a bound."""


@dataclass(frozen=True, eq=False)
class Base:
    """Memory that nothing here has written: an array, some of whose bytes may be known."""

    array: Callable[[], Term]
    known_byte: Callable[[int], int | None] = lambda address: None


@dataclass(frozen=True, eq=False)
class Stored:
    before: Node
    address: Term
    value: Term
    size: int
    parameter: int | None = None
    """The parameter that the address is computed from, if that is known and matters."""


@dataclass(frozen=True, eq=False)
class Joined:
    """Two paths join here, distinguished by `selector`."""

    selector: Term
    then: Node
    otherwise: Node


Node = Base | Stored | Joined
_Loaded = tuple[int, Term, int, int | None, Term]
"""A load: its node, address and size, the parameter that the address is computed from, and its condition. What
`restrict` and a context say of accesses to be apart depends on these two."""


@dataclass
class Promised:
    """What `restrict` says: a store and a later access on the same path do not overlap if their addresses are computed
    from different parameters, one of which is declared so. Code that fills this must also list that it is assumed."""

    restricted: frozenset[int]
    """Positions of parameters."""
    used: Callable[[int], None]
    """Told which promise is made use of."""
    current: int | None = None
    """The parameter that the address of the access at hand is computed from. None: it is not known, or what is read is
    no access of the code."""

    def keeps_apart(self, stored: int | None) -> bool:
        """Whether the access at hand does not overlap a store through another parameter."""
        if stored is None or self.current is None or stored == self.current:
            return False
        said = self.restricted & {stored, self.current}
        for position in said:
            self.used(position)
        return bool(said)


class Chain:
    """Loads from and stores to chains. One for each side and kind of memory: results are memoised."""

    def __init__(self, terms: Terms, address_width: int, big_endian: bool, context: Context | None = None) -> None:
        self.terms = terms
        self._context = context
        self.address_width = address_width
        self.big_endian = big_endian
        self.reserved: list[tuple[Term, int]] = []
        """Addresses and numbers of bytes there that are accessed only through addresses computed from each. Code that
        adds to this must also assume it for every access."""
        self.promised: Promised | None = None
        self._of_reserved: dict[tuple[Term, Term], bool] = {}
        self._arrays: dict[int, tuple[Node, Term]] = {}
        self._loads: dict[_Loaded, tuple[Node, Term]] = {}
        self._condition = terms.true
        """Under which the access at hand is made."""

    # -- bytes and words ------------------------------------------------------------------------

    def byte_of(self, value: Term, size: int, index: int) -> Term:
        """The byte of `value` that lies `index` bytes above its address."""
        return self.part_of(value, size, index, 1)

    def part_of(self, value: Term, size: int, index: int, count: int) -> Term:
        """The `count` bytes of `value` from `index` bytes above its address on."""
        place = size - count - index if self.big_endian else index
        return self.terms.extract(value, 8 * (place + count) - 1, 8 * place)

    def join_bytes(self, parts: list[Term]) -> Term:
        """The word whose bytes, in order of address, are `parts`."""
        ordered = list(reversed(parts)) if self.big_endian else parts
        word = ordered[0]
        for part in ordered[1:]:
            word = self.terms.concat(part, word)
        return word

    def offset(self, address: Term, amount: int) -> Term:
        return self.terms.add(address, self.terms.bv(amount, self.address_width)) if amount else address

    # -- stores and joins -----------------------------------------------------------------------

    @property
    def _parameter(self) -> int | None:
        return self.promised.current if self.promised is not None else None

    def store(self, node: Node, address: Term, value: Term, size: int, condition: Term | None = None) -> Node:
        """The chain with one more store. It is used only where the `condition` of the store holds, if there is one."""
        self._condition = self.terms.true if condition is None else condition
        try:
            return self._store_parts(node, address, value, size)
        finally:
            self._condition = self.terms.true

    def _store_parts(self, node: Node, address: Term, value: Term, size: int) -> Node:
        grain = self._grain(size)
        for index in range(0, size, grain):
            part = self.part_of(value, size, index, grain) if grain < size else value
            node = self._store(node, self._address(self.offset(address, index)), part, grain)
        return node

    def _grain(self, size: int) -> int:
        """The parts in which a wide access is made: if one side works on a vector, the other goes word by word."""
        grain = self._context.grain if self._context is not None else None
        return grain if grain is not None and size % grain == 0 else size

    def _store(self, node: Node, address: Term, value: Term, size: int) -> Node:
        # Stores that do not overlap may be swapped: in order of address, equal memory looks equal.
        above: list[Stored] = []
        while isinstance(node, Stored) and len(above) < _MOST_SWAPS and self._is_below(node, address, size):
            above.append(node)
            node = node.before
        if (
            isinstance(node, Stored)
            and self._distance(node, address, size) is None
            and self._comes_first(node, address)
        ):
            self._look_further(node, address, size)
        if isinstance(node, Stored) and node.address == address and node.size == size:
            node = node.before  # wholly overwritten
        node = Stored(node, address, value, size, self._parameter)
        for later in reversed(above):
            node = Stored(node, later.address, later.value, later.size, later.parameter)
        return node

    def _is_below(self, node: Stored, address: Term, size: int) -> bool:
        """Whether an address is known to be below that of a store, without overlap. Stores that are disjoint at an
        unknown distance get some order that is the same for both sides."""
        distance, space = self._distance(node, address, size), 1 << self.address_width
        if distance is None:
            return self._comes_first(node, address) and self._apart(node, address, size)
        return space // 2 <= distance <= space - size

    def without(self, node: Node, base: Term) -> Node:
        """The chain without the latest stores at distances from an address, back to where paths join or to memory that
        nothing here has written."""
        kept: list[Stored] = []
        while isinstance(node, Stored):
            if self.terms.split_sum(node.address)[0] != base:
                kept.append(node)
            node = node.before
        for later in reversed(kept):
            node = Stored(node, later.address, later.value, later.size, later.parameter)
        return node

    def _comes_first(self, node: Stored, address: Term) -> bool:
        if self._context is None:
            return False
        base, stored_base = (self.terms.split_sum(place)[0] for place in (address, node.address))
        return base is not None and stored_base is not None and bool(base.id() < stored_base.id())

    def _address(self, address: Term) -> Term:
        return address if self._context is None else self._context.address(self.terms, address)

    def join(self, selector: Term, then: Node, otherwise: Node) -> Node:
        return then if then is otherwise else Joined(selector, then, otherwise)

    # -- loads ----------------------------------------------------------------------------------

    def load(self, node: Node, address: Term, size: int, condition: Term | None = None) -> Term:
        """What memory holds. The result is used only where the `condition` of the load holds, if there is one."""
        self._condition = self.terms.true if condition is None else condition
        try:
            return self._load_parts(node, address, size)
        finally:
            self._condition = self.terms.true

    def _load_parts(self, node: Node, address: Term, size: int) -> Term:
        grain = self._grain(size)
        if grain < size:
            parts = [self._load_parts(node, self.offset(address, index), grain) for index in range(0, size, grain)]
            return self.join_bytes(parts)
        address = self._address(address)
        node = self._skip(node, address, size)
        found = self._loads.get(self._loaded(node, address, size))
        return found[1] if found is not None else self._load_through_joins(node, address, size)

    def _load_through_joins(self, node: Node, address: Term, size: int) -> Term:
        """Load from the joined nodes, then choose. Joins are nested as deeply as code has branches, so this does not
        recurse."""
        pending: list[tuple[Node, int]] = [(node, 0)]
        while pending:
            top, depth = pending[-1]
            if depth > _MOST_NESTED:
                raise Unsupported(f"a load looks through more than {_MOST_NESTED} branches")
            joined = (
                [self._skip(n, address, size) for n in (top.then, top.otherwise)] if isinstance(top, Joined) else []
            )
            missing = [n for n in joined if self._loaded(n, address, size) not in self._loads]
            if missing:
                pending += [(n, depth + 1) for n in missing]
                continue
            pending.pop()
            if self._loaded(top, address, size) in self._loads:
                continue
            if isinstance(top, Joined):
                value = self.terms.ite(top.selector, *(self._loads[self._loaded(n, address, size)][1] for n in joined))
            else:
                value = self._load(top, address, size)
            self._loads[self._loaded(top, address, size)] = (top, value)
        return self._loads[self._loaded(node, address, size)][1]

    def _loaded(self, node: Node, address: Term, size: int) -> _Loaded:
        """What a load depends on. Without a context its condition does not matter."""
        condition = self._condition if self._context is not None else self.terms.true
        return id(node), address, size, self._parameter, condition

    def is_stored(self, node: Node, address: Term, size: int) -> bool:
        """Whether a load would get only bytes of this store."""
        while isinstance(node, Stored):
            if node.address == address and node.size >= size:
                return True
            if not self._apart(node, address, size):
                return False
            node = node.before
        return isinstance(node, Joined) and all(self.is_stored(n, address, size) for n in (node.then, node.otherwise))

    def _skip(self, node: Node, address: Term, size: int) -> Node:
        while isinstance(node, Stored) and self._apart(node, address, size):
            node = node.before
        if self._context is not None:
            self._look_further(node, address, size)
        return node

    def _look_further(self, node: Node, address: Term, size: int) -> None:
        """Let the context record what it cannot tell about earlier stores either, so that everything is examined at
        once."""
        for _ in range(_MOST_SWAPS):
            if not isinstance(node, Stored):
                return
            if not self._apart(node, address, size) and self._distance(node, address, size) is not None:
                return  # from here on its result is known
            node = node.before

    def _distance(self, node: Stored, address: Term, size: int) -> int | None:
        """How far above the store's address the load's is (modulo the address space), if that is known."""
        base, constant = self.terms.split_sum(address)
        stored_base, stored_constant = self.terms.split_sum(node.address)
        if (base is None) != (stored_base is None) or (base is not None and base != stored_base):
            return self._placed_distance(node, address, size)
        return (constant - stored_constant) % (1 << self.address_width)

    def _placed_distance(self, node: Stored, address: Term, size: int) -> int | None:
        """The distance of accesses in two objects, in isoform's placement. It shows that they do not overlap, as in
        every other placement, and gives stores some order; nothing else may be concluded from it."""
        layout = self.terms.layout
        if not layout:
            return None
        place, stored = layout.placed(address, size), layout.placed(node.address, node.size)
        if place is None or stored is None:
            return layout.apart_by(address, size, node.address, node.size)
        return (place - stored) % (1 << self.address_width)

    def _apart(self, node: Stored, address: Term, size: int) -> bool:
        distance = self._distance(node, address, size)
        if distance is None and self._is_reserved_from((node.address, node.size), (address, size)):
            return True
        if distance is None and self.promised is not None and self.promised.keeps_apart(node.parameter):
            return True
        if distance is None:
            if self._context is None:
                return False
            return self._context.are_apart((node.address, node.size), (address, size), self._condition)
        return node.size <= distance <= (1 << self.address_width) - size

    def _is_reserved_from(self, *accesses: Access) -> bool:
        """Whether one of two accesses is inside a reserved range, and the other cannot reach it."""
        if not self.reserved:
            return False
        for (inner, size), (outer, _) in (accesses, accesses[::-1]):
            base, constant = self.terms.split_sum(inner)
            for start, length in self.reserved if base is not None else ():
                if base == start and constant + size <= length and not self._depends(outer, start):
                    return True
        return False

    def _depends(self, address: Term, start: Term) -> bool:
        found = self._of_reserved.get((address, start))
        if found is None:
            found = self._of_reserved[address, start] = self.terms.depends_on(address, start)
        return found

    def _load(self, node: Stored | Base, address: Term, size: int) -> Term:
        if isinstance(node, Stored):
            distance = self._distance(node, address, size)
            if distance is None:
                return self._select(node, address, size)
            if distance == 0 and size == node.size:
                return node.value
            if distance + size <= node.size:
                return self.part_of(node.value, node.size, distance, size)
            return self.join_bytes([self._load_parts(node, self.offset(address, i), 1) for i in range(size)])
        return self._load_base(node, address, size)

    def _load_base(self, node: Base, address: Term, size: int) -> Term:
        where = self.terms.layout.placed(address, size)
        if where is not None:
            known = [node.known_byte((where + i) % (1 << self.address_width)) for i in range(size)]
            if None not in known:
                return self.join_bytes([self.terms.bv(byte, 8) for byte in known if byte is not None])
        return self._select(node, address, size)

    def _select(self, node: Node, address: Term, size: int) -> Term:
        array = self.array(node)
        return self.join_bytes([self.terms.select(array, self.offset(address, i)) for i in range(size)])

    # -- arrays ---------------------------------------------------------------------------------

    def array(self, node: Node) -> Term:
        """The chain as one array term (iteratively: chains grow as long as functions are)."""
        pending = [node]
        while pending:
            top = pending[-1]
            if id(top) in self._arrays:
                pending.pop()
                continue
            missing = [n for n in _below(top) if id(n) not in self._arrays]
            if missing:
                pending += missing
                continue
            self._arrays[id(top)] = (top, self._array(top))
            pending.pop()
        return self._arrays[id(node)][1]

    def _array(self, node: Node) -> Term:
        if isinstance(node, Base):
            return node.array()
        if isinstance(node, Joined):
            then, otherwise = self._arrays[id(node.then)][1], self._arrays[id(node.otherwise)][1]
            return self.terms.array_ite(node.selector, then, otherwise)
        array = self._arrays[id(node.before)][1]
        for index in range(node.size):
            place = node.size - 1 - index if self.big_endian else index
            byte = self.terms.piece(node.value, 8 * place + 7, 8 * place)
            array = self.terms.store(array, self.offset(node.address, index), byte)
        return array


def _below(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Stored):
        return (node.before,)
    if isinstance(node, Joined):
        return (node.then, node.otherwise)
    return ()
