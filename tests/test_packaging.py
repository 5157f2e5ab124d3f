"""Building a package touches nothing in the source tree and takes nothing that an older build left there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BUILD = "import sys; import build_elsewhere; build_elsewhere.build_sdist(sys.argv[1])"


@pytest.mark.skipif(find_spec("setuptools") is None, reason="there is no setuptools to build with")
def test_a_package_of_a_tree_that_stays_as_it_is(tmp_path: Path) -> None:
    tree, out = tmp_path / "tree", tmp_path / "out"
    out.mkdir()
    for name in ("src", "scripts"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, tree / name)
    (tree / "build" / "lib" / "isoform").mkdir(parents=True)
    (tree / "build" / "lib" / "isoform" / "stale.py").write_text("")
    before = sorted(tree.rglob("*"))
    environment = {**os.environ, "PYTHONPATH": str(tree / "scripts" / "packaging"), "PYTHONDONTWRITEBYTECODE": "1"}
    built = subprocess.run(
        [sys.executable, "-c", BUILD, str(out)], cwd=tree, env=environment, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    assert sorted(tree.rglob("*")) == before
    (archive,) = out.glob("*.tar.gz")
    with tarfile.open(archive) as members:
        names = [name.partition("/")[2] for name in members.getnames()]
    packed = {name.removeprefix("src/") for name in names if name.endswith((".py", "py.typed")) and "isoform/" in name}
    modules = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src" / "isoform").rglob("*.py")}
    assert packed == {*modules, "isoform/py.typed"}
    assert "scripts/packaging/build_elsewhere.py" in names
