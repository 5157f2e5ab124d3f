"""Which instructions fault at an address that is not aligned, as the manual says."""

from __future__ import annotations

import pytest

from isoform.isa.x86_64.machine import MACHINE


@pytest.mark.parametrize(
    ("code", "bytes_"),
    [
        ("0f 29 44 24 e8", 16),  # movaps [rsp-24], xmm0
        ("0f 11 44 24 e8", 1),  # movups [rsp-24], xmm0
        ("0f 28 c1", 1),  # movaps xmm0, xmm1
        ("0f 58 04 24", 16),  # addps xmm0, [rsp]
        ("c5 f8 58 04 24", 1),  # vaddps xmm0, xmm0, [rsp]
        ("f2 0f 10 04 24", 1),  # movsd xmm0, [rsp]
        ("f2 0f f0 04 24", 1),  # lddqu xmm0, [rsp]
        ("66 0f 3a 63 04 24 00", 1),  # pcmpistri xmm0, [rsp], 0
        ("66 0f e7 04 24", 16),  # movntdq [rsp], xmm0
        ("c5 fc 28 04 24", 32),  # vmovaps ymm0, [rsp]
        ("c5 fd 7f 04 24", 32),  # vmovdqa [rsp], ymm0
        ("62 f1 fd 48 6f 04 24", 64),  # vmovdqa64 zmm0, [rsp]
        ("62 f1 fe 48 6f 04 24", 1),  # vmovdqu64 zmm0, [rsp]
        ("48 0f c7 0c 24", 16),  # cmpxchg16b [rsp]
        ("48 8b 04 24", 1),  # mov rax, [rsp]
    ],
)
def test_alignment(code: str, bytes_: int) -> None:
    assert MACHINE.alignment(MACHINE.decode(bytes.fromhex(code), 0x1000)) == bytes_
