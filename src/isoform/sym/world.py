"""What both sides of a question share: the terms, the inputs, and the assumptions about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from isoform.lift.derived import Place, address_bases
from isoform.lift.function import Function
from isoform.model.contract import Contract
from isoform.model.errors import Unsupported
from isoform.model.values import dataclass
from isoform.model.verdict import IN_BOUNDS, Assumption, in_bounds
from isoform.smt.terms import Term, Terms

STACK_ALIGNED = Assumption("stack-aligned", "the stack pointer is aligned as the calling convention says")
RESTRICT = "restrict"
RESTRICT_WHY = (
    "memory that the target accesses through {names} (declared restrict), and that is modified during the call, it "
    "accesses through no other parameter and by no name of an object (--restrict ignore drops this)"
)


@dataclass
class World:
    """What both sides of a question share: the terms, the inputs, and the list of what is assumed."""

    terms: Terms
    contract: Contract
    assumptions: dict[str, Assumption] = field(default_factory=dict)
    constraints: list[tuple[str, Term]] = field(default_factory=list)
    """Conditions that the assumptions and preconditions put on inputs, with a label each."""
    _bounded: dict[str, None] = field(default_factory=dict)
    """Names of the objects that the target is assumed to stay inside."""
    _given: dict[str, None] = field(default_factory=dict)
    """Names of the local variables that are given to outside functions."""
    recursive: bool = False
    """Whether one of the functions calls itself, and the deeper calls are assumed to be equal by induction."""
    open_inputs: dict[Term, str] = field(default_factory=dict)
    """For recursive functions: the variables for what is present at entry and is not an argument, by name. The two
    sides find the same there when they are called, but not at their deeper calls, so nothing that they do may depend on
    it."""
    code_distances: frozenset[Term] = frozenset()
    """How far code is from where isoform placed it, as far as that occurs in terms (`places.py`)."""
    _bases: dict[int, tuple[Function, Mapping[Place, int]]] = field(default_factory=dict)
    """By identity of the function."""
    _restricted: dict[int, None] = field(default_factory=dict)
    _alignments: set[int] = field(default_factory=set)
    """How far from its alignment at entry the stack pointer was at outside calls."""
    _deeper: set[int] = field(default_factory=set)
    """How far from its value at entry it was at calls of a function to itself."""
    _deeper_alignments: set[int] = field(default_factory=set)
    """The same, from its alignment at entry."""
    _shows_stack: bool = False
    """Whether what a function does may depend on where its stack is."""

    def bases_of(self, function: Function) -> Mapping[Place, int]:
        """Which parameter the address of each access of the target is computed from, if `restrict` makes use of it. In
        proofs about functions that call themselves it does not: nothing shows that the promise is kept at their deeper
        calls."""
        if not self.contract.restricted or self.recursive:
            return {}
        if id(function) not in self._bases:
            self._bases[id(function)] = function, address_bases(function, self.contract.arguments)
        return self._bases[id(function)][1]

    def note_restricted(self, positions: Iterable[int]) -> None:
        """A proof uses that these arguments of the target are declared `restrict`."""
        self._restricted.update(dict.fromkeys(positions))
        names = ", ".join(self.contract.arguments[position].name for position in sorted(self._restricted))
        self.assumptions[RESTRICT] = Assumption(RESTRICT, RESTRICT_WHY.format(names=names))

    def assume(self, assumption: Assumption) -> None:
        self.assumptions.setdefault(assumption.name, assumption)

    def align_stack(self) -> None:
        """The stack pointer at entry is aligned. It must then be aligned at deeper calls too, because the same is
        claimed about them."""
        self.assume(STACK_ALIGNED)
        self._check_stack()

    def note_call(self, distance: int, alignment: int) -> None:
        """An outside call is made with the stack pointer at this distance from its value at entry. A callee may fault
        on a stack that is not aligned, so all calls of both sides must agree in this."""
        self._alignments.add(distance % alignment)
        self._check_stack()

    def note_deeper_call(self, distance: int, alignment: int) -> None:
        """A function calls itself. The stack pointer is an input like any other: the same is claimed about the two
        deeper calls only if they have the same one, or if it makes no difference."""
        self._deeper.add(distance)
        self._deeper_alignments.add(distance % alignment)
        self._check_stack()

    def note_stack_shown(self) -> None:
        self._shows_stack = True
        self._check_stack()

    def _check_stack(self) -> None:
        alignments = self._deeper_alignments
        if len(self._alignments | (alignments if self._alignments else set())) > 1:
            raise Unsupported("outside functions are called with the stack aligned in different ways")
        if any(alignments) and STACK_ALIGNED.name in self.assumptions:
            raise Unsupported("a function calls itself with a stack that is not aligned")
        if len(self._deeper) > 1 and self._shows_stack:
            raise Unsupported(
                "what a function does depends on where its stack is, and the two call themselves at different depths"
            )

    def assume_given(self, name: str) -> None:
        """A local variable is given to outside functions."""
        self._given[name] = None
        shown = ", ".join(list(self._given)[:4]) + (", …" if len(self._given) > 4 else "")
        why = (
            f"of the frame, outside functions touch only {shown}, where and as large as debug information says; it "
            "makes no difference where that is, and before it is written it holds the same on both sides"
        )
        self.assumptions["given-locals"] = Assumption("given-locals", why)

    def assume_in_bounds(self, name: str) -> None:
        self._bounded[name] = None
        self.assumptions[IN_BOUNDS] = in_bounds(list(self._bounded))
