"""A folder of submissions to one task, to be graded: right, wrong, not assembling and never stopping ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from random import Random

from isoform.check.cs241 import run
from isoform.load.text import assemble_text
from isoform.model.outcome import Inputs, Outcome, Status
from minicompiler.bugs import Bug, Style, styles_of
from minicompiler.compiler import Compiler
from minicompiler.interpret import Ending, interpret
from minicompiler.tasks import TASKS
from minicompiler.tree import Program, wrapped
from minicompiler.variants import endless, mistaken, rewritten

assemble = partial(assemble_text, "cs241")

_FUEL = 10_000
_SAMPLES = 60
_NAIVE_SHARE = 0.3
"""Its code is more than twice as long."""

Ends = Callable[[int, int], int | Ending]
"""How a program ends on two inputs."""


class Expected(Enum):
    RIGHT = "right"
    WRONG = "wrong"
    """An input is known on which it ends otherwise than the reference."""
    UNDECIDED = "undecided"
    """Something was changed, but no input that shows it is known."""
    NOT_ASSEMBLING = "not assembling"
    ENDLESS = "endless"
    """Stops on no input, so no input decides anything."""


@dataclass(frozen=True)
class Submission:
    expected: Expected
    how: str
    """What was done to it."""
    content: bytes
    witness: tuple[int, int] | None = None


@dataclass(frozen=True)
class Submissions:
    reference: Path
    folder: Path
    """Holds the submissions and nothing else."""
    by_name: dict[str, Submission]


def make_submissions(folder: Path, count: int, seed: int) -> Submissions:
    """Write `reference.asm`, the folder `submissions` and `expected.json` into `folder`. The contents are a function of
    `count` and `seed`."""
    made = Submissions(folder / "reference.asm", folder / "submissions", dict(_named(count, seed)))
    made.folder.mkdir(parents=True, exist_ok=True)
    made.reference.write_text(Compiler(Style.BETTER).compile(task(seed)))
    for name, submission in made.by_name.items():
        (made.folder / name).write_bytes(submission.content)
    said = {
        name: {"expected": each.expected.value, "how": each.how, "witness": each.witness}
        for name, each in made.by_name.items()
    }
    (folder / "expected.json").write_text(json.dumps(said, indent=1) + "\n")
    return made


def _named(count: int, seed: int) -> Iterator[tuple[str, Submission]]:
    """Every kind at least once where there is room, in an order that tells nothing."""
    random = Random(seed)
    maker = _Maker(task(seed), random)
    kinds: dict[Callable[[], Submission], int] = {
        maker.right: 45,
        maker.miscompiled: 25,
        maker.mistaken: 20,
        maker.endless: 5,
        maker.not_assembling: 5,
    }
    chosen = [*kinds, *random.choices(list(kinds), list(kinds.values()), k=count)][:count]
    random.shuffle(chosen)
    for number, make in enumerate(chosen):
        yield f"student{number:04}.asm", make()


class _Maker:
    def __init__(self, program: Program, random: Random) -> None:
        self._program = program
        self._random = random
        self._answers = {pair: interpret(program, *pair) for pair in sample_inputs(random.getrandbits(32), _SAMPLES)}

    def right(self) -> Submission:
        style = self._style()
        return self._submission(Expected.RIGHT, f"{style.value} compiler", Compiler(style).compile(self._restated()))

    def miscompiled(self) -> Submission:
        """With a compiler's bug, one that changes the code if a few attempts find one."""
        program = self._restated()
        for _ in range(8):
            bug = self._random.choice(list(Bug))
            style = self._random.choice(styles_of(bug))
            text = Compiler(style, bug).compile(program)
            if text != Compiler(style).compile(program):
                return self._changed(f"{style.value} compiler: {bug.value}", text, self._separating(assembled(text)))
        return self.right()

    def mistaken(self) -> Submission:
        program = mistaken(self._restated(), self._random)
        style = self._style()
        witness = self._separating(partial(interpret, program))
        return self._changed(
            f"{style.value} compiler, a mistake in the source", Compiler(style).compile(program), witness
        )

    def endless(self) -> Submission:
        text = Compiler(self._style()).compile(endless(self._restated()))
        return self._submission(Expected.ENDLESS, "a loop that never ends", text)

    def not_assembling(self) -> Submission:
        how = self._random.choice(list(_SPOILERS))
        text = Compiler(self._style()).compile(self._restated())
        return Submission(Expected.NOT_ASSEMBLING, how, _SPOILERS[how](text))

    def _style(self) -> Style:
        return Style.NAIVE if self._random.random() < _NAIVE_SHARE else Style.BETTER

    def _restated(self) -> Program:
        return rewritten(self._program, self._random)

    def _changed(self, how: str, text: str, witness: tuple[int, int] | None) -> Submission:
        return self._submission(Expected.WRONG if witness else Expected.UNDECIDED, how, text, witness)

    def _submission(
        self, expected: Expected, how: str, text: str, witness: tuple[int, int] | None = None
    ) -> Submission:
        return Submission(expected, how, text.encode(), witness)

    def _separating(self, ends: Ends) -> tuple[int, int] | None:
        return separating(self._answers, ends)


