"""The same code is the same: what counts, and everything that must not be taken for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from isoform.api import compare
from isoform.borders.same_code import is_same_code
from isoform.engines.same_code.identical import Differs, Identical
from isoform.engines.same_code.meaning import Meanings
from isoform.isa.registry import machine
from isoform.load.elf import parse_elf
from isoform.load.library_pair import LibraryPair


class Built:
    """Two versions, each one source, as object files or libraries."""

    def __init__(self, folder: Path, linked: bool = False, flags: tuple[str, ...] = ("-O1",)) -> None:
        self._folder = folder
        self._linked = linked
        self._flags = flags

    def same(self, old: str, new: str, name: str = "f", other: str | None = None, suffix: str = "c") -> list[str]:
        """The names of the assumptions that two functions are the same under. Raises `Differs`."""
        files = [self._built(source, side, suffix) for side, source in (("old", old), ("new", new))]
        pair = LibraryPair((files[0], files[1]), ("old", "new"))
        left, right = (library.image for library in pair.together)
        entries = left.functions[name].address, right.functions[other or name].address
        return [one.name for one in Identical((left, right)).assumptions(entries)]

    def _built(self, source: str, side: str, suffix: str):  # type: ignore[no-untyped-def]
        path, made = self._folder / f"{side}.{suffix}", self._folder / f"{side}.out"
        path.write_text(source)
        how = ["-shared", "-nostdlib", "-fPIC"] if self._linked else ["-c"]
        subprocess.run(["cc", *self._flags, *how, str(path), "-o", str(made)], check=True)
        return parse_elf(made.read_bytes(), str(made))


@pytest.fixture
def objects(tmp_path: Path) -> Built:
    return Built(tmp_path)


@pytest.fixture
def libraries(tmp_path: Path) -> Built:
    return Built(tmp_path, linked=True)


FIRST = "int pad(int x) { return x * 3 + 1; }\n"
"""Moves everything that follows."""
STATIC = "__attribute__((noinline)) static int g(int x) { return x * 7 + 1; }\n"


CONSTRUCTOR = """
__attribute__((noinline)) static int step(int x) { return x + 1; }
int (*volatile chosen)(int);
__attribute__((constructor)) static void begin(void) { chosen = step; }
int f(int x) { return chosen(x); }
"""


def test_constructors_that_store_the_address_of_something_else(objects: Built) -> None:
    """Their own code is the same."""
    objects.same(CONSTRUCTOR, FIRST + CONSTRUCTOR)
    with pytest.raises(Differs, match="when the files are loaded"):
        objects.same(CONSTRUCTOR, FIRST + CONSTRUCTOR.replace("x + 1", "x + 2"))


def test_the_start_of_a_section(objects: Built) -> None:
    """What a linker puts there is known by no name."""
    text = (
        'static int entry __attribute__((section("entries"), used)) = 1;\n'
        "extern int __start_entries[]; int f(void) { return __start_entries[0]; }\n"
    )
    for other in (text, text.replace("= 1", "= 2")):
        with pytest.raises(Differs, match="__start_entries"):
            objects.same(text, FIRST + other)


def test_moved_code_is_the_same(objects: Built) -> None:
    f = "int f(int x) { int s = 0; for (int i = 0; i < x; i++) s += i * x; return s; }\n"
    assert set(objects.same(f, FIRST + f)) <= {"same-undefined"}


def test_callees_count(objects: Built) -> None:
    f = "int f(int x) { return g(x) + g(x + 1); }\n"
    assert "return-addresses-unread" in objects.same(STATIC + f, FIRST + STATIC + f)
    with pytest.raises(Differs):
        objects.same(STATIC + f, STATIC.replace("* 7", "* 9") + f)


def test_callees_of_callees_count(objects: Built) -> None:
    inner = "__attribute__((noinline)) static int h(int x) { return x / 3; }\n"
    rest = "__attribute__((noinline)) static int g(int x) { return h(x) + 1; }\nint f(int x) { return g(x) * 2; }\n"
    objects.same(inner + rest, FIRST + inner + rest)
    with pytest.raises(Differs):
        objects.same(inner + rest, inner.replace("/ 3", "/ 5") + rest)


def test_functions_that_call_each_other(objects: Built) -> None:
    both = """
