"""Contents of data: initial values, constant tables, literals, statics, what each thread has of its own."""

from __future__ import annotations

from random import Random

from soundness.borders.case import Case
from soundness.borders.harness import calls, whole
from soundness.borders.kinds import CHARS, INT

_DRIVER = whole(
    [INT, CHARS],
    r"""
int shared __attribute__((weak)); int unknown_size[16] = {3, 1, 4, 1, 5, 9, 2, 6};
const int fixed_outside[8] = {1, 2, 3, 4, 5, 6, 7, 8};
void take(const void *p, int n) { record(n); for (int i = 0; i < n; i++) record(((const unsigned char *)p)[i]); }
void take_text(const char *p) { while (*p) record(*p++); record(0); }
void take_list(const char *const *p, int n) { for (int i = 0; i < n; i++) take_text(p[i]); }
int ask(int x) { record(x); depend(); int r = drawn(); clobber(); return r; }
int f(int, int);
"""
    + calls(INT, [INT, INT]),
)
_HEAD = (
    "void take(const void *, int); void take_text(const char *); void take_list(const char *const *, int);\n"
    "int ask(int); extern int memory[64];\n"
)
_FORMS: tuple[tuple[str, str, str, str], ...] = (
    ("global", "int k = @1@;", "return x + k;", "2"),
    ("global constant", "const int k = @1@;", "return x + k;", "2"),
    ("static", "static int k = @1@;", "k += x; return k;", "2"),
    ("static unchanged", "static int k = @1@;", "return x * k;", "2"),
    ("zero against initial", "static int c@@;", "return c++ + x;", " = 7"),
    ("static in function", "", "static int c = @0@; c += x; return c;", "7"),
    (
        "two statics in blocks",
        "",
        "if (y) { static int c = @1@; return c += x; } { static int c = 2; return c -= x; }",
        "3",
    ),
    ("writable table", "int t[] = {1, 2, @3@, 4};", "return t[y & 3] + x;", "5"),
    ("writable table changed", "static int t[] = {1, 2, @3@, 4};", "t[y & 3] += x; return t[x & 3];", "5"),
    ("constant table", "static const int t[] = {1, 2, @3@, 4};", "return t[y & 3] + x;", "5"),
    ("constant table passed", "static const int t[] = {1, 2, @3@, 4};", "take(t, 16); return x;", "5"),
    ("part of a table passed", "static const int t[] = {1, 2, @3@, 4};", "take(t + (y & 1), 12); return x;", "5"),
    (
        "table behind a pointer",
        "static const int t[] = {1, 2, @3@, 4}; static const int *const p = t;",
        "take(p, 16); return p[y & 3];",
        "5",
    ),
    (
        "table behind a writable pointer",
        "static const int t[] = {1, 2, @3@, 4}; const int *p = t;",
        "return p[y & 3];",
        "5",
    ),
    ("literal", "", 'take_text("ab@c@d"); return x;', "e"),
    ("literal by choice", "", 'take_text(y ? "one" : "tw@o@"); return x;', "i"),
    ("literal behind a pointer", 'static const char *const s = "ab@c@d";', "take_text(s); return x;", "e"),
    (
        "literals in a table",
        'static const char *const s[] = {"one", "tw@o@", "three"};',
        "take_text(s[y & 1]); return x;",
        "i",
    ),
    (
        "table of literals passed",
        'static const char *const s[] = {"one", "tw@o@", "three"};',
        "take_list(s, 3); return x;",
        "i",
    ),
    (
        "writable table of literals",
        'static const char *s[] = {"one", "tw@o@", "three"};',
        "take_list(s, 3); return x;",
        "i",
    ),
    ("literal read", "", 'return "0123@4@567"[x & 7] + y;', "9"),
    (
        "structure of pointers",
        'static const struct { const char *n; int v; } s[] = {{"a", 1}, {"b", @2@}};',
        "take_text(s[y & 1].n); return s[x & 1].v;",
        "3",
    ),
    (
        "structure of names",
        'static const struct { const char *n; int v; } s[] = {{"a", 1}, {"@b@", 2}};',
        "take_text(s[y & 1].n); return s[x & 1].v;",
        "c",
    ),
    (
        "nested pointers",
        "static const int a = 1, b = @2@; static const int *const p[] = {&a, &b}; "
        "static const int *const *const pp = p;",
        "return *pp[y & 1] + x;",
        "3",
    ),
    ("thread's own", "static __thread int k = @1@;", "k += x; return k;", "2"),
    ("thread's own, global", "__thread int k = @1@;", "return k * 3 + x;", "2"),
    ("double constant", "", "return (int)(y * @1.5@);", "2.5"),
    (
        "double table",
        "static const double t[] = {1.5, @2.5@, 3.5};",
        "return (int)(t[(unsigned)y % 3] * 4) + x;",
        "2.75",
    ),
    ("local array", "", "int t[4] = {1, 2, @3@, 4}; return t[y & 3];", "5"),
    ("local array passed", "", "int t[4] = {1, x, @3@, 4}; take(t, 16); return t[0];", "5"),
    ("large local array passed", "", "char t[70] = {1, x, @3@, 4}; take(t, 70); return t[0];", "5"),
    ("text in an array", "", 'char t[] = "ab@c@d"; t[y & 3] = x; take_text(t); return t[1];', "e"),
    ("compound literal", "", "take((const int[]){1, y, @3@}, 12); return x;", "5"),
    ("between calls", "static int k = @1@;", "int r = ask(k); k += r; return ask(k);", "2"),
    ("outside calls may not see", "static int k = @1@;", "ask(x); return k;", "2"),
    (
        "offset into an object",
        "static int t[8] = {0, 1, 2, 3, @4@, 5, 6, 7}; static int *p = &t[4];",
        "return *p + p[-1];",
        "9",
    ),
    (
        "offset of the pointer",
        "static int t[8] = {0, 1, 2, 3, 4, 5, 6, 7}; static int *p = &t[@4@];",
        "return *p;",
        "5",
    ),
    (
        "offset of a constant pointer",
        "static const int t[8] = {0, 1, 2, 3, 4, 5, 6, 7}; static const int *const p = &t[@4@];",
        "take(p, 8); return *p;",
        "5",
    ),
    (
        "byte in a large table",
        "static const unsigned char t[256] = {[77] = @1@, [200] = 3};",
        "return t[(unsigned char)x];",
        "2",
    ),
    ("floats as bits", "", "union { float f; int i; } u; u.f = @1.0f@; return u.i + x;", "2.0f"),
    (
        "vector constant",
        "typedef int v4 __attribute__((vector_size(16)));",
        "v4 a = {x, y, x, y}; v4 b = {1, 2, @3@, 4}; a += b; return a[0] ^ a[1] ^ a[2] ^ a[3];",
        "8",
    ),
    ("flag", "static _Bool once@@;", "if (once) return x; once = 1; return y;", " = 1"),
    ("size of an object", "static char t[@8@];", "return sizeof t + x;", "9"),
    ("enum", "enum { A, B = @3@, C };", "return C * x;", "4"),
)


