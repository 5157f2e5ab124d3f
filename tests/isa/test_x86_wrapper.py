"""The machine code of wrappers computes what `model.expression` defines: on isoform's runner and on an independent CPU
model."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

import pytest
from unicorn import UC_ARCH_X86, UC_MODE_64, Uc
from unicorn import x86_const as registers

from assembled import ZIG, source
from isoform.adapt.pair import Pair, pair_of
from isoform.borders.question import Options
from isoform.borders.settle import settle
from isoform.engines.answer import lifted
from isoform.load.open import Loaded, open_pair
from isoform.model.adaptor import Adaptor
from isoform.model.budget import Budget
from isoform.model.expression import (
    Change,
    Conversion,
    Expression,
    Operation,
    Operator,
    evaluate,
)
from isoform.model.outcome import Inputs, Status
from isoform.model.placement import put_argument
from isoform.run.compile import compile_function
from isoform.run.runner import RunOptions, run
from made_expressions import boundary, random_expression

WIDTHS = (8, 16, 32, 64)
TYPES = {8: "unsigned char", 16: "unsigned short", 32: "unsigned int", 64: "unsigned long"}
STACK, RETURN = 0x7FFF_0000_0000, 0x1000
ARGUMENTS = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")
STACK_SUM = "; ".join(
    [
        "lea rax, [rdi + 2*rsi]",
        "lea rax, [rax + 4*rdx]",
        "lea rax, [rax + 8*rcx]",
        *(f"imul r10, {r}, {n}; add rax, r10" for r, n in (("r8", 16), ("r9", 32))),
        *("movsx r10, byte ptr [rsp + 8]; imul r10, r10, 64; add rax, r10",),
        *("mov r10, [rsp + 16]; imul r10, r10, 128; add rax, r10", "ret"),
    ]
)
"""A function of eight parameters, the last two on the stack: a sum in which each has another weight."""


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    functions = {
        "target": "mov rax, rdi; ret",
        "identity": "mov rax, rdi; ret",
        "fifth": "mov rax, r8; ret",
        "stacked": STACK_SUM,
    }
    return source(tmp_path_factory.mktemp("wrapper"), functions)


def paired(code: Path, target: str, callee: str, rewrite: str) -> Pair:
    loaded = open_pair(f"{code}:target", f"{code}:{callee}", ZIG, ZIG)
    return pair_of(loaded, (target, rewrite), Budget(60))


def operands(bits: int, seed: str) -> Iterator[dict[str, int]]:
    chosen = random.Random(seed)
    for x, y in product(boundary(bits), repeat=2):
        yield {"x": x, "y": y}
    for _ in range(20):
        yield {"x": chosen.getrandbits(bits), "y": chosen.getrandbits(bits)}


# -- two ways to run a wrapper --------------------------------------------------------------------


class OnTheRunner:
    def __init__(self, wrapped: Loaded) -> None:
        function = lifted(wrapped, True, Budget(60))
        self._question = settle(function, function, Options())
        self._program = compile_function(function)

    def __call__(self, values: Mapping[str, int], seed: int) -> int:
        contract = self._question.contract
        chosen = random.Random(seed)
        given: dict[str, int] = {name: chosen.getrandbits(64) for name in ARGUMENTS}
        memory: dict[int, int] = {}
        for argument in contract.arguments:
            put_argument(contract.machine, argument, values[argument.name], given, memory, chosen.getrandbits(64))
        options = RunOptions(stack_argument_bytes=contract.stack_argument_bytes)
        outcome = run(self._program, Inputs(given, memory), options, self._question.callees)
        assert outcome.status is Status.DONE
        return contract.result_value(outcome) or 0


class OnUnicorn:
    """Nothing of isoform but where the code is: arguments are put as the ABI says."""

    def __init__(self, wrapped: Loaded, widths: Sequence[int], result: int) -> None:
        self._cpu = Uc(UC_ARCH_X86, UC_MODE_64)
        self._at, self._widths, self._mask = wrapped.symbol.address, widths, (1 << result) - 1
        for start in (RETURN, STACK - 0x10000, STACK):
            self._cpu.mem_map(start, 0x10000 if start != RETURN else 0x1000)
        pages: set[int] = set()
        for section in wrapped.image.sections:
            if section.executable:
                pages.update(range(section.address & ~0xFFF, section.end, 0x1000))
        for page in pages:
            self._cpu.mem_map(page, 0x1000)
        for section in wrapped.image.sections:
            if section.executable:
                self._cpu.mem_write(section.address, bytes(section.data))

    def __call__(self, values: Mapping[str, int], seed: int) -> int:
        cpu, chosen = self._cpu, random.Random(seed)
        top = STACK + 8
        cpu.mem_write(top, RETURN.to_bytes(8, "little"))
        for number, (value, bits) in enumerate(zip(values.values(), self._widths, strict=True)):
            rubbish = chosen.getrandbits(64) >> max(bits, 32) << max(bits, 32)  # narrow ones are extended to 32 bits
            word = value | rubbish
            if number < len(ARGUMENTS):
                cpu.reg_write(getattr(registers, f"UC_X86_REG_{ARGUMENTS[number].upper()}"), word)
            else:
                cpu.mem_write(top + 8 + 8 * (number - len(ARGUMENTS)), word.to_bytes(8, "little"))
        cpu.reg_write(registers.UC_X86_REG_RSP, top)
        cpu.emu_start(self._at, RETURN, count=10_000)
        assert cpu.reg_read(registers.UC_X86_REG_RIP) == RETURN
        assert cpu.reg_read(registers.UC_X86_REG_RSP) == top + 8
        return int(cpu.reg_read(registers.UC_X86_REG_RAX)) & self._mask


def require_same(pair: Pair, expression: Expression, cases: Sequence[Mapping[str, int]]) -> None:
    """With the expression as the only argument of an identity."""
    wrapped = pair.adapted(Adaptor(((pair.signatures[1].parameters[0].name, expression),)))[1]
    widths = [p.type.bits for p in pair.signatures[0].parameters]
    ways = OnTheRunner(wrapped), OnUnicorn(wrapped, widths, pair.signatures[1].result.bits)
    for number, values in enumerate(cases):
        wanted = evaluate(expression, values)
        assert [way(values, number) for way in ways] == [wanted, wanted], (expression, values)


# -- every operator, every conversion ---------------------------------------------------------------


@pytest.mark.parametrize("bits", WIDTHS)
def test_every_operator(code: Path, bits: int) -> None:
    ctype = TYPES[bits]
    pair = paired(code, f"{ctype} target({ctype} x, {ctype} y)", "identity", f"{ctype} identity({ctype} v)")
    x, y = pair.parameters
    for operator in Operator:
        expression = Operation(operator, (x,) if operator.is_unary else (x, y))
        require_same(pair, expression, [*operands(bits, operator.name)])


@pytest.mark.parametrize("bits", WIDTHS)
def test_every_conversion(code: Path, bits: int) -> None:
    for wanted in WIDTHS:
        pair = paired(
            code,
            f"{TYPES[wanted]} target({TYPES[bits]} x, {TYPES[bits]} y)",
            "identity",
            f"{TYPES[wanted]} identity({TYPES[wanted]} v)",
        )
        changes = [Change.TRUTH]
        changes += [Change.SIGN_EXTENDED, Change.ZERO_EXTENDED] if wanted > bits else []
        changes += [Change.TRUNCATED] if wanted < bits else []
        for change in changes:
            cases = [{"x": x, "y": 0} for x in boundary(bits)]
            require_same(pair, Conversion(change, pair.parameters[0], wanted), cases)


def test_trees_whose_operands_wait(code: Path) -> None:
    """Operands on both sides that are themselves computed, four levels deep."""
    pair = paired(code, "unsigned target(unsigned x, unsigned y)", "identity", "unsigned identity(unsigned v)")
    chosen = random.Random(7)
    for _ in range(40):
        expression = random_expression(chosen, pair.parameters, 32, 4)
        cases = [{"x": chosen.getrandbits(32), "y": chosen.choice(boundary(32))} for _ in range(12)]
        require_same(pair, expression, cases)


# -- where arguments go -----------------------------------------------------------------------------


def test_arguments_in_registers_and_on_the_stack(code: Path) -> None:
    """Parameters of the target that are on the stack reach registers, and the other way round."""
    names = "abcdefgh"
    given = ", ".join(f"long {name}" for name in names)
    stacked = "long a, long b, long c, long d, long e, long f, signed char g, long h"
    pair = paired(code, f"long target({given})", "stacked", f"long stacked({stacked})")
    variables = {v.name: v for v in pair.parameters}
    order = "hgfedcba"
    passed = [variables[name] for name in order]
    narrow = Conversion(Change.TRUNCATED, variables["b"], 8)
    arguments: list[tuple[str, Expression]] = list(zip(names, passed, strict=True))
    arguments[6] = ("g", narrow)
    wrapped = pair.adapted(Adaptor(tuple(arguments)))[1]
    ways = OnTheRunner(wrapped), OnUnicorn(wrapped, [64] * 8, 64)
    chosen = random.Random(3)
    for number in range(60):
        values = {name: chosen.choice([chosen.getrandbits(64), *boundary(64)]) for name in names}
        weights = {name: 1 << place for place, name in enumerate(order)}
        total = sum(values[name] * weight for name, weight in weights.items() if name != "b")
        low = values["b"] & 0xFF
        wanted = (total + 64 * (low - 256 if low > 127 else low)) % (1 << 64)
        assert [way(values, number) for way in ways] == [wanted, wanted]


@pytest.mark.parametrize(("ctype", "bits"), [("signed char", 8), ("short", 16)])
@pytest.mark.parametrize("callee", ["identity", "fifth"])
def test_narrow_arguments_are_extended_with_their_sign(code: Path, ctype: str, bits: int, callee: str) -> None:
    """Callers extend narrow arguments to 32 bits, and code of some compilers relies on it: the callee here shows all 32
    bits of its argument."""
    before = "long a, long b, long c, long d, " if callee == "fifth" else ""
    pair = paired(code, f"int target({ctype} x, {ctype} y)", callee, f"int {callee}({before}{ctype} v)")
    x, y = pair.parameters
    wrapped = pair.adapted(Adaptor((("v", Operation(Operator.SUBTRACT, (x, y))),)))[1]
    ways = OnTheRunner(wrapped), OnUnicorn(wrapped, [bits, bits], 32)
    for number, values in enumerate(operands(bits, callee)):
        low = values["x"] - values["y"] & (1 << bits) - 1
        wanted = (low - (1 << bits) if low >> (bits - 1) else low) % (1 << 32)
        assert [way(values, number) for way in ways] == [wanted, wanted]


def test_floats_pass_through(code: Path, tmp_path: Path) -> None:
    """Their bits, whatever they are, in registers and on the stack."""
    path = source(tmp_path, {"target": "ret", "second": "movapd xmm0, xmm1; ret"})
    loaded = open_pair(f"{path}:target", f"{path}:second", ZIG, ZIG)
    parameters = ", ".join(f"double {name}" for name in "abcdefghij")
    said = f"double target({parameters})", "double second(double p, double q)"
    pair = pair_of(loaded, said, Budget(60))
    by_name = {v.name: v for v in pair.parameters}
    for name in "aj":
        wrapped = pair.adapted(Adaptor((("q", by_name[name]),)))[1]
        way = OnTheRunner(wrapped)
        for seed in range(5):
            values = {one: random.Random(f"{one}{seed}").getrandbits(64) for one in "abcdefghij"}
            assert way(values, seed) == values[name]
