"""What a system call reads: the arguments of the service, in the widths in which the kernel takes them."""

from __future__ import annotations

import pytest

import isoform

SIGNATURE = "long f(int pid, int sig)"
KILL = """
    movl $62, %eax
    syscall
    ret
"""
WITH_LEFTOVERS = """
    movslq %edi, %rdi
    movl %esi, %esi
    leal 7(%rdi), %edx
    xorl %r10d, %r10d
    movl $62, %eax
    syscall
    ret
"""
OTHER_SIGNAL = """
    movzbl %sil, %esi
    movl $62, %eax
    syscall
    ret
"""
UNLISTED = """
    movl $999, %eax
    syscall
    ret
"""
UNLISTED_WITH_LEFTOVERS = """
    leal 7(%rdi), %edx
    movl $999, %eax
    syscall
    ret
"""


@pytest.mark.parametrize(
    ("target", "rewrite", "verdict"),
    [
        (KILL, WITH_LEFTOVERS, "equivalent"),
        # The independent model cannot run a system call: a difference stays unconfirmed.
        (KILL, OTHER_SIGNAL, "unknown"),
        (UNLISTED, UNLISTED, "equivalent"),
        (UNLISTED, UNLISTED_WITH_LEFTOVERS, "unknown"),
    ],
    ids=["leftovers", "another-argument", "unlisted", "unlisted-leftovers"],
)
def test_leftovers_in_other_registers_do_not_count(target: str, rewrite: str, verdict: str) -> None:
    sides = [isoform.code(text, signature=SIGNATURE) for text in (target, rewrite)]
    assert isoform.compare(sides[0], sides[1], budget=5, explain="none", engine="loopfree").verdict == verdict