def contents(random: Random) -> Case:
    name, extra, body, other = random.choice(_FORMS)
    differs = random.random() < 0.6

    def text(value: str | None) -> str:
        whole_text = f"{extra}\nint f(int x, int y) {{ {body} }}\n"
        start, value_here, end = whole_text.split("@")
        return _HEAD + start + (value_here if value is None else value) + end

    left, right = text(None), text(other if differs else None)
    change = f"{name}, {'other' if differs else 'the same'} contents"
    if not differs and random.random() < 0.4:
        right = right.replace(_HEAD, _HEAD + _UNRELATED)
        change += ", and unrelated data"
    return Case("contents", left, right, not differs, change, _DRIVER)


_UNRELATED = (
    'static const char junk1[] = "zzz"; const double junk2 = 3.25; int junk3[5] = {9, 8, 7}; static int junk4 = 5;\n'
    "static const int junk6[] = {6, 6, 6};\n"
    'int junk5(void) { static int c = 3; take_text("abcd"); take_text("one"); take(junk6, 12); return junk1[c & 3] + '
    "junk4++ + (int)(c * 2.5); }\n"
)

_SAME_CONTENTS: tuple[tuple[str, str], ...] = (
    ('int f(int x, int y) { take_text("abcd" + 1); return x; }', 'int f(int x, int y) { take_text("bcd"); return x; }'),
    (
        "static const int t[] = {1, 2, 3}; int f(int x, int y) { take(t, 12); return x; }",
        "static const int other[] = {1, 2, 3}; int f(int x, int y) { take(other, 12); return x; }",
    ),
    (
        "static const int t[] = {1, 2, 3, 4}; int f(int x, int y) { return t[y & 3]; }",
        "static int t[] = {1, 2, 3, 4}; int f(int x, int y) { return t[y & 3]; }",
    ),
    (
        'static const char s[] = "hello"; int f(int x, int y) { take_text(s); return x; }',
        'int f(int x, int y) { take_text("hello"); return x; }',
    ),
    (
        'static const char *const s[] = {"a", "bc"}; int f(int x, int y) { take_text(s[y & 1]); return x; }',
        'int f(int x, int y) { take_text(y & 1 ? "bc" : "a"); return x; }',
    ),
    (
        "static int k = 3; int f(int x, int y) { return x * k; }",
        "int f(int x, int y) { return x * 3; }",
    ),
    (
        "int f(int x, int y) { static int c = 5; return c += x; }",
        "static int c = 5; int f(int x, int y) { return c += x; }",
    ),
    (
        "static int a, b; int f(int x, int y) { a += x; b += y; return a - b; }",
        "static int b, a; int f(int x, int y) { b += y; a += x; return a - b; }",
    ),
)


def same_contents(random: Random) -> Case:
    """Other objects that hold the same."""
    left, right = random.choice(_SAME_CONTENTS)
    made = Case("contents", _HEAD + left + "\n", _HEAD + right + "\n", True, "other objects, same contents", _DRIVER)
    return made if random.random() < 0.5 else made.swapped()


_NEIGHBOURS = (
    ("static int t[4] = {1, 2, 3, 4};", "return t[x & 7];"),
    ("int t[4] = {1, 2, 3, 4};", "return t[x & 7];"),
    ("static const int t[4] = {1, 2, 3, 4};", "return t[(x & 7)];"),
    ('static const char t[] = "abc";', "return t[x & 7];"),
    ("struct { int a, b; } t = {1, 2};", "return (&t.a)[x & 3];"),
    ("int t[4];", "t[x & 7] = y; return t[0];"),
    ("", "int t[4] = {x, y, 1, 2}; return t[x & 7];"),
    ("static double t[2] = {1, 2};", "return t[x & 3] > 1;"),
)


def past_objects(random: Random) -> Case:
    """One source whose access may go past its object, with other data around it: nothing that is defined differs."""
    extra, body = random.choice(_NEIGHBOURS)
    text = f"{extra}\nint f(int x, int y) {{ {body} }}\n"
    around = _HEAD + _UNRELATED + "int used(void) { return junk3[2] + (int)junk2 + junk5(); }\n"
    left, right = random.sample((_HEAD + text, around + text, _HEAD + text + around.removeprefix(_HEAD)), 2)
    return Case("past objects", left, right, True, "other data around the object", debug=True, allowed=("accesses",))
