"""What it may rest on that two functions are the same code."""

from __future__ import annotations

from isoform.model.verdict import Assumption

RETURN_ADDRESSES = Assumption(
    "return-addresses-unread", "no function reads the address that it, or another one, returns to"
)
FUNCTION_ADDRESSES = Assumption(
    "function-addresses", "nothing is read at the address of a function, and nothing is added to it"
)
JUMP_TABLES = Assumption("jump-tables", "a jump through a table uses one of its entries, and only jumps use the table")
TEXTS = Assumption(
    "texts-end-at-zero",
    "a text or table without a name among the constants begins after a zero or something with a name, and ends where "
    "something else begins that the file refers to, or at zeros before that",
)
SAME_UNDEFINED = Assumption(
    "same-undefined", "where the manual leaves a value undefined, the same instruction on the same state gives the same"
)
SAME_UNSUPPORTED = Assumption(
    "same-unsupported", "an instruction that isoform has no semantics for does the same on the same state"
)
