"""A question about two functions, with the functions that both of them call taken as outside functions.

What `diff` does from the callees up, `compare` does from the question down. In the question about a pair of functions,
calls of a callee that both sides have are calls of an outside function of that name. If that is a proof, each such
callee becomes a question of its own, asked in the same way. Once every question that arose has a proof, all of the
pairs do the same, for the reason given in `cycles.py`: induction on the number of calls in a run of the target that
ends. This includes functions that call themselves or each other.

A callee without a proof is inlined from then on, and the questions that rested on it are asked anew. Nothing but a
proof is concluded here: an outside function promises less than a callee that is at hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from pathlib import Path

from isoform.borders.question import Options
from isoform.diff.ask import verdict_within
from isoform.diff.compose import REFUSED, Composer, Shown, callees_shown, with_outside
from isoform.diff.members import ComparedFile
from isoform.diff.unit import Unit
from isoform.engines.same_code.engine import SAME_CODE
from isoform.engines.same_code.walk import Role, Walker
from isoform.load.elf import parse_elf
from isoform.load.image import Symbol
from isoform.load.open import SOURCE_SUFFIXES, Loaded
from isoform.model.budget import Budget
from isoform.model.cause import Explain
from isoform.model.errors import OutOfLimits, Unsupported, UserError
from isoform.model.limits import enforced
from isoform.model.microop import Kind
from isoform.model.values import dataclass
from isoform.model.verdict import Equivalent, Tried, Verdict, merged_assumptions
from isoform.sym.world import STACK_ALIGNED

SHARE, LADDER_SECONDS = 0.3, 15.0
"""Of the budget, for all of this, and what is left at least for the question with everything inlined. With less, proofs
were lost: XXH32_digest of xxHash, -O0 against -O2, takes 5 s of 10, and its callee alone has no proof in 3."""
QUESTION_SHARE = 0.5
"""Of what is left of that, for one question."""
MOST_QUESTIONS = 24
LEAST_STEPS = 60
"""Instructions of the shared callees, of the side with fewer, from which on they are left out even if they have no
loop: what is smaller is inlined in less time than it takes to ask about it."""
ENGINE = "callees"


def proof_by_callees(
    loaded: tuple[Loaded, Loaded], options: Options, budget: Budget, is_last: bool = False
) -> Verdict | None:
    """The proof, if there is one in which callees count as outside functions. `is_last`: with all that is left, because
    the question with everything inlined could not be posed."""
    if not _is_plain(options) or not all(_is_object_file(side) for side in loaded):
        return None
    seconds = budget.left if is_last else min(budget.left * SHARE, budget.left - LADDER_SECONDS)
    if seconds <= 0:
        return None
    part = budget.part(seconds)
    try:
        with enforced(part, options.memory_limit):
            return _Search(loaded, options, part).proof()
    except (Unsupported, UserError, OutOfLimits, MemoryError):
        return None  # if it is the whole budget that is spent, the ladder says so


def _is_plain(options: Options) -> bool:
    """Whether the question is asked under the contract under which callees are asked about: that which is the default.
    The user's assumptions are about the arguments of the function that is asked about, not about those of callees."""
    other = Options()
    free = {
        "budget",
        "seed",
        "fuel",
        "depth",
        "unroll",
        "degree",
        "memory_limit",
        "explain",
        "explain_budget",
        "causes",
        "cause_filter",
        "narrate",
        "progress",
        "so_far",
    }
    return all(getattr(options, name) == value for name, value in vars(other).items() if name not in free)


def _is_object_file(side: Loaded) -> bool:
    """In linked files names need not be those of the source, and other files were merged into them."""
    return side.data is not None and not side.image.base and side.together is None and not side.is_alone


