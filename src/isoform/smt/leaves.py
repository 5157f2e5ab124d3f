"""The leaves of terms, and the record of how terms were built.

There is no expression tree of our own: a term is a bitwuzla term. Its `Shape`, the operator and operands it was built
from, is kept beside it, so that constructors can simplify without asking the solver's library.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache

from bitwuzla import Kind, Sort, Term, TermManager

from isoform.smt.shapes import Binary, Indexed, Shape

__all__ = ["Leaves", "Term"]


@cache
def _manager() -> TermManager:
    """The one term manager of the process, made immortal: bitwuzla crashes if a manager is collected before
    its terms, and inside a reference cycle or at exit Python does not keep that order. Terms themselves
    are counted and freed as usual."""
    manager = TermManager()
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(manager))
    return manager


class Leaves:
    """Constants and variables of one question, and the shapes of everything built over them."""

    def __init__(self) -> None:
        self.manager = _manager()
        self._sorts: dict[int, Sort] = {}
        self._constants: dict[tuple[int, int], Term] = {}
        self._values: dict[Term, int] = {}
        self._shapes: dict[Term, Shape] = {}
        self._widths: dict[Term, int] = {}
        self._variables: dict[str, Term] = {}
        self.parts: dict[tuple[Term, int, int], Term] = {}
        """Extractions already made, by term, highest and lowest bit: otherwise an extraction from a shared term is made
        once for every path to it."""
        self.uses_floats = False
        """Whether there is any application of a floating-point operation (see `floats.py`)."""
        self.float_numbers: dict[Term, Term] = {}
        """What `floats.number_of` found."""
        self.true = self.manager.mk_true()
        self.false = self.manager.mk_false()
        self.value: Callable[[Term], int | None] = self._values.get
        """The number a constant term stands for, None if it is not constant."""
        self.shape: Callable[[Term], Shape | None] = self._shapes.get
        """How a term was built; None for leaves and for arrays."""

    # -- leaves ---------------------------------------------------------------------------------

    def sort(self, width: int) -> Sort:
        found = self._sorts.get(width)
        if found is None:
            found = self._sorts[width] = self.manager.mk_bv_sort(width)
        return found

    def bv(self, value: int, width: int) -> Term:
        value &= (1 << width) - 1
        key = (value, width)
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = self.manager.mk_bv_value(self.sort(width), value)
            self._values[found] = value
            self._widths[found] = width
        return found

    def variable(self, name: str, width: int) -> Term:
        """The one symbol of this name."""
        found = self._variables.get(name)
        if found is None:
            found = self._variables[name] = self.manager.mk_const(self.sort(width), name)
            self._widths[found] = width
        return found

    def array_variable(self, name: str, address_width: int) -> Term:
        found = self._variables.get(name)
        if found is None:
            found = self._variables[name] = self.manager.mk_const(self.array_sort(address_width), name)
        return found

    def function_variable(self, name: str, domain: Sequence[Sort], codomain: Sort) -> Term:
        found = self._variables.get(name)
        if found is None:
            found = self._variables[name] = self.manager.mk_const(
                self.manager.mk_fun_sort(list(domain), codomain), name
            )
        return found

    def array_sort(self, address_width: int) -> Sort:
        return self.manager.mk_array_sort(self.sort(address_width), self.sort(8))

    def depends_on(self, term: Term, part: Term) -> bool:
        """Whether a term is computed from another one, in arrays too."""
        pending, seen = [term], set()
        while pending:
            top = pending.pop()
            if top == part:
                return True
            if top not in seen:
                seen.add(top)
                pending += top.children()
        return False

    def width(self, term: Term) -> int:
        found = self._widths.get(term)
        if found is None:
            found = self._widths[term] = term.sort().bv_size()
        return found

    # -- compound terms -------------------------------------------------------------------------

    def make(self, shape: Shape, width: int) -> Term:
        """A term of exactly this shape. Its width is 0 if it is not a bit-vector."""
        if isinstance(shape, Binary):  # most are, and a property takes its time
            term = self.manager.mk_term(shape.kind, [shape.left, shape.right])
        elif isinstance(shape, Indexed):
            term = self.manager.mk_term(shape.kind, shape.operands, shape.indices)
        else:
            term = self.manager.mk_term(shape.kind, shape.operands)
        if width:
            self._widths[term] = width
        self._shapes[term] = shape
        return term

    def unshaped(self, kind: Kind, operands: list[Term]) -> Term:
        """A term that no rule examines."""
        return self.manager.mk_term(kind, operands)