__attribute__((noinline)) int odd(unsigned n);
__attribute__((noinline)) int f(unsigned n) { return n == 0 ? 1 : odd(n - 1) + 2; }
__attribute__((noinline)) int odd(unsigned n) { return n == 0 ? 0 : f(n - 1) + 3; }
"""
    objects.same(both, FIRST + both)
    with pytest.raises(Differs):
        objects.same(both, both.replace("+ 3", "+ 4"))


def test_a_callee_of_another_name_is_the_same_if_its_code_is(objects: Built) -> None:
    f = "int f(int x) { return g(x); }\nint k(int x) { return g(x) + 1; }\n"
    objects.same(STATIC + f, (STATIC + f).replace("g(", "renamed("), "k")


def test_other_outside_functions(objects: Built) -> None:
    source = "int put(int); int get(int); int f(int x) { return put(x) + 1; }\n"
    assert set(objects.same(source, FIRST + source)) <= {"calls-agree", "same-undefined"}
    with pytest.raises(Differs, match="refers to put"):
        objects.same(source, source.replace("put(x)", "get(x)"))


def test_what_data_holds(libraries: Built) -> None:
    source = "static const int t[8] = {1, 2, 3, 4, 5, 6, 7, 8};\nint f(int i) { return t[i & 7]; }\n"
    libraries.same(source, FIRST + source)
    with pytest.raises(Differs):
        libraries.same(source, source.replace("8}", "9}"))


def test_what_variables_hold_at_first(libraries: Built) -> None:
    source = "static int n = 1;\nint f(void) { return n++; }\n"
    libraries.same(source, FIRST + source)
    with pytest.raises(Differs):
        libraries.same(source, source.replace("= 1", "= 2"))


def test_two_variables_of_the_same_contents_are_two(libraries: Built) -> None:
    source = "static int a = 1, b = 1;\nint f(void) { return a++; }\nint g(void) { return b--; }\n"
    with pytest.raises(Differs):
        libraries.same(source, source.replace("a++", "b++").replace("b--", "a--"))


def test_a_constant_is_no_variable(libraries: Built) -> None:
    source = "{} int k = 5;\nint f(void) {{ return *(volatile const int *)&k; }}\nvoid g(int x) {{ {} }}\n"
    with pytest.raises(Differs):
        libraries.same(source.format("static const", ""), source.format("static", "k = x;"))


@pytest.mark.parametrize("linked", [False, True])
def test_texts(tmp_path: Path, linked: bool) -> None:
    built = Built(tmp_path, linked)
    source = 'const char *other(void) { return "more"; }\nconst char *f(void) { return "hello"; }\n'
    built.same(source, source.replace("more", "much more"))
    with pytest.raises(Differs):
        built.same(source, source.replace("hello", "hallo"))


SWITCH = """
int f(int x) {
  switch (x) {
  case 0: return h(1); case 1: return h(3) + 2; case 2: return k(4); case 3: return h(5) * 3; case 4: return k(9) - 1;
  case 5: return h(2) + k(1); case 6: return 77; case 7: return k(x); default: return 0;
  }
}
"""
DECLARED = "int h(int); int k(int);\n"


@pytest.mark.parametrize("linked", [False, True])
def test_jump_tables_are_compared(tmp_path: Path, linked: bool) -> None:
    built = Built(tmp_path, linked)
    assert "jump-tables" in built.same(DECLARED + SWITCH, DECLARED + FIRST + SWITCH)
    swapped = SWITCH.replace("case 0:", "case 9:").replace("case 1:", "case 0:").replace("case 9:", "case 1:")
    with pytest.raises(Differs):
        built.same(DECLARED + SWITCH, DECLARED + swapped)


POINTED = """
__attribute__((noinline)) static int less(int a, int b) { return a < b; }
void sort(int *, int (*)(int, int));
void f(int *p) { sort(p, less); }
"""


def test_functions_whose_address_is_taken(objects: Built) -> None:
    objects.same(POINTED, FIRST + POINTED)
    with pytest.raises(Differs):
        objects.same(POINTED, POINTED.replace("a < b", "a > b"))


TABLE = """
__attribute__((noinline)) static int one(int a) { return a + 1; }
__attribute__((noinline)) static int two(int a) { return a * 2; }
int (*const table[])(int) = {one, two};
int f(int i, int x) { return table[i & 1](x); }
"""


def test_tables_of_functions(libraries: Built) -> None:
    libraries.same(TABLE, FIRST + TABLE)
    for broken in (TABLE.replace("{one, two}", "{two, one}"), TABLE.replace("a * 2", "a * 4")):
        with pytest.raises(Differs):
            libraries.same(TABLE, broken)


READS_RETURN = """
  .text
  .globl {name}
  .type {name}, @function
{name}:
  call where
  {rest}
  ret
  .size {name}, . - {name}
  .type where, @function
