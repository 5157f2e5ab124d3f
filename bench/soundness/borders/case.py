"""A case: two sources, the harness that shows what they do, and what is known about them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random


@dataclass(frozen=True)
class Case:
    topic: str
    """The class of the border it is about."""
    target: str
    rewrite: str
    """Whole sources: C, or assembly where `suffix` says so."""
    same: bool
    """Whether the two are equivalent by construction. Otherwise a run of the harness decides, or `differs`."""
    change: str
    """What tells the two apart, in words."""
    harness: str = ""
    """C text that defines everything outside, and `void drive(void)`, which calls the function and records. Without it
    only the construction is known."""
    differs: bool = False
    """Different by construction, though no run of the harness shows it (where objects are placed, say)."""
    options: tuple[str, ...] = ()
    """Of `isoform compare`."""
    suffix: str = ".c"
    flags: tuple[str, ...] = ()
    """Of the compiler, for both sides."""
    debug: bool | None = None
    """Whether the sides keep their debug information; None: drawn."""
    function: str = "f"
    violates: tuple[str, ...] = ()
    """Assumptions that the pair violates: a verdict that lists one of them is not wrong."""
    violates_stripped: tuple[str, ...] = ()
    """The same where there is no debug information, which would tell."""
    allowed: tuple[str, ...] = ()
    """Differences that the pair really has, by what differs."""
    forms: tuple[str, ...] = ("object", "library", "program")
    """What the sides may be built as."""

    def swapped(self) -> Case:
        return replace(self, target=self.rewrite, rewrite=self.target)


OBJECT, LIBRARY, PROGRAM = "object", "library", "program"
"""An object file; a shared library; a program that is linked with a library of everything outside."""


@dataclass(frozen=True)
class Part:
    """How one side is built."""

    cc: str
    flags: tuple[str, ...]
    debug: bool = True
    form: str = OBJECT

    def __str__(self) -> str:
        words = (self.cc, *self.flags, *(() if self.debug else ("stripped",)))
        return " ".join((*words, *(() if self.form == OBJECT else (self.form,))))


_LEVELS = ("-O0", "-O1", "-O2", "-O2", "-O3", "-Os")
_EXTRA = (
    ("-fno-plt",),
    ("-fstack-protector-strong",),
    ("-fcf-protection",),
    ("-fno-omit-frame-pointer",),
    ("-fdata-sections", "-ffunction-sections"),
    ("-fno-common",),
    ("-fno-jump-tables",),
)


def drawn_parts(case: Case, random: Random, compilers: tuple[str, ...]) -> tuple[Part, Part]:
    """A build for each side; both have debug information or neither."""
    debug = case.debug if case.debug is not None else random.random() < 0.75
    form = random.choices((OBJECT, LIBRARY, PROGRAM), (75, 15, 10 if case.harness else 0))[0]
    form = form if form in case.forms else OBJECT
    pic = form == LIBRARY or random.random() < 0.25
    left, right = (_part(case, random, compilers, debug, form, pic) for _ in range(2))
    return left, right


def _part(case: Case, random: Random, compilers: tuple[str, ...], debug: bool, form: str, pic: bool) -> Part:
    if case.suffix == ".s":
        return Part("gcc", (), debug, form)
    cc = random.choice(compilers)
    plain = () if cc == "zig" else ("-fno-pic",)  # zig's clang makes no other code for this target
    flags = [random.choice(_LEVELS), *(("-fPIC",) if pic else plain), *case.flags]
    if random.random() < 0.3:
        flags += random.choice(_EXTRA)
    return Part(cc, tuple(flags), debug, form)
