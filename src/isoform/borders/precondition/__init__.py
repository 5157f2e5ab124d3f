"""Preconditions: what `--assume` says about the inputs, as a tree with every width and sign made explicit.

The meaning is C's, with what C leaves undefined settled so:

- Signed arithmetic wraps around, as the machine's does.
- Where a division by zero or a shift by a negative count or by the width or more is evaluated, the precondition
  is false. `&&`, `||` and `?:` evaluate only what C evaluates: `n == 0 || 100 / n > 3` holds for n = 0.
- A pointer is an unsigned number; adding an integer to it counts elements, as in C (bytes for `void *`).
- `p[a..b]` are the elements from p[a] up to but not including p[b], and none if b <= a. Indices count with the value
  they have in C, and addresses do not wrap: a range with elements outside the address space makes the
  precondition false. Two ranges are disjoint if no byte is in both.
"""

from __future__ import annotations

from isoform.borders.precondition.algebra import Algebra, ConcreteAlgebra, Number
from isoform.borders.precondition.evaluate import Precondition
from isoform.model.signature import Signature

__all__ = ["Algebra", "ConcreteAlgebra", "Number", "Precondition", "parse_precondition"]


def parse_precondition(text: str, signature: Signature, word_bits: int = 64) -> Precondition:
    """The precondition that `--assume TEXT` states about a function. `word_bits` is the width of `long`."""
    from isoform.borders.precondition.syntax import read_precondition

    return read_precondition(text, signature, word_bits)
