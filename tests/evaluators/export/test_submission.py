"""An exported submission is Python whose custom_kernel() launches what the evaluator would."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from evaluators.device_info import target_of
from evaluators.evaluation import Rejected, Status
from evaluators.export.header import header_name
from evaluators.export.submission import FILE, form_of, literal, submission
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.hip.rocm import ClangToolchain, find_toolchain
from evaluators.kernel.source import KernelSource, parse_kernel
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task, TaskError
from evaluators.tasks.task_file import load_task
from tests.evaluators.export.planned import build_of, planned
from tests.evaluators.export.settings_task import SETTINGS_SEED, settings_task
from tests.evaluators.small_task import PREPARED, kernel, write_task
from tests.soaked import one_in

JUDGE = Path(__file__).parent / "judge" / "judge.py"
LEADERBOARDS = {
    "fp8_gemm": "amd-fp8-mm",
    "moe": "amd-mixture-of-experts",
    "mla_decode": "amd-mla-decode",
}


def seeds() -> Iterator[tuple[str, Task, KernelSource]]:
    for name in LEADERBOARDS:
        task = load_task(name)
        for seed, text in task.seeds.items():
            source = parse_kernel(text)
            if not source.backends or "hip" in source.backends:
                yield f"{name}/{seed}", task, source


SEEDS = {name: (task, source) for name, task, source in seeds()}


def parts(text: str) -> dict[str, object]:
    """What the file sets names to, as far as it is written out."""
    found = {}
    for node in ast.parse(text).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                try:
                    found[name] = ast.literal_eval(value)
                except ValueError:
                    continue
    return found


@pytest.mark.parametrize("name", SEEDS)
def test_it_is_one_python_file_with_custom_kernel(name: str) -> None:
    task, source = SEEDS[name]
    text = submission(source, task)
    tree = ast.parse(text)
    assert "custom_kernel" in [f.name for f in tree.body if isinstance(f, ast.FunctionDef)]
    first, second = text.splitlines()[:2]
    assert first == f"#!POPCORN leaderboard {LEADERBOARDS[task.name]}"
    assert second == "#!POPCORN gpu MI300"
    assert "never entered" in (ast.get_docstring(tree) or "")
    assert "stream" not in text.lower()
    assert "__CUDACC__" not in text  # which torch would translate


@pytest.mark.parametrize("name", SEEDS)
def test_its_source_compiles_for_gfx942(gfx942: HiprtcChild, name: str) -> None:
    task, source = SEEDS[name]
    plan = source.plan(task, task.workloads("benchmarks", "hip")[0], target_of("hip"))
    text = str(parts(submission(source, task))["HIP_SOURCE"])
    build = f"{header_name(source, task)}::build{build_of(text, plan)}"
    entries = dict.fromkeys(step.entry for step in plan.launches)
    code = gfx942.compile(
        # hiprtc has no headers of the C++ library
        f"#include <ks/standard.h>\n{text}\nusing namespace {build};",
        arch="gfx942",
        names=list(entries),
        options=["-std=c++20", *source.options],
    )
    assert len(code.symbols) == len(entries)


@pytest.mark.parametrize("name", one_in(4, SEEDS))
def test_its_host_side_is_right_hip(clang_folder: Path, tmp_path: Path, name: str) -> None:
    """By clang, with the headers of HIP itself and what torch defines for hipcc."""
    found = find_toolchain()
    if isinstance(found, ClangToolchain):
        pytest.skip("HIP's own headers are not here")
    task, source = SEEDS[name]
    said = parts(submission(source, task))
    (tmp_path / "it.hip").write_text(f"{said['DECLARATIONS']}\n{said['HIP_SOURCE']}")
    own = next(found.include.parent.glob("lib/llvm-*/lib/clang/*/include"))
    command = [f"{clang_folder / 'root' / 'bin' / 'clang++'}", "-x", "hip", "-std=c++20", "-Werror"]
    command += ["--offload-arch=gfx942", "--cuda-host-only", "-nogpulib", "-nogpuinc"]
    command += ["-isystem", str(own), "-include", "__clang_hip_runtime_wrapper.h"]
    command += [f"-I{found.include}", "-D__HIP_PLATFORM_AMD__=1", "-DUSE_ROCM=1"]
    command += ["-Wno-pass-failed", "-fsyntax-only", "it.hip"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def called(
    folder: Path, task: Task, source: KernelSource, workload: Workload
) -> tuple[list[str], dict[str, int]]:
    """The launches of two calls, and where the arguments of the last one lay."""
    (folder / FILE).write_text(submission(source, task))
    setting = workload.setting
    sizes = {**workload.dims, **setting.attributes, **setting.dtypes}
    sizes |= {name: not null for name, null in setting.nulls.items()}
    words = [str(JUDGE), form_of(task).leaderboard, json.dumps(sizes)]
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), json.loads((folder / "places.json").read_text())


def expected(
    task: Task, source: KernelSource, workload: Workload, places: Mapping[str, int]
) -> list[str]:
    return planned(task, source, workload, places, places.get("scratch", 0))


@pytest.mark.parametrize("name", ["fp8_gemm/naive", "fp8_gemm/tiled", "moe/naive"])
def test_custom_kernel_launches_the_plan(tmp_path: Path, name: str) -> None:
    task, source = SEEDS[name]
    workload = task.workloads("tests", "hip")[-1 if task.name == "moe" else 4]
    lines, places = called(tmp_path, task, source, workload)
    wanted = expected(task, source, workload, places)
    assert lines[-len(wanted) :] == wanted
    assert len(lines) == 2 * len(wanted)


def test_each_call_on_a_cache_is_one_step_further(tmp_path: Path) -> None:
    task, source = SEEDS["mla_decode/naive"]
    workload = task.workloads("tests", "hip")[1]
    lines, places = called(tmp_path, task, source, workload)
    further = replace(workload, dims={**workload.dims, "L": workload.dims["L"] + 1})
    wanted = expected(task, source, further, places)
    assert lines[-len(wanted) :] == wanted
    assert lines[: -len(wanted)] != wanted


OWN = """LEADERBOARD = "own"
GPU = "MI300"


