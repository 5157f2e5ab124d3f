"""The general-purpose instructions of x86-64, one opcode a line, in the notation of `encoding`."""

from __future__ import annotations

_ALU = ("ADD", "OR", "ADC", "SBB", "AND", "SUB", "XOR", "CMP")
_SHIFTS = {0: "ROL", 1: "ROR", 2: "RCL", 3: "RCR", 4: "SHL", 5: "SHR", 7: "SAR"}
_CONDITIONS = ("O", "NO", "B", "AE", "E", "NE", "BE", "A", "S", "NS", "P", "NP", "L", "GE", "LE", "G")


def _alu() -> list[str]:
    lines = []
    for number, name in enumerate(_ALU):
        first = 8 * number
        lines += [
            f"{name} {first:02x} /r Eb,Gb",
            f"{name} {first + 1:02x} /r Ev,Gv",
            f"{name} {first + 2:02x} /r Gb,Eb",
            f"{name} {first + 3:02x} /r Gv,Ev",
            f"{name} {first + 4:02x} - Ib",
            f"{name} {first + 5:02x} - Iz",
            f"{name} 80 /{number} Eb,Ib",
            f"{name} 81 /{number} Ev,Iz",
            f"{name} 83 /{number} Ev,Ib",
        ]
    return lines


def _shift_group() -> list[str]:
    lines = []
    for number, name in _SHIFTS.items():
        lines += [
            f"{name} d0 /{number} Eb",
            f"{name} d1 /{number} Ev",
            f"{name} d2 /{number} Eb",
            f"{name} d3 /{number} Ev",
            f"{name} c0 /{number} Eb,Ib",
            f"{name} c1 /{number} Ev,Ib",
        ]
    return lines


def _conditional() -> list[str]:
    lines = []
    for number, name in enumerate(_CONDITIONS):
        lines += [
            f"SET{name} 0f{0x90 + number:02x} /0 Eb",
            f"CMOV{name} 0f{0x40 + number:02x} /r Gv,Ev",
            f"J{name} {0x70 + number:02x} - Jb",
            f"J{name} 0f{0x80 + number:02x} - Jd",
        ]
    return lines


_LINES = """
MOV 88 /r Eb,Gb
MOV 89 /r Ev,Gv
MOV 8a /r Gb,Eb
MOV 8b /r Gv,Ev
MOV b0 + Gb,Ib
MOV b8 + Gv,Iv
MOV c6 /0 Eb,Ib
MOV c7 /0 Ev,Iz
MOVABS a0 - Ob
MOVABS a1 - Ov
MOVABS a2 - Ob
MOVABS a3 - Ov
MOVZX 0fb6 /r Gv,Eb
MOVZX 0fb7 /r Gy,Ew
MOVSX 0fbe /r Gv,Eb
MOVSX 0fbf /r Gy,Ew
MOVSXD 63 /r Gy,Ed
LEA 8d /r Gv,Mv
XCHG 86 /r Eb,Gb
XCHG 87 /r Ev,Gv
XCHG 90 + Gv
BSWAP 0fc8 + Gy
MOVBE 0f38f0 /r Gv,Mv
MOVBE 0f38f1 /r Mv,Gv
MOVNTI 0fc3 /r My,Gy
XLATB d7 - -
CBW 6698 - -
CWDE 98 - -
CDQE 4898 - -
CWD 6699 - -
CDQ 99 - -
CQO 4899 - -
INC fe /0 Eb
INC ff /0 Ev
DEC fe /1 Eb
DEC ff /1 Ev
NOT f6 /2 Eb
NOT f7 /2 Ev
NEG f6 /3 Eb
NEG f7 /3 Ev
MUL f6 /4 Eb
MUL f7 /4 Ev
IMUL f6 /5 Eb
IMUL f7 /5 Ev
IMUL 0faf /r Gv,Ev
IMUL 6b /r Gv,Ev,Ib
IMUL 69 /r Gv,Ev,Iz
DIV f6 /6 Eb
DIV f7 /6 Ev
IDIV f6 /7 Eb
IDIV f7 /7 Ev
TEST 84 /r Eb,Gb
TEST 85 /r Ev,Gv
TEST a8 - Ib
TEST a9 - Iz
TEST f6 /0 Eb,Ib
TEST f7 /0 Ev,Iz
XADD 0fc0 /r Eb,Gb
XADD 0fc1 /r Ev,Gv
CMPXCHG 0fb0 /r Eb,Gb
CMPXCHG 0fb1 /r Ev,Gv
CMPXCHG8B 0fc7 /1 Mq
CMPXCHG16B 0fc7 /1 Mdq
ADCX 660f38f6 /r Gy,Ey
ADOX f30f38f6 /r Gy,Ey
SHLD 0fa4 /r Ev,Gv,Ib
SHLD 0fa5 /r Ev,Gv
SHRD 0fac /r Ev,Gv,Ib
SHRD 0fad /r Ev,Gv
BSF 0fbc /r Gv,Ev
BSR 0fbd /r Gv,Ev
TZCNT f30fbc /r Gv,Ev
LZCNT f30fbd /r Gv,Ev
POPCNT f30fb8 /r Gv,Ev
BT 0fa3 /r Ev,Gv
BTS 0fab /r Ev,Gv
BTR 0fb3 /r Ev,Gv
BTC 0fbb /r Ev,Gv
BT 0fba /4 Ev,Ib
BTS 0fba /5 Ev,Ib
BTR 0fba /6 Ev,Ib
BTC 0fba /7 Ev,Ib
CRC32 f20f38f0 /r Gy,Eb
CRC32 f20f38f1 /r Gd,Ev
PUSH 50 + Gq
PUSH ff /6 Eq
PUSH 6a - Ib
PUSH 68 - Id
PUSH 666a - Ib
PUSH 6668 - Iw
PUSH 66ff /6 Ew
PUSH 54 - -
POP 5c - -
POP 58 + Gq
POP 8f /0 Eq
POP 668f /0 Ew
LEAVE c9 - -
ENTER c8 - Zw,Zb
LAHF 9f - -
SAHF 9e - -
PUSHFQ 9c - -
CLC f8 - -
STC f9 - -
CMC f5 - -
CLD fc - -
STD fd - -
NOP 90 - -
NOP 0f1f /0 Ed
NOP 660f1f /0 Ew
PAUSE f390 - -
ENDBR64 f30f1efa - -
PREFETCHT0 0f18 /1 Mb
PREFETCHW 0f0d /1 Mb
LFENCE 0faee8 - -
MFENCE 0faef0 - -
SFENCE 0faef8 - -
JMP eb - Jb
JMP e9 - Jd
JMP ff /4 Eq
CALL e8 - Jd
CALL ff /2 Eq
RET c3 - -
RET c2 - Zw
JRCXZ e3 - Jb
JECXZ 67e3 - Jb
LOOP e2 - Jb
LOOPE e1 - Jb
LOOPNE e0 - Jb
UD2 0f0b - -
INT3 cc - -
"""