def separating(answers: Mapping[tuple[int, int], int | Ending], ends: Ends) -> tuple[int, int] | None:
    """The first inputs on which something ends otherwise than it should."""
    for pair, wanted in answers.items():
        got = ends(*pair)
        if Ending.ENDLESS not in (wanted, got) and got != wanted:
            return pair
    return None


def assembled(text: str, fuel: int = _FUEL) -> Ends:
    """Assembly text on the independent interpreter, its outcomes in the words of the language's own."""
    image = assemble(text, "program.asm")

    def ends(first: int, second: int) -> int | Ending:
        inputs = Inputs({"$1": first % (1 << 32), "$2": second % (1 << 32)})
        return ending_of(run(image, 0, inputs, fuel))

    return ends


def ending_of(outcome: Outcome) -> int | Ending:
    if outcome.status is Status.DONE:
        return wrapped(outcome.registers["$3"])
    return Ending.FAULT if outcome.status is Status.ABORTED else Ending.ENDLESS


def sample_inputs(seed: int, count: int) -> list[tuple[int, int]]:
    """Small, boundary and random numbers, signed."""
    random = Random(seed)
    edges = (0, 1, -1, 2, 7, -8, 100, 1 << 15, 1 << 16, (1 << 31) - 1, -(1 << 31))

    def one() -> int:
        kind = random.randrange(3)
        small, wide = random.randint(-20, 20), wrapped(random.getrandbits(32))
        return (small, wide, random.choice(edges))[kind]

    return [(one(), one()) for _ in range(count)]


def instruction_count(text: str) -> int:
    return sum(line.startswith(" ") and not line.strip().startswith(".word") for line in text.splitlines())


def task(seed: int) -> Program:
    return TASKS[seed % len(TASKS)]


def _in_the_middle(line: str) -> Callable[[str], bytes]:
    def spoil(text: str) -> bytes:
        lines = text.splitlines()
        middle = next(i for i in range(len(lines) // 2, len(lines)) if not lines[i - 1].strip().startswith("lis"))
        return ("\n".join([*lines[:middle], line, *lines[middle:]]) + "\n").encode()

    return spoil


_SPOILERS: dict[str, Callable[[str], bytes]] = {
    "an instruction that does not exist": _in_the_middle("    addi $3, $3, 1"),
    "a label that is not defined": _in_the_middle("    beq $1, $2, nowhere"),
    "a register that does not exist": _in_the_middle("    add $3, $32, $1"),
    "an operand too few": _in_the_middle("    add $3, $1"),
    "a label that is defined twice": _in_the_middle("P_main:"),
    "a number that does not fit": _in_the_middle("    lw $3, 40000($30)"),
    "no instructions": lambda text: b"; to do\n",
    "bytes that are no text": lambda text: b"\x7fELF\x00\xff\xfe" + text.encode(),
}
