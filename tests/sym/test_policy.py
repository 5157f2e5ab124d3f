"""The encoder with policies: an argument replaced by an expression over the target's parameters, the value of one
instruction replaced, a branch that is held."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from isoform.borders.question import Options, Question
from isoform.borders.settle import settle
from isoform.engines.answer import lifted
from isoform.load.open import open_pair
from isoform.model.budget import Budget
from isoform.model.microop import Space
from isoform.smt.solver import Answer, Solver
from isoform.smt.terms import Term, Terms
from isoform.sym.compare import goals
from isoform.sym.entry import argument_term, constrain_entry, with_arguments
from isoform.sym.execute import Execution
from isoform.sym.policy import Point, Policy
from isoform.sym.scope import Scope
from isoform.sym.side import Side
from isoform.sym.state import State, initial_state
from isoform.sym.world import World

SOURCE = """
.intel_syntax noprefix
difference:                 # x - y
    mov eax, edi
    sub eax, esi
    ret
reversed:                   # y - x
    mov eax, esi
    sub eax, edi
    ret
shifted:                    # x - y + 1
    lea eax, [rdi + 1]
    sub eax, esi
    ret
doubled:                    # 2 * x + y
    lea eax, [rdi + rdi]
    add eax, esi
    ret
tripled:                    # 3 * x + y
    lea eax, [rdi + rdi * 2]
    add eax, esi
    ret
plain_sum:                  # 2 * x + y
    lea rax, [rdi + rdi]
    lea rax, [rax + rsi]
    ret
copied:                     # x + y
    mov rax, rdi
    lea rax, [rax + rsi]
    ret
keeps:                      # *x = 7
    mov DWORD PTR [rdi], 7
    ret
keeps_more:
    mov ecx, 8
    mov DWORD PTR [rdi], ecx
    ret
smaller:
    mov eax, edi
    cmp edi, esi
    jle 1f
    mov eax, esi
1:  ret
second:
    mov eax, esi
    ret
narrow:                     # x - y, of signed bytes, with nothing taken of how they are extended
    movsx eax, dil
    movsx ecx, sil
    sub eax, ecx
    ret
seventh:
    mov eax, DWORD PTR [rsp + 8]
    ret
fifth:
    mov eax, r8d
    ret
"""

Rule = Callable[[Side], Policy]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("policy") / "functions.s"
    names = [line[:-1] for line in SOURCE.split() if line.endswith(":") and line[0].isalpha()]
    path.write_text(f".globl {', '.join(names)}{SOURCE}")
    return path


def asked(source: Path, target: str, rewrite: str, signature: str = "int f(int x, int y)") -> Question:
    pair = open_pair(f"{source}:{target}", f"{source}:{rewrite}")
    return settle(lifted(pair[0]), lifted(pair[1]), Options(signature=signature))


def agree(question: Question, target: Rule, rewrite: Rule) -> bool:
    """Whether the two agree for all inputs, each executed by its policy."""
    world = World(Terms(), question.contract)
    summaries = []
    for function, tag, rule in zip((question.target, question.rewrite), "ab", (target, rewrite), strict=True):
        side = Side(world, function.image, tag)
        scope = Scope(side, function, question.callees)
        summaries.append(Execution(scope, Budget(60), rule(side)).run())
    constrain_entry(world, initial_state(summaries[0].side))
    solver = Solver(world.terms, Budget(60))
    constraints = [constraint for _, constraint in world.constraints]
    bad = [goal.bad for goal in goals(world, summaries[0], summaries[1], whole=True)]
    return all(solver.check([*constraints, one]) is Answer.UNSAT for one in bad)


def plain(side: Side) -> Policy:
    return Policy()


def adapted(question: Question, **adaptor: Callable[[Terms, Term, Term], Term]) -> Rule:
    """With arguments that are expressions over the target's parameters."""
    arguments = question.contract.arguments

    def entry(side: Side) -> State:
        state = initial_state(side)
        x, y = (argument_term(state, argument) for argument in arguments)
        return with_arguments(state, arguments, {name: make(side.terms, x, y) for name, make in adaptor.items()})

    return lambda side: Policy(entry=entry)


def test_an_argument_is_an_expression_over_the_parameters(source: Path) -> None:
    question = asked(source, "shifted", "difference")
    one_more = adapted(question, x=lambda terms, x, y: terms.add(x, terms.bv(1, 32)))
    one_less = adapted(question, x=lambda terms, x, y: terms.sub(x, terms.bv(1, 32)))
    assert not agree(question, plain, plain)
    assert agree(question, plain, one_more)
    assert not agree(question, plain, one_less)


