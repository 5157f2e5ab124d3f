"""The vector instructions of x86-64 without floating-point arithmetic, one opcode a line.

Each line starts with the encodings there are (see `forms`): S legacy, X VEX.128, Y VEX.256, W with the W bit.
"""

from __future__ import annotations

_BINARY = {
    # name: opcode after 66 0f
    **{"PUNPCKLBW": "60", "PUNPCKLWD": "61", "PUNPCKLDQ": "62", "PACKSSWB": "63", "PCMPGTB": "64", "PCMPGTW": "65"},
    **{"PCMPGTD": "66", "PACKUSWB": "67", "PUNPCKHBW": "68", "PUNPCKHWD": "69", "PUNPCKHDQ": "6a", "PACKSSDW": "6b"},
    **{"PUNPCKLQDQ": "6c", "PUNPCKHQDQ": "6d", "PCMPEQB": "74", "PCMPEQW": "75", "PCMPEQD": "76", "PADDQ": "d4"},
    **{"PMULLW": "d5", "PSUBUSB": "d8", "PSUBUSW": "d9", "PMINUB": "da", "PAND": "db", "PADDUSB": "dc"},
    **{"PADDUSW": "dd", "PMAXUB": "de", "PANDN": "df", "PAVGB": "e0", "PAVGW": "e3", "PMULHUW": "e4", "PMULHW": "e5"},
    **{"PSUBSB": "e8", "PSUBSW": "e9", "PMINSW": "ea", "POR": "eb", "PADDSB": "ec", "PADDSW": "ed", "PMAXSW": "ee"},
    **{"PXOR": "ef", "PMULUDQ": "f4", "PMADDWD": "f5", "PSADBW": "f6", "PSUBB": "f8", "PSUBW": "f9", "PSUBD": "fa"},
    **{"PSUBQ": "fb", "PADDB": "fc", "PADDW": "fd", "PADDD": "fe"},
    **{"PSHUFB": "3800", "PHADDW": "3801", "PHADDD": "3802", "PHADDSW": "3803", "PMADDUBSW": "3804"},
    **{"PHSUBW": "3805", "PHSUBD": "3806", "PHSUBSW": "3807", "PSIGNB": "3808", "PSIGNW": "3809", "PSIGND": "380a"},
    **{"PMULHRSW": "380b", "PMULDQ": "3828", "PCMPEQQ": "3829", "PACKUSDW": "382b", "PCMPGTQ": "3837"},
    **{"PMINSB": "3838", "PMINSD": "3839", "PMINUW": "383a", "PMINUD": "383b", "PMAXSB": "383c", "PMAXSD": "383d"},
    **{"PMAXUW": "383e", "PMAXUD": "383f", "PMULLD": "3840"},
    **{"UNPCKLPD": "14", "UNPCKHPD": "15", "ANDPD": "54", "ANDNPD": "55", "ORPD": "56", "XORPD": "57"},
}
_BINARY_PLAIN = {"UNPCKLPS": "14", "UNPCKHPS": "15", "ANDPS": "54", "ANDNPS": "55", "ORPS": "56", "XORPS": "57"}
_BINARY_IMMEDIATE = {"PBLENDW": "0e", "PALIGNR": "0f", "MPSADBW": "42", "BLENDPS": "0c", "BLENDPD": "0d"}
_UNARY = {"PABSB": "381c", "PABSW": "381d", "PABSD": "381e"}
_SHIFTS = {"PSRLW": ("d1", "71", 2), "PSRLD": ("d2", "72", 2), "PSRLQ": ("d3", "73", 2), "PSRAW": ("e1", "71", 4)} | {
    "PSRAD": ("e2", "72", 4),
    "PSLLW": ("f1", "71", 6),
    "PSLLD": ("f2", "72", 6),
    "PSLLQ": ("f3", "73", 6),
}
_EXTENSIONS = {"BW": (0, "q"), "BD": (1, "d"), "BQ": (2, "w"), "WD": (3, "q"), "WQ": (4, "d"), "DQ": (5, "q")}

