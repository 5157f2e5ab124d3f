"""The family `memory`: structures with other layouts. Every pair has a twin for which there is no adaptor, and what
must never be called equal is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from isoform import api
from isoform.adapt.adapt import AdaptOptions
from isoform.borders.question import Options
from isoform.model.adaptor import AdaptorFound, AdaptorUnknown, Answered, Emit, Family, NoAdaptor
from isoform.model.errors import UserError

TYPES = """
struct ab { int a, b; };
struct ba { long b, a; };
struct other { unsigned short second, first; };
struct narrow { signed char a; short b; };
struct wide { char tag; long b; int a; };
struct v4 { int v[4]; };
struct w4 { long v[4]; };
struct gaps { short v0; int pad0; short v1; int pad1; };
struct v2 { short v[2]; };
struct inner { int x; struct { int y, z; } in; };
struct flat { long z, y, x; };
struct f2 { float u; int n; };
struct nf { long n; float u; };
"""

PAIRS = {
    "other order and width": (
        "int f(struct ab *p) { return p->a - p->b; }",
        "int g(struct ba *q) { return (int)(q->a - q->b); }",
        "q = &{b = sext64(p->b), a = sext64(p->a)}",
        "int g(struct ba *q) { return (int)(q->a - q->b) | 1; }",
    ),
    "other names": (
        "int f(struct ab *p) { return (unsigned short)p->a - 2 * (unsigned short)p->b; }",
        "int g(struct other *q) { return q->first - 2 * q->second; }",
        "q = &{second = trunc16(p->b), first = trunc16(p->a)}",
        "int g(struct other *q) { return q->first - 3 * q->second; }",
    ),
    "narrow members": (
        "int f(struct narrow *p) { return p->a * p->b; }",
        "long g(struct wide *q) { return q->a * q->b; }",
        "q = &{tag = p->a, b = sext64(p->b), a = sext32(p->a)}, return trunc32(result)",
        "long g(struct wide *q) { return q->a * q->b + 1; }",
    ),
    "parameters as a structure": (
        "int f(int x, int y) { return x * y + x; }",
        "int g(struct { int y, x; } *p) { return p->x * p->y + p->x; }",
        "p = &{y = y, x = x}",
        "int g(struct { int y, x; } *p) { return p->x * p->y - p->x; }",
    ),
    "a structure as parameters": (
        "int f(struct ab *p) { return p->a ^ (p->b << 3); }",
        "int g(int b, int a) { return a ^ (b << 3); }",
        "b = p->b, a = p->a",
        "int g(int b, int a) { return a ^ (b << 2); }",
    ),
    "an array with wider elements": (
        "int f(struct v4 *p) { int s = 0; for (int i = 0; i < 4; i++) s += p->v[i] * (i + 1); return s; }",
        "int g(struct w4 *p) { long s = 0; for (int i = 0; i < 4; i++) s += p->v[i] * (i + 1); return (int)s; }",
        "p = &{v[0] = sext64(p->v[0]), v[1] = sext64(p->v[1]), v[2] = sext64(p->v[2]), v[3] = sext64(p->v[3])}",
        "int g(struct w4 *p) { long s = 0; for (int i = 0; i < 4; i++) s += p->v[i] * (i + 2); return (int)s; }",
    ),
    "another stride": (
        "int f(struct gaps *p) { return p->v0 - p->v1; }",
        "int g(struct v2 *q) { return q->v[0] - q->v[1]; }",
        "q = &{v[0] = p->v0, v[1] = p->v1}",
        "int g(struct v2 *q) { return q->v[0] * q->v[1] + 7; }",
    ),
    "a structure inside": (
        "int f(struct inner *p) { return p->x + 2 * p->in.y + 3 * p->in.z; }",
        "int g(struct flat *q) { return (int)(q->x + 2 * q->y + 3 * q->z); }",
        "q = &{z = sext64(p->in.z), y = sext64(p->in.y), x = sext64(p->x)}",
        "int g(struct flat *q) { return (int)(q->x + 2 * q->y + 4 * q->z); }",
    ),
    "with a float": (
        "float f(struct f2 *p) { return p->u + (float)p->n; }",
        "float g(struct nf *q) { return q->u + (float)(int)q->n; }",
        "q = &{n = sext64(p->n), u = p->u}",
        "float g(struct nf *q) { return q->u - (float)(int)q->n; }",
    ),
    "a result behind a pointer": (
        "void f(int *out, int v) { *out = v + 1; }",
        "void g(long v, long *where) { *where = v + 1; }",
        "v = sext64(v), where = &{*where = sext64(*out); *out = *where}",
        "void g(long v, long *where) { *where = v + 2; }",
    ),
    "members swapped in place": (
        "void f(struct ab *p) { int t = p->a; p->a = p->b; p->b = t; }",
        "void g(struct ba *q) { long t = q->a; q->a = q->b; q->b = t; }",
        "q = &{b = sext64(p->b), a = sext64(p->a); p->b = b, p->a = a}",
        "void g(struct ba *q) { q->a = q->b; }",
    ),
    "one member written": (
        "int f(struct ab *p) { return p->a += p->b; }",
        "int g(struct ba *q) { return (int)(q->a += q->b); }",
        "q = &{b = sext64(p->b), a = sext64(p->a); p->a = a}",
        "int g(struct ba *q) { q->b += q->a; return (int)(q->a + 5); }",
    ),
    "two pointers": (
        "int f(struct ab *p, int *q) { return p->a - *q; }",
        "int g(long *n, struct ba *s, int unused) { return (int)(s->a - *n); }",
        "n = &{*n = sext64(*q)}, s = &{b = sext64(p->b), a = sext64(p->a)}",
        "int g(long *n, struct ba *s) { return (int)(s->a - *n) | 1; }",
    ),
}


def asked(folder: Path, target: str, rewrite: str, emit: Emit | None = None, assume: tuple[str, ...] = ()) -> Answered:
    (folder / "f.c").write_text(TYPES + target)
    (folder / "g.c").write_text(TYPES + rewrite)
    how = AdaptOptions(families=(Family.MEMORY,))
    options = Options(budget=30, assume=assume)
    return api.adapt(f"{folder}/f.c:f", f"{folder}/g.c:g", options, how, emit=emit)


@pytest.mark.parametrize("name", PAIRS)
def test_adaptor(name: str, tmp_path: Path) -> None:
    answer = asked(tmp_path, PAIRS[name][0], PAIRS[name][1])
    assert isinstance(answer, AdaptorFound), answer
    assert str(answer.adaptor) == PAIRS[name][2]


@pytest.mark.parametrize("name", PAIRS)
def test_broken_twin(name: str, tmp_path: Path) -> None:
    assert isinstance(asked(tmp_path, PAIRS[name][0], PAIRS[name][3]), NoAdaptor)


@pytest.mark.parametrize("name", ["members swapped in place", "with a float", "a structure as parameters"])
def test_c(name: str, tmp_path: Path) -> None:
    answer = asked(tmp_path, PAIRS[name][0], PAIRS[name][1], Emit.C)
    assert isinstance(answer, AdaptorFound), answer
    assert "g_adapted" in answer.emitted


# -- what must not be called equal ------------------------------------------------------------------

SET = "void f(int *out, int v) { *out = v + 1; }"
KEEPING = {
    "in a variable": "long *kept; void g(long v, long *where) { kept = where; *where = v + 1; }",
    "in the structure": "void g(long v, long *where) { *where = (long)where; }",
    "in the result": "long *f(struct ab *p) { return (long *)(long)p->a; }",
}


@pytest.mark.parametrize("how", ["in a variable", "in the structure"])
def test_an_address_of_the_frame_that_is_kept(how: str, tmp_path: Path) -> None:
    assert not isinstance(asked(tmp_path, SET, KEEPING[how]), AdaptorFound)


def test_an_address_of_the_frame_that_is_returned(tmp_path: Path) -> None:
    rewrite = "long *g(struct ba *q) { return &q->a; }"
    assert not isinstance(asked(tmp_path, KEEPING["in the result"], rewrite), AdaptorFound)


def test_members_that_another_pointer_may_reach(tmp_path: Path) -> None:
    """Where q points into the structure, the target sees what it wrote there; a copy does not change."""
    target = "int f(struct ab *p, int *q) { *q = 7; return p->a + p->b; }"
    rewrite = "int g(struct ba *p, int *q) { *q = 7; return (int)(p->a + p->b); }"
    assert not isinstance(asked(tmp_path, target, rewrite), AdaptorFound)


def test_a_null_pointer_is_not_copied_from(tmp_path: Path) -> None:
    target = "int f(struct ab *p) { return p ? p->a - p->b : -1; }"
    rewrite = "int g(struct ba *q) { return (int)(q->a - q->b); }"
    answer = asked(tmp_path, target, rewrite)
    assert isinstance(answer, AdaptorUnknown)
    assert "accepts a null p" in answer.why
    assert isinstance(asked(tmp_path, target, rewrite, assume=("p != 0",)), AdaptorFound)


def test_without_known_members(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="what pointers point to"):
        asked(tmp_path, "int f(int a) { return a; }", "int g(long a) { return (int)a; }")


def test_the_assumption_is_listed(tmp_path: Path) -> None:
    answer = asked(tmp_path, *PAIRS["other order and width"][:2])
    assert "whole-objects" in [assumption.name for assumption in answer.assumptions]
