"""Confirms obligations of a certificate. Runs as a process of its own (`python -m isoform.check.confirm`), so that a
solver can be stopped: reads one request a line and prints one answer a line, both JSON.

The text is first read by our own strict reader; each assertion labelled `lemma-…` in it is verified by expansion, each
labelled `step-…` must be an instance of an equation shown by another obligation. Only then does a solver see the
formula: with the steps applied, and with the lemmas applied from left to right, which turns equal polynomials into
equal terms; if that does not decide it, with the lemmas as further assertions.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from threading import Event, Thread
from typing import Any

from isoform.check.expansion import unified, verify_equation
from isoform.check.formula import formula_text
from isoform.check.goals import DIFFERS, LEFT_OUT
from isoform.check.smtlib import Node, Script, read_script
from isoform.check.sorts import ReadError
from isoform.check.steps import Merged, StepError, sides
from isoform.model.budget import WALL_FACTOR

LEMMA = "lemma-"
STEP = "step-"
SMT_UNSAT = "smt-unsat"
EQUATION = "equation"
KINDS = (SMT_UNSAT, EQUATION)
POSSIBLE = "possible"
"""Asked about an obligation: do its assumptions contradict each other? Not a kind of obligation itself."""
EXPANSION = "expansion"
TRIVIAL = "trivial"
STEPS = "steps"
_MEMORY_MEGABYTES = 2000
_LOOK_SECONDS = 0.02
"""Seconds between two checks of a query's processor time."""
_SHARING = ("solve-eqs", "max-bv-sharing", "bit-blast", "aig", "sat")
_SHARES = ((0.2, 3.0), (0.5, 20.0), None)
"""For each attempt: its share of the remaining time, and the most seconds; the last one gets everything that is
left."""
_BIT_VECTOR_LOGICS = frozenset(("QF_BV", "QF_ABV", "QF_UFBV", "QF_AUFBV"))


@dataclass(frozen=True)
class Request:
    text: str
    kind: str
    solver: str
    seconds: float | None = None
    steps: dict[str, str] = field(default_factory=dict)
    """The texts of the obligations that show the steps, by the labels of these."""


@dataclass(frozen=True)
class Confirmation:
    result: str
    """confirmed, refuted, undecided or tampered"""
    why: str = ""
    """The reason, if it is not confirmed."""
    by: str = ""
    """What decided it."""


@dataclass(frozen=True)
class _Formula:
    """What remains for a solver."""

    script: Script
    asserted: list[int]
    lemmas: list[int]
    mentioned: list[int]

    def is_contradictory(self) -> bool:
        """Whether an assertion says `false`, or that a term is not equal to itself."""
        return any(_contradicts(self.script, number) for number in self.asserted)

    def text(self) -> str:
        return formula_text(self.script, [*self.lemmas, *self.asserted], self.mentioned)


def _contradicts(script: Script, number: int) -> bool:
    nodes = script.terms.nodes
    match nodes[number]:
        case Node("false", (), ()):
            return True
        case Node("distinct", (), (left, right)):
            return left == right
        case Node("not", (), (inner,)):
            return nodes[inner].operator == "=" and len(set(nodes[inner].operands)) == 1
    return False


def confirm(request: Request) -> Confirmation:
    try:
        if request.kind == POSSIBLE:
            return _possible(request)
        prepared = _prepared(request)
        if isinstance(prepared, Confirmation):
            return prepared
        if prepared.is_contradictory():
            return Confirmation("confirmed", by=STEPS if request.steps else TRIVIAL)
        formula = replace(prepared, asserted=unified(prepared.script.terms, prepared.asserted))
        if formula.is_contradictory():
            return Confirmation("confirmed", by=EXPANSION)
        return _SOLVERS[request.solver](formula, request.seconds)
    except ReadError as error:
        return Confirmation("tampered", f"the file {error}")
    except _MalformedError as error:
        return Confirmation("tampered", str(error))


