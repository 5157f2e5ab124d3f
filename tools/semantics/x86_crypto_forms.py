"""AES, SHA and the string comparisons of SSE4.2, one opcode a line, as in `x86_vector_forms`."""

from __future__ import annotations

CRYPTO_LINES = tuple(
    """
SX AESENC 660f38dc /r Vx,Hx,Wx
SX AESENCLAST 660f38dd /r Vx,Hx,Wx
SX AESDEC 660f38de /r Vx,Hx,Wx
SX AESDECLAST 660f38df /r Vx,Hx,Wx
SX AESIMC 660f38db /r Vx,Wx
SX AESKEYGENASSIST 660f3adf /r Vx,Wx,Ib
S SHA1RNDS4 0f3acc /r Vx,Wx,Ib
S SHA1NEXTE 0f38c8 /r Vx,Wx
S SHA1MSG1 0f38c9 /r Vx,Wx
S SHA1MSG2 0f38ca /r Vx,Wx
S SHA256RNDS2 0f38cb /r Vx,Wx
S SHA256MSG1 0f38cc /r Vx,Wx
S SHA256MSG2 0f38cd /r Vx,Wx
""".strip().splitlines()
)
STRING_COMPARE_LINES = tuple(
    """
SX PCMPESTRM 660f3a60 /r Vx,Wx,Ib
SX PCMPESTRI 660f3a61 /r Vx,Wx,Ib
SX PCMPISTRM 660f3a62 /r Vx,Wx,Ib
SX PCMPISTRI 660f3a63 /r Vx,Wx,Ib
""".strip().splitlines()
)
