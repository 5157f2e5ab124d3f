"""Questions about functions whose callees are questions of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from isoform import compare

PARITY = """
#define OWN __attribute__((noinline))
OWN int odd(unsigned n);
OWN int even(unsigned n) { return n == 0 ? 1 : odd(n - 1); }
OWN int odd(unsigned n) { return n == 0 ? LAST : even(n - 1); }
int parity(unsigned n) { return even(n) + MORE; }
"""
SAME = ("-DLAST=0", "-DMORE=10")
BUILD = ("-O0", "-O1")


def verdict(tmp_path: Path, text: str, flags: tuple[str, ...], other: tuple[str, ...], name: str) -> str:
    source = tmp_path / "callees.c"
    source.write_text(text)
    found = compare(
        f"{source}:{name}",
        cc="gcc",
        cflags_a=" ".join((BUILD[0], *flags)),
        cflags_b=" ".join((BUILD[1], *other)),
        budget=8,
        explain="none",
    )
    assert ("callees-shown" in {one.name for one in found.assumptions}) == (found.word == "equivalent")
    return found.word


def test_callees_that_call_each_other(tmp_path: Path) -> None:
    assert verdict(tmp_path, PARITY, SAME, SAME, "parity") == "equivalent"


@pytest.mark.parametrize("other", [("-DLAST=7", "-DMORE=10"), ("-DLAST=0", "-DMORE=11")])
def test_one_of_them_differs(tmp_path: Path, other: tuple[str, ...]) -> None:
    """A callee, or the function itself. With the callees inlined, nothing is said of functions that call each other."""
    assert verdict(tmp_path, PARITY, SAME, other, "parity") in ("different", "unknown")


ENDLESS = """
#define OWN __attribute__((noinline))
OWN int g(int x);
OWN int f(int x) { return LAST ? g(x) : 5; }
OWN int g(int x) { return f(x); }
int start(int x) { return f(x) + g(x); }
"""


def test_one_side_does_not_end(tmp_path: Path) -> None:
    """Both would agree on every call that they make, if the first one did not end there."""
    assert verdict(tmp_path, ENDLESS, ("-DLAST=1",), ("-DLAST=0",), "start") != "equivalent"


UNALIGNED = """
#define OWN __attribute__((noinline))
OWN long low(long x) { long found = x; for (int i = 0; i < x; i++) found = found * 3 + i; __asm__(ASM); return found; }
long twice(long x) { return low(x) + 2 * low(x + 1); }
"""


def test_callees_that_tell_how_the_stack_is_aligned(tmp_path: Path) -> None:
    """gcc calls a function of the same file with a stack that is not aligned."""
    source = tmp_path / "callees.c"
    source.write_text(UNALIGNED.replace("ASM", '"mov %%rsp, %0\\n\\tand $8, %0" : "=r"(found)'))
    found = compare(f"{source}:twice", cc="gcc", cflags_a="-O0", cflags_b="-O2 -fno-ipa-ra", budget=10, explain="none")
    assert found.word != "equivalent"
