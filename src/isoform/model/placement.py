"""Where a calling convention puts the arguments and results of one signature."""

from __future__ import annotations

from dataclasses import dataclass

from isoform.model.contract import Argument, Result

MOST_STACK_ARGUMENTS = 1 << 14
"""Bytes of arguments on the stack: each of them is an input of its own."""


@dataclass(frozen=True)
class Placement:
    arguments: tuple[Argument, ...]
    results: tuple[Result, ...]
    stack_argument_bytes: int
    """Bytes of the caller's stack that hold arguments, from `stack_arguments_offset` on."""
    result_space: int = 0
    """Bytes of a result in memory: the first argument then says where."""
