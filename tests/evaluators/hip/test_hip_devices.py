"""AMD GPUs on the runtime double: which are visible, what each is, and that they are closed."""

import json
import re
from pathlib import Path

import pytest

from tests.evaluators.hip.test_hip_double import ADD, python
from tests.evaluators.small_task import write_task
from tests.soaked import one_in

ADDRESSES = """
import json, os, sys
from hip import hip  # here already, for all
from evaluators.hip import device as hip
for variables in json.loads(sys.argv[1]):
    if os.fork() == 0:  # a runtime looks once at what is visible
        os.environ.update(variables)
        seen = [hip.open_device(i).info.pci_address for i in range(hip.device_count())]
        print(json.dumps(seen), flush=True)
        os._exit(0)
    os.wait()
"""
CLASS = """
from evaluators.hip import device as hip
info = hip.open_device(0).info
print(info.device_class, info.peak_flops.get("float16"), info.cache_bytes, sep="|")
"""
GIVEN = """
import sys
from pathlib import Path
from evaluators.processes.child_evaluator import ChildEvaluator
from evaluators.hip import device as hip
from evaluators.tasks.task_file import load_task
from tests.hip_double.twins import with_twins
task = load_task(Path(sys.argv[1]))
compiler = with_twins(hip.compiler(arch="gfx942"))
there = ChildEvaluator(task=task, backend_name="hip", secret=1, index=1, compiler=compiler)
print(there.device.info.pci_address, *(hip.open_device(i).info.pci_address for i in (1, 0)))
there.close()
"""
READ_AND_CLOSE = """
from pathlib import Path
from evaluators.hip import device as hip
from evaluators.profile import profiler as profile
from evaluators.device import backend
hip.compiler()
profile._info("hip")
"""
RUNNABLE = """
from dataclasses import replace
from evaluators.hip import device as hip
from evaluators.acceptance.launching import compile_one, launch
from evaluators.device import BackendMissing
from tests.hip_double.twins import with_twins
compiled = compile_one(with_twins(hip.compiler()), "%s", launch("add", ["x"], block=(64, 1, 1)))
device = hip.open_device(0)
device.open(replace(compiled, compiler="clang 22 of ROCm"), memory_bytes=4096).close()
try:
    device.open(replace(compiled, inspection_only=True), memory_bytes=4096)
except BackendMissing as missing:
    print(missing)
"""


VISIBLE: list[tuple[dict[str, str], list[int]]] = [
    ({}, [0, 1, 2, 3]),
    ({"HIP_VISIBLE_DEVICES": "2"}, [2]),
    ({"HIP_VISIBLE_DEVICES": "3,1"}, [3, 1]),
    ({"HIP_VISIBLE_DEVICES": "1,9,2"}, [1]),
    ({"HIP_VISIBLE_DEVICES": "-1"}, []),
    ({"HIP_VISIBLE_DEVICES": ""}, [0, 1, 2, 3]),
    ({"CUDA_VISIBLE_DEVICES": "2,0"}, [2, 0]),
    ({"CUDA_VISIBLE_DEVICES": "2", "HIP_VISIBLE_DEVICES": "1"}, [1]),
    ({"CUDA_VISIBLE_DEVICES": "2", "HIP_VISIBLE_DEVICES": ""}, [2]),
    ({"ROCR_VISIBLE_DEVICES": "3,2", "HIP_VISIBLE_DEVICES": "1"}, [2]),
    ({"ROCR_VISIBLE_DEVICES": ""}, []),
    ({"HIP_VISIBLE_DEVICES": "GPU-d0b1e003,0"}, [3, 0]),
]


def test_four_devices_and_what_is_visible_of_them(double: pytest.MonkeyPatch) -> None:
    double.setenv("HIP_DOUBLE_DEVICES", "4")
    said = python(ADDRESSES, json.dumps([variables for variables, _ in VISIBLE]))
    for (variables, wanted), line in zip(VISIBLE, said.splitlines(), strict=True):
        assert json.loads(line) == [f"d0b1:{i + 1:02x}:00.0" for i in wanted], variables


@pytest.mark.parametrize(
    "variables",
    one_in(
        2,
        [
            {},
            {"CUDA_VISIBLE_DEVICES": "2,1"},
            {"CUDA_VISIBLE_DEVICES": "2,0", "HIP_VISIBLE_DEVICES": "1,3"},
            {"CUDA_VISIBLE_DEVICES": "3,2", "HIP_VISIBLE_DEVICES": ""},
            {"ROCR_VISIBLE_DEVICES": "3,1"},
            {"ROCR_VISIBLE_DEVICES": "3,2,1", "CUDA_VISIBLE_DEVICES": "2,1"},
            {"ROCR_VISIBLE_DEVICES": "3,2,1", "HIP_VISIBLE_DEVICES": "GPU-d0b1e002,0"},
        ],
    ),
)
def test_a_child_measures_on_the_gpu_it_was_given(
    double: pytest.MonkeyPatch, tmp_path: Path, variables: dict[str, str]
) -> None:
    double.setenv("HIP_DOUBLE_DEVICES", "4")
    for name, value in variables.items():
        double.setenv(name, value)
    there, second, first = python(GIVEN, str(write_task(tmp_path / "small"))).split()
    assert there == second != first


@pytest.mark.parametrize(
    ("units", "name", "told", "flops", "cache_bytes"),
    [
        ("304", "AMD Radeon Graphics", "AMD Instinct MI300X/304 CUs SPX", 1307.4e12, 256 << 20),
        ("228", "MI325_OAM", "AMD Instinct MI300A/228 CUs SPX", 980.6e12, 256 << 20),
        ("110", "AMD Instinct MI210", "AMD Instinct MI210/110 CUs", None, 4 << 20),
    ],
)
def test_a_gpu_is_told_by_what_it_is_and_not_by_its_name(
    double: pytest.MonkeyPatch,
    units: str,
    name: str,
    told: str,
    flops: float | None,
    cache_bytes: int,
) -> None:
    double.setenv("HIP_DOUBLE_UNITS", units)
    double.setenv("HIP_DOUBLE_NAME", name)
    known_as, found, cache = python(CLASS).split("|")
    assert re.fullmatch(rf"hip/{told}/gfx942/hip", known_as), known_as
    assert found == "None" if flops is None else float(found) == pytest.approx(flops, rel=1e-4)
    assert int(cache) == cache_bytes


def test_a_device_opened_to_read_what_it_is_is_closed(
    double: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    double.setenv("HIP_DOUBLE_OPENED", str(tmp_path / "opened"))
    python(READ_AND_CLOSE)
    assert (tmp_path / "opened").read_text().split() == ["+", "-"] * 2


def test_whether_code_may_run_is_said_and_not_guessed_from_the_compilers_name(
    double: pytest.MonkeyPatch,
) -> None:
    assert "compiles for inspection only" in python(RUNNABLE % ADD)