where:
  {read}
  ret
  .size where, . - where
"""


@pytest.mark.parametrize("read", ["mov (%rsp), %rax", "lea 8(%rsp), %rcx\n mov -8(%rcx), %rax", "pop %rax\n push %rax"])
def test_a_callee_that_reads_where_it_returns_to(objects: Built, read: str) -> None:
    """As code that finds its own data does: the same code then means something else in another place."""
    source = READS_RETURN.format(name="f", rest="mov 16(%rax), %eax", read=read)
    with pytest.raises(Differs, match="returns to"):
        objects.same(source, "  .zero 64\n" + source, suffix="s")


def test_an_ordinary_callee_in_assembly(objects: Built) -> None:
    source = READS_RETURN.format(name="f", rest="add $1, %eax", read="mov 8(%rsp), %rax")
    with_argument = source.replace("call where", "push %rdi\n call where\n pop %rcx")
    objects.same(with_argument, "  .zero 64\n" + with_argument, suffix="s")


def test_relative_tables_of_a_compiler(libraries: Built) -> None:
    """A table of distances has no relocations in a library: equal bytes may lead to other things."""
    table = "  .section .rodata\n  .type t, @object\nt: .long a - t, b - t\n  .size t, . - t\n"
    data = '  .type {0}, @object\n{0}: .asciz "{1}"\n  .size {0}, . - {0}\n'
    code = """
  .text
  .globl f
  .type f, @function
f:
  lea t(%rip), %rax
  mov %edi, %edi
  movslq (%rax,%rdi,4), %rcx
  add %rcx, %rax
  ret
  .size f, . - f
