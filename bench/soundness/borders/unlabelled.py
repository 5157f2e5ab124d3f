"""Code without debug information, and assembly: what is passed and given back is found by the registers used."""

from __future__ import annotations

from random import Random

from soundness.borders.case import Case
from soundness.borders.harness import calls, outside, prototype, whole
from soundness.borders.kinds import DOUBLE, FLOAT, INT, LONG, Kind, Kinds, scalar

_FLOATS = (
    ("return x + @1.0@;", "2.0"),
    ("return x * y - @y@;", "x"),
    ("return x < y ? @x@ : y;", "y"),
    ("*p = x + @1@; return y;", "2"),
    ("return n + x + @1@;", "2"),
    ("return -(@x@);", "y"),
    ("return n > 5 ? x : @y@;", "y + 1"),
    ("return g(x) + @1@;", "2"),
    ("return g(x + @1@);", "2"),
    ("*p = n; return @x@;", "x + 1"),
)


def floats(random: Random) -> Case:
    """Floating-point parameters and results without debug information."""
    body, other = random.choice(_FLOATS)
    kind = random.choice((FLOAT, DOUBLE))
    differs = random.random() < 0.6
    start, value, end = body.split("@")
    left, right = (
        f"{kind.name} g({kind.name});\n"
        f"{kind.name} f({kind.name} x, {kind.name} y, int n, {kind.name} *p) {{ {start}{v}{end} }}\n"
        for v in (value, other if differs else value)
    )
    inputs = [kind, kind, INT]
    driver = calls(kind, inputs, shown=f"record_{kind.identifier}(f(a0, a1, a2, ({kind.name} *)memory));")
    text = outside("g", kind, [kind]) + f"{kind.name} f({kind.name}, {kind.name}, int, {kind.name} *);\n"
    change = "planted" if differs else "another level"
    case = Case("floats without debug information", left, right, not differs, f"{change}: {body}", "", debug=False)
    harness = whole([*inputs, INT], text + driver)
    options: tuple[str, ...] = ()
    if random.random() < 0.3:
        options = ("--signature", f"{kind.name} f({kind.name} x, {kind.name} y, int n, {kind.name} *p)")
    return Case(case.topic, left, right, case.same, case.change, harness, options=options, debug=False)


def without_debug(random: Random) -> Case:
    """Numbers of all kinds, and a callee of which nothing is known."""
    kinds = Kinds(random)
    inputs = [kinds.number() for _ in range(random.choice((1, 2, 3, 5)))]
    # A floating-point number that does not fit an integer is undefined as one.
    floating = [kind for kind in inputs if kind.name in ("float", "double")]
    result: Kind = floating[0] if floating else kinds.number()
    at = random.randrange(len(inputs))
    parameters = ", ".join(f"{k.name} a{n}" for n, k in enumerate(inputs))
    differs = random.random() < 0.6
    names = [f"a{n}" for n in range(len(inputs))]
    total = " + ".join(names)
    stored = f"({total} > 3)" if floating else total
    forms = (
        (f"return {total};", f"return {total} + 1;"),
        (f"return {total};", f"return a{at} == 77 ? 3 : {total};"),
        (f"return h({names[at]}) + {total};", f"return h({names[at]} + 1) + {total};"),
        (f"return h({names[at]}) + {total};", f"return h({names[at]}) + {total} + 1;"),
        (f"memory[0] = {stored}; return a{at};", f"memory[0] = {stored}; return a{at} + 1;"),
        (f"memory[0] = {stored}; return a{at};", f"memory[0] = {stored} + 1; return a{at};"),
        (f"if (h({names[at]})) return 1; return a{at};", f"if (h({names[at]})) return 0; return a{at};"),
    )
    one, other = random.choice(forms)
    head = f"extern int memory[64];\nint h({inputs[at].name});\n"
    left, right = (f"{head}{result.name} f({parameters}) {{ {body} }}\n" for body in (one, other if differs else one))
    harness = whole(
        [INT, result, *inputs], outside("h", INT, [inputs[at]]) + prototype(result, inputs) + calls(result, inputs)
    )
    options: tuple[str, ...] = ()
    if random.random() < 0.5:
        options = ("--signature", f"{result.name} f({parameters})")
    change = "planted" if differs else "another level"
    return Case(
        "without debug information", left, right, not differs, f"{change}: {one}", harness, options=options, debug=False
    )


