"""The tiers: `quick` is what `./scripts/check` asks, `long` runs only where it is asked for. The compiler of tests that
name none: the pinned one. What a session builds once."""

from __future__ import annotations

import gc
import os
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import pytest

from isoform.isa.registry import DEFAULT
from isoform.load import compile as compiling
from pairfile import PAIRS, driver

SLOW = (
    "adapt/test_emit.py::test_c_means_what_the_expressions_mean",
    "adapt/test_emit.py::test_smt_means_what_the_expressions_mean",
    "adapt/test_float_family.py::test_broken_twin",
    "adapt/test_memory_family.py::test_broken_twin",
    "adapt/test_none_by_force.py",
    "bench/test_border_campaign.py",
    "bench/test_compilers.py",
    "bench/test_minicompiler.py::test_compilers_agree_with_the_tree",
    "borders/test_linked_groups.py",
    "borders/test_linking.py",
    "borders/test_reach.py",
    "borders/test_unknown_types.py",
    "check/test_bound_certificates.py",
    "check/test_certificate.py::test_tampering_that_mends_the_hashes",
    "check/test_certificate.py::test_undecided_in_time",
    "check/test_expansion.py::test_depth_does_not_matter",
    "check/test_expansion.py::test_never_shows_a_false_identity",
    "check/test_steps.py",
    "check/test_workers.py",
    "diff/test_composition.py",
    "diff/test_cycles.py",
    "diff/test_diff_command.py::test_the_same_files_are_not_read_twice",
    "diff/test_diff_faults.py",
    "diff/test_diff_cluster.py",
    "diff/test_diff_command.py::test_accepted_differences",
    "diff/test_diff_command.py::test_answers_count_for_another_build",
    "diff/test_diff_command.py::test_folders",
    "diff/test_diff_command.py::test_patterns_and_forced_matches",
    "diff/test_diff_command.py::test_the_store_has_the_answers",
    "diff/test_example.py",
    "engines/test_loops_observe.py::test_runs_that_do_not_end_are_not_repeated",
    "explain/test_changed_loops.py",
    "grade/test_grade.py::test_loops",
    "grade/test_grade.py::test_the_same_rows_whatever_the_number_of_jobs",
    "grade/test_grade_command.py",
    "grade/test_grade_store.py",
    "grade/test_grade_workers.py",
    "isa/test_cs241.py::test_lifted_random_programs_do_what_the_interpreter_does",
    "isa/test_cs241.py::test_the_runner_stops_where_the_program_runs_what_it_wrote",
    "isa/test_x86_evex.py",
    "isa/test_x86_semantics.py::test_every_form_agrees_with_independent_cpus",
    "isa/test_x86_semantics.py::test_flags_stay_booleans_whatever_is_undefined",
    "isa/test_x86_semantics.py::test_no_instruction_loops_or_branches_inside_itself",
    "isa/test_x86_semantics.py::test_the_compiled_runner_agrees_with_the_defining_table",
    "isa/test_x86_symbolic.py",
    "lift/test_library.py",
    "load/test_cs241_assembler.py::test_large_and_odd_files_are_done_in_seconds",
    "load/test_toy_assembler.py::test_the_largest_file_assembles_in_seconds",
    "report/test_diff_html.py",
    "semantics/test_small_machines.py::test_every_form_agrees_with_the_interpreter",
    "smt/test_float_rules.py::test_identities_of_two_numbers",
    "smt/test_normalizer_rules.py",
    "smt/test_polynomial.py::test_depth_does_not_matter",
    "smt/test_rules.py",
    "smt/test_terms.py::test_terms_survive_garbage_collection_in_cycles",
    "sym/test_context.py::test_what_holds_in_a_case_changes_nothing",
    "test_cli.py::test_a_loop_is_bounded_and_says_so",
    "test_cli.py::test_interrupt_during_a_solve_gives_unknown_promptly",
    "test_documents.py::test_transcript_is_current",
    "test_evaluate.py::test_symbolic_step_agrees",
    "test_hostile_smoke.py",
    "test_limits.py",
    "test_packaging.py",
    "mine/test_mining.py::test_adaptors",
    "mine/test_mining.py::test_clusters",
    "mine/test_mining.py::test_functions_that_look_alike_are_not_interchangeable",
    "mine/test_mining.py::test_functions_without_effects_are_said_once",
    "mine/test_mining.py::test_reports",
    "test_precondition.py::test_disjoint_from_their_base_is_exact",
    "test_precondition.py::test_random_expressions_against_the_compiler",
    "test_soundness_smoke.py",
    "work/test_cluster.py",
    "work/test_diff_on_a_server.py",
    "work/test_faults.py",
)
"""Files and tests that take more than a second or two and are not in the quick tier."""