"""
    old = code + table + data.format("a", "one") + data.format("b", "two")
    new = code + table.replace("a - t, b - t", "b - t, a - t") + data.format("b", "two") + data.format("a", "one")
    libraries.same(old, old, suffix="s")
    with pytest.raises(Differs):
        libraries.same(old, new, suffix="s")


def test_thread_local_data(libraries: Built) -> None:
    """Its place is a number in the code, which does not say whose it is."""
    source = "static __thread int a = 1, b = 1;\nint f(void) { return a++; }\nint g(void) { return b++; }\n"
    with pytest.raises(Differs):
        libraries.same(source, source.replace("a++", "b++"))


def test_code_that_is_read(objects: Built) -> None:
    source = "  .text\n  .globl f\n  .type f, @function\nf:\n  mov f(%rip), %eax\n  ret\n  .size f, . - f\n"
    with pytest.raises(Differs):
        objects.same(source, "  .zero 16\n" + source, suffix="s")


def test_exceptions_are_for_the_engines(tmp_path: Path) -> None:
    source = "int g(int); int f(int x) { try { return g(x); } catch (int) { return 1; } }\n"
    with pytest.raises(Differs, match="exceptions"):
        Built(tmp_path).same(source, source, "_Z1fi", suffix="cpp")


def test_an_address_that_is_meant_for_another_object(libraries: Built) -> None:
    """`t[i - 1000]` and `u[i + 24]` have one base if `t` lies so; where `t` lies elsewhere they are not the same."""
    data = "  .data\n  .type u, @object\nu: .zero 4096\n  .size u, 4096\n"
    data += "{0}  .type t, @object\nt: .zero 64\n  .size t, 64\n"
    between = "  .type v, @object\nv: .zero 64\n  .size v, 64\n"
    code = "  .text\n  .globl f\n  .type f, @function\nf:\n  lea {0}(%rip), %rax\n"
    code += "  mov (%rax,%rdi,4), %eax\n  ret\n  .size f, . - f\n"
    old = code.format("t - 4000") + data.format("")
    assert libraries.same(old, FIRST_CODE + old, suffix="s")
    with pytest.raises(Differs):
        libraries.same(old, code.format("u + 96") + data.format(between), suffix="s")


FIRST_CODE = "  .text\n  .zero 64\n"


def test_tables_without_a_name(tmp_path: Path) -> None:
    """In a stripped library, a table may begin like a text."""
    source = "static const int t[8] = {0, 8, 9, 10, 5, 6, 7, 8};\nint f(unsigned i) { return t[i & 7]; }\n"
    stripped = Built(tmp_path, linked=True, flags=("-O1", "-s"))
    stripped.same(source, source)
    with pytest.raises(Differs, match="without a name"):
        stripped.same(source, source.replace("9, 10", "9, 11"))


COLD = """
void die(int) __attribute__((cold, noreturn));
int h(int);
int f(unsigned x, int a) {
  switch (x) {
  case 0: return h(a + 3); case 1: die(4); case 2: return h(a * 5); case 3: return h(a - 9) + 1;
  case 4: return h(a ^ 77); case 5: return h(a | 5) + 3; case 6: return h(a & 99); case 7: return h(a / 3);
  }
  return 0;
}
"""


@pytest.mark.parametrize("linked", [False, True])
def test_a_jump_table_that_leads_to_a_part_elsewhere(tmp_path: Path, linked: bool) -> None:
    """The entries after it count, too."""
    assembly = tmp_path / "f.s"
    (tmp_path / "f.c").write_text(COLD)
    subprocess.run(["gcc-12", "-O2", "-fPIC", "-S", str(tmp_path / "f.c"), "-o", str(assembly)], check=True)
    lines = assembly.read_text().splitlines(keepends=True)
    entries = [number for number, line in enumerate(lines) if ".long" in line and "-.L" in line]
    assert len(entries) == 8
    assert "f.cold" in assembly.read_text()
    swapped = list(lines)
    swapped[entries[4]], swapped[entries[5]] = lines[entries[5]], lines[entries[4]]
    built = Built(tmp_path, linked)
    assert "jump-tables" in built.same("".join(lines), "".join(lines), suffix="s")
    with pytest.raises(Differs, match="not the same"):
        built.same("".join(lines), "".join(swapped), suffix="s")


@pytest.mark.parametrize("linked", [False, True])
def test_addresses_of_two_constants_of_the_same_contents(tmp_path: Path, linked: bool) -> None:
    source = "const int a[4] = {1, 2}, b[4] = {1, 2};\nconst int *f(void) { return a; }\n"
    built = Built(tmp_path, linked)
    built.same(source, FIRST + source)
    with pytest.raises(Differs, match="address of a"):
        built.same(source, source.replace("return a", "return b"))


BEFORE = """
  .text
  .globl f
  .type f, @function
f:
  lea t-16(%rip), %rax
  mov (%rax,%rdi,4), %eax
  ret
  .size f, . - f
  .section .rodata
  .globl other
  .hidden other
  .type other, @object
other: .long 1, 2, 3, 4, 5, 6
  .size other, . - other
  .globl t
  .hidden t
  .type t, @object
t: .long 1, 2, 3, 4
  .size t, . - t
