"""The floating-point instructions of SSE to SSE4.1 and AVX, one opcode a line, as in `x86_vector_forms`."""

from __future__ import annotations

_ARITHMETIC = {"ADD": "58", "MUL": "59", "SUB": "5c", "MIN": "5d", "DIV": "5e", "MAX": "5f"}
_TYPES = {"PS": "", "PD": "66", "SS": "f3", "SD": "f2"}
_MEMORY = {"PS": "x", "PD": "x", "SS": "d", "SD": "q"}

_LINES = """
SXY SQRTPS 0f51 /r Vx,Wx
SXY SQRTPD 660f51 /r Vx,Wx
SX SQRTSS f30f51 /r Vx,Hx,Wd
SX SQRTSD f20f51 /r Vx,Hx,Wq
SX UCOMISS 0f2e /r Vx,Wd
SX UCOMISD 660f2e /r Vx,Wq
SX COMISS 0f2f /r Vx,Wd
SX COMISD 660f2f /r Vx,Wq
SX CVTSI2SS f30f2a /r Vx,Hx,Ed
SXW CVTSI2SS f30f2a /r Vx,Hx,Eq
SX CVTSI2SD f20f2a /r Vx,Hx,Ed
SXW CVTSI2SD f20f2a /r Vx,Hx,Eq
SX CVTTSS2SI f30f2c /r Gd,Wd
SXW CVTTSS2SI f30f2c /r Gq,Wd
SX CVTTSD2SI f20f2c /r Gd,Wq
SXW CVTTSD2SI f20f2c /r Gq,Wq
SX CVTSS2SI f30f2d /r Gd,Wd
SXW CVTSS2SI f30f2d /r Gq,Wd
SX CVTSD2SI f20f2d /r Gd,Wq
SXW CVTSD2SI f20f2d /r Gq,Wq
SX CVTSS2SD f30f5a /r Vx,Hx,Wd
SX CVTSD2SS f20f5a /r Vx,Hx,Wq
SX CVTPS2PD 0f5a /r Vx,Wq
Y CVTPS2PD 0f5a /r Vx,Wdq
SXY CVTPD2PS 660f5a /r Vx,Wx
SX CVTDQ2PD f30fe6 /r Vx,Wq
Y CVTDQ2PD f30fe6 /r Vx,Wdq
SXY CVTDQ2PS 0f5b /r Vx,Wx
SXY CVTPS2DQ 660f5b /r Vx,Wx
SXY CVTTPS2DQ f30f5b /r Vx,Wx
SXY CVTPD2DQ f20fe6 /r Vx,Wx
SXY CVTTPD2DQ 660fe6 /r Vx,Wx
SXY ROUNDPS 660f3a08 /r Vx,Wx,Ib
SXY ROUNDPD 660f3a09 /r Vx,Wx,Ib
SX ROUNDSS 660f3a0a /r Vx,Hx,Wd,Ib
SX ROUNDSD 660f3a0b /r Vx,Hx,Wq,Ib
SXY HADDPS f20f7c /r Vx,Hx,Wx
SXY HADDPD 660f7c /r Vx,Hx,Wx
SXY HSUBPS f20f7d /r Vx,Hx,Wx
SXY HSUBPD 660f7d /r Vx,Hx,Wx
SXY ADDSUBPS f20fd0 /r Vx,Hx,Wx
SXY ADDSUBPD 660fd0 /r Vx,Hx,Wx
"""


def _generated() -> list[str]:
    lines = []
    for suffix, prefix in _TYPES.items():
        encodings = "SXY" if suffix.startswith("P") else "SX"
        memory = _MEMORY[suffix]
        for name, opcode in _ARITHMETIC.items():
            lines.append(f"{encodings} {name}{suffix} {prefix}0f{opcode} /r Vx,Hx,W{memory}")
        lines.append(f"{encodings} CMP{suffix} {prefix}0fc2 /r Vx,Hx,W{memory},Pb")
    return lines


FLOAT_LINES = (*_generated(), *_LINES.strip().splitlines())
FLOAT_MNEMONICS = frozenset(line.split()[1] for line in FLOAT_LINES)
