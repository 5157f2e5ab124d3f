"""Definitions that other files may replace: what rests on one being the one that is here says so."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from isoform import api
from isoform.borders.question import Options
from isoform.load.open import LoadOptions
from isoform.model.errors import UserError
from isoform.model.verdict import Bounded, Different, Equivalent, Unknown, Verdict

HELPER = """
HOW int helper(int x) { return x + 1; }
int f(int x) { return helper(x) * 2; }
"""
DIRECT = "int f(int x) { return (x + 1) * 2; }\n"
OTHER = "int f(int x) { return (x + 2) * 2; }\n"
WEAK = "__attribute__((weak))"
PROTOTYPE = Options(signature="int f(int x)")

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")


def built(folder: Path, source: str, *flags: str, name: str = "built.so") -> Path:
    text = folder / "source.c"
    text.write_text(source)
    subprocess.run(["gcc", "-O1", "-w", *flags, str(text), "-o", str(folder / name)], check=True)
    return folder / name


def names(verdict: Verdict) -> set[str]:
    return {a.name for a in verdict.assumptions}


def asked(folder: Path, path: Path, rewrite: str = DIRECT, level: str = "-O1") -> Verdict:
    other = folder / "other.c"
    other.write_text(rewrite)
    return api.compare(f"{path}:f", f"{other}:f", PROTOTYPE, LoadOptions(), LoadOptions(cflags=(level,)))


@pytest.mark.parametrize(
    ("how", "replaceable"),
    [
        ("__attribute__((noinline))", True),
        (WEAK, True),
        (f'{WEAK} __attribute__((visibility("hidden")))', True),
        ("static __attribute__((noinline))", False),
        ('__attribute__((noinline, visibility("hidden")))', False),
        ('__attribute__((noinline, visibility("protected")))', False),
    ],
)
def test_a_definition_in_an_object_file(tmp_path: Path, how: str, replaceable: bool) -> None:
    path = built(tmp_path, HELPER.replace("HOW", how), "-c", name="built.o")
    same, other = asked(tmp_path, path), asked(tmp_path, path, OTHER)
    assert isinstance(same, Equivalent)
    assert isinstance(other, Different)
    assert ("not-interposed" in names(same)) == ("not-interposed" in names(other)) == replaceable


@pytest.mark.parametrize(
    ("flags", "replaceable"),
    [
        (["-fPIC", "-shared"], True),
        (["-fPIC", "-shared", "-Wl,-Bsymbolic"], False),
        (["-fPIC", "-shared", "-fvisibility=hidden"], False),
        (["-fPIE", "-pie", "-Wl,-e,f", "-nostdlib"], False),
    ],
)
def test_a_definition_in_a_linked_file(tmp_path: Path, flags: list[str], replaceable: bool) -> None:
    source = HELPER.replace("HOW", "__attribute__((noinline))")
    if "-fvisibility=hidden" in flags:
        source = source.replace("int f(", '__attribute__((visibility("default"))) int f(')
    verdict = asked(tmp_path, built(tmp_path, source, *flags))
    assert isinstance(verdict, Equivalent)
    assert ("not-interposed" in names(verdict)) == replaceable


@pytest.mark.parametrize(("how", "replaceable"), [(WEAK, True), ("static", False)])
def test_constants(tmp_path: Path, how: str, replaceable: bool) -> None:
    source = f"{how} const int limit = 5;\nint f(int x) {{ return limit + x; }}\n"
    path = built(tmp_path, source, "-c", "-O0", name="built.o")
    verdict = asked(tmp_path, path, "int f(int x) { return x + 5; }\n")
    assert isinstance(verdict, Equivalent)
    assert ("not-interposed" in names(verdict)) == replaceable


def test_recursion_through_a_name_that_may_be_replaced(tmp_path: Path) -> None:
    source = "int f(int n) { return n <= 0 ? 0 : n ^ f(n - 1); }\n"
    path = built(tmp_path, source, "-c", "-fno-optimize-sibling-calls", name="built.o")
    verdict = asked(tmp_path, path, source, "-O0")
    assert isinstance(verdict, Equivalent)
    assert "not-interposed" in names(verdict)


LABELS = """
.text
.globl f
f:
 leal EXTRA(%rdi), %eax
 call helper
 ret
helper:
 addl $3, %eax
 ret
