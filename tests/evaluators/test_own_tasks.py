"""Tasks with settings, strides and functions of their own, on every device that there is here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluators.device import backend
from evaluators.device_info import emulating
from evaluators.evaluate import compile_kernel, evaluate_file
from evaluators.evaluation import Status
from evaluators.kernel.source import parse_kernel
from evaluators.tasks.arguments import TaskError
from evaluators.tasks.own_check import hosted
from evaluators.tasks.task_file import load_task
from tests.evaluators.own_tasks import LARGEST, OWN, SETTINGS, Own
from tests.soaked import one_in

WAYS = ("cpu", "emulated")


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    """The backend's name."""
    if request.param == "cpu":
        yield "cpu"
        return
    with emulating(True, "hip", asked_by="a test", order=0):
        if not backend("hip").device_count():
            pytest.skip("the emulator needs a C++ compiler and the disassembler of ROCm")
        yield "hip"


def verdict(own: Own, text: str, folder: Path, way: str) -> tuple[Status, str]:
    task = load_task(own.write(folder / "task"))
    file = folder / "kernel.hip"
    file.write_text(text)
    found = evaluate_file(file, task, way, seconds=0)
    return found.status, found.reason


@pytest.mark.parametrize(
    ("name", "way"),
    [
        *((name, "cpu") for name in OWN),
        *one_in(6, ((name, "emulated") for name in OWN)),
    ],
    indirect=["way"],
)
def test_the_seed_is_right(name: str, way: str, tmp_path: Path) -> None:
    assert verdict(OWN[name], OWN[name].seed, tmp_path, way) == (Status.PASSED, "")


@pytest.mark.parametrize(
    "way", ["cpu", pytest.param("emulated", marks=pytest.mark.soak)], indirect=True
)
@pytest.mark.parametrize(
    ("name", "what"), [(n, what) for n, own in OWN.items() for what in own.wrong]
)
def test_a_wrong_kernel_is_told(name: str, what: str, way: str, tmp_path: Path) -> None:
    own = OWN[name]
    status, reason = verdict(own, own.broken(what), tmp_path, way)
    assert status in (Status.WRONG, Status.CRASHED), reason
    if status is Status.WRONG and "bytes" not in reason:  # an emulator may see it first
        unseen = "held-out" in reason  # by chance the tests' draws may not show it
        assert own.wrong[what][2] in reason or unseen or way == "hip"


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize(("gpu", "arch"), [("cuda", "sm_90"), ("hip", "gfx942")])
def test_it_compiles_for_gpus(name: str, gpu: str, arch: str, tmp_path: Path) -> None:
    task = load_task(OWN[name].write(tmp_path / "task"))
    compiler = backend(gpu).compiler(arch=arch)
    _, compiled = compile_kernel(task.naive, task, compiler, gpu)
    assert compiled.binaries and compiled.held_out


def test_a_launch_whose_struct_does_not_fit_is_refused(tmp_path: Path) -> None:
    text = SETTINGS.seed.replace("{struct: []}", "{struct: [C, k]}")
    status, reason = verdict(SETTINGS, text, tmp_path, "cpu")
    assert status is Status.LAUNCH_ERROR
    assert "argument 13 is a struct of 8 bytes, aligned to 4, the kernel takes a struct" in reason


def test_another_order_among_equals_is_right_too(tmp_path: Path) -> None:
    text = LARGEST.seed.replace("> x[", ">= x[")
    assert verdict(LARGEST, text, tmp_path, "cpu") == (Status.PASSED, "")


@pytest.mark.parametrize("kernel", [LARGEST.seed, LARGEST.seed.replace("> x[", ">= x[")])
def test_a_check_that_raises_on_the_seed_is_the_tasks_fault(kernel: str, tmp_path: Path) -> None:
    folder = LARGEST.write(tmp_path / "task")
    (folder / "reference.py").write_text(LARGEST.reference.replace("found = x", "found = z"))
    file = tmp_path / "kernel.hip"
    file.write_text(kernel)
    with pytest.raises(TaskError) as caught:
        evaluate_file(file, folder, "cpu", seconds=0)
    assert "reference.py: check() raised NameError: name 'z' is not defined (line 5)" in str(
        caught.value
    )
    assert "on the naive seed's outputs" in str(caught.value)


def test_a_check_must_say_yes_no_or_why(tmp_path: Path) -> None:
    folder = LARGEST.write(tmp_path / "task")
    (folder / "reference.py").write_text("def check(outputs, inputs):\n    return 3\n")
    with pytest.raises(TaskError, match="must return None, True, False or a sentence, not int"):
        evaluate_file(folder / "seeds" / "naive.hip", folder, "cpu", seconds=0)


def test_what_the_host_does_is_said(tmp_path: Path) -> None:
    said = {name: hosted(load_task(own.write(tmp_path / name))) for name, own in OWN.items()}
    assert said["settings"] == []
    assert said["rows"] == ["inputs() makes cols, row_ptr on the host"]
    assert said["largest"] == ["check() judges at on the host"]
    assert "epilogue() is applied on the host" in said["parts"][0]
    assert "strides (x, y)" in said["strided"][0]
    found = evaluate_file(
        tmp_path / "rows" / "seeds" / "naive.hip", tmp_path / "rows", "cpu", seconds=0
    )
    assert "inputs() makes cols, row_ptr on the host" in found.log


def test_a_seed_for_one_backend_is_no_seed_elsewhere(tmp_path: Path) -> None:
    folder = LARGEST.write(tmp_path / "task")
    seed = folder / "seeds" / "naive.hip"
    seed.write_text(LARGEST.seed.replace("/*---", "/*---\nbackends: [hip]", 1))
    with pytest.raises(TaskError, match="no seed is for the backend cpu"):
        evaluate_file(seed, folder, "cpu", seconds=0)
    (folder / "seeds" / "other.hip").write_text(LARGEST.seed)
    found = evaluate_file(seed, folder, "cpu", seconds=0)
    assert found.status is Status.UNSUPPORTED
    assert "the file is for hip only, by its key 'backends', and not for cpu" in found.reason
    assert parse_kernel(seed.read_text()).id == parse_kernel(LARGEST.seed).id
