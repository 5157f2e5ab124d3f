"""Confirms one obligation of a certificate. Runs as a process of its own (`python -m isoform.check.confirm < FILE`), so
that a solver can be stopped, and prints one line of JSON.

The text is first read by our own strict reader, and each assertion labelled `lemma-…` in it is verified by expansion.
Only then does the solver see it: once with the verified equations applied from left to right, which turns equal
polynomials into equal terms, and if that does not decide it, with the equations as further assertions.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from isoform.check.expansion import verify_equation
from isoform.check.smtlib import Script, read_script, s_expressions
from isoform.check.sorts import ReadError, SExpression

LEMMA = "lemma-"
EXPANSION = "expansion"
_MEMORY_MEGABYTES = 4000
_BIT_VECTOR_LOGICS = frozenset(("QF_BV", "QF_ABV", "QF_UFBV", "QF_AUFBV"))


def confirm(text: str, kind: str, solver: str, seconds: float | None) -> dict[str, str]:
    """`result` is confirmed, refuted, undecided or tampered; `why` says more where it is not confirmed."""
    try:
        script = read_script(text)
    except ReadError as error:
        return {"result": "tampered", "why": f"the file {error}"}
    bad = [label for label, term in script.assertions if _is_lemma(label) and not verify_equation(script.terms, term)]
    if bad:
        return {"result": "refuted", "why": f"{bad[0]} is not an identity of polynomials that expansion shows"}
    others = [label for label, _ in script.assertions if not _is_lemma(label)]
    if kind == "polynomial-lemma":
        return _lemma_result(script, others)
    if script.checks != 1 or not others:
        return {"result": "tampered", "why": "the file does not ask one question"}
    return _SOLVERS[solver](text, script.logic, seconds)


def _is_lemma(label: str) -> bool:
    return label.startswith(LEMMA)


def _lemma_result(script: Script, others: list[str]) -> dict[str, str]:
    if others or not script.assertions:
        return {"result": "tampered", "why": "the file does not hold lemmas only"}
    return {"result": "confirmed", "why": ""}


def _parts(text: str) -> tuple[str, str, str]:
    """Declarations and definitions; the lemmas; the other assertions."""
    context, lemmas, others = [], [], []
    for command in s_expressions(text):
        match command:
            case ("assert", ("!", _, ":named", str(label))) if _is_lemma(label.strip("|")):
                lemmas.append(command)
            case ("assert", *_):
                others.append(command)
            case ("declare-const" | "declare-fun" | "define-fun", *_):
                context.append(command)
    return _text(context), _text(lemmas), _text(others)


def _text(commands: Sequence[SExpression]) -> str:
    pieces: list[str] = []
    stack: list[SExpression] = list(reversed(commands))
    while stack:
        expression = stack.pop()
        if isinstance(expression, str):
            pieces.append(expression)
        else:
            pieces.append("(")
            stack.append(")")
            stack.extend(reversed(expression))
    return " ".join(pieces)


def _ask_z3(text: str, logic: str, seconds: float | None) -> dict[str, str]:
    import z3

    z3.set_param("memory_max_size", _MEMORY_MEGABYTES)
    context, lemma_text, other_text = _parts(text)
    try:
        lemmas = list(z3.parse_smt2_string(context + lemma_text))
        others = list(z3.parse_smt2_string(context + other_text))
        rewrites = [(lemma.arg(0), lemma.arg(1)) for lemma in lemmas]
        rewritten = [z3.substitute(other, *rewrites) for other in others] if rewrites else others
        answer = _z3_answer(z3, rewritten, logic, seconds)
        if answer == z3.unknown and lemmas:
            answer = _z3_answer(z3, [*others, *lemmas], logic, seconds)
    except z3.Z3Exception as error:
        return {"result": "undecided", "why": f"z3 says: {' '.join(str(error).split())[:200]}"}
    return _result(answer == z3.unsat, answer == z3.sat, "z3")


def _z3_answer(z3: Any, assertions: list[Any], logic: str, seconds: float | None) -> Any:
    solver = z3.SolverFor(logic) if logic in _BIT_VECTOR_LOGICS else z3.Solver()
    if seconds is not None:
        solver.set("timeout", max(1, int(seconds * 1000)))
    solver.add(assertions)
    return solver.check()


def _ask_cvc5(text: str, logic: str, seconds: float | None) -> dict[str, str]:
    import cvc5

    manager = cvc5.TermManager()
    solver = cvc5.Solver(manager)
    if seconds is not None:
        solver.setOption("tlimit-per", str(max(1, int(seconds * 1000))))
    solver.setLogic("ALL")
    context, lemma_text, other_text = _parts(text)
    symbols = cvc5.SymbolManager(manager)
    parser = cvc5.InputParser(solver, symbols)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, context + lemma_text + other_text, "obligation")
    try:
        while not (command := parser.nextCommand()).isNull():
            command.invoke(solver, symbols)
        answer = solver.checkSat()
    except RuntimeError as error:
        return {"result": "undecided", "why": f"cvc5 says: {' '.join(str(error).split())[:200]}"}
    return _result(answer.isUnsat(), answer.isSat(), "cvc5")


def _result(unsatisfiable: bool, satisfiable: bool, solver: str) -> dict[str, str]:
    if unsatisfiable:
        return {"result": "confirmed", "why": ""}
    if satisfiable:
        return {"result": "refuted", "why": f"{solver} finds values for which everything asserted holds"}
    return {"result": "undecided", "why": f"{solver} did not decide it in time"}


_SOLVERS = {"z3": _ask_z3, "cvc5": _ask_cvc5}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m isoform.check.confirm")
    parser.add_argument("--kind", choices=("smt-unsat", "polynomial-lemma"), default="smt-unsat")
    parser.add_argument("--solver", choices=(*_SOLVERS, EXPANSION), default="z3")
    parser.add_argument("--seconds", type=float)
    options = parser.parse_args(arguments)
    try:
        text = sys.stdin.buffer.read().decode("ascii")
    except UnicodeDecodeError:
        print(json.dumps({"result": "tampered", "why": "the file is not plain text"}))
        return
    print(json.dumps(confirm(text, options.kind, options.solver, options.seconds)))


if __name__ == "__main__":
    main()