@dataclass
class _Search:
    sides: tuple[Loaded, Loaded]
    options: Options
    budget: Budget
    _inlined: set[str] = field(default_factory=set)
    """Callees that are not outside functions: they cannot count as such, or no proof about them was found."""
    _answers: dict[tuple[str, tuple[str, ...]], Verdict | None] = field(default_factory=dict)
    """By the function and the callees that were outside functions in the question; None if there was no proof."""
    _aligned: set[str] = field(default_factory=set)
    """Callees whose proofs are about an aligned stack only."""
    _shown: dict[str, Shown | None] = field(default_factory=dict)
    _asked: int = 0

    def proof(self) -> Verdict | None:
        self._unit = _unit_of(self.sides)
        if self._unit.identical.why_never:
            return None
        self._graphs = [_Graph(walker) for walker in self._unit.identical.walkers]
        self._composer = Composer(self._unit)
        names = [side.symbol.name for side in self.sides]
        own = [graph.named.get(name) for graph, name in zip(self._graphs, names, strict=True)]
        if names[0] != names[1] or None in own or not self._is_worth_it(names[0]):
            return None
        return self._shown_from(names[0])

    def _is_worth_it(self, name: str) -> bool:
        """Whether shared callees have so much code that leaving it out is likely to help."""
        found = self._callees(name)
        entries = [[graph.named[callee].address for callee in found] for graph in self._graphs]
        sides = [*zip(self._graphs, entries, strict=True)]
        if any(graph.has_loop(entry) for graph, own in sides for entry in own):
            return True
        return min(sum(graph.steps(entry) for entry in own) for graph, own in sides) >= LEAST_STEPS

    def _shown_from(self, first: str) -> Verdict | None:
        while self._callees(first):
            proofs = self._round(first)
            if proofs is None:
                continue  # a callee is inlined from now on
            answer = proofs.get(first)
            if answer is None:
                return None
            return self._with_all(answer, {name: one for name, one in proofs.items() if name != first} or proofs)
        return None

    def _round(self, first: str) -> dict[str, Verdict] | None:
        """The proofs of the function and of all callees that these rest on: empty if there is none of the function.
        None if a callee has no proof."""
        proofs: dict[str, Verdict] = {}
        called: set[str] = set()
        pending = [first]
        while pending:
            name = pending.pop(0)
            if name in proofs:
                continue
            callees = self._callees(name)
            answer = self._ask(name, callees)
            if answer is None and callees and name != first:
                callees = ()
                answer = self._ask(name, ())
            if answer is None and name == first:
                return {}
            if answer is None or (name != first and not self._may_rest_on(name, answer)):
                self._inlined |= {name} if answer is None else set()
                return None
            proofs[name] = answer
            pending += callees
            called |= {*callees}
        # It is a callee as well if it calls itself, or a callee calls it.
        return proofs if first not in called or self._may_rest_on(first, proofs[first]) else None

    def _may_rest_on(self, name: str, answer: Verdict) -> bool:
        """Whether callers may rest on this proof about a callee. If not, they are asked about in another way."""
        if REFUSED & {one.name for one in answer.assumptions}:
            self._inlined.add(name)
            return False
        if name not in self._aligned and _needs_alignment(answer):
            self._aligned.add(name)
            self._shown.pop(name, None)
            self._answers = {key: one for key, one in self._answers.items() if name not in key[1]}
            return False
        return True

    def _with_all(self, answer: Verdict, others: dict[str, Verdict]) -> Verdict:
        every = [*answer.assumptions]
        for other in others.values():
            every += other.assumptions
        every.append(callees_shown(others))
        said = f"callees that do the same, by questions of their own: {', '.join(sorted(others))}"
        tried = (*answer.tried, Tried(ENGINE, said, self.budget.elapsed))
        return replace(answer, assumptions=merged_assumptions(every), tried=tried)

    # -- questions ------------------------------------------------------------------------------

    def _ask(self, name: str, callees: tuple[str, ...]) -> Verdict | None:
        key = name, callees
        if key not in self._answers:
            self._answers[key] = self._proof_of(name, callees)
        return self._answers[key]

    def _proof_of(self, name: str, callees: tuple[str, ...]) -> Verdict | None:
        self._asked += 1
        if self._asked > MOST_QUESTIONS or self.budget.exhausted:
            return None
        left, right = self._unit.pair.loaded((self._graphs[0].named[name], self._graphs[1].named[name]))
        outside = [shown for callee in callees if (shown := self._as_outside(callee)) is not None]
        if len(outside) != len(callees):
            return None
        if outside:
            left, right = with_outside(left, 0, outside), with_outside(right, 1, outside)
        self.options.progress(f"{name}, with the functions it calls as outside functions")
        seconds = self.budget.left * QUESTION_SHARE
        options = Options(seed=self.options.seed, memory_limit=self.options.memory_limit, explain=Explain.NONE)
        verdict = verdict_within(
            (left, right), replace(options, budget=max(seconds, 0.1)), self.budget.part(seconds), bool(outside)
        )
        return verdict if isinstance(verdict, Equivalent) else None

    def _callees(self, name: str) -> tuple[str, ...]:
        """The functions that both sides call, in code of the function or in what is inlined into it: the first such on
        every path through the call graph. One that only one of the sides reaches so is inlined there, as it was on the
        other side."""
        shared = {
            one for one in self._graphs[0].named.keys() & self._graphs[1].named.keys() if one not in self._inlined
        }
        while True:
            left, right = (graph.reached(name, shared) for graph in self._graphs)
            unusable = {one for one in left & right if self._as_outside(one) is None}
            self._inlined |= unusable
            if left == right and not unusable:
                return tuple(sorted(left))
            shared -= (left ^ right) | unusable

    def _as_outside(self, name: str) -> Shown | None:
        if name not in self._shown:
            entries = self._graphs[0].named[name].address, self._graphs[1].named[name].address
            shown = self._composer.shown(entries, ())
            if shown is not None and name not in self._aligned:
                sides = zip(self._graphs, entries, strict=True)
                shown = replace(shown, at_any_alignment=all(g.ignores_alignment(entry) for g, entry in sides))
            self._shown[name] = shown
        return self._shown[name]


