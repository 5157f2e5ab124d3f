"""C++ names as they are typed and shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from built import ZIG, build

from isoform.load.open import open_one, open_pair
from isoform.load.resolve import as_typed, split_spec
from isoform.model.errors import UserError
from isoform.model.names import LONGEST_MANGLED, shown_name, with_shown_names, without_parameters

TEXT = """
namespace ns {
int f(int x) { return x * 2; }
int f(long x) { return (int)x * 3; }
struct S { int v; int get(int) const; };
int S::get(int x) const { return v + x; }
}
int area(int a, int b) { return a * b; }
template <class T> T sum(T a, T b) { return a + b; }
template int sum<int>(int, int);
"""


@pytest.fixture
def built_file(tmp_path: Path) -> Path:
    driver = ["c++" if word == "cc" else word for word in ZIG]
    return build(tmp_path, TEXT, "-O1", driver=driver, suffix=".cc")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("_ZN2ns1fEi", "ns::f(int)"),
        ("_ZNKSt6vectorIiSaIiEE4sizeEv", "std::vector<int, std::allocator<int>>::size() const"),
        ("_Z4areaii.part.0", "area(int, int) [.part.0]"),
        ("_ZN2ns1fEi@LIB_2", "ns::f(int)@LIB_2"),
        ("_RNvC3foo3bar", "foo::bar"),
        ("inflate", "inflate"),
        ("_Zork", "_Zork"),
        ("_Z" + "P" * LONGEST_MANGLED + "i", "_Z" + "P" * LONGEST_MANGLED + "i"),
    ],
)
def test_names_for_people(name: str, shown: str) -> None:
    assert shown_name(name) == shown


def test_a_name_that_doubles_with_every_letter_stays_as_it_is() -> None:
    bomb = "_Z1f1aIiiE" + "".join(f"1bIS{n if n >= 0 else ''}_S{n if n >= 0 else ''}_E" for n in range(-1, 40))
    assert shown_name(bomb) == bomb


@pytest.mark.parametrize(
    ("shown", "name"),
    [
        ("ns::f(int)", "ns::f"),
        ("int ns::S::add<int>(int)", "ns::S::add<int>"),
        ("std::pair<int, char> make<int>(int) const", "make<int>"),
        ("ns::S::operator()(int) const", "ns::S::operator()"),
        ("ns::S::operator bool() const", "ns::S::operator bool"),
        ("void call(void (*)(int))", "call"),
        ("plain", "plain"),
    ],
)
def test_without_parameters(shown: str, name: str) -> None:
    assert without_parameters(shown) == name


def test_prototypes() -> None:
    assert with_shown_names("int _ZN2ns1fEi(int x), though") == "int ns::f(int x), though"


def test_as_typed() -> None:
    names = ["_ZN2ns1fEi", "_ZN2ns1fEl", "_Z4areaii", "_Z4areaii.part.0", "plain"]
    assert as_typed(names, "ns::f( int )") == ["_ZN2ns1fEi"]
    assert as_typed(names, "ns::f") == ["_ZN2ns1fEi", "_ZN2ns1fEl"]
    assert as_typed(names, "area") == ["_Z4areaii"]
    assert as_typed(names, "_Z4areaii") == ["_Z4areaii"]
    assert as_typed(names, "f") == []


def test_names_with_colons_in_specs(tmp_path: Path) -> None:
    path = tmp_path / "a.o"
    path.write_bytes(b"")
    assert split_spec(f"{path}:ns::f(int)") == (path, "ns::f(int)")
    assert split_spec("missing.o:ns::f(int)") == (Path("missing.o"), "ns::f(int)")


def test_functions_by_the_names_of_the_source(built_file: Path) -> None:
    assert open_one(f"{built_file}:ns::f(int)").symbol.name == "_ZN2ns1fEi"
    assert open_one(f"{built_file}:ns::S::get").symbol.name == "_ZNK2ns1S3getEi"
    assert open_one(f"{built_file}:sum<int>").symbol.name == "_Z3sumIiET_S0_S0_"
    assert [s.symbol.name for s in open_pair(f"{built_file}:area", str(built_file))] == ["_Z4areaii"] * 2
    with pytest.raises(
        UserError, match=r"2 functions that 'ns::f' may mean \(ns::f\(int\) = _ZN2ns1fEi, ns::f\(long\)"
    ):
        open_one(f"{built_file}:ns::f")
    with pytest.raises(UserError, match=r"no function 'ns::f\(char\)' in .*; did you mean 'ns::f\("):
        open_one(f"{built_file}:ns::f(char)")
