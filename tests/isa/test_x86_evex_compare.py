"""Whole questions about AVX-512 code: proofs hold, and a difference that no CPU model can confirm is `unknown`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import isoform
from isoform.borders.question import Options
from isoform.model.verdict import Equivalent, Unknown, Verdict

pytestmark = pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")), reason="no compiler here")

_ZEROS = {
    "avx2": """
        vpxor xmm1, xmm1, xmm1
        vpcmpeqb ymm0, ymm1, [rdi]
        vpmovmskb eax, ymm0
        vzeroupper
    """,
    "testnm": """
        vmovdqu64 ymm17, [rdi]
        vptestnmb k1, ymm17, ymm17
        kmovd eax, k1
    """,
    "compared": """
        vpxorq ymm31, ymm31, ymm31
        vpcmpub k3, ymm31, [rdi], 0
        kmovd eax, k3
    """,
    "other": """
        vmovdqu64 ymm17, [rdi]
        vptestmb k1, ymm17, ymm17
        kmovd eax, k1
    """,
}
_CHOICE = {
    "plain": """
        mov eax, edi
        cmp edi, esi
        cmovb eax, esi
    """,
    "masked": """
        vpbroadcastd xmm16, edi
        vpbroadcastd xmm17, esi
        vpcmpud k2, xmm16, xmm17, 1
        vmovdqa32 xmm16{k2}, xmm17
        vmovd eax, xmm16
    """,
    "ternary": """
        vmovd xmm0, edi
        vmovd xmm1, esi
        vpmaxud xmm20, xmm0, xmm1
        vpternlogd xmm2, xmm20, xmm20, 0xcc
        vmovd eax, xmm2
    """,
    "zeroed": """
        vpbroadcastd xmm16, edi
        vpbroadcastd xmm17, esi
        vpcmpud k2, xmm16, xmm17, 1
        vmovdqa32 xmm16{k2}{z}, xmm17
        vmovd eax, xmm16
    """,
}


def _compare(folder: Path, bodies: dict[str, str], target: str, rewrite: str, signature: str) -> Verdict:
    path = folder / "code.s"
    text = [".intel_syntax noprefix", ".text"]
    for name, body in bodies.items():
        text += [f".globl {name}", f".type {name}, @function", f"{name}:", body, "ret", f".size {name}, . - {name}"]
    path.write_text("\n".join([*text, '.section .note.GNU-stack,"",@progbits', ""]))
    return isoform.compare(f"{path}:{target}", f"{path}:{rewrite}", Options(signature=signature))


@pytest.mark.parametrize("rewrite", ["testnm", "compared"])
def test_masks_compute_what_avx2_does(tmp_path: Path, rewrite: str) -> None:
    verdict = _compare(tmp_path, _ZEROS, "avx2", rewrite, "int f(char *p)")
    assert isinstance(verdict, Equivalent), verdict


@pytest.mark.parametrize("rewrite", ["masked", "ternary"])
def test_masked_moves_compute_what_general_registers_do(tmp_path: Path, rewrite: str) -> None:
    verdict = _compare(tmp_path, _CHOICE, "plain", rewrite, "unsigned f(unsigned x, unsigned y)")
    assert isinstance(verdict, Equivalent), verdict


@pytest.mark.parametrize(
    ("bodies", "target", "rewrite", "signature"),
    [
        (_ZEROS, "avx2", "other", "int f(char *p)"),
        (_CHOICE, "plain", "zeroed", "unsigned f(unsigned x, unsigned y)"),
    ],
)
def test_a_difference_that_no_cpu_model_confirms_is_unknown(
    tmp_path: Path, bodies: dict[str, str], target: str, rewrite: str, signature: str
) -> None:
    verdict = _compare(tmp_path, bodies, target, rewrite, signature)
    assert isinstance(verdict, Unknown), verdict
    assert "unicorn" in str(verdict), verdict
