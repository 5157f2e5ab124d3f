"""What `import isoform` offers: names, options as words, and a verdict that cannot be taken for true or false."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import isoform

SAME = "int f(int x, int *p) { *p = x; return x * 2; }\n"
OTHER = "int f(int x, int *p) { *p = x + 1; return x + x; }\n"
PUBLIC = {
    *(
        "AbortRule",
        "BoundsRule",
        "Assumption",
        "Bounded",
        "CallRule",
        "Checker",
        "Code",
        "DataRule",
        "Different",
        "Engine",
        "Equivalent",
        "LoadOptions",
    ),
    *("MemoryRule", "Options", "ReturnAs", "Unknown", "Unsupported", "UserError", "Verdict", "Witness"),
    *("code", "compare"),
    *("Cause", "Explain", "RestrictRule", "RootCause", "Strength", "TerminationRule"),
}
"""Scripts depend on these: a name is added here on purpose, and never taken away."""


@pytest.fixture
def sources(tmp_path: Path) -> tuple[Path, Path]:
    left, right = tmp_path / "a.c", tmp_path / "b.c"
    left.write_text(SAME)
    right.write_text(OTHER)
    return left, right


def test_the_public_names() -> None:
    assert set(isoform.__all__) == PUBLIC
    assert set(dir(isoform)) >= PUBLIC
    assert all(getattr(isoform, name) is not None for name in PUBLIC)


def test_words_are_what_they_are_on_the_command_line(sources: tuple[Path, Path]) -> None:
    verdict = isoform.compare(*sources, memory="compare", engine="auto", budget=10)
    assert isinstance(verdict, isoform.Different)
    assert verdict.verdict == "different"
    assert isoform.compare(*sources, memory="ignore").verdict == "equivalent"
    assert isoform.compare(*sources, isoform.Options(memory="ignore"), memory="compare").verdict == "different"  # type: ignore[arg-type]


def test_one_condition_is_a_string(tmp_path: Path) -> None:
    path = tmp_path / "c.c"
    path.write_text("int f(int x) { return x < 10 ? x : 0; }\nint g(int x) { return x; }\n")
    assert isoform.compare(f"{path}:f", f"{path}:g").verdict == "different"
    verdict = isoform.compare(f"{path}:f", f"{path}:g", assume="x < 10")
    assert isinstance(verdict, isoform.Equivalent)
    assert isoform.compare(f"{path}:f", f"{path}:g", assume=["x < 10", "x > 3"]).verdict == "equivalent"


def test_one_source_with_two_sets_of_flags(sources: tuple[Path, Path]) -> None:
    assert isoform.compare(sources[0], cflags_a="-O0", cflags_b=("-O2", "-fno-inline")).verdict == "equivalent"


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"memory": "compared"}, ValueError, "'compare', 'ignore'"),
        ({"engine": "fast"}, ValueError, "'testing'"),
        ({"return_as": None}, ValueError, "return_as"),
        ({"assume": 7}, TypeError, "assume"),
        ({"signature": 7}, TypeError, "signature"),
        ({"budget": "5"}, TypeError, "budget"),
        ({"budget": float("nan")}, ValueError, "budget"),
        ({"budget": 10**400}, ValueError, "budget"),
        ({"fuel": 0}, ValueError, "at least 1"),
        ({"tests": 5}, TypeError, "tests"),
        ({"pure": ""}, ValueError, "pure"),
        ({"idempotent": ("f", "")}, ValueError, "idempotent"),
        ({"cc": 5}, TypeError, "cc"),
        ({"cflags": 5}, TypeError, "cflags"),
        ({"function": 5}, TypeError, "function"),
        ({"isa": "x68"}, ValueError, "isa must be one of 'x86_64', .*'cs241', not 'x68'"),
        ({"options": {"budget": 1}}, TypeError, "Options"),
        ({"degree": 4}, ValueError, "from 1 to 3"),
        ({"bugdet": 5}, TypeError, "'bugdet'"),
    ],
)
def test_what_is_no_option_is_refused(
    sources: tuple[Path, Path], options: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        isoform.compare(*sources, **options)


def test_a_verdict_is_neither_true_nor_false(sources: tuple[Path, Path]) -> None:
    verdict = isoform.compare(sources[0], sources[0])
    with pytest.raises(TypeError, match="verdict == 'equivalent'"):
        bool(verdict)
    assert verdict.to_json()["verdict"] == verdict.verdict == "equivalent"
    assert "equivalent" in str(verdict)
    assert "equivalent" in verdict._repr_html_()


def test_a_function_is_not_compared_with_itself(sources: tuple[Path, Path]) -> None:
    with pytest.raises(isoform.UserError, match=r"compares f with itself: give a second file or --cflags-b"):
        isoform.compare(f"{sources[0]}:f")
    with pytest.raises(isoform.UserError, match="with itself"):
        isoform.compare(sources[0], cflags="-O1")


@pytest.mark.compiler("gcc-12")
def test_a_static_function_comes_with_a_hint(sources: tuple[Path, Path]) -> None:
    """Only what no other file can call may be compiled for its callers."""
    for number, path in enumerate(sources):
        text = f"int given(unsigned k) {{ return k + {number}; }}"
        path.write_text(
            f"static __attribute__((noinline)) {text} int used(unsigned x) {{ return given(x) * given(3); }}"
        )
    found = [isoform.compare(f"{sources[0]}:{name}", f"{sources[1]}:{name}") for name in ("given", "used")]
    assert isinstance(found[0], isoform.Different)
    assert isinstance(found[1], isoform.Different)
    assert found[0].hint.startswith("given is static: a compiler may have specialised it")
    assert "hint" in found[0].to_json()
    assert found[1].hint == ""


TWICE_AND = bytes.fromhex("8d0477c3")  # lea eax, [rdi+rsi*2]; ret
ADDED = bytes.fromhex("01f68d0437c3")  # add esi, esi; lea eax, [rdi+rsi]; ret
SUBTRACTED = bytes.fromhex("01f629f789f8c3")  # add esi, esi; sub edi, esi; mov eax, edi; ret
PROTOTYPE = "int twice_and(int x, int y)"


def test_bytes_and_assembly_are_compared() -> None:
    checker = isoform.Checker(isoform.code(TWICE_AND, isa="x86_64", signature=PROTOTYPE))
    assert checker.compare(isoform.code(ADDED)).verdict == "equivalent"
    verdict = checker.compare(isoform.code(SUBTRACTED))
    assert isinstance(verdict, isoform.Different)
    assert (verdict.target.path, verdict.target.function) == ("(code)", "twice_and")
    assert checker.compare(isoform.code("lea (%rdi,%rsi,2), %eax\nret")).verdict == "equivalent"
    assert checker.compare(isoform.code("f: lea 1(%rdi,%rsi,2), %eax\nret\n.size f, .-f")).verdict == "different"
    assert isoform.compare(isoform.code(TWICE_AND), isoform.code(ADDED), signature=PROTOTYPE).verdict == "equivalent"


def test_code_that_is_in_no_file_has_one_signature() -> None:
    with pytest.raises(isoform.UserError, match="two signatures"):
        isoform.compare(isoform.code(TWICE_AND, signature=PROTOTYPE), isoform.code(ADDED, signature="long f(long x)"))
    narrow = isoform.code(ADDED, signature="char f(char x, char y)")
    verdict = isoform.compare(
        isoform.code(TWICE_AND, signature=PROTOTYPE), narrow, signature="short f(short x, short y)"
    )
    assert verdict.contract.signature is not None
    assert str(verdict.contract.signature).startswith("short f(")


def test_text_of_the_small_machines_is_code_too() -> None:
    checker = isoform.Checker(isoform.code("add $3, $1, $2\njr $31\n", isa="cs241"))
    assert checker.compare(isoform.code("add $3, $2, $1\njr $31\n", isa="cs241")).verdict == "equivalent"
    assert checker.compare(isoform.code("sub $3, $2, $1\njr $31\n", isa="cs241")).verdict == "different"
    with pytest.raises(isoform.UserError, match="as text, not as bytes"):
        checker.compare(isoform.code(ADDED, isa="cs241"))
    with pytest.raises(isoform.UserError, match="both sides must be the same machine"):
        checker.compare(isoform.code(ADDED))


@pytest.mark.parametrize(
    ("target", "rewrite"),
    [
        ("488b0500010000c3", "90488b0500010000c3"),  # mov rax, [rip+0x100]
        ("488d3d000100004889f8c3", "488d0500010000c3"),  # lea rdi, [rip+0x100]; mov rax, rdi and lea rax, ...
        ("e800010000c3", "90e800010000c3"),  # a call to 0x100 bytes further on
    ],
)
def test_bytes_that_refer_to_what_is_around_them_show_nothing(target: str, rewrite: str) -> None:
    left, right = (isoform.code(bytes.fromhex(text), signature="long f(long x)") for text in (target, rewrite))
    verdict = isoform.compare(left, right)
    assert isinstance(verdict, isoform.Unknown)
    assert "outside the given bytes" in verdict.why


def test_bytes_may_refer_to_themselves() -> None:
    loop = bytes.fromhex("31c085ff7e0601f8ffcf75fac3")  # it jumps forwards and backwards
    same = isoform.compare(isoform.code(loop, signature="int f(int n)"), isoform.code(loop + b"\x90"))
    assert same.verdict == "equivalent"
    with pytest.raises(isoform.UserError, match="runs off its code"):
        isoform.compare(isoform.code(loop), isoform.code(bytes.fromhex("e9f0ffffff")))
    called = bytes.fromhex("e801000000c38d4701c3")  # call 1f; ret; 1: lea eax, [rdi+1]; ret
    plain = isoform.code(bytes.fromhex("8d4701c3"), signature="int f(int x)")
    assert isoform.compare(isoform.code(called), plain).verdict == "equivalent"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"content": 7}, TypeError),
        ({"content": b""}, ValueError),
        ({"content": ADDED, "name": "two words"}, ValueError),
        ({"content": ADDED, "isa": None}, TypeError),
        ({"content": ADDED, "isa": "x68"}, ValueError),
        ({"content": ADDED, "signature": 7}, TypeError),
    ],
)
def test_what_is_no_code_is_refused(arguments: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        isoform.code(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(("option", "value", "choices"), [("isa", "x68", "'x86_64'"), ("memory", "all", "'compare'")])
def test_a_checker_refuses_options_when_it_is_made(option: str, value: str, choices: str) -> None:
    with pytest.raises(ValueError, match=rf"{option} must be one of .*{choices}.*, not '{value}'"):
        isoform.Checker(isoform.code(ADDED), **{option: value})  # type: ignore[arg-type]


def test_assembly_with_a_mistake_is_one_clear_error() -> None:
    with pytest.raises(isoform.UserError, match=r"\(code\)"):
        isoform.Checker(isoform.code(TWICE_AND)).compare(isoform.code("leax %rdi"))


def test_what_a_checker_keeps_says_nothing_of_the_pair(tmp_path: Path) -> None:
    """Data that the two sides share by name is compared anew for each rewrite, in any order."""
    texts = {
        "target": "int table[2] = {1, 2}; int f(int i) { return table[i & 1]; }",
        "same": "int table[2] = {1, 2}; int f(int i) { unsigned j = i % 2u; return table[j]; }",
        "other": "int table[2] = {1, 3}; int f(int i) { unsigned j = i % 2u; return table[j]; }",
        "moved": "int g(void) { return 1; } int b = 7; int table[2] = {1, 2}; int f(int i) { return table[i & 1]; }",
    }
    paths = {name: tmp_path / f"{name}.c" for name in texts}
    for name, path in paths.items():
        path.write_text(texts[name])
    checker = isoform.Checker(paths["target"], function="f", budget=20)
    order = ["same", "other", "moved", "same", "moved", "other", "target"]
    found = [checker.compare(paths[name]).verdict for name in order]
    assert found == ["equivalent", "different", "equivalent", "equivalent", "equivalent", "different", "equivalent"]


def test_a_checker_reads_its_target_once(tmp_path: Path) -> None:
    target, rewrite = tmp_path / "a.c", tmp_path / "b.c"
    target.write_text(SAME)
    rewrite.write_text(SAME)
    checker = isoform.Checker(target, memory="compare")
    assert checker.compare(rewrite).verdict == "equivalent"
    target.unlink()
    assert checker.compare(rewrite).verdict == "equivalent"
    rewrite.write_text(OTHER)
    assert checker.compare(rewrite).verdict == "different"
    with pytest.raises(TypeError, match="'bugdet'"):
        isoform.Checker(target, bugdet=5)
