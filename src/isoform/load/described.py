"""What debug information says about code and data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from isoform.model.signature import CType, Signature
from isoform.model.values import dataclass


@dataclass(frozen=True)
class SourceLine:
    """A source line, for the report."""

    file: str
    number: int


@dataclass(frozen=True)
class Local:
    """A variable that stays at one place of a function's frame, for the report."""

    name: str
    offset: int
    """Bytes from the stack pointer at entry."""
    size: int
    start: int
    end: int
    """Addresses of the code in which the name means this variable."""
    scope: tuple[tuple[int, int], ...] | None = None
    """Addresses of the code of the block that declares it, in pieces; empty if they are not known. None: the block is
    the whole function."""
    can_be_indexed: bool = True
    from_body: bool = False
    """Whether the offset is from the stack pointer in the body of the function, and not at its entry."""

    def is_outside_block(self, touched: range, address: int) -> bool:
        """Whether something at the place of an array is accessed while the array is not in scope."""
        if self.scope is None or any(low <= address < high for low, high in self.scope):
            return False
        return touched.start < self.offset + self.size and self.offset < touched.stop

    def is_behind(self, touched: range, variables: Sequence[Local]) -> bool:
        """Whether the byte after an array is accessed and belongs to no variable."""
        end = self.offset + self.size
        return end in touched and not any(v.offset <= end < v.offset + v.size for v in variables)


@dataclass(frozen=True)
class PointerTypes:
    """What debug information says about pointers to functions, and about what pointers may lead to."""

    variables: dict[str, CType] = field(default_factory=dict)
    """Types of global variables (of an array: of its elements) that are or hold such pointers, by name."""
    functions: tuple[Signature, ...] = ()
    """The function types to which a pointer is declared anywhere."""
    are_all: bool = False
    """Whether no pointers of other types are called. False for C++, whose virtual functions have no such types."""
    has_bools: bool = False
    """Whether there is a type `bool`."""
    bools: dict[str, CType] = field(default_factory=dict)
    """Types of global variables (of an array: of its elements) that are or hold a `bool`, by name."""
    padded: dict[str, CType] = field(default_factory=dict)
    """Types of global variables (of an array: of its elements) that are structures with padding, by name."""