class _Graph:
    """Which functions of one file call which."""

    def __init__(self, walker: Walker) -> None:
        self._walker = walker
        image = walker.image
        functions = [s for s in image.symbols if s.is_function and s.size and image.code_at(s.address)]
        counts: dict[str, int] = {}
        for symbol in functions:
            counts[symbol.name] = counts.get(symbol.name, 0) + 1
        self.named: dict[str, Symbol] = {s.name: s for s in functions if counts[s.name] == 1}
        self._names: dict[int, str] = {}
        for symbol in functions:
            self._names.setdefault(symbol.address, symbol.name)
        self._sizes = {symbol.address: symbol.size for symbol in functions}
        self._calls: dict[int, list[int]] = {}

    def reached(self, name: str, ends: set[str]) -> set[str]:
        """Those of `ends` that are called from a function, through calls of functions that are not among them."""
        found: set[str] = set()
        seen, pending = set(), [self.named[name].address]
        while pending:
            address = pending.pop()
            if address in seen:
                continue
            seen.add(address)
            for callee in self._called(address):
                own = self._names[callee]
                if own in ends:
                    found.add(own)
                else:
                    pending.append(callee)
        return found

    def steps(self, address: int) -> int:
        return len(self._walker.walk(address).steps)

    def has_loop(self, address: int) -> bool:
        """Whether the function, or one that it calls in the file, has a loop or calls itself."""
        seen, pending = set(), [address]
        while pending:
            own = pending.pop()
            if own in seen:
                return True  # called twice or more: as much code as a loop when it is inlined
            seen.add(own)
            walk = self._walker.walk(own)
            if any(later <= place for place, step in enumerate(walk.steps) for later in step.followers):
                return True
            pending += self._called(own)
        return False

    def ignores_alignment(self, address: int) -> bool:
        """Whether nothing in the function, and in what it calls, can tell or may need how the stack is aligned: it has
        no wide access, and calls nothing but functions of the file of which the same holds. (Compilers call functions
        of the same file with a stack that is not aligned if that makes no difference to them.)"""
        seen, pending = {address}, [address]
        while pending:
            walk = self._walker.walk(pending.pop())
            leaves = walk.jumps_outside or walk.jumps_anywhere
            if walk.refused or walk.is_wide or walk.is_unsupported or leaves:
                return False
            if any(op.kind in (Kind.CALLIND, Kind.SYSTEM) for ops in walk.ops for op in ops):
                return False
            more = {*walk.callees} - seen
            if any(callee not in self._names for callee in more):
                return False
            seen |= more
            pending += more
        return True

    def _called(self, address: int) -> Iterable[int]:
        """What the function itself calls or jumps to: a walk goes on in what is jumped to."""
        if address not in self._calls:
            walk, end = self._walker.walk(address), address + self._sizes[address]
            own = [number for number, place in enumerate(walk.places) if address <= place < end]
            followers = (later for number in own for later in walk.steps[number].followers)
            jumped = (walk.places[later] for later in followers if later < len(walk.places))  # it may end early
            places = {walk.places[number] for number in own}
            called = (one.number for one in walk.references if one.role is Role.CALL and one.place in places)
            found = dict.fromkeys((*called, *(place for place in jumped if place != address)))
            self._calls[address] = [callee for callee in found if callee in self._names]
        return self._calls[address]


def _needs_alignment(answer: Verdict) -> bool:
    """Whether a proof holds for an aligned stack only. The same code does the same in the same state, of which the
    alignment is a part."""
    return answer.engine == SAME_CODE or STACK_ALIGNED.name in {one.name for one in answer.assumptions}


def _unit_of(sides: tuple[Loaded, Loaded]) -> Unit:
    files = []
    for side in sides:
        assert side.data is not None
        file = parse_elf(side.data, side.display_path)
        files.append(replace(file, from_source=Path(side.display_path).suffix in SOURCE_SUFFIXES))
    members = tuple(ComparedFile(side.display_path, None, "") for side in sides)
    return Unit(0, (members[0], members[1]), (files[0], files[1]))