"""


@pytest.mark.parametrize("linked", [False, True])
def test_a_base_in_another_object(tmp_path: Path, linked: bool) -> None:
    """`t[i - 4]`: both files have the same layout, and the address is in an object that did not change."""
    built = Built(tmp_path, linked)
    built.same(BEFORE, BEFORE, suffix="s")
    with pytest.raises(Differs, match="beside it"):
        built.same(BEFORE, BEFORE.replace("t: .long 1", "t: .long 7"), suffix="s")


def test_jump_tables_with_a_name(libraries: Built) -> None:
    source = """
  .text
  .globl f
  .type f, @function
f:
  lea t(%rip), %rax
  and $1, %edi
  movslq (%rax,%rdi,4), %rcx
  add %rcx, %rax
  jmp *%rax
1: mov $1, %eax
  ret
2: mov $2, %eax
  ret
  .size f, . - f
  .section .rodata
  .type t, @object
t: .long 1b - t, 2b - t
  .size t, . - t
"""
    with pytest.raises(Differs, match="computed jump"):
        libraries.same(source, source.replace("mov $2", "mov $3"), suffix="s")


@pytest.mark.parametrize("linked", [False, True])
def test_an_access_beyond_an_object(tmp_path: Path, linked: bool) -> None:
    code = "  .text\n  .globl f\n  .type f, @function\nf:\n  mov t(%rip), %rax\n  ret\n  .size f, . - f\n"
    data = "  .section .rodata\n  .type t, @object\nt: .long 1\n  .size t, 4\n"
    data += "  .type u, @object\nu: .long 5\n  .size u, 4\n"
    with pytest.raises(Differs, match="more than t"):
        Built(tmp_path, linked).same(code + data, code + data.replace("5", "6"), suffix="s")


FALLS = """
  .text
  .globl f
  .type f, @function
f:
  push %rbx
  call g
  .size f, . - f
  add $1, %eax
  pop %rbx
  ret
  .type g, @function
g:
  {0}
  .size g, . - g
"""


def test_code_that_goes_on_after_its_end(objects: Built) -> None:
    """Nothing follows a call that ends a function only if the callee does not return."""
    returns = FALLS.format("lea 3(%rdi), %eax\n  ret")
    with pytest.raises(Differs, match="continues"):
        objects.same(returns, returns.replace("add $1", "add $2"), suffix="s")
    loops = FALLS.format("jmp g")
    assert "does-not-return" in objects.same(loops, loops.replace("add $1", "add $2"), suffix="s")


ENDS_IN_A_CALL = """
.text
.globl g
.type g, @function
g: sub $8, %rsp
   call f
.size g, .-g
   mov $NUMBER, %eax
   add $8, %rsp
   ret
.type f, @function
f: jmp puts
.size f, .-f
.section .note.GNU-stack,"",@progbits
"""


def test_a_callee_that_ends_in_an_outside_function_returns(objects: Built) -> None:
    one, other = (ENDS_IN_A_CALL.replace("NUMBER", number) for number in "12")
    with pytest.raises(Differs, match="continues"):
        objects.same(one, other, "g", suffix="s")


PLAIN_NUMBER = """
.text
.skip PAD, 0x90
.globl g
.type g, @function
g: mov $7, %eax
   ret
.size g, .-g
.globl f
.type f, @function
f: movq $PLACE, x(%rip)
   ret