def _possible(request: Request) -> Confirmation:
    """Refuted only if a solver finds a contradiction: for most assumptions a solution exists but is hard to find."""
    script = read_script(request.text)
    shown = (LEMMA, STEP, DIFFERS, LEFT_OUT)
    assumed = [term for label, term in script.assertions if not label.startswith(shown)]
    if not assumed:
        return Confirmation("confirmed", by=TRIVIAL)
    answer = _SOLVERS[request.solver](_Formula(script, assumed, [], []), request.seconds)
    if answer.result == "confirmed":
        return Confirmation("refuted", "what is assumed about the inputs contradicts itself", request.solver)
    return Confirmation("confirmed", by=request.solver)


def trivially_confirmed(text: str) -> bool:
    """Whether a text contradicts itself as it stands, so that no solver is needed. The text should be short."""
    try:
        prepared = _prepared(Request(text, SMT_UNSAT, ""))
        return isinstance(prepared, _Formula) and prepared.is_contradictory()
    except (ReadError, _MalformedError):
        return False


_Attempt = Callable[[float | None], Confirmation]
"""Asks a solver with one strategy, for so many seconds."""


class _MalformedError(Exception):
    """A file that does not have the form of its kind."""


def _prepared(request: Request) -> Confirmation | _Formula:
    script = read_script(request.text)
    lemmas = [(label, term) for label, term in script.assertions if label.startswith(LEMMA)]
    for label, term in lemmas:
        if not verify_equation(script.terms, term):
            return Confirmation("refuted", f"{label} is not an identity of polynomials that expansion shows", EXPANSION)
    if request.kind == EQUATION:
        _patterns(script)
    return _with_steps_applied(script, request.steps)


def _with_steps_applied(script: Script, shown: dict[str, str]) -> _Formula:
    """Every assertion that is neither lemma nor step, rewritten by the steps."""
    goals = [term for label, term in script.assertions if not label.startswith((LEMMA, STEP))]
    steps = [(label, term) for label, term in script.assertions if label.startswith(STEP)]
    if script.checks != 1 or not goals:
        raise _MalformedError("the file does not ask one question")
    if sorted(shown) != sorted(label for label, _ in steps):
        raise _MalformedError("the file has other steps than the index says")
    merged = Merged(script)
    for label, term in steps:
        pattern = read_script(shown[label])
        try:
            merged.apply(sides(script, term, "="), pattern, _patterns(pattern))
        except StepError as error:
            raise _MalformedError(f"{label} {error}") from None
    lemmas = [term for label, term in script.assertions if label.startswith(LEMMA)]
    mentioned = [*goals, *(term for _, term in steps)] if steps else []
    return _Formula(script, [merged.became(goal) for goal in goals], lemmas, mentioned)


def _patterns(script: Script) -> tuple[int, int]:
    """The two terms that an obligation of kind `equation` shows to be equal: it asserts that they differ."""
    goals = [term for label, term in script.assertions if not label.startswith(LEMMA)]
    if script.checks != 1 or len(goals) != 1:
        raise _MalformedError("an equation is not shown by asserting that it does not hold")
    try:
        return sides(script, goals[0], "distinct")
    except StepError as error:
        raise _MalformedError(f"the assertion of an equation {error}") from None


def _ask_z3(formula: _Formula, seconds: float | None) -> Confirmation:
    import z3

    z3.set_param("memory_max_size", _MEMORY_MEGABYTES)
    try:
        assertions = list(z3.parse_smt2_string(formula.text(), ctx=z3.Context()))
        count = len(formula.lemmas)
        lemmas, goals = assertions[:count], assertions[count:]
        if len(goals) != len(formula.asserted):
            return Confirmation("undecided", "z3 reads another formula than it was given", "z3")
        rewrites = [(lemma.arg(0), lemma.arg(1)) for lemma in lemmas]
        rewritten = [z3.substitute(goal, *rewrites) for goal in goals] if rewrites else goals
        return _first_answer(_z3_attempts(z3, rewritten, [*goals, *lemmas], formula.script.logic), seconds)
    except z3.Z3Exception as error:
        return Confirmation("undecided", f"z3 says: {' '.join(str(error).split())[:200]}", "z3")