_ASSEMBLY = """
    .intel_syntax noprefix
    .text
    .globl f
{typed}f:
{lines}
{helpers}
    .section .note.GNU-stack,"",@progbits
"""
_SIGNATURE = "long f(long x, int y, int *p)"
_LINES: tuple[tuple[str, str, str], ...] = (
    ("lea rax, [rdi+1]; ret", "mov rax, rdi; inc rax; ret", "lea rax, [rdi+2]; ret"),
    ("sub rsp, 8; call g; add rsp, 8; ret", "jmp g", "sub rsp, 8; inc rdi; call g; add rsp, 8; ret"),
    ("sub rsp, 8; call own; add rsp, 8; ret", "jmp own", "sub rsp, 8; call own; inc rax; add rsp, 8; ret"),
    ("movsxd rax, esi; ret", "mov eax, esi; cdqe; ret", "mov eax, esi; ret"),
    ("mov [rdx], esi; mov eax, 1; ret", "mov eax, 1; mov [rdx], esi; ret", "mov [rdx], rsi; mov eax, 1; ret"),
    (
        "push rbx; mov rbx, rdi; call g; add rax, rbx; pop rbx; ret",
        "push rdi; call g; pop rdi; add rax, rdi; ret",
        "mov rbx, rdi; sub rsp, 8; call g; add rsp, 8; add rax, rbx; ret",
    ),
    ("sub rsp, 8; call [rip+g@GOTPCREL]; add rsp, 8; ret", "jmp [rip+g@GOTPCREL]", "jmp [rip+k@GOTPCREL]"),
    ("lea rax, [rip+own]; sub rsp, 8; call rax; add rsp, 8; ret", "jmp own", "lea rax, [rip+own]; inc rdi; jmp rax"),
    (
        "mov eax, [rip+counter]; inc dword ptr [rip+counter]; cdqe; ret",
        "mov ecx, [rip+counter]; lea eax, [rcx+1]; mov [rip+counter], eax; movsxd rax, ecx; ret",
        "mov eax, [rip+counter]; add dword ptr [rip+counter], 2; cdqe; ret",
    ),
    (
        "test edi, edi; je 1f; call die; 1: mov rax, rdi; ret",
        "test edi, edi; je 1f; jmp die; 1: mov rax, rdi; ret",
        "test edi, edi; je 1f; inc edi; call die; 1: mov rax, rdi; ret",
    ),
)


def assembly(random: Random) -> Case:
    """Written by hand: symbols with and without a type, tail calls, calls through the table of offsets."""
    one, same, other = random.choice(_LINES)
    differs = random.random() < 0.5
    typed = random.choice(("", "    .type f, @function\n"))
    own_typed = random.choice(("", "    .type own, @function\n"))
    helpers = (
        f"{own_typed}own:\n    lea rax, [rdi+rdi*2]\n    ret\n    .data\n    .globl counter\ncounter:\n    .long 5\n"
        "    .text\n"
    )

    def text(lines: str) -> str:
        shown = "\n".join(f"    {line.strip()}" for line in lines.split(";"))
        return _ASSEMBLY.format(typed=typed, lines=shown, helpers=helpers)

    harness = whole(
        [INT, LONG],
        outside("g", LONG, [LONG, INT])
        + outside("k", LONG, [LONG, INT])
        + "__attribute__((noreturn)) void die(int x) { record(99); record(x); __builtin_longjmp(escape_, 1); }\n"
        + "long f(long, int, int *);\n"
        + calls(
            LONG,
            [LONG, INT],
            shown='word b; __asm__ volatile("mov %%rbx, %0" : "=r"(b)); record_long(f(a0, a1, memory));'
            ' word c; __asm__ volatile("mov %%rbx, %0" : "=r"(c)); record(b == c);',
        ),
    )
    change = f"{'planted' if differs else 'other instructions'}: {one}"
    return Case(
        "assembly",
        text(one),
        text(other if differs else same),
        not differs,
        change,
        harness,
        options=("--signature", _SIGNATURE),
        suffix=".s",
        debug=False,
        violates_stripped=("calls-agree",)
        if "die" in one and not differs
        else (),  # nothing says that die does not return
    )


_FRAMES = (
    ("char t[@100@]; use(t, sizeof t); return t[x & 63];", "101"),
    ("char t[1600000]; t[x & 0xfffff] = @1@; use(t, 3); return t[5];", "2"),
    ("int l = x; use((char *)&l, @4@); return l;", "5"),
    ("int a = x, b = @y@; use((char *)&a, 1); use((char *)&b, 2); return a + b;", "x"),
    ("char *t = __builtin_alloca((x & 31) + 1); use(t, @x@); return t[0];", "y"),
    ("struct { char c; int i; } s; s.c = x; s.i = @y@; use((char *)&s.i, 4); return s.c;", "y + 1"),
    ("int t[16]; for (int i = 0; i < 16; i++) t[i] = x + i; use((char *)t, 64); return t[@y & 15@];", "y & 7"),
    ("int t[(x & 7) + 1]; t[0] = @y@; use((char *)t, 4); return t[0];", "x"),
    ("int l = x, *p = &l; kept = y ? p : 0; use((char *)&l, 4); kept = 0; return l + @1@;", "2"),
)


def frames(random: Random) -> Case:
    body, other = random.choice(_FRAMES)
    differs = random.random() < 0.5
    start, value, end = body.split("@")
    head = "void use(char *, int); extern int *kept;\n"
    left, right = (f"{head}int f(int x, int y) {{ {start}{v}{end} }}\n" for v in (value, other if differs else value))
    text = (
        "int *kept; void use(char *p, int n) { record(n); if (n == 4 || n == 64) for (int i = 0; i < n; i++)"
        " record(p[i]); depend(); p[0] = drawn(); clobber(); }\nint f(int, int);\n"
    )
    filled = "100" in body or "alloca" in body
    harness = "" if filled else whole([INT, scalar("char *")], text + calls(INT, [INT, INT], rounds=40))
    change = f"{'planted' if differs else 'another level'}: {body}"
    return Case("frames", left, right, not differs, change, harness, differs=differs and filled)
