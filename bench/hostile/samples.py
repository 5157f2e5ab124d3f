"""Valid files to damage: built once, by the compiler of the machine."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCE = r"""
typedef struct { int kind; unsigned short width; struct { long low, high; } range; } record;
enum color { red, green = 5, blue };
extern long outside(long, const char *);
extern int shared_counter;
static const unsigned table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
static int (*const steps[2])(int);
int total;
char buffer[64];
static __thread int thread_count;

static int twice(int x) { return x * 2; }
static int thrice(int x) { return x * 3; }
static int (*const steps[2])(int) = {twice, thrice};

int arithmetic(int x, int y) { return x * y + (x ^ 12345) - (y >> 3); }
unsigned lookup(unsigned i) { return table[i & 15] + table[(i >> 4) & 15]; }
int choose(int x) {
    switch (x) {
    case 0: return 17; case 1: return 4; case 2: return -9; case 3: return 33; case 4: return x * 5;
    case 5: return 21; case 6: return 8; case 7: return 1000; default: return x ^ 77;
    }
}
int loop(const unsigned char *p, unsigned n) {
    int s = 0;
    for (unsigned i = 0; i < n; i++) s = s * 31 + p[i];
    return s;
}
long call(long x) { return outside(x + 1, "some text") + 5; }
void store(int *p, record *r) { *p = r->kind + shared_counter; r->range.high = total; total += *p; }
int through(unsigned i, int x) { return steps[i & 1](x) + thread_count; }
double real(double a, float b) { return a * b + 2.5; }
enum color paint(enum color c) { return c == red ? blue : green; }
"""
SIGNATURES = {
    "arithmetic": "int f(int x, int y)",
    "lookup": "unsigned f(unsigned i)",
    "choose": "int f(int x)",
    "loop": "int f(const unsigned char *p, unsigned n)",
    "call": "long f(long x)",
    "store": "void f(int *p, int *r)",
    "through": "int f(unsigned i, int x)",
    "paint": "int f(int c)",
}
TWIN = r"""
extern unsigned long elsewhere(unsigned long);
int arithmetic(int x, int y) { return (x & 0x55) * 91 + (y | 3) * 77 + 424242; }
unsigned lookup(unsigned i) { return i * 2654435761u ^ 0xabcdef; }
int choose(int x) { return (x + 99) * (x - 1234567); }
int loop(const unsigned char *p, unsigned n) { return p[0] * 1717 + n * 31337 + 5; }
long call(long x) { return elsewhere(x * 77) ^ 0x1234567; }
void store(int *p, int *r) { p[3] = r[5] * 99 + 1; r[2] = 0x777; }
int through(unsigned i, int x) { return (int)(i * 1009) ^ (x * 3331) ^ 0x5a5a5a; }
int paint(int c) { return c * 111111 + 7; }
"""
"""Functions of the same names and kinds, far from those of SOURCE: no small damage makes one the other."""
CODE = "\t.text\n\t.globl f\n\t.type f, @function\nf:\n\t.skip {size}, 0xc3\n\t.size f, {size}\n"
CODE_SIZES = (16, 64, 256, 4096, 1 << 16, 1 << 20)
_BUILDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("o2.o", ("-O2", "-g", "-c")),
    ("o0.o", ("-O0", "-g", "-gdwarf-4", "-c")),
    ("pic.o", ("-O1", "-g", "-fPIC", "-ffunction-sections", "-fdata-sections", "-c")),
    ("lib.so", ("-O2", "-g", "-fPIC", "-shared", "-nostdlib")),
    ("relr.so", ("-O2", "-fPIC", "-shared", "-nostdlib", "-Wl,-z,now")),
    (
        "program",
        ("-O1", "-g", "-nostdlib", "-static", "-no-pie", "-Wl,-e,arithmetic", "-Wl,--unresolved-symbols=ignore-all"),
    ),
)


@dataclass(frozen=True)
class Samples:
    files: dict[str, bytes]
    """Objects, libraries and an executable, built from SOURCE."""
    twin: bytes
    """An object built from TWIN."""
    code: dict[int, bytes]
    """Objects with a function `f` of so many bytes."""


def build(folder: Path) -> Samples:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "source.c").write_text(SOURCE)
    (folder / "twin.c").write_text(TWIN)
    files = {name: _compile(folder, "source.c", name, flags) for name, flags in _BUILDS}
    code = {}
    for size in CODE_SIZES:
        (folder / f"code{size}.s").write_text(CODE.format(size=size))
        code[size] = _compile(folder, f"code{size}.s", f"code{size}.o", ("-c",))
    return Samples(files, _compile(folder, "twin.c", "twin.o", ("-O1", "-g", "-c")), code)


def _compile(folder: Path, source: str, name: str, flags: tuple[str, ...]) -> bytes:
    command = ["cc", *flags, "-fcf-protection=none", "-o", name, source]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return (folder / name).read_bytes()