.section .note.GNU-stack,"",@progbits
"""


@pytest.mark.parametrize(
    "flags", [["-shared"], ["-pie", "-Wl,-e,f"], ["-no-pie", "-Wl,-e,f"], ["-static", "-Wl,-e,f"]], ids=" ".join
)
@pytest.mark.parametrize("name", ["f", "helper"])
def test_labels_without_a_type_in_a_linked_file(tmp_path: Path, flags: list[str], name: str) -> None:
    paths = []
    for number in (1, 2):
        text = tmp_path / "source.s"
        text.write_text(LABELS.replace("EXTRA", str(number)).replace("helper:", "nop\n" * number + "helper:"))
        paths.append(tmp_path / f"built{number}.so")
        subprocess.run(["gcc", "-nostdlib", *flags, str(text), "-o", str(paths[-1])], check=True)
    verdict = api.compare(f"{paths[0]}:{name}", f"{paths[1]}:{name}", Options(signature="int f(int x)"))
    assert isinstance(verdict, Different if name == "f" else Equivalent)


def test_of_two_functions_of_one_name_it_must_be_said_which(tmp_path: Path) -> None:
    one = tmp_path / "one.c"
    one.write_text("__attribute__((noinline)) static int h(int x) { return x + 5; } int g(int x) { return h(x); }")
    both = "__attribute__((noinline)) static int h(int x) { return x + 1; } int f(int x) { return h(x); }"
    path = built(tmp_path, both, "-shared", "-fPIC", str(one))
    with pytest.raises(UserError, match=r"has 2 functions called 'h': name one by its address \(.*:0x"):
        api.compare(f"{path}:h", f"{path}:h")
    assert isinstance(api.compare(f"{path}:f", f"{path}:g"), Different)


def test_statics_of_one_name_are_told_apart_by_their_files(tmp_path: Path) -> None:
    paths = []
    for level in ("-O1", "-O2"):
        folder = tmp_path / level
        folder.mkdir()
        (folder / "other.c").write_text("static int v = 2; int g(int x) { return v -= x; }")
        source = "static int v = 1; int f(int x) { return v += x; }"
        paths.append(built(folder, source, level, "-shared", "-fPIC", str(folder / "other.c")))
    assert isinstance(api.compare(f"{paths[0]}:f", f"{paths[1]}:f", PROTOTYPE), Equivalent)
    assert isinstance(api.compare(f"{paths[0]}:f", f"{paths[1]}:g", PROTOTYPE), Different)


def test_a_copied_object_is_the_one_of_its_name(tmp_path: Path) -> None:
    library = tmp_path / "library.c"
    library.write_text("int there = 5;")
    subprocess.run(["gcc", "-shared", "-fPIC", str(library), "-o", str(tmp_path / "library.so")], check=True)
    source = "extern int there; int f(int x) { there += x; return there + EXTRA; } int main(void) { return f(0); }"
    flags = ["-pie", "-fPIE", "-Wl,--no-as-needed", str(tmp_path / "library.so")]
    program = built(tmp_path, source.replace("EXTRA", "0"), *flags, name="program")
    for extra, expected in (("0", Equivalent), ("1", Different)):
        (tmp_path / "other.c").write_text(source.replace("EXTRA", extra))
        other = api.compare(f"{program}:f", f"{tmp_path / 'other.c'}:f", PROTOTYPE)
        assert isinstance(other, expected)


def test_accesses_past_a_table_of_a_library_are_no_difference(tmp_path: Path) -> None:
    table = "static const int t[4] = {1, 2, 3, 4}; int f(int i) { return t[i]; }"
    beside = f"static const double z = 2; {table} double g(int i) {{ return (&z)[i]; }}"
    paths = [
        built(tmp_path, source, "-shared", "-fPIC", name=f"{number}.so")
        for number, source in enumerate((table, beside, beside.replace("3, 4", "3, 5")))
    ]
    assert not isinstance(api.compare(f"{paths[0]}:f", f"{paths[1]}:f", PROTOTYPE), Different)
    assert isinstance(api.compare(f"{paths[0]}:f", f"{paths[2]}:f", PROTOTYPE), Different)


CHOSEN = """
__attribute__((noinline)) static int a(int x) { return x + EXTRA; }
static int (*choose(void))(int) { return a; }
int g(int) __attribute__((ifunc("choose")));
int f(int x) { return g(x); }
int (*gives(void))(int) { return g; }
int main(void) { return f(0); }
"""


@pytest.mark.parametrize("flags", [["-shared", "-fPIC"], [], ["-no-pie"]], ids=["library", "pie", "program"])
@pytest.mark.parametrize("name", ["f", "gives"])
def test_a_resolver_of_a_linked_file_is_followed(tmp_path: Path, flags: list[str], name: str) -> None:
    source = CHOSEN.replace("EXTRA", "1")
    target = built(tmp_path, source, *flags, "-g", name="target")
    same = built(tmp_path, source, *flags, "-g", "-O2", name="same")
    other = built(tmp_path, CHOSEN.replace("EXTRA", "2"), *flags, "-g", name="other")
    assert isinstance(api.compare(f"{target}:{name}", f"{same}:{name}"), Equivalent)
    assert isinstance(api.compare(f"{target}:{name}", f"{other}:{name}"), Different)


FIXED = """
int FIRST[4] = {1, 2}, SECOND[4] = {1, 2};
int *held = x;
static int HELPER(int v) { return v + STEP; }
void take(int *);
void gives(void) { take(x); }
int *returns(void) { return x; }
int reads(void) { return held[0]; }
int (*names(void))(int) { return HELPER; }
int main(void) { gives(); return reads() + names()(1); }
"""


def fixed(folder: Path, name: str, first: str = "x", helper: str = "helper", step: str = "1") -> Path:
    library = built(folder, "void take(int *p) { *p = 0; }", "-shared", "-fPIC", name="library.so")
    second = "y" if first == "x" else "x"
    source = FIXED.replace("FIRST", first).replace("SECOND", second).replace("HELPER", helper).replace("STEP", step)
    return built(folder, source, "-no-pie", "-fno-pic", "-g", "-Wl,--no-as-needed", str(library), name=name)


@pytest.mark.parametrize("name", ["gives", "returns", "reads", "names"])
def test_programs_at_fixed_addresses(tmp_path: Path, name: str) -> None:
    target, same = fixed(tmp_path, "target"), fixed(tmp_path, "same")
    verdict = api.compare(f"{target}:{name}", f"{same}:{name}")
    assert isinstance(verdict, Equivalent)
    assert "fixed-addresses" in names(verdict)


@pytest.mark.parametrize("name", ["gives", "returns", "reads"])
def test_variables_of_a_program_at_fixed_addresses_that_are_elsewhere(tmp_path: Path, name: str) -> None:
    """The two variables change places, so that one number is the address of either."""
    verdict = api.compare(f"{fixed(tmp_path, 'target')}:{name}", f"{fixed(tmp_path, 'other', first='y')}:{name}")
    assert isinstance(verdict, Unknown)
    assert "elsewhere" in verdict.why


def test_constants_that_a_program_at_fixed_addresses_copies(tmp_path: Path) -> None:
    library = built(tmp_path, "const int table[4] = {5, 6, 7, 8};\n", "-shared", "-fPIC", name="libtable.so")
    source = "extern const int table[]; int f(int x) { return table[x & 3]; } int main(void) { return 0; }\n"
    flags = ["-g", "-Wl,--no-as-needed", str(library)]
    moving = built(tmp_path, source, "-pie", "-fpic", *flags, name="moving")
    fixed_one = built(tmp_path, source, "-no-pie", "-fno-pic", *flags, name="fixed")
    assert isinstance(api.compare(f"{moving}:f", f"{fixed_one}:f"), Unknown)


@pytest.mark.parametrize("last", ["+= x", "+= x + 1"])
def test_a_tail_call_to_code_that_cannot_be_followed_is_no_outside_call(tmp_path: Path, last: str) -> None:
    """`h` uses a variable that the other program has elsewhere: nothing is known of what it does there."""
    source = """
    int memory[64];
    __attribute__((noinline)) int h(int x) { memory[5] CHANGE; return 0; }
    __attribute__((noinline)) int k(int x) { return x * 5; }
    int f(int x, int y) { return (y > 5 ? h : k)(x); }
    int main(void) { return 0; }
    """
    moving = built(tmp_path, source.replace("CHANGE", "+= x"), "-O0", "-pie", "-fpic", "-g", name="moving")
    fixed_one = built(tmp_path, source.replace("CHANGE", last), "-O2", "-no-pie", "-fno-pic", "-g", name="fixed")
    assert isinstance(api.compare(f"{moving}:f", f"{fixed_one}:f"), (Bounded, Unknown))


def test_versions_of_an_imported_function_are_two_functions(tmp_path: Path) -> None:
    (tmp_path / "map").write_text("V1 { global: foo; local: *; };\nV2 { global: foo; } V1;\n")
    versions = (
        '__asm__(".symver one,foo@V1\\n.symver two,foo@@V2"); int one(void) { return 1; } int two(void) { return 2; }\n'
    )
    library = built(
        tmp_path, versions, "-shared", "-fPIC", f"-Wl,--version-script={tmp_path / 'map'}", name="libfoo.so"
    )
    sides: list[Path] = []
    for version in ("V1", "V2", "V2"):
        source = f'__asm__(".symver foo,foo@{version}"); int foo(void); int f(void) {{ return foo() + 1; }}\n'
        sides.append(
            built(
                tmp_path,
                source,
                "-shared",
                "-fPIC",
                "-g",
                "-Wl,--no-as-needed",
                str(library),
                name=f"{len(sides)}{version}.so",
            )
        )
    assert isinstance(api.compare(f"{sides[0]}:f", f"{sides[1]}:f"), Different)
    assert isinstance(api.compare(f"{sides[1]}:f", f"{sides[2]}:f"), Equivalent)
    both: list[Path] = []
    for first, second in (("V1", "V2"), ("V2", "V1"), ("V1", "V2")):
        names = f'__asm__(".symver a,foo@{first}"); __asm__(".symver b,foo@{second}");'
        source = f"{names} int a(void), b(void); int f(void) {{ return a() * 3; }} int g(void) {{ return b() * 3; }}\n"
        flags = ["-shared", "-fPIC", "-g", "-Wl,--no-as-needed", str(library)]
        both.append(built(tmp_path, source, *flags, name=f"both{len(both)}.so"))
    assert isinstance(api.compare(f"{both[0]}:f", f"{both[1]}:f"), Different)
    assert isinstance(api.compare(f"{both[0]}:f", f"{both[2]}:f"), Equivalent)


def test_functions_of_other_names_at_the_same_fixed_address(tmp_path: Path) -> None:
    target, other = fixed(tmp_path, "target"), fixed(tmp_path, "other", helper="assist", step="2")
    assert not isinstance(api.compare(f"{target}:names", f"{other}:names"), Equivalent)


def test_the_operand_size_prefix_does_not_change_a_displacement(tmp_path: Path) -> None:
    """Replay moves the addresses in code; capstone gives displacements behind this prefix another size."""
    source = "static short t[4]; short *f(int x) { t[0] = x; t[1] = VALUE; return t; }"
    paths = [
        built(tmp_path, source.replace("VALUE", value), "-shared", "-fPIC", "-g", name=f"{value}.so")
        for value in ("65", "66")
    ]
    assert isinstance(api.compare(f"{paths[0]}:f", f"{paths[1]}:f"), Different)


def test_a_table_of_distances_to_objects_beside_it(tmp_path: Path) -> None:
    """Such a table has no relocations, so that objects which are moved apart must not be looked for by it."""
    text = tmp_path / "source.s"
    head = ".globl f\n.type f, @function\nf:\n leaq p.rel(%rip), %rcx\n movslq (%rcx,%rdi,4), %rdx\n"
    head += " movl (%rcx,%rdx), %eax\n ret\n.section .rodata\n"
    table = ".type p.rel, @object\n.size p.rel, 8\np.rel: .long a - p.rel, b - p.rel\n"
    named = [f".globl {name}\n.type {name}, @object\n.size {name}, 4\n{name}: .long {name == 'b'}\n" for name in "ab"]
    paths: list[Path] = []
    for parts in ((table, *named), (named[1], table, named[0])):
        text.write_text(head + "".join(parts).replace("True", "2").replace("False", "1"))
        paths.append(tmp_path / f"built{len(paths)}.o")
        subprocess.run(["gcc", "-c", str(text), "-o", str(paths[-1])], check=True)
    options = Options(signature="int f(long i)", assume=("0 <= i && i <= 1",))
    assert isinstance(api.compare(f"{paths[0]}:f", f"{paths[0]}:f", options), Equivalent)
    verdict = api.compare(f"{paths[0]}:f", f"{paths[1]}:f", options)
    assert isinstance(verdict, Unknown)
    assert "distances between objects" in verdict.why


ENDS = """
struct range { int *begin, *end; };
FIRST
SECOND
struct range ranges[2] = {{first, first + 4}, {second, second + 4}};
const struct range constant[2] = {{first, first + 4}, {second, OTHER}};
long length(unsigned k) { return ranges[k & 1].end - ranges[k & 1].begin; }
int *end(unsigned k) { return constant[k & 1].end; }
"""
HIDDEN_ARRAY = '__attribute__((visibility("hidden"))) int {} [4] = {{1, 2, 3, 4}};'


def test_one_past_an_object_is_not_the_next_one(tmp_path: Path) -> None:
    """In each of the two libraries one array ends where the other starts: not the same one."""
    arrays = [HIDDEN_ARRAY.format(name) for name in ("first", "second")]
    flags = ("-shared", "-fPIC", "-fno-toplevel-reorder", "-g")
    paths = []
    for number, (one, other, end) in enumerate(
        ((*arrays, "second + 4"), (*reversed(arrays), "second + 4"), (*reversed(arrays), "second + 3"))
    ):
        text = ENDS.replace("FIRST", one).replace("SECOND", other).replace("OTHER", end)
        paths.append(built(tmp_path, text, *flags, name=f"built{number}.so"))
    for function in ("length", "end"):
        assert isinstance(api.compare(f"{paths[0]}:{function}", f"{paths[1]}:{function}"), Equivalent)
        assert isinstance(api.compare(f"{paths[1]}:{function}", f"{paths[0]}:{function}"), Equivalent)
    assert isinstance(api.compare(f"{paths[0]}:end", f"{paths[2]}:end"), Different)


@pytest.mark.parametrize("first", ["object", "program"])
def test_a_variable_that_only_the_program_defines_is_the_one_of_its_name(tmp_path: Path, first: str) -> None:
    source = "extern int shared; int f(int x) { return shared + x; }\n"
    other = source.replace("+ x", "- x")
    defines = "int shared = 5;\n"
    path = built(tmp_path, source, "-g", "-c", name="one.o")
    for text, kind in ((source, Equivalent), (other, Different)):
        program = built(tmp_path, text + defines, "-g", "-fPIE", "-pie", "-Wl,-e,f", "-nostdlib", name="program")
        questions = [f"{path}:f", f"{program}:f"]
        assert isinstance(api.compare(*(questions if first == "object" else reversed(questions))), kind)


@pytest.mark.parametrize(
    "loop", ["for (int *p = s + 8; p != s;) r = r * 3 + *--p", "for (int *p = s; p < s + 8; p++) r += *p"]
)
def test_the_end_of_an_object_is_not_the_next_one(tmp_path: Path, loop: str) -> None:
    source = f"""int x[4] = {{1}}; static int s[8] = {{1, 2, 3, 4, 5, 6, 7, 8}};
    void set(int i, int v) {{ s[i & 7] = v; }}
    int f(int z) {{ if (z) return x[z & 3]; int r = 0; {loop}; return r; }}
    """
    flags = ("-g", "-fPIC", "-shared")
    one = built(tmp_path, source, *flags, "-O2", name="one.so")
    two = built(tmp_path, source.replace("return r;", "return r + 1;"), *flags, "-O2", name="two.so")
    plain = built(tmp_path, source, *flags, "-O0", name="plain.so")
    assert not isinstance(api.compare(f"{one}:f", f"{two}:f"), Equivalent)
    assert not isinstance(api.compare(f"{one}:f", f"{plain}:f"), Different)


@pytest.mark.parametrize("stripped", [False, True])
def test_a_base_before_an_object_is_not_in_the_one_before_it(tmp_path: Path, stripped: bool) -> None:
    source = """static int t[64]; int y[8];
    void set(int i, int v) { t[i & 63] = v; }
    int f(int n) { if (n <= 0) return y[n & 7]; int s = 0; for (int i = 1; i <= n; i++) s += t[i - 1] * i; return s; }
    """
    flags = ("-g", "-fPIC", "-shared")
    one = built(tmp_path, source, *flags, "-O2", name="one.so")
    two = built(tmp_path, source.replace("return s;", "return s + 1;"), *flags, "-O2", name="two.so")
    plain = built(tmp_path, source, *flags, "-O0", name="plain.so")
    for path in (one, two, plain) if stripped else ():
        subprocess.run(["strip", "--strip-unneeded", str(path)], check=True)
    prototype = Options(signature="int f(int n)")
    assert not isinstance(api.compare(f"{one}:f", f"{two}:f", prototype), Equivalent)
    assert not isinstance(api.compare(f"{plain}:f", f"{one}:f", prototype), Different)


@pytest.mark.parametrize("how", ["far", "-Wl,-x", "one stripped"])
def test_a_base_in_one_object_may_be_meant_for_any_other(tmp_path: Path, how: str) -> None:
    first = 2000 if how == "far" else 1
    source = f"""int y[4000]; static int t[64];
    void set(int i, int v) {{ t[i & 63] = v; }}
    int f(int n) {{
        if (n < {first} || n > {first} + 60) return y[n & 7];
        int s = 0; for (int i = {first}; i <= n; i++) s += t[i - {first}] * i; return s; }}
    """
    flags = ("-g", "-fPIC", "-O2")
    paths = []
    for name, text in (("one", source), ("two", source.replace("return s;", "return s + 1;"))):
        code = built(tmp_path, text, *flags, "-c", name=f"{name}.o")
        if how == "one stripped":
            subprocess.run(["strip", "-x", str(code)], check=True)
        other = built(
            tmp_path, "static int own[4]; int *get(int i) { return own + i; }", *flags, "-c", name=f"{name}_.o"
        )
        linked = tmp_path / f"{name}.so"
        command = ["gcc", "-shared", *(["-Wl,-x"] if how == "-Wl,-x" else []), str(other), str(code), "-o", str(linked)]
        subprocess.run(command, check=True)
        paths.append(f"{linked}:f")
    assert not isinstance(api.compare(paths[0], paths[1], Options(signature="int f(int n)")), Equivalent)


FAR = "static int y[4000] = {5}; int *gy(int i) { return &y[i & 7]; } void st(int i, int v) { t[i & 63] = v; }"
TABLE = "static int t[64] = {1, 2, 3, 4, 5, OTHER, 7};"
HIDDEN_BASES = {
    "behind all others": TABLE
    + """static int mid[100] = {1}; static int y[64];
    int *gy(int i) { return &y[i & 7]; } int *gm(int i) { return &mid[i & 7]; } void st(int i, int v) { t[i & 63] = v; }
    int f(long a, long b) { int s = 0; for (long i = a; i < b; i++) s += t[i + 176] * i; return s; }""",
    "stored": TABLE
    + FAR
    + "int f(long n) { volatile unsigned long b = (unsigned long)t - 7600; return *(int *)(b + 4 * n); }",
    "walked from the end": "static int t[64] = {1, 2, 3, OTHER}; static int y[64] = {4};"
    + """int *gy(int i) { return &y[i & 7]; } void st(int i, int v) { t[i & 15] = v; }
    int f(long n) { int *e = t + 64; int s = 0; while (n--) s += *--e; return s; }""",
    "in a callback": TABLE
    + FAR
    + """int go(int (*)(long), long);
    static int k(long n) { int s = 0; for (int i = n; i < 1964; i++) s += t[i - 1900] * i; return s; }
    int f(long n) { return go(k, n); }""",
    "in a constructor": TABLE
    + FAR
    + """static int out[64];
    __attribute__((constructor)) static void c(void) { for (int i = 1900; i < 1964; i++) out[i - 1900] += t[i - 1900]; }
    int f(int n) { return out[n & 63]; }""",
}


@pytest.mark.parametrize("where", HIDDEN_BASES)
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_what_a_base_elsewhere_leads_to_is_compared(tmp_path: Path, where: str, level: str) -> None:
    flags = ("-g", "-fPIC", "-shared", "-fno-toplevel-reorder", level)
    paths = [built(tmp_path, HIDDEN_BASES[where], *flags, f"-DOTHER={n}", name=f"{n}.so") for n in (6, 9)]
    assert not isinstance(api.compare(f"{paths[0]}:f", f"{paths[1]}:f"), Equivalent)


def test_a_callback_that_walks_a_section_is_not_the_same_by_its_code(tmp_path: Path) -> None:
    source = """static int a1 __attribute__((section("xx"), used)) = 3, a2 __attribute__((section("xx"), used)) = OTHER;
    extern int __start_xx[], __stop_xx[]; int go(int (*)(long), long);
    static int k(long n) { int s = 0; for (int *p = __start_xx; p < __stop_xx; p++) s = s * 3 + *p; return s + n; }
    int f(long n) { return go(k, n); }
    """
    paths = [built(tmp_path, source, "-g", "-O2", "-c", f"-DOTHER={n}", name=f"{n}.o") for n in (4, 5)]
    assert not isinstance(api.compare(f"{paths[0]}:f", f"{paths[1]}:f"), Equivalent)