def _z3_attempts(z3: Any, rewritten: list[Any], with_lemmas: list[Any], logic: str) -> Iterator[_Attempt]:
    """z3's default strategy; then one that does not reorder sums, which preserves what the two sides share; then the
    default again. The second gives up on some formulas with arrays, so only its `unsat` counts."""
    context = rewritten[0].ctx

    def usual() -> Any:
        return z3.SolverFor(logic, ctx=context) if logic in _BIT_VECTOR_LOGICS else z3.Solver(ctx=context)

    def sharing() -> Any:
        simplify = z3.With(z3.Tactic("simplify", ctx=context), flat=False)
        return z3.Then(simplify, *(z3.Tactic(name, ctx=context) for name in _SHARING)).solver()

    def asked(make: Callable[[], Any], assertions: list[Any], answers: Sequence[Any]) -> _Attempt:
        def ask(seconds: float | None) -> Confirmation:
            solver = make()
            solver.add(assertions)
            found = _check_z3(solver, seconds)
            found = found if found in answers else z3.unknown
            return _answer(found == z3.unsat, found == z3.sat, "z3")

        return ask

    yield asked(usual, rewritten, (z3.unsat, z3.sat))
    yield asked(sharing, rewritten, (z3.unsat,))
    yield asked(usual, with_lemmas, (z3.unsat, z3.sat))


def _check_z3(solver: Any, seconds: float | None) -> Any:
    """Stopped by its processor time, whatever else the machine does; z3 itself knows only the wall clock."""
    if seconds is None:
        return solver.check()
    solver.set("timeout", max(1, int(WALL_FACTOR * seconds * 1000)))
    deadline, done = time.process_time() + seconds, Event()

    def watch() -> None:
        while not done.wait(_LOOK_SECONDS):
            if time.process_time() > deadline:
                solver.ctx.interrupt()

    watching = Thread(target=watch, daemon=True)
    watching.start()
    try:
        return solver.check()
    finally:
        done.set()
        watching.join()


def _first_answer(attempts: Iterator[_Attempt], seconds: float | None) -> Confirmation:
    """The first attempt that decides. Each but the last gets a share of the time."""
    deadline = None if seconds is None else time.process_time() + seconds
    answer = Confirmation("undecided")
    for attempt, share in zip(attempts, _SHARES, strict=True):
        left = None if deadline is None else deadline - time.process_time()
        if left is not None and left <= 0:
            break
        limit = left if share is None else min(share[1], share[0] * left) if left is not None else share[1]
        answer = attempt(limit)
        if answer.result != "undecided":
            break
    return answer


def _ask_cvc5(formula: _Formula, seconds: float | None) -> Confirmation:
    import cvc5

    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    if seconds is not None:
        # It knows only the wall clock, which must not count other work.
        solver.setOption("tlimit-per", str(max(1, int(WALL_FACTOR * seconds * 1000))))
    solver.setLogic("ALL")
    symbols = cvc5.SymbolManager(manager)
    parser = cvc5.InputParser(solver, symbols)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, formula.text(), "obligation")
    try:
        while not (command := parser.nextCommand()).isNull():
            command.invoke(solver, symbols)
        answer = solver.checkSat()
    except RuntimeError as error:
        return Confirmation("undecided", f"cvc5 says: {' '.join(str(error).split())[:200]}", "cvc5")
    return _answer(answer.isUnsat(), answer.isSat(), "cvc5")


def _answer(unsatisfiable: bool, satisfiable: bool, solver: str) -> Confirmation:
    if unsatisfiable:
        return Confirmation("confirmed", by=solver)
    if satisfiable:
        return Confirmation("refuted", f"{solver} finds values for which everything asserted holds", solver)
    return Confirmation("undecided", f"{solver} did not decide it in time", solver)


_SOLVERS: dict[str, Callable[[_Formula, float | None], Confirmation]] = {"z3": _ask_z3, "cvc5": _ask_cvc5}


def main() -> None:
    for line in sys.stdin:
        answer = confirm(Request(**json.loads(line)))
        print(json.dumps([answer.result, answer.why, answer.by]), flush=True)


if __name__ == "__main__":
    main()