COMPILERS = {
    "zig": driver("zig")
    and f"{shlex.join(compiling.compiler('zig'))} -target x86_64-linux-gnu -fno-sanitize=undefined",
    "gcc-12": driver("gcc-12"),
}
"""What `cc` is for a test: the first of these, or the one that a mark `compiler` names. `cc` is the machine's own."""
OWN_PATH = os.environ.get("PATH", "")
FOLDERS = pytest.StashKey[Path]()


def pytest_configure(config: pytest.Config) -> None:
    """Whatever `cc` a machine has, code that tests are about comes from a compiler of a known version."""
    folder = tempfile.TemporaryDirectory(prefix="isoform-cc-", ignore_cleanup_errors=True)
    config.add_cleanup(folder.cleanup)
    config.stash[FOLDERS] = Path(folder.name)
    for name, words in COMPILERS.items():
        if driver(name) is not None:
            script = Path(folder.name) / name / "cc"
            script.parent.mkdir()
            cache = f"export ZIG_LOCAL_CACHE_DIR='{folder.name}' ZIG_GLOBAL_CACHE_DIR='{folder.name}'"
            script.write_text(f'#!/bin/sh\n{cache}\nexec {words} "$@"\n')
            script.chmod(0o755)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    marker = item.get_closest_marker("compiler")
    name = marker.args[0] if marker is not None else "zig"
    if marker is not None and driver(name) is None:
        pytest.skip(f"needs {name}")
    chosen = item.config.stash[FOLDERS] / name
    os.environ["PATH"] = os.pathsep.join((str(chosen), OWN_PATH)) if name in COMPILERS else OWN_PATH


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="only the quick tier: what ./scripts/check asks")
    parser.addoption("--long", action="store_true", help="also run the tests that take minutes")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--quick"):
        slow = [item for item in items if is_slow(item)]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not is_slow(item)]
    if config.getoption("--long"):
        return
    for item in items:
        if item.get_closest_marker("long") is not None:
            item.add_marker(pytest.mark.skip(reason="takes long: --long runs it"))


def pytest_collection_finish() -> None:
    """Thousands of tests and all that they import stay until the end: no collection looks at them again."""
    gc.collect()
    gc.freeze()


def is_slow(item: pytest.Item) -> bool:
    name = item.nodeid.removeprefix("tests/").partition("[")[0]
    marked = any(item.get_closest_marker(marker) for marker in ("slow", "long"))
    return marked or name in SLOW or name.partition("::")[0] in SLOW


@pytest.fixture
def built_once(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each source of `tests/pairs` is built once a session with each compiler and its flags, whatever worker asks:
    the questions name 572 builds 3,218 times. The sources do not change meanwhile, nor do the files they include."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "builds"
    folder.mkdir(exist_ok=True)
    build = compiling.compile_source

    def compile_source(path: Path, cc: str | None = None, cflags: Sequence[str] = (), isa: str = DEFAULT) -> bytes:
        if PAIRS not in path.absolute().parents:
            return build(path, cc, cflags, isa)
        asked = repr((str(path), Path.cwd(), compiling.compiler(cc), cflags, isa))
        built = folder / sha256(asked.encode()).hexdigest()
        if not built.exists():
            own = built.with_suffix(f".{os.getpid()}")
            own.write_bytes(build(path, cc, cflags, isa))
            own.rename(built)
        return built.read_bytes()

    monkeypatch.setattr(compiling, "compile_source", compile_source)


@pytest.fixture
def changed_tables() -> Iterator[None]:
    """For a test that changes what instructions mean: nothing that was decoded before or during it is used again."""
    from isoform.isa.x86_64.machine import DECODER

    DECODER.forget()
    yield
    DECODER.forget()
