"""A compiler: one of the two styles, right or with a bug."""

from __future__ import annotations

from dataclasses import dataclass

from minicompiler.better import compile_better
from minicompiler.bugs import Bug, Style
from minicompiler.naive import compile_naive
from minicompiler.tree import Program


@dataclass(frozen=True)
class Compiler:
    style: Style
    bug: Bug | None = None

    def compile(self, program: Program) -> str:
        """cs241 text: the program's inputs are `$1` and `$2`, its result is `$3`."""
        generate = compile_naive if self.style is Style.NAIVE else compile_better
        return generate(program, self.bug)

    @property
    def reference(self) -> Compiler:
        """The right compiler of the other style: what a faulty one is compared with shares none of its code."""
        return Compiler(Style.BETTER if self.style is Style.NAIVE else Style.NAIVE)
