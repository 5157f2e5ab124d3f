"""Single instructions of toy and cs241: the compiled runner and the symbolic step against the plain interpreters.

The instruction stands among others that only jump to themselves, so that where control goes shows and nothing else
changes. Registers and memory are drawn at random, edges included.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from isoform.check import cs241 as cs241_interpreter
from isoform.check import toy as toy_interpreter
from isoform.check.stepped import Stepped
from isoform.isa.cs241 import machine as cs241
from isoform.isa.toy import machine as toy
from isoform.lift.cfg import control_flow_graph
from isoform.load.image import Image, Section
from isoform.model.budget import Budget
from isoform.model.contract import Contract, SignatureSource
from isoform.model.machine import Machine
from isoform.model.microop import ABORT_REASONS, Instruction, Kind
from isoform.model.outcome import Inputs, Outcome, Status
from isoform.run.compile import compile_function
from isoform.run.runner import RunOptions, run
from isoform.smt.solver import Answer, Solver
from isoform.smt.terms import Term, Terms
from isoform.sym.side import Side
from isoform.sym.state import initial_state
from isoform.sym.step import Temps, read, step
from isoform.sym.world import World

INVALID = "(no instruction)"
_PLACES = 33
_FUEL = 3
_EDGES = (0, 1, 2, 3, 4, 0x7FFF_FFFE, 0x7FFF_FFFF, 0x8000_0000, 0x8000_0001, 0xFFFF_FFFE, 0xFFFF_FFFF)
_DATA = 0x2000
_DATA_SIZE = 0x100
_OUTSIDE = "jump outside the program"


@dataclass(frozen=True)
class Case:
    """One instruction, where it stands, and the state before it."""

    image: Image
    address: int
    registers: Mapping[str, int]


@dataclass(frozen=True)
class SmallMachine:
    machine: Machine
    forms: tuple[str, ...]
    draw: Callable[[str, random.Random], Case]
    interpret: Callable[[Image, int, Mapping[str, int]], Stepped]


@dataclass
class SmallReport:
    form: str
    states: int = 0
    disagreements: list[str] = field(default_factory=list)
    """The first few."""


def check_small(name: str, states: int, seed: int, only: Sequence[str] = ()) -> Iterator[SmallReport]:
    small = SMALL_MACHINES[name]
    for form in small.forms:
        if only and form.lower() not in only:
            continue
        report = SmallReport(form)
        rng = random.Random(f"{seed} {name} {form}")
        for _ in range(states):
            case = small.draw(form, rng)
            report.states += 1
            found = disagreement(small, case)
            if found and len(report.disagreements) < 3:
                report.disagreements.append(found)
        yield report


def disagreement(small: SmallMachine, case: Case) -> str:
    """The first thing on which we differ from the interpreter; empty if there is none."""
    wanted = small.interpret(case.image, case.address, case.registers)
    instruction = small.machine.decode(case.image.code_at(case.address), case.address)
    shown = f"{instruction.text} at {case.address:#x}"
    found = _against_runner(small.machine, case, wanted) or _against_step(small.machine, instruction, case, wanted)
    return f"{shown}: {found}" if found else ""


# The compiled runner


def _against_runner(machine: Machine, case: Case, wanted: Stepped) -> str:
    link = machine.convention.return_address
    assert link is not None
    home = case.registers[link]
    free = replace(machine, initial={link: home})
    function = control_flow_graph(case.image, free, "one", case.address)
    options = RunOptions(fuel=_FUEL, trace=True)
    outcome = run(compile_function(function), Inputs(dict(case.registers)), options)
    if outcome.status is Status.UNSUPPORTED and _writes_code(case.image, wanted):
        return ""
    if wanted.fault:
        agrees = outcome.status is Status.ABORTED and outcome.reason == wanted.fault
        return "" if agrees else f"runner: {outcome.status.name} '{outcome.reason}', is '{wanted.fault}'"
    return _control(case, wanted, outcome, home) or _values("runner", wanted, outcome.registers, outcome.writes, case)


def _writes_code(image: Image, wanted: Stepped) -> bool:
    return any((s := image.section_at(address)) is not None and s.executable for address in wanted.memory)


def _control(case: Case, wanted: Stepped, outcome: Outcome, home: int) -> str:
    """Whether control went where it should: home, to another instruction, or out of the program."""
    target = wanted.next_address
    if target is None or target == home:
        return "" if outcome.status is Status.DONE else f"runner: {outcome.status.name}, is back at the caller"
    inside = case.image.code_at(target) and target % 4 == 0
    if not inside:
        agrees = outcome.status is Status.ABORTED and outcome.reason == _OUTSIDE
        return "" if agrees else f"runner: {outcome.status.name} '{outcome.reason}', is out at {target:#x}"
    went = outcome.trace[1] if len(outcome.trace) > 1 else None
    return "" if went == target else f"runner: goes on at {went}, is {target}"


# The symbolic step


def _against_step(machine: Machine, instruction: Instruction, case: Case, wanted: Stepped) -> str:
    terms = Terms()
    free = replace(machine, initial={})
    side = Side(World(terms, Contract(free, None, SignatureSource.MACHINE, (), ())), case.image, "a")
    state, temps = initial_state(side), Temps()
    aborts: list[tuple[Term, str]] = []
    jumps: list[tuple[Term, Term]] = []
    for op in instruction.ops:
        if op.kind is Kind.ABORT:
            aborts.append((terms.condition(read(state, temps, op.ins[0])), ABORT_REASONS[op.ins[1].offset]))
        elif op.kind is Kind.CBRANCH:
            jumps.append((terms.condition(read(state, temps, op.ins[1])), read(state, temps, op.ins[0])))
        elif op.kind in (Kind.BRANCH, Kind.BRANCHIND, Kind.CALLIND, Kind.RETURN):
            jumps.append((terms.true, read(state, temps, op.ins[0])))
        else:
            step(state, temps, op)
    fixed = [
        terms.eq(terms.variable(name, 8 * machine.registers[name].size), terms.bv(v, 8 * machine.registers[name].size))
        for name, v in case.registers.items()
    ]
    solver = Solver(terms, Budget(60))
    if solver.check(fixed) is not Answer.SAT:
        return "symbolic step: no model"
    fault = next((reason for condition, reason in aborts if solver.holds(condition)), "")
    if fault or wanted.fault:
        return "" if fault == wanted.fault else f"symbolic step: fault '{fault}' is '{wanted.fault}'"
    target = next((solver.value(to) for condition, to in jumps if solver.holds(condition)), instruction.next_address)
    returned = any(op.kind is Kind.RETURN for op in instruction.ops) and wanted.next_address is None
    if not returned and target != wanted.next_address:
        return f"symbolic step: goes on at {target:#x}, is {wanted.next_address}"
    registers = {name: solver.value(state.container_named(name)) for name in case.registers}
    stored = {at: solver.value(state.load(terms.bv(at, side.width), 1)) for at in wanted.memory}
    return _values("symbolic step", wanted, registers, stored, case)


# What both are held to


def _values(who: str, wanted: Stepped, registers: Mapping[str, int], stored: Mapping[int, int], case: Case) -> str:
    for name in case.registers:
        if registers[name] != wanted.registers[name]:
            return f"{who}: {name} {registers[name]:#x} is {wanted.registers[name]:#x}"
    for address in wanted.memory.keys() | stored.keys():
        before = _byte_before(case.image, address)
        mine, theirs = (cells.get(address, before) for cells in (stored, wanted.memory))
        if mine != theirs:
            return f"{who}: byte at {address:#x} {mine:#x} is {theirs:#x}"
    return ""


def _byte_before(image: Image, address: int) -> int:
    section = image.section_at(address)
    return section.data[address - section.address] if section is not None else 0


# Drawing


def _number(rng: random.Random) -> int:
    return rng.choice(_EDGES) if rng.random() < 0.5 else rng.getrandbits(32)


def _image(name: str, code: bytes, data: bytes = b"") -> Image:
    sections = [Section(".text", 0, code, len(code), True, True)]
    if data:
        sections.append(Section(".data", _DATA, data, len(data), True, False))
    return Image(f"one.{name}", name, tuple(sections), ())


def _toy_case(form: str, rng: random.Random) -> Case:
    place = rng.randrange(1, _PLACES - 1)
    offset = rng.choice((0, rng.randrange(-place - 1, _PLACES - place - 1)))  # the lifter refuses others
    jumps = form in toy.OPERATIONS and "o" in toy.OPERATIONS[form].operands
    immediate = offset if jumps else _number(rng)
    if form == INVALID:
        code = bytes([rng.choice((0, 16, 255, rng.randrange(256))), rng.randrange(8), rng.choice((4, 255))]) + bytes(5)
    else:
        code = toy.encode(form, rng.randrange(4), rng.randrange(4), immediate)
    around = toy.encode("JMP", immediate=-1)
    registers = {f"r{n}": _number(rng) for n in range(4)}
    if rng.random() < 0.3:
        registers["r1"] = registers["r0"]
    whole = around * place + code + around * (_PLACES - place - 1)
    ends = {"out": _number(rng), "ra": toy.MACHINE.initial["ra"]}
    return Case(_image("toy", whole), place * toy.INSTRUCTION_BYTES, registers | ends)


def _cs241_case(form: str, rng: random.Random) -> Case:
    place = rng.randrange(4, _PLACES - 4)
    address = place * cs241.WORD_BYTES
    registers = {f"${n}": _number(rng) for n in range(32)} | {"$0": 0, "hi": _number(rng), "lo": _number(rng)}
    numbers = {letter: rng.choice((0, 1, 2, 3, 30, 31, rng.randrange(32))) for letter in "dst"}
    immediate = rng.choice((0, 4, -4, rng.randrange(-0x8000, 0x8000)))
    if form in ("lw", "sw"):
        _aim(registers, numbers["s"], immediate, rng)
    elif form in ("beq", "bne"):
        immediate = rng.randrange(-place - 3, _PLACES - place + 3)
        if rng.random() < 0.5 and numbers["t"]:
            registers[f"${numbers['t']}"] = registers[f"${numbers['s']}"]
    elif form in ("jr", "jalr") and numbers["s"]:
        registers[f"${numbers['s']}"] = rng.choice((4 * rng.randrange(_PLACES), rng.randrange(200), _number(rng)))
    fields = numbers | {"i": immediate & 0xFFFF}
    words = [_self_loop()] * _PLACES
    words[place] = _random_invalid(rng) if form == INVALID else _encoded(form, fields)
    if form == "lis":
        words[place + 1] = _number(rng)
    code = b"".join(word.to_bytes(4, "big") for word in words)
    return Case(_image("cs241", code, rng.randbytes(_DATA_SIZE)), address, registers)


def _aim(registers: dict[str, int], base: int, immediate: int, rng: random.Random) -> None:
    """Lets most addresses be ones that can be used, some just not."""
    inside = _DATA + 4 * rng.randrange(_DATA_SIZE // 4)
    edges = (cs241.MEMORY_SIZE - 4, cs241.MEMORY_SIZE, 0x8000, inside + rng.randrange(4), _number(rng))
    target = inside if rng.random() < 0.6 else rng.choice(edges)
    if base:
        registers[f"${base}"] = (target - immediate) % (1 << 32)


def _encoded(form: str, fields: Mapping[str, int]) -> int:
    operation = cs241.OPERATIONS[form]
    return operation.word | sum(fields[letter] << cs241.FIELD_SHIFTS[letter] for letter in operation.operands)


def _self_loop() -> int:
    return _encoded("beq", {"s": 0, "t": 0, "i": 0xFFFF})


def _random_invalid(rng: random.Random) -> int:
    while True:
        word = rng.choice((rng.getrandbits(32), cs241.OPERATIONS["add"].word | 1 << rng.randrange(32)))
        if cs241.operation_name(word) is None:
            return word


SMALL_MACHINES: Mapping[str, SmallMachine] = {
    "toy": SmallMachine(toy.MACHINE, (*toy.OPERATIONS, INVALID), _toy_case, toy_interpreter.execute_one),
    "cs241": SmallMachine(cs241.MACHINE, (*cs241.OPERATIONS, INVALID), _cs241_case, cs241_interpreter.execute_one),
}
"""One more machine with a plain interpreter is one more entry."""