def test_arguments_are_permuted(source: Path) -> None:
    question = asked(source, "difference", "reversed")
    permuted = adapted(question, x=lambda terms, x, y: y, y=lambda terms, x, y: x)
    assert not agree(question, plain, plain)
    assert agree(question, plain, permuted)


def test_a_narrow_argument_is_extended(source: Path) -> None:
    question = asked(source, "narrow", "reversed", "int f(signed char x, signed char y)")
    permuted = adapted(question, x=lambda terms, x, y: y, y=lambda terms, x, y: x)
    assert not agree(question, plain, plain)
    assert agree(question, plain, permuted)


def test_an_argument_on_the_stack(source: Path) -> None:
    question = asked(source, "fifth", "seventh", "int f(int a, int b, int c, int d, int e, int g, int h)")
    arguments = question.contract.arguments

    def entry(side: Side) -> State:
        state = initial_state(side)
        return with_arguments(state, arguments, {"h": argument_term(state, arguments[4])})

    assert not agree(question, plain, plain)
    assert agree(question, plain, lambda side: Policy(entry=entry))


class Switched:
    """The value that one instruction of the target gives a register or memory, in place of that of one of the rewrite.
    Instructions are told by their number."""

    def __init__(self, question: Question, target: int, rewrite: int) -> None:
        functions = question.target, question.rewrite
        self._addresses = [sorted(f.instructions)[n] for f, n in zip(functions, (target, rewrite), strict=True)]
        self._found: Term | None = None

    def note(self, side: Side) -> Policy:
        def value(point: Point, state: State, computed: Term) -> Term:
            if point.address == self._addresses[0] and _is_kept(point):
                self._found = computed
            return computed

        return Policy(value=value)

    def give(self, side: Side) -> Policy:
        def value(point: Point, state: State, computed: Term) -> Term:
            if point.address != self._addresses[1] or not _is_kept(point):
                return computed
            assert self._found is not None
            return self._found

        return Policy(value=value)


def _is_kept(point: Point) -> bool:
    """Whether a micro-op writes memory or a register that is no flag."""
    return point.op.out is None or (point.op.out.space is Space.REGISTER and point.op.out.size > 1)


def listed(question: Question) -> Question:
    return replace(question, target=question.target.as_listed, rewrite=question.rewrite.as_listed)


def test_the_value_of_an_instruction_is_replaced(source: Path) -> None:
    question = asked(source, "doubled", "tripled")
    assert not agree(question, plain, plain)
    first, second = Switched(question, 0, 0), Switched(question, 0, 1)
    assert agree(question, first.note, first.give)
    assert not agree(question, second.note, second.give)


def test_a_stored_value_is_replaced(source: Path) -> None:
    question = asked(source, "keeps", "keeps_more")
    assert not agree(question, plain, plain)
    store = Switched(question, 0, 1)
    assert agree(question, store.note, store.give)


def test_as_listed_every_value_counts(source: Path) -> None:
    """Simplified code reads `rdi` where the listed one reads the copy that an instruction made of it."""
    question = asked(source, "plain_sum", "copied")
    copy = Switched(question, 0, 0)
    assert not agree(question, plain, plain)
    assert not agree(question, copy.note, copy.give)
    assert agree(listed(question), copy.note, copy.give)
    assert not agree(listed(question), plain, plain)


@dataclass(kw_only=True)
class Held(Policy):
    """Takes no branch."""

    def branch(self, scope: Scope, state: State, condition: Term) -> tuple[Term, Term]:
        return scope.terms.false, scope.terms.conj(state.condition, scope.terms.negate(condition))


def test_a_branch_is_held(source: Path) -> None:
    question = asked(source, "second", "smaller")
    world = World(Terms(), question.contract)
    side = Side(world, question.rewrite.image, "b")
    summary = Execution(Scope(side, question.rewrite, question.callees), Budget(60), Held()).run()
    assert summary.final is not None
    x, y = (argument_term(initial_state(side), argument) for argument in question.contract.arguments)
    result = world.terms.extract(summary.final.container_named("rax"), 31, 0)
    assert result == y
    solver = Solver(world.terms, Budget(60))
    is_less = world.terms.slt(y, x)
    assert solver.check([world.terms.negate(world.terms.eq(summary.final.condition, is_less))]) is Answer.UNSAT
