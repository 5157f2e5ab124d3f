"""Hand-made verdicts for the tests of the report."""

from __future__ import annotations

from isoform.lift.listing import view_of
from isoform.load.described import SourceLine
from isoform.load.image import Image
from isoform.model.contract import Argument, Contract, Place, Result, SignatureSource
from isoform.model.differences import Difference
from isoform.model.listing import View
from isoform.model.machine import Convention, Machine, MemoryLayout, registers_of
from isoform.model.microop import Instruction, Kind, MicroOp, code
from isoform.model.outcome import RETURN_ADDRESS, Inputs, Outcome, Status
from isoform.model.placement import Placement
from isoform.model.signature import CType, Parameter, Signature, TypeKind
from isoform.model.verdict import (
    Assumption,
    Bounded,
    Different,
    Equivalent,
    Obligation,
    Proof,
    Subject,
    Tried,
    Unknown,
    Witness,
)

INT = CType(TypeKind.INTEGER, 32, signed=True, spelling="int")
LONG = CType(TypeKind.INTEGER, 64, signed=True, spelling="long")
POINTER = CType(TypeKind.POINTER, 64, spelling="int *", pointee=INT)


def _no_decoder(code: bytes, address: int) -> Instruction:
    raise AssertionError("the report decodes nothing")


def _no_placement(signature: Signature) -> Placement:
    raise AssertionError("the report places nothing")


MACHINE = Machine(
    name="x86_64",
    title="x86-64",
    decode=_no_decoder,
    memory=MemoryLayout(address_bytes=8),
    convention=Convention(("rdi", "rsi"), ("rax",)),
    place=_no_placement,
    registers=registers_of(("rax", 0, 8), ("rdi", 8, 8), ("rsi", 16, 8), ("rbx", 24, 8), ("cf", 32, 1)),
    containers=("rax", "rdi", "rsi", "rbx", "cf"),
)
SIGNATURE = Signature("f", (Parameter("x", INT), Parameter("p", POINTER)), INT)
CONTRACT = Contract(
    machine=MACHINE,
    signature=SIGNATURE,
    source=SignatureSource.DWARF,
    arguments=(
        Argument("x", INT, (Place("rdi", 0, 4),)),
        Argument("p", POINTER, (Place("rsi", 0, 8),)),
    ),
    results=(Result("rax", 32),),
)
TARGET = Subject("abs.c", "branchy", "x86_64")
REWRITE = Subject("abs.c", "bithack", "x86_64")
ASSUMPTIONS = (
    Assumption("valid-memory", "every load and store of either function is to memory that it may use."),
    Assumption("private-frame", "no pointer among the inputs points into the stack frame of either function."),
)
TRIED = (
    Tried("testing", "ran 400 inputs on both and found no difference", 0.004),
    Tried("loopfree", "the formula has a model", 0.013),
)


def instructions(start: int, texts: list[str]) -> list[Instruction]:
    made = []
    for number, text in enumerate(texts):
        ops: tuple[MicroOp, ...] = ()
        if text.startswith(("j", "call")):
            ops = (MicroOp(Kind.BRANCH, None, (code(int(text.split()[-1], 16)),)),)
        made.append(Instruction(start + 4 * number, 4, text, ops))
    return made


SOURCE = ("int branchy(int x, int *p) {", "    if (x < 0)", "        x = -x;", "    return *p = x;", "}")
LEFT = ["mov eax,edi", "test edi,edi", "jns 0x401010", "neg eax", "mov dword ptr [rsi],eax", "ret"]
RIGHT = ["mov edx,edi", "sar edx,0x1f", "mov eax,edi", "xor eax,edx", "sub eax,edx", "mov dword ptr [rsi],0x5", "ret"]


def views() -> tuple[View, View]:
    lines = {0x401000: 1, 0x401004: 2, 0x40100C: 3, 0x401010: 4, 0x401014: 5}
    image = Image(
        "abs.c", "x86_64", (), (), lines={a: SourceLine("abs.c", n) for a, n in lines.items()}, source={"abs.c": SOURCE}
    )
    other = Image("abs.c", "x86_64", (), ())
    return (
        view_of(instructions(0x401000, LEFT), image, "abs.c:branchy"),
        view_of(instructions(0x402000, RIGHT), other, "abs.c:bithack"),
    )


def witness() -> Witness:
    done = {"status": Status.DONE, "return_target": RETURN_ADDRESS}
    return Witness(
        inputs=Inputs({"rdi": 0x80000000, "rsi": 0x1000}),
        arguments=(("x", 0x80000000), ("p", 0x1000), ("rbx", 2**63), ("cf", 1)),
        shown=(("x", "-2147483648 (0x80000000)"), ("p", "0x1000")),
        target=Outcome(
            **done,  # type: ignore[arg-type]
            registers={"rax": 0xFFFFFFFF80000000},
            writes={0x1000: 0, 0x1003: 0x80},
            trace=(0x401000, 0x401004, 0x401008, 0x401010, 0x401014),
        ),
        rewrite=Outcome(
            **done,  # type: ignore[arg-type]
            registers={"rax": 7},
            writes={0x1000: 5, 0x1001: 1},
            trace=tuple(range(0x402000, 0x40201C, 4)),
        ),
        differences=(
            Difference("return value", "-2147483648 (0x80000000)", "7"),
            Difference("memory byte at 0x1000", "0x00", "0x05"),
            Difference("memory byte at 0x1001", "unchanged", "0x01"),
            Difference("memory byte at 0x1003", "0x80", "unchanged"),
        ),
        replayed_on=("isoform's runner", "unicorn"),
        memory=((0x1000, bytes([1, 2, 0, 0])),),
    )


def different() -> Different:
    return Different(
        TARGET, REWRITE, CONTRACT, "loopfree", 0.0213, ASSUMPTIONS, TRIED, views=views(), witness=witness()
    )


def equivalent() -> Equivalent:
    proof = Proof(
        (
            Obligation("return-value", "both return the same 32 bits", 0.011),
            Obligation("memory", "both leave the same memory", 0.002),
        ),
        certificate="proofs/abs",
    )
    return Equivalent(TARGET, REWRITE, CONTRACT, "loopfree", 0.0213, ASSUMPTIONS, TRIED, views=views(), proof=proof)


def bounded() -> Bounded:
    return Bounded(
        TARGET,
        REWRITE,
        CONTRACT,
        "loopfree",
        1.5,
        ASSUMPTIONS,
        TRIED,
        bound={"unrollings": 8},
        why="loops were unrolled 8 times",
    )


def unknown() -> Unknown:
    why = "the instruction fsin at 0x401010 has no semantics here"
    return Unknown(TARGET, REWRITE, CONTRACT, "ladder", 60.0, (), TRIED, why=why, helps="a longer --budget")