_VEX_LINES = """
ANDN 0f38f2 /r Gy,By,Ey
BEXTR 0f38f7 /r Gy,Ey,By
BLSI 0f38f3 /3 By,Ey
BLSMSK 0f38f3 /2 By,Ey
BLSR 0f38f3 /1 By,Ey
BZHI 0f38f5 /r Gy,Ey,By
MULX f20f38f6 /r Gy,By,Ey
PDEP f20f38f5 /r Gy,By,Ey
PEXT f30f38f5 /r Gy,By,Ey
RORX f20f3af0 /r Gy,Ey,Ib
SARX f30f38f7 /r Gy,Ey,By
SHLX 660f38f7 /r Gy,Ey,By
SHRX f20f38f7 /r Gy,Ey,By
"""

_STRINGS = {"MOVS": 0xA4, "CMPS": 0xA6, "STOS": 0xAA, "LODS": 0xAC, "SCAS": 0xAE}


def _strings() -> list[str]:
    """A prefix before the opcode repeats it."""
    lines = []
    for name, opcode in _STRINGS.items():
        repeats = ("", "f3", "f2") if name in ("CMPS", "SCAS") else ("", "f3")
        for suffix, prefix, wide in (("B", "", 0), ("W", "66", 1), ("D", "", 1), ("Q", "48", 1)):
            lines += [f"{name}{suffix} {repeat}{prefix}{opcode + wide:02x} - -" for repeat in repeats]
    return lines


GENERAL_LINES = (*_alu(), *_shift_group(), *_conditional(), *_LINES.strip().splitlines(), *_strings())
VEX_GENERAL_LINES = tuple(_VEX_LINES.strip().splitlines())
LOCKED = frozenset(
    {"ADD", "OR", "ADC", "SBB", "AND", "SUB", "XOR", "INC", "DEC", "NOT", "NEG", "XADD", "CMPXCHG", "CMPXCHG8B"}
    | {"CMPXCHG16B", "BTS", "BTR", "BTC", "XCHG"}
)
"""Instructions that take a `lock` prefix when their target is memory."""
BRANCHES = frozenset(
    {"JMP", "CALL", "RET", "JRCXZ", "JECXZ", "LOOP", "LOOPE", "LOOPNE", *(f"J{c}" for c in _CONDITIONS)}
)
