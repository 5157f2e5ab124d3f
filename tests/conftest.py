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

TESTS = Path(__file__).parent
SLOW = (
    "adapt/test_emit.py::test_c_means_what_the_expressions_mean",
    "adapt/test_emit.py::test_smt_means_what_the_expressions_mean",
    "adapt/test_emit.py::test_the_harness_runs_and_reports",
    "adapt/test_float_family.py::test_adaptor",
    "adapt/test_float_family.py::test_broken_twin",
    "adapt/test_memory_family.py::test_adaptor",
    "adapt/test_memory_family.py::test_an_address_of_the_frame_that_is_kept",
    "adapt/test_memory_family.py::test_broken_twin",
    "adapt/test_memory_family.py::test_members_that_another_pointer_may_reach",
    "adapt/test_none_by_force.py",
    "adapt/test_none_is_certain.py::test_results_of_outside_functions_refute_nothing",
    "adapt/test_none_is_certain.py::test_what_the_rewrite_reads_refutes_all_constants",
    "adapt/test_normal.py::test_all_small_expressions",
    "adapt/test_normal.py::test_random_expressions",
    "adapt/test_normal.py::test_texts_tell_expressions_apart",
    "adapt/test_tree.py::test_eight_bits",
    "adapt/test_tree.py::test_every_function_of_depth_3_is_kept",
    "adapt/test_tree.py::test_reading_a_tree_gives_what_it_is_worth",
    "bench/test_border_campaign.py",
    "bench/test_compilers.py",
    "bench/test_minicompiler.py::test_compilers_agree_with_the_tree",
    "bench/test_reports.py::test_loops_by_a_word",
    "borders/test_convention.py::test_random_signatures_against_the_compiler",
    "borders/test_debug_information.py::test_thunks_are_not_void",
    "borders/test_debug_information.py::test_what_is_left_out_is_not_empty",
    "borders/test_linked_bases.py::test_a_run_past_an_object_shows_no_difference",
    "borders/test_linked_groups.py",
    "borders/test_linking.py",
    "borders/test_reach.py",
    "borders/test_threads.py::test_where_the_variables_are_is_not_known",
    "borders/test_unknown_types.py",
    "borders/test_unusual_returns.py::test_handlers_are_not_compared_and_the_verdict_says_so",
    "check/test_bound_certificates.py",
    "check/test_certificate.py::test_tampering_that_mends_the_hashes",
    "check/test_certificate.py::test_undecided_in_time",
    "check/test_expansion.py::test_a_huge_product_is_not_shown_and_does_not_hang",
    "check/test_expansion.py::test_depth_does_not_matter",
    "check/test_expansion.py::test_never_shows_a_false_identity",
    "check/test_imports.py::test_late_imports_are_seen",
    "check/test_small_machine_pairs.py::test_sampled_inputs_agree_with_the_expected_verdict[cs241/zero-sum-broken]",
    "check/test_small_machine_pairs.py::test_sampled_inputs_agree_with_the_expected_verdict[cs241/zero-sum]",
    "check/test_steps.py",
    "check/test_workers.py",
    "diff/test_composition.py",
    "diff/test_cycles.py",
    "diff/test_diff_cluster.py",
    "diff/test_diff_command.py::test_accepted_differences",
    "diff/test_diff_command.py::test_an_accepted_difference_is_about_the_declared_types",
    "diff/test_diff_command.py::test_answers_about_functions_of_the_same_code",
    "diff/test_diff_command.py::test_answers_count_for_another_build",
    "diff/test_diff_command.py::test_compilers_of_what_is_not_compiled",
    "diff/test_diff_command.py::test_folders",
    "diff/test_diff_command.py::test_patterns_and_forced_matches",
    "diff/test_diff_command.py::test_the_same_files_are_not_read_twice",
    "diff/test_diff_command.py::test_the_store_has_the_answers",
    "diff/test_diff_faults.py",
    "diff/test_diff_reports.py::test_both_reports",
    "diff/test_example.py",
    "engines/test_identical.py::test_a_number_that_happens_to_be_a_place_is_a_number",
    "engines/test_loops_many.py::test_the_same_loop_has_none",
    "engines/test_loops_observe.py::test_runs_that_do_not_end_are_not_repeated",
    "engines/test_loops_own_tests.py::test_a_loop_that_only_their_tests_enter",
    "engines/test_loops_own_tests.py::test_the_testing_rung_runs_them_first",
    "engines/test_loops_words.py::test_json_has_cuts_invariants_and_obligations",
    "engines/test_same_code.py::test_not_where_something_that_it_names_is_not",
    "engines/test_same_code.py::test_where_more_is_asked_the_engines_answer",
    "engines/test_texts.py::test_texts",
    "explain/test_changed_loops.py",
    "explain/test_false_causes.py::test_a_change_that_makes_the_rewrite_loop_for_ever",
    "explain/test_false_causes.py::test_a_value_that_is_right_in_one_iteration_only",
    "explain/test_filters.py::test_filters_leave_out_candidates",
    "grade/test_grade.py::test_c_submissions",
    "grade/test_grade.py::test_loops",
    "grade/test_grade.py::test_the_same_rows_whatever_the_number_of_jobs",
    "grade/test_grade_command.py",
    "grade/test_grade_fixed_tests.py::test_a_test_that_no_engine_thought_of_is_a_witness",
    "grade/test_grade_reference_paths.py::test_they_are_the_same_every_time_and_not_too_many",
    "grade/test_grade_store.py",
    "grade/test_grade_workers.py",
    "isa/test_cs241.py::test_lifted_random_programs_do_what_the_interpreter_does",
    "isa/test_cs241.py::test_the_runner_stops_where_the_program_runs_what_it_wrote",
    "isa/test_riscv64.py::test_compressed_computations",
    "isa/test_x86_evex.py",
    "isa/test_x86_semantics.py::test_every_form_agrees_with_independent_cpus",
    "isa/test_x86_semantics.py::test_flags_stay_booleans_whatever_is_undefined",
    "isa/test_x86_semantics.py::test_needless_prefixes_are_read_as_the_processor_reads_them",
    "isa/test_x86_semantics.py::test_no_instruction_loops_or_branches_inside_itself",
    "isa/test_x86_semantics.py::test_the_compiled_runner_agrees_with_the_defining_table",
    "isa/test_x86_symbolic.py",
    "isa/test_x86_wrapper.py::test_every_operator",
    "isa/test_x86_wrapper.py::test_trees_whose_operands_wait",
    "isa/test_x87.py::test_every_instruction_agrees_with_the_processor",
    "lift/test_library.py",
    "load/test_compile.py::test_a_compiler_has_limits",
    "load/test_cs241_assembler.py::test_branches_reach_as_far_as_they_can",
    "load/test_cs241_assembler.py::test_large_and_odd_files_are_done_in_seconds",
    "load/test_prototype.py::test_hostile_texts_never_escape",
    "load/test_prototype.py::test_layout_is_the_compilers",
    "load/test_toy_assembler.py::test_the_largest_file_assembles_in_seconds",
    "mine/test_mining.py::test_a_command_that_ended_early_repeats_nothing",
    "mine/test_mining.py::test_a_constant_that_no_code_shows_is_not_refuted",
    "mine/test_mining.py::test_a_store_of_another_question",
    "mine/test_mining.py::test_adaptors",
    "mine/test_mining.py::test_clusters",
    "mine/test_mining.py::test_functions_that_look_alike_are_not_interchangeable",
    "mine/test_mining.py::test_functions_without_effects_are_said_once",
    "mine/test_mining.py::test_reports",
    "mine/test_mining.py::test_signatures_are_guessed_without_debug_information",
    "report/test_diff_html.py",
    "report/test_sarif.py::test_thousands_of_functions",
    "semantics/test_small_machines.py::test_every_form_agrees_with_the_interpreter",
    "smt/test_float_rules.py::test_identities_of_two_numbers",
    "smt/test_normalizer_rules.py",
    "smt/test_polynomial.py::test_depth_does_not_matter",
    "smt/test_polynomial.py::test_size_is_bounded",
    "smt/test_rules.py",
    "smt/test_terms.py::test_terms_survive_garbage_collection_in_cycles",
    "sym/test_context.py::test_what_holds_in_a_case_changes_nothing",
    "test_cli.py::test_a_loop_is_bounded_and_says_so",
    "test_cli.py::test_interrupt_during_a_solve_gives_unknown_promptly",
    "test_documents.py::test_a_changed_verdict_is_noticed",
    "test_documents.py::test_transcript_is_current",
    "test_evaluate.py::test_symbolic_step_agrees",
    "test_hostile_smoke.py",
    "test_limits.py",
    "test_packaging.py",
    "test_precondition.py::test_an_smt_algebra_agrees_with_plain_numbers",
    "test_precondition.py::test_disjoint_from_their_base_is_exact",
    "test_precondition.py::test_hostile_texts_never_escape",
    "test_precondition.py::test_random_expressions_against_the_compiler",
    "test_soundness_smoke.py",
    "work/test_cluster.py",
    "work/test_diff_on_a_server.py",
    "work/test_faults.py",
    "work/test_queue.py::test_a_question_that_kills_its_process_twice",
    "work/test_queue.py::test_a_question_whose_key_is_found_on_the_way_is_answered_once",
    "work/test_queue.py::test_many_answers",
    "work/test_queue.py::test_progress",
    "work/test_queue.py::test_tasks_may_wait_for_the_answers_of_others",
    "work/test_queue.py::test_the_time_for_all",
    "work/test_queue.py::test_too_much_processor_time",
    "work/test_store.py::test_a_second_run_asks_nothing",
    "work/test_store.py::test_an_answer_that_is_not_final_is_asked_for_again_with_more_time",
    "work/test_store.py::test_results_are_plain_json",
    "work/test_store.py::test_the_caller_says_what_is_kept_and_what_is_asked_again",
    "work/test_store.py::test_what_a_dead_run_had_claimed_is_free",
)
"""Files, tests and single cases of tests that are not in the quick tier: those that take more than about a third of a
second."""


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


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file of which the quick tier has nothing is not imported: that takes a tenth of a second and more."""
    is_left_out = config.getoption("--quick") and collection_path.is_relative_to(TESTS)
    return True if is_left_out and collection_path.relative_to(TESTS).as_posix() in SLOW else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What is left out is not even skipped: workers tell each other of every test that is."""
    if config.getoption("--quick"):
        left_out = [item for item in items if is_slow(item)]
    elif not config.getoption("--long"):
        left_out = [item for item in items if item.get_closest_marker("long") is not None]
    else:
        return
    config.hook.pytest_deselected(items=left_out)
    chosen = set(map(id, left_out))
    items[:] = [item for item in items if id(item) not in chosen]


def pytest_collection_finish() -> None:
    """Thousands of tests and all that they import stay until the end: no collection looks at them again."""
    gc.collect()
    gc.freeze()


def is_slow(item: pytest.Item) -> bool:
    case = item.nodeid.removeprefix("tests/")
    name = case.partition("[")[0]
    marked = any(item.get_closest_marker(marker) for marker in ("slow", "long"))
    return marked or not {case, name, name.partition("::")[0]}.isdisjoint(SLOW)


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
