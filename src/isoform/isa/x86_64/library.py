"""Library functions that a few instructions compute, each as the code of such a function.

Arguments and results are where the System V convention has them, and only scratch registers are written. The code has
no branches, so that it can replace a call. A real library may compute the same in another way.
"""

from __future__ import annotations

from collections.abc import Mapping

_ROUNDED = {"floor": 0x09, "ceil": 0x0A, "trunc": 0x0B, "rint": 0x04, "nearbyint": 0x0C, "roundeven": 0x08}
"""The immediate of ROUNDSD: the direction, and whether an inexact result is signalled."""


def _rounding() -> Mapping[str, str]:
    doubles = {name: f"660f3a0bc0{mode:02x}" for name, mode in _ROUNDED.items()}
    return doubles | {f"{name}f": f"660f3a0ac0{mode:02x}" for name, mode in _ROUNDED.items()}


# fmt: off
_CODE = {
    "sqrt": "f20f51c0",                                    # sqrtsd xmm0, xmm0
    "sqrtf": "f30f51c0",                                   # sqrtss xmm0, xmm0
    **_rounding(),                                         # roundsd xmm0, xmm0, mode
    "lrint": "f2480f2dc0",                                 # cvtsd2si rax, xmm0
    "lrintf": "f3480f2dc0",                                # cvtss2si rax, xmm0
    "fabs": "48b8ffffffffffffff7f" "66480f6ec8" "660f54c1",  # mov rax, ~sign; movq xmm1, rax; andpd xmm0, xmm1
    "fabsf": "b8ffffff7f" "660f6ec8" "0f54c1",             # mov eax, ~sign; movd xmm1, eax; andps xmm0, xmm1
    # mov rax, ~sign; movq xmm2, rax; andpd xmm0, xmm2; andnpd xmm2, xmm1; orpd xmm0, xmm2
    "copysign": "48b8ffffffffffffff7f" "66480f6ed0" "660f54c2" "660f55d1" "660f56c2",
    "copysignf": "b8ffffff7f" "660f6ed0" "0f54c2" "0f55d1" "0f56c2",
    "abs": "89f8" "f7d8" "0f48c7",                         # mov eax, edi; neg eax; cmovs eax, edi
    **dict.fromkeys(("labs", "llabs", "imaxabs"), "4889f8" "48f7d8" "480f48c7"),
    # mov ecx, -1; bsf eax, edi; cmovz eax, ecx; add eax, 1
    "ffs": "b9ffffffff" "0fbcc7" "0f44c1" "83c001",
    **dict.fromkeys(("ffsl", "ffsll"), "48c7c1ffffffff" "480fbcc7" "480f44c1" "83c001"),
    "__popcountsi2": "f30fb8c7",                           # popcnt eax, edi
    "__popcountdi2": "f3480fb8c7",                         # popcnt rax, rdi
    "__bswapsi2": "89f8" "0fc8",                           # mov eax, edi; bswap eax
    "__bswapdi2": "4889f8" "480fc8",
    **dict.fromkeys(("htonl", "ntohl"), "89f8" "0fc8"),
    **dict.fromkeys(("htons", "ntohs"), "0fb7c7" "66c1c808" "0fb7c0"),  # movzx eax, di; ror ax, 8; movzx eax, ax
    "toascii": "89f8" "83e07f",                            # mov eax, edi; and eax, 127
    "isascii": "31c0" "f7c780ffffff" "0f94c0",             # xor eax, eax; test edi, -128; sete al
}
# fmt: on

LIBRARY: Mapping[str, bytes] = {name: bytes.fromhex(code) for name, code in _CODE.items()}