def unpack(data):
    return data
"""


@pytest.mark.parametrize("shape", [1, 2])
def test_attributes_dtypes_and_nulls_arrive(tmp_path: Path, shape: int) -> None:
    task = settings_task(tmp_path / "task", SETTINGS_SEED)
    (task.folder / FILE).write_text(OWN)
    source, workload = parse_kernel(task.naive), task.workloads("tests", "hip")[shape]
    lines, places = called(tmp_path, task, source, workload)
    wanted = expected(task, source, workload, places)
    assert lines == 2 * wanted


def test_sizes_that_nothing_was_compiled_for_are_refused(tmp_path: Path) -> None:
    task, _ = SEEDS["fp8_gemm/naive"]
    text = task.naive.replace("/*---", "/*---\nvariants: []\nspecialize: [K]", 1)
    source = parse_kernel(text.replace("int K", "int depth"))
    known = task.workloads("tests", "hip")[0]
    assert called(tmp_path, task, source, known)
    with pytest.raises(AssertionError, match="nothing was compiled for the sizes"):
        called(tmp_path, task, source, replace(known, dims={**known.dims, "K": 128 * 999}))


def test_a_size_that_changes_from_call_to_call_is_not_compiled_in() -> None:
    task, _ = SEEDS["mla_decode/naive"]
    text = task.naive.replace("/*---", "/*---\nspecialize: [L]", 1)
    with pytest.raises(Rejected, match="take L out of specialize") as caught:
        submission(parse_kernel(text), task)
    assert caught.value.status is Status.UNSUPPORTED


def test_a_word_that_the_judge_refuses_is_told_with_its_line() -> None:
    task, _ = SEEDS["fp8_gemm/naive"]
    source = parse_kernel(task.naive + "\n// Streamed\n")
    line = source.code_line + source.code.splitlines().index("// Streamed")
    with pytest.raises(Rejected, match=f"line {line} has the word 'stream'"):
        submission(source, task)


def test_a_kernel_for_another_backend_is_refused() -> None:
    task, _ = SEEDS["fp8_gemm/naive"]
    text = task.naive.replace("/*---", "/*---\nbackends: [cuda]", 1)
    with pytest.raises(Rejected, match="cuda"):
        submission(parse_kernel(text), task)


def test_a_tasks_file_says_where_it_is_entered(tmp_path: Path) -> None:
    task = load_task(write_task(tmp_path / "task"))
    with pytest.raises(TaskError, match="has no submission"):
        form_of(task)
    for wrong, why in (("GPU = ''\n", "LEADERBOARD, GPU and unpack"), ("def (", "not Python")):
        (task.folder / FILE).write_text(wrong)
        with pytest.raises(TaskError, match=why):
            form_of(task)
    (task.folder / FILE).write_text(f'"""Told."""\n{OWN}')
    form = form_of(task)
    assert (form.leaderboard, form.gpu, form.changing) == ("own", "MI300", ())
    assert "Told" not in form.code and "def unpack" in form.code


def test_constants_are_repacked_in_each_call(tmp_path: Path) -> None:
    task = load_task(write_task(tmp_path / "task"))
    (task.folder / FILE).write_text(OWN)
    text = submission(parse_kernel(PREPARED + kernel().split("---*/")[1]), task)
    launch = str(parts(text)["HIP_SOURCE"]).split("ks_launch(")[1]
    assert launch.index("::prepare(") < launch.index("::launch(")


@pytest.mark.parametrize(
    "text", ["plain\n", "back\\slash\\n '\"", "three ''' of them", "ends in '", "\\", "\r\n", "é∑𝄞"]
)
def test_any_text_becomes_python_that_stands_for_it(text: str) -> None:
    assert ast.literal_eval(literal(text)) == text