_LINES = """
SXY PSRLDQ 660f73 /3 Hx,Ux,Ib
SXY PSLLDQ 660f73 /7 Hx,Ux,Ib
SXY PSHUFD 660f70 /r Vx,Wx,Ib
SXY PSHUFHW f30f70 /r Vx,Wx,Ib
SXY PSHUFLW f20f70 /r Vx,Wx,Ib
SXY SHUFPS 0fc6 /r Vx,Hx,Wx,Ib
SXY SHUFPD 660fc6 /r Vx,Hx,Wx,Ib
SX PCLMULQDQ 660f3a44 /r Vx,Hx,Wx,Ib
SX PHMINPOSUW 660f3841 /r Vx,Wx
SXY PTEST 660f3817 /r Vx,Wx
XY TESTPS 660f380e /r Vx,Wx
XY TESTPD 660f380f /r Vx,Wx
S PBLENDVB 660f3810 /r Vx,Wx
S BLENDVPS 660f3814 /r Vx,Wx
S BLENDVPD 660f3815 /r Vx,Wx
XY PBLENDVB 660f3a4c /r Vx,Hx,Wx,Lx
XY BLENDVPS 660f3a4a /r Vx,Hx,Wx,Lx
XY BLENDVPD 660f3a4b /r Vx,Hx,Wx,Lx
SXY MOVAPS 0f28 /r Vx,Wx
SXY MOVAPS 0f29 /r Wx,Vx
SXY MOVAPD 660f28 /r Vx,Wx
SXY MOVAPD 660f29 /r Wx,Vx
SXY MOVUPS 0f10 /r Vx,Wx
SXY MOVUPS 0f11 /r Wx,Vx
SXY MOVUPD 660f10 /r Vx,Wx
SXY MOVUPD 660f11 /r Wx,Vx
SXY MOVDQA 660f6f /r Vx,Wx
SXY MOVDQA 660f7f /r Wx,Vx
SXY MOVDQU f30f6f /r Vx,Wx
SXY MOVDQU f30f7f /r Wx,Vx
SXY LDDQU f20ff0 /r Vx,Mx
SXY MOVNTDQ 660fe7 /r Mx,Vx
SXY MOVNTPS 0f2b /r Mx,Vx
SXY MOVNTPD 660f2b /r Mx,Vx
SXY MOVNTDQA 660f382a /r Vx,Mx
SX MOVD 660f6e /r Vx,Ed
SX MOVD 660f7e /r Ed,Vx
SXW MOVQ 660f6e /r Vx,Eq
SXW MOVQ 660f7e /r Eq,Vx
SX MOVQ f30f7e /r Vx,Wq
SX MOVQ 660fd6 /r Wq,Vx
SX MOVLPS 0f12 /r Vx,Hx,Mq
SX MOVLPS 0f13 /r Mq,Vx
SX MOVHPS 0f16 /r Vx,Hx,Mq
SX MOVHPS 0f17 /r Mq,Vx
SX MOVLPD 660f12 /r Vx,Hx,Mq
SX MOVLPD 660f13 /r Mq,Vx
SX MOVHPD 660f16 /r Vx,Hx,Mq
SX MOVHPD 660f17 /r Mq,Vx
SX MOVHLPS 0f12 /r Vx,Hx,Ux
SX MOVLHPS 0f16 /r Vx,Hx,Ux
SX MOVSS f30f10 /r Vx,Hx,Ux
SX MOVSS f30f10 /r Vx,Md
SX MOVSS f30f11 /r Ux,Hx,Vx
SX MOVSS f30f11 /r Md,Vx
SX MOVSD f20f10 /r Vx,Hx,Ux
SX MOVSD f20f10 /r Vx,Mq
SX MOVSD f20f11 /r Ux,Hx,Vx
SX MOVSD f20f11 /r Mq,Vx
SXY MOVDDUP f20f12 /r Vx,Wx
SXY MOVSLDUP f30f12 /r Vx,Wx
SXY MOVSHDUP f30f16 /r Vx,Wx
SXY MOVMSKPS 0f50 /r Gd,Ux
SXY MOVMSKPD 660f50 /r Gd,Ux
SXY PMOVMSKB 660fd7 /r Gd,Ux
SX MASKMOVDQU 660ff7 /r Vx,Ux
SX PEXTRW 660fc5 /r Gd,Ux,Ib
SX PEXTRB 660f3a14 /r Ed,Vx,Ib
SX PEXTRW 660f3a15 /r Ed,Vx,Ib
SX PEXTRD 660f3a16 /r Ed,Vx,Ib
SXW PEXTRQ 660f3a16 /r Eq,Vx,Ib
SX EXTRACTPS 660f3a17 /r Ed,Vx,Ib
SX PINSRW 660fc4 /r Vx,Hx,Ed,Ib
SX PINSRB 660f3a20 /r Vx,Hx,Ed,Ib
SX PINSRD 660f3a22 /r Vx,Hx,Ed,Ib
SXW PINSRQ 660f3a22 /r Vx,Hx,Eq,Ib
SX INSERTPS 660f3a21 /r Vx,Hx,Wx,Ib
XY BROADCASTSS 660f3818 /r Vx,Wd
Y BROADCASTSD 660f3819 /r Vx,Wq
Y BROADCASTF128 660f381a /r Vx,Mdq
Y BROADCASTI128 660f385a /r Vx,Mdq
XY PBROADCASTB 660f3878 /r Vx,Wb
XY PBROADCASTW 660f3879 /r Vx,Ww
XY PBROADCASTD 660f3858 /r Vx,Wd
XY PBROADCASTQ 660f3859 /r Vx,Wq
Y EXTRACTF128 660f3a19 /r Wdq,Vx,Ib
Y EXTRACTI128 660f3a39 /r Wdq,Vx,Ib
Y INSERTF128 660f3a18 /r Vx,Hx,Wdq,Ib
Y INSERTI128 660f3a38 /r Vx,Hx,Wdq,Ib
Y PERM2F128 660f3a06 /r Vx,Hx,Wx,Ib
Y PERM2I128 660f3a46 /r Vx,Hx,Wx,Ib
YW PERMQ 660f3a00 /r Vx,Wx,Ib
YW PERMPD 660f3a01 /r Vx,Wx,Ib
Y PERMD 660f3836 /r Vx,Hx,Wx
Y PERMPS 660f3816 /r Vx,Hx,Wx
XY PERMILPS 660f380c /r Vx,Hx,Wx
XY PERMILPD 660f380d /r Vx,Hx,Wx
XY PERMILPS 660f3a04 /r Vx,Wx,Ib
XY PERMILPD 660f3a05 /r Vx,Wx,Ib
XY PBLENDD 660f3a02 /r Vx,Hx,Wx,Ib
XY PSLLVD 660f3847 /r Vx,Hx,Wx
XYW PSLLVQ 660f3847 /r Vx,Hx,Wx
XY PSRLVD 660f3845 /r Vx,Hx,Wx
XYW PSRLVQ 660f3845 /r Vx,Hx,Wx
XY PSRAVD 660f3846 /r Vx,Hx,Wx
XY PMASKMOVD 660f388c /r Vx,Hx,Mx
XYW PMASKMOVQ 660f388c /r Vx,Hx,Mx
XY PMASKMOVD 660f388e /r Mx,Hx,Vx
XYW PMASKMOVQ 660f388e /r Mx,Hx,Vx
XY MASKMOVPS 660f382c /r Vx,Hx,Mx
XY MASKMOVPD 660f382d /r Vx,Hx,Mx
XY MASKMOVPS 660f382e /r Mx,Hx,Vx
XY MASKMOVPD 660f382f /r Mx,Hx,Vx
X ZEROUPPER 0f77 - -
Y ZEROALL 0f77 - -
"""


def _generated() -> list[str]:
    lines = [f"SXY {name} 660f{opcode} /r Vx,Hx,Wx" for name, opcode in _BINARY.items()]
    lines += [f"SXY {name} 0f{opcode} /r Vx,Hx,Wx" for name, opcode in _BINARY_PLAIN.items()]
    lines += [f"SXY {name} 660f3a{opcode} /r Vx,Hx,Wx,Ib" for name, opcode in _BINARY_IMMEDIATE.items()]
    lines += [f"SXY {name} 660f{opcode} /r Vx,Wx" for name, opcode in _UNARY.items()]
    for name, (by_vector, by_immediate, digit) in _SHIFTS.items():
        lines += [f"SXY {name} 660f{by_vector} /r Vx,Hx,Wdq", f"SXY {name} 660f{by_immediate} /{digit} Hx,Ux,Ib"]
    for name, (number, width) in _EXTENSIONS.items():
        lines += [
            f"SXY PMOVSX{name} 660f382{number} /r Vx,W{width}",
            f"SXY PMOVZX{name} 660f383{number} /r Vx,W{width}",
        ]
    return lines


VECTOR_LINES = (*_generated(), *_LINES.strip().splitlines())