.size f, .-f
.bss
.globl x
.type x, @object
.size x, 8
x: .zero 8
.section .note.GNU-stack,"",@progbits
"""


def test_a_number_that_happens_to_be_a_place_is_a_number(objects: Built, tmp_path: Path) -> None:
    drafts = [PLAIN_NUMBER.replace("PAD", pad).replace("PLACE", "0x7000000") for pad in ("0", "16")]
    left, right = (objects._built(draft, side, "s") for draft, side in zip(drafts, ("old", "new"), strict=True))
    places = [side.image.functions["g"].address for side in LibraryPair((left, right), ("old", "new")).together]
    assert places[0] != places[1]
    assert all(place < 1 << 31 for place in places)
    sources = [draft.replace("0x7000000", hex(place)) for draft, place in zip(drafts, places, strict=True)]
    with pytest.raises(Differs):
        objects.same(sources[0], sources[1], suffix="s")
    for name, source in zip(("a.s", "b.s"), sources, strict=True):
        (tmp_path / name).write_text(source)
    assert compare(f"{tmp_path}/a.s:f", f"{tmp_path}/b.s:f").verdict != "equivalent"


def test_an_address_between_objects_leads_to_the_same(libraries: Built) -> None:
    between = '__asm__(".data\\n.balign 8\\n.quad t + 4\\n.text");\n'
    source = "int t[4] = {1, 2, 3, 4};\n" + between + "int f(unsigned i) { return t[i]; }\n"
    sources = {"old": FIRST + source, "new": source, "other": source.replace("t + 4", "t + 8")}
    old, new, other = (libraries._built(text, side, "c") for side, text in sources.items())
    same, different = LibraryPair((old, new), ("old", "new")), LibraryPair((old, other), ("old", "other"))
    gaps = [Meanings(library.image).gaps for library in same.together]
    assert gaps[0] is not None
    assert gaps[0] == gaps[1]
    assert gaps[0] != Meanings(different.together[1].image).gaps


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("movaps (%rdi), %xmm0", "movups (%rdi), %xmm0"),
        ("movapd (%rdi), %xmm0", "movups (%rdi), %xmm0"),
        ("roundsd $4, %xmm1, %xmm0", "roundsd $0, %xmm1, %xmm0"),
        ("roundsd $4, c(%rip), %xmm0", "roundsd $0, c(%rip), %xmm0"),
        ("movaps c(%rip), %xmm0", "movups c(%rip), %xmm0"),
    ],
)
def test_instructions_of_one_formula_are_two(objects: Built, one: str, other: str) -> None:
    """One needs its operand aligned, or rounds as the control word says, and the other does not."""
    code = ".globl f\nf:\n  {}\n  ret\n.section .rodata\n.balign 16\nc: .double 2.5, 3.5\n"
    objects.same(code.format(one), FIRST_CODE + code.format(one), suffix="s")
    with pytest.raises(Differs):
        objects.same(code.format(one), code.format(other), suffix="s")
    built = tuple(objects._built(code.format(text), side, "s") for side, text in (("old", one), ("new", other)))
    files = [library.image for library in LibraryPair(built, ("old", "new")).together]
    left, right = (file.functions["f"].address for file in files)
    x86_64 = machine("x86_64")
    assert is_same_code(x86_64, (files[0], files[0]), (left, left))
    assert not is_same_code(x86_64, (files[0], files[1]), (left, right))


def test_an_index_that_may_leave_a_table(tmp_path: Path) -> None:
    """Beside it lies something else in the two files. Nothing is assumed of an index that stays inside."""
    objects = Built(tmp_path, flags=("-O1", "-fno-sanitize=all"))
    data = "int t[4] = {1, 2, 3, 4};\nint u = %s;\n"
    text = data + "void set(int i, int x) { t[i] = x; u = x; }\nint f(unsigned i) { return t[%s]; }\n"
    assert "in-bounds" in objects.same(text % (5, "i"), text % (6, "i"))
    assert "in-bounds" not in objects.same(text % (5, "i & 3"), text % (6, "i & 3"))
    assert "in-bounds" not in objects.same(text % (5, "i"), FIRST + text % (5, "i"))


def test_a_table_that_a_callee_indexes(tmp_path: Path) -> None:
    objects = Built(tmp_path, flags=("-O1", "-fno-sanitize=all"))
    data = "int t[4] = {1, 2, 3, 4};\nint u = %s;\nvoid set(int i, int x) { t[i] = x; u = x; }\n"
    callee = "__attribute__((noinline)) static int get(int *p, unsigned i) { return p[i]; }\n"
    text = data + callee + "int f(unsigned i) { return get(t, i) + get(t + 1, i); }\n"
    assert "in-bounds" in objects.same(text % 5, text % 6)


def test_outside_functions_may_differ_in_what_they_call_back(objects: Built) -> None:
    for call in ("g(x)", "p(x)"):
        text = "int g(int); extern int (*p)(int); int f(int x) { return " + call + " * 2; }\n"
        assert "calls-agree" in objects.same(text, FIRST + text)
