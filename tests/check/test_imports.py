"""The checkers share no code with what they check: found by reading the source, late imports included."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import isoform

PACKAGE = Path(isoform.__file__).parent
CHECKED = ("engines", "sym", "lift", "smt", "run")
CERTIFICATES = (
    "bit_functions",
    "certificate",
    "confirm",
    "expansion",
    "polynomials",
    "formula",
    "goals",
    "required",
    "smtlib",
    "sorts",
    "steps",
    "workers",
)
"""The modules that re-check certificates, which need nothing of isoform but its errors and how they report."""


def file_of(module: str) -> Path | None:
    path = PACKAGE.parent.joinpath(*module.split("."))
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def imports(path: Path) -> Iterator[str]:
    """Modules of isoform that a file imports anywhere, except for the sake of types."""
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                waiting += node.orelse
            case ast.Import(names=names):
                yield from (name.name for name in names if name.name.split(".")[0] == "isoform")
            case ast.ImportFrom(module=str(module), names=names, level=0) if module.split(".")[0] == "isoform":
                yield module
                yield from (f"{module}.{name.name}" for name in names if file_of(f"{module}.{name.name}"))
            case ast.ImportFrom(level=level) if level:
                raise AssertionError(f"{path} has a relative import, which this test does not follow")
            case _:
                waiting += ast.iter_child_nodes(node)


def reached(modules: list[str]) -> dict[str, str]:
    """Every module of isoform that these import, however indirectly, and who imports it."""
    found = dict.fromkeys(modules, "the test")
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        path = file_of(module)
        assert path, module
        for imported in imports(path):
            if imported not in found:
                found[imported] = module
                waiting.append(imported)
    return found


def test_check_reaches_nothing_that_it_checks() -> None:
    modules = [f"isoform.check.{path.stem}" for path in sorted((PACKAGE / "check").glob("*.py"))]
    found = reached(modules)
    assert "isoform.model.errors" in found
    parts = {module: module.split(".") for module in found}
    assert not {m: found[m] for m, part in parts.items() if len(part) > 1 and part[1] in CHECKED}


def test_certificates_need_next_to_nothing() -> None:
    found = reached([f"isoform.check.{name}" for name in CERTIFICATES])
    shared = [f"isoform.model.{name}" for name in ("budget", "check_report", "errors")]
    assert sorted(found) == sorted([*(f"isoform.check.{name}" for name in CERTIFICATES), *shared])


def test_late_imports_are_seen() -> None:
    assert "isoform.engines.certify" in reached(["isoform.engines.ladder"])
