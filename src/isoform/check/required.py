"""What the index of a certificate must contain for its verdict: a goal for each observable of its contract, as each
engine writes them.

Everything here is read from the index alone: it checks that no obligation is missing, not that the formulas are those
of the code (see `docs/certificates.md`). Observables that every contract has are required. Those that depend on the
code (calls that end the program) come in pairs or not at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Index = Mapping[str, Any]
Obligation = Mapping[str, Any]

GOAL = "smt-unsat"
"""The kind of an obligation that says something about the functions, and not only about terms."""
KEPT: Mapping[str, tuple[str, ...]] = {
    "x86_64": ("rbx", "rbp", "r12", "r13", "r14", "r15", "df", "x87", "rsp"),
    "riscv64": ("gp", "tp", *(f"s{number}" for number in range(12)), "sp"),
    "toy": (),
    "cs241": (),
}
"""By machine: the registers that are compared whatever the contract says."""
RETURN_VALUE, POSSIBLE_RESULT, MEMORY, CALLS = "return-value", "possible-result", "memory", "calls"
END = "end"
_ENDS_IN, _STATE_AT, _BEFORE_FAULT = "ends-in-", "state-at-", "calls-before-abort"
RESTORED, SAME_THINGS = "restored", "same-things"
_INDUCTION = "recursion-by-induction"
"""The assumption of every proof by induction on recursive calls: the inner call is also assumed to restore what a
callee must restore, so that must be shown."""
_HOW_IT_ENDS = ("aborts", "returns")
_CHOICES = {"return_as": ("value", "bool", "void"), "memory": ("compare", "ignore"), "aborts": ("equal", "refine")}


def goal_problems(index: Index) -> list[str]:
    """Why the obligations, even if all are confirmed, do not prove the verdict: one sentence each."""
    if index.get("verdict") != "equivalent":
        said = str(index.get("verdict"))[:40]
        return [f"The verdict is '{said}', but obligations without a solution show 'equivalent' and nothing else."]
    contract = index.get("contract")
    if not isinstance(contract, dict) or not _is_readable(contract, index):
        return ["The contract in the index does not say what is compared."]
    engine = str(index.get("engine"))
    if engine not in _ENGINES:
        return [f"The index does not say which engine wrote the certificate: {', '.join(_ENGINES)}."]
    goals = [o for o in index["obligations"] if o["kind"] == GOAL]
    if not goals:
        return ["There is no goal, only equations between terms: nothing is shown about the functions."]
    return list(_ENGINES[engine](goals, index))


def _is_readable(contract: Mapping[str, Any], index: Index) -> bool:
    results = contract.get("results")
    sides = [index[side].get("isa") for side in ("target", "rewrite")]
    flags = [index.get(name) for name in ("returns", "calls", "apart")]
    return (
        all(contract.get(name) in choices for name, choices in _CHOICES.items())
        and isinstance(results, list)
        and sides[0] == sides[1]
        and sides[0] in KEPT
        and isinstance(index.get("assumptions"), list)
        and all(isinstance(flag, bool) for flag in flags)
    )


def observables(index: Index, names: Sequence[str]) -> list[str]:
    """What must be shown wherever both functions return. `names` are the goals present: without debug information a
    register may be the result, and its goal then has another name."""
    contract = index["contract"]
    wanted = [*KEPT[index["target"]["isa"]], "return-address"]
    if any(_name(assumption) == _INDUCTION for assumption in index["assumptions"]):
        wanted.append(RESTORED)
    if contract["return_as"] != "void" and contract["results"]:
        inferred = contract.get("source") == "liveness" and POSSIBLE_RESULT in names
        wanted.append(POSSIBLE_RESULT if inferred else RETURN_VALUE)
    if contract["memory"] == "compare":
        wanted.append(MEMORY)
    return wanted


def _name(assumption: Any) -> str:
    return str(assumption.get("name")) if isinstance(assumption, dict) else ""


def _missing(wanted: Sequence[str], there: Sequence[str], where: str = "") -> Iterator[str]:
    lacking = [name for name in wanted if name not in there]
    if lacking:
        yield f"There is no goal about {', '.join(lacking)}{where}, which the contract compares."


def _ending_calls(names: Sequence[str]) -> Iterator[str]:
    """Calls that end the program: whether both make one, and with what."""
    for first, second in ((_ENDS_IN, _STATE_AT), (_STATE_AT, _ENDS_IN)):
        for name in names:
            if name.startswith(first) and second + name.removeprefix(first) not in names:
                yield f"There is a goal {name} but none {second}{name.removeprefix(first)}."


def _loopfree(goals: Sequence[Obligation], index: Index) -> Iterator[str]:
    """One goal per observable; and one, with its own name, for every kind of input that the encoding leaves out."""
    names = [goal["name"] for goal in goals]
    yield from _missing(_HOW_IT_ENDS, names)
    if index["apart"] and SAME_THINGS not in names:
        yield f"There is no goal {SAME_THINGS}, though functions, data or constants differ between the two sides."
    if index["returns"]:
        calls = [CALLS] if index["calls"] and index["contract"]["memory"] == "ignore" else []
        yield from _missing([*observables(index, names), *calls], names)
    yield from _ending_calls(names)
    twice = [name for name, count in Counter(names).items() if count > 1 and name != "covered"]
    if twice:
        yield f"There are several goals of the name {twice[0]}."


def _concolic(goals: Sequence[Obligation], index: Index) -> Iterator[str]:
    """The paths of each side cover all inputs; each path of the target has a list of the rewrite's paths that share
    inputs with it; and for each such pair all observables agree."""
    names = {goal["name"] for goal in goals}
    for name in ("covered-target", "covered-rewrite"):
        if name not in names:
            yield f"There is no goal {name}: some inputs may take a path that was not compared."
    met = index.get("paths")
    if not isinstance(met, dict) or not met or not all(isinstance(others, list) for others in met.values()):
        yield "The index does not list the pairs of paths that share inputs."
        return
    for path, others in met.items():
        wanted = [f"meets-{path}", *(f"paths-{path}-{other}" for other in others)]
        lacking = [name for name in wanted if name not in names]
        if lacking:
            yield f"There is no goal {lacking[0]}, of a pair of paths that share inputs."
    listed = {str(path) for path in met}
    unlisted = [n for n in names if n.startswith(("meets-", "paths-")) and n.split("-")[1] not in listed]
    if unlisted:
        yield f"The goal {min(unlisted)} is of a path that the index does not list."


def _loops(goals: Sequence[Obligation], index: Index) -> Iterator[str]:
    """From every cut that is reached: which cut comes next, that the claims at the next cut hold there, and what is
    compared at the end. Cut 0 is the entry."""
    from_cut = {_cut(goal, "from") for goal in goals}
    edges = {(_cut(goal, "from"), _cut(goal, "to")) for goal in goals if "to" in goal}
    if None in from_cut or any(None in edge for edge in edges):
        yield "A goal does not say between which cuts it is."
        return
    by_place: dict[tuple[Any, Any], list[str]] = {}
    for goal in goals:
        by_place.setdefault((_cut(goal, "from"), _cut(goal, "to")), []).append(goal["name"])
    for cut in sorted({0, *from_cut, *(to for _, to in edges if to != END)}):
        if "covered" not in by_place.get((cut, ""), ()):
            yield f"There is no goal 'covered' from cut {cut}: the two may take different paths from there."
    if _reached(edges) != from_cut | {0}:
        yield "Some cuts of the proof are not reached from the entry."
    for (cut, to), names in by_place.items():
        where = f" from cut {cut} to {'the end' if to == END else f'cut {to}'}"
        if to == END:
            only_calls = all(name.startswith((_STATE_AT, _BEFORE_FAULT)) for name in names)
            yield from () if only_calls else _missing(observables(index, names), names, where)
        elif to != "":
            yield from _missing(("invariant", MEMORY), names, where)
    if index["returns"] and not any(to == END for _, to in edges):
        yield "No cut of the proof leads to the end."


def _recursion(goals: Sequence[Obligation], index: Index) -> Iterator[str]:
    """The goals of the engine that showed the rest; and that the rule is one by which they give the verdict. All rules
    are inductions, so that what a callee must restore is among the goals (`observables`)."""
    said = index.get("recursion")
    if not isinstance(said, dict) or not _is_rule(said):
        yield "The index does not say what stands in the place of the deeper calls."
        return
    if not any(_name(assumption) == _INDUCTION for assumption in index["assumptions"]):
        yield f"The proof is an induction on recursive calls, and the index does not assume {_INDUCTION}."
    yield from _ENGINES[said["engine"]](goals, index)


def _is_rule(said: Mapping[str, Any]) -> bool:
    """Own code may stand there on both sides, the other side's only on one: each in the place of the other's deeper
    calls would be a circle."""
    levels, side = said.get("levels"), said.get("side")
    if said.get("engine") not in ("loopfree", "loops") or not isinstance(levels, list) or len(levels) != 2:
        return False
    if not all(type(level) is int and level >= 0 for level in levels):
        return False
    if said.get("rule") == "unfolded":
        return side is None and any(levels)
    return said.get("rule") == "replaced" and type(side) is int and side in (0, 1) and not levels[1 - side]


def _reached(edges: set[tuple[Any, Any]]) -> set[Any]:
    found, pending = {0}, [0]
    while pending:
        cut = pending.pop()
        new = {to for source, to in edges if source == cut and to != END} - found
        found |= new
        pending += new
    return found


def _cut(goal: Obligation, key: str) -> Any:
    """The number of a cut; "" if the goal names none, None if it is not a cut."""
    cut = goal.get(key, "" if key == "to" else None)
    is_number = isinstance(cut, int) and not isinstance(cut, bool) and cut >= 0
    return cut if is_number or cut == "" or (key == "to" and cut == END) else None


_ENGINES: Mapping[str, Callable[[Sequence[Obligation], Index], Iterator[str]]] = {
    "loopfree": _loopfree,
    "concolic": _concolic,
    "loops": _loops,
    "recursion": _recursion,
}
