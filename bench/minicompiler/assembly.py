"""cs241 text, and the instruction sequences that both code generators use."""

from __future__ import annotations

from minicompiler.bugs import Bug

_HALF = 1 << 16


class Assembly:
    """Lines of a program. `$26` and `$27` are scratch that no caller keeps anything in."""

    def __init__(self, bug: Bug | None) -> None:
        self.bug = bug
        self.lines: list[str] = []
        self._labels = 0

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def new_label(self) -> str:
        self._labels += 1
        return f"L{self._labels}"

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def do(self, name: str, *operands: str) -> None:
        self.lines.append(f"    {name} {', '.join(operands)}".rstrip())

    def move(self, destination: str, source: str) -> None:
        if destination != source:
            self.do("add", destination, source, "$0")

    def jump(self, label: str) -> None:
        self.do("beq", "$0", "$0", label)

    def word(self, register: str, value: int | str) -> None:
        """Load a number or the address of a label."""
        self.do("lis", register)
        self.do(".word", str(value))

    def constant(self, register: str, value: int) -> None:
        if self.bug is Bug.HALF_IMMEDIATE and _HALF // 2 <= value < _HALF:
            value -= _HALF
        self.word(register, value)

    def call(self, procedure: str) -> None:
        self.word("$28", f"P_{procedure}")
        self.do("jalr", "$28")

    def less(self, destination: str, left: str, right: str) -> None:
        """1 if left < right, else 0."""
        if self.bug is Bug.COMPARE_BY_SUBTRACTION:
            self.do("sub", "$27", left, right)
            self.do("slt", destination, "$27", "$0")
        else:
            self.do("sltu" if self.bug is Bug.UNSIGNED_COMPARE else "slt", destination, left, right)

    def arithmetic(self, operator: str, destination: str, left: str, right: str) -> None:
        match operator:
            case "+":
                self.do("add", destination, left, right)
            case "-" if self.bug is Bug.SUBTRACT_ORDER:
                self.do("sub", destination, right, left)
            case "-":
                self.do("sub", destination, left, right)
            case "*":
                self.do("mult", left, right)
                self.do("mflo", destination)
            case _:
                self._divide(operator, destination, left, right)

    def _divide(self, operator: str, destination: str, left: str, right: str) -> None:
        self.do("divu" if self.bug is Bug.UNSIGNED_DIVIDE else "div", left, right)
        if operator == "/" or self.bug is Bug.LOW_FOR_HIGH:
            self.do("mflo", destination)
        elif self.bug is Bug.REMAINDER_SIGN:
            self._remainder_with_sign(destination, right)
        else:
            self.do("mfhi", destination)

    def _remainder_with_sign(self, destination: str, divisor: str) -> None:
        as_it_is = self.new_label()
        self.do("mfhi", "$26")
        self.do("slt", "$27", divisor, "$0")
        self.do("beq", "$27", "$0", as_it_is)
        self.do("slt", "$27", "$0", "$26")
        self.do("beq", "$27", "$0", as_it_is)
        self.do("add", "$26", "$26", divisor)
        self.label(as_it_is)
        self.move(destination, "$26")


def compared_as(operator: str, bug: Bug | None) -> str:
    """The comparison that a compiler makes of one."""
    if bug is Bug.EQUAL_LEFT_OUT and operator == "<=":
        return "<"
    if bug is Bug.EQUAL_LET_IN and operator == ">":
        return ">="
    return operator


def multiplied_by(value: int, bug: Bug | None) -> int:
    """The constant factor that a compiler makes of one."""
    return value % _HALF if bug is Bug.LARGE_PRODUCT and abs(value) >= _HALF else value
