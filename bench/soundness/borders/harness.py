"""The C text that every harness starts with, and how outside functions and drivers are written."""

from __future__ import annotations

from collections.abc import Sequence

from soundness.borders.kinds import Kind, definitions, makers

ROUNDS = 160

RUNTIME = r"""
typedef unsigned long word;
word log_[1 << 16];
word log_length;
static word hash_ = 0x9e3779b97f4a7c15, state_ = 88172645463325252;
static void record(word value) {
    if (log_length < (1 << 16)) log_[log_length++] = value;
    hash_ = (hash_ ^ value) * 0x100000001b3; hash_ ^= hash_ >> 29;
}
static word next(void) { state_ ^= state_ << 13; state_ ^= state_ >> 7; state_ ^= state_ << 17; return state_; }
static const word edges[] = {0, 1, 2, 3, 5, 7, 77, 77, 100, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 0x7fffffff,
    0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000, -1, -2, -77, 4, 6, 8, 10};
static word drawn(void) {
    word r = next();
    if ((r & 7) < 5) return edges[(r >> 8) % (sizeof edges / sizeof *edges)];
    return next() >> ((r >> 16) & 63);
}
static double drawn_float(void) {
    static const double some[] = {0, 1, -1, 2, 3, 0.5, 77, 100, -0.25, 1e10, 1e-5, 5};
    word r = next();
    if (r & 1) return some[(r >> 8) % 12];
    return (double)(int)(r >> 20) / 8;
}
int memory[64];
static void fill_memory(void) { for (int i = 0; i < 64; i++) memory[i] = drawn(); }
static void record_memory(void) { for (int i = 0; i < 64; i++) record(memory[i]); }
/* What an outside function returns depends on all that was recorded; it leaves garbage in every scratch register. */
static void depend(void) { state_ = hash_ | 1; next(); }
static void clobber(void) {
    __asm__ volatile("mov $0x5a5a5a5a5a5a5a5a, %%rax\n mov %%rax, %%rcx\n mov %%rax, %%rdx\n mov %%rax, %%rsi\n"
        "mov %%rax, %%rdi\n mov %%rax, %%r8\n mov %%rax, %%r9\n mov %%rax, %%r10\n mov %%rax, %%r11\n"
        "movq %%rax, %%xmm0\n movq %%rax, %%xmm1\n movq %%rax, %%xmm2\n movq %%rax, %%xmm3\n movq %%rax, %%xmm4\n"
        "movq %%rax, %%xmm5\n movq %%rax, %%xmm6\n movq %%rax, %%xmm7\n movq %%rax, %%xmm15\n"
        : : : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
        "xmm5", "xmm6", "xmm7", "xmm15", "memory");
}
void *memcpy(void *to, const void *from, word n) {
    for (word i = 0; i < n; i++) ((char *)to)[i] = ((const char *)from)[i];
    return to; }
void *memmove(void *to, const void *from, word n) {
    if (to < from) return memcpy(to, from, n);
    while (n--) ((char *)to)[n] = ((const char *)from)[n];
    return to; }
void *memset(void *to, int c, word n) { for (word i = 0; i < n; i++) ((char *)to)[i] = c; return to; }
int memcmp(const void *a, const void *b, word n) { for (word i = 0; i < n; i++) {
    int d = ((const unsigned char *)a)[i] - ((const unsigned char *)b)[i]; if (d) return d; } return 0; }
__attribute__((weak)) word strlen(const char *p) { word n = 0; while (p[n]) n++; return n; }
void *escape_[5];
__attribute__((noreturn)) void __stack_chk_fail(void) { record(0xdead); __builtin_longjmp(escape_, 1); }
void drive(void);
__attribute__((noinline)) void finished(void) { __asm__ volatile("hlt"); }
void begin(void) { drive(); record(log_length); finished(); }
"""


def outside(name: str, result: Kind | None, arguments: Sequence[Kind], body: str = "", extra: str = "") -> str:
    """An outside function: records its number and arguments, changes what `body` says, and returns what that makes."""
    names = [f"a{n}" for n in range(len(arguments))]
    parameters = ", ".join(f"{k.name} {n}" for k, n in zip(arguments, names, strict=True)) or "void"
    kept = " ".join(f"record_{k.identifier}({n});" for k, n in zip(arguments, names, strict=True))
    back = f"{result.name} r = make_{result.identifier}(); clobber(); return r;" if result else "clobber();"
    kind = result.name if result else "void"
    number = sum(ord(c) << (5 * i) for i, c in enumerate(name)) & 0xFFFFFFFF
    return f"{extra}{kind} {name}({parameters}) {{ record({number}u); {kept} {body} depend(); {back} }}\n"


def calls(
    result: Kind | None,
    arguments: Sequence[Kind],
    function: str = "f",
    before: str = "",
    after: str = "",
    rounds: int = ROUNDS,
    shown: str = "",
) -> str:
    """A driver that calls the function often on drawn arguments and records what it gives and leaves in memory."""
    names = [f"a{n}" for n in range(len(arguments))]
    made = " ".join(f"{k.name} {n} = make_{k.identifier}();" for k, n in zip(arguments, names, strict=True))
    call = f"{function}({', '.join(names)})"
    kept = shown or (f"record_{result.identifier}({call});" if result else f"{call};")
    return (
        f"void drive(void) {{ for (int round = 0; round < {rounds}; round++) {{\n"
        f"    state_ = (round + 1) * 0x9e3779b97f4a7c15; next(); next(); fill_memory(); {made}\n"
        f"    if (__builtin_setjmp(escape_) == 0) {{ {before} {kept} {after} }} record_memory();\n}} }}\n"
    )


def prototype(result: Kind | None, arguments: Sequence[Kind], function: str = "f") -> str:
    kind = result.name if result else "void"
    return f"{kind} {function}({', '.join(k.name for k in arguments) or 'void'});\n"


def whole(kinds: Sequence[Kind], text: str) -> str:
    """A harness: the runtime, the types, and the text that uses them."""
    return RUNTIME + definitions(list(kinds)) + makers(list(kinds)) + text
