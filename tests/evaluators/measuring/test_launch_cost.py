"""Sizes of which launching is what is measured: an empty kernel timed, and a sentence."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from evaluators.cpu.device import CpuDevice, open_device
from evaluators.device import backend
from evaluators.device_info import BackendMissing
from evaluators.kernel.source import parse_kernel
from evaluators.measuring.launch_cost import LaunchCost, launching_lines
from evaluators.measuring.policy import TimingPolicy
from evaluators.measuring.trusted_kernels import compile_empty, compiled_empty
from evaluators.tasks.task_file import load_task

SGEMM = load_task("sgemm")


@pytest.fixture(scope="module")
def device() -> Iterator[CpuDevice]:
    with closing(open_device(0)) as made:
        yield made


def test_what_a_launch_takes_is_timed_once(device: CpuDevice) -> None:
    asked = []

    def compiled() -> object:
        asked.append(1)
        return compiled_empty(device.info)

    cost = LaunchCost(device, compiled, TimingPolicy())  # type: ignore[arg-type]
    assert cost.us() > 0 and cost.us() == cost.us()
    assert len(asked) == 1


def test_shapes_are_told_whose_time_is_mostly_launches(device: CpuDevice) -> None:
    cost = LaunchCost(device, lambda: compiled_empty(device.info), TimingPolicy())
    shapes = SGEMM.workloads("benchmarks", "cpu")
    small, large, less, unknown = (one.label for one in shapes)
    each = cost.us()
    times = {small: 1.9 * each, large: 2.1 * each, less: 0.5 * each}
    found = cost.of(parse_kernel(SGEMM.naive), SGEMM, shapes, times)
    assert found == {small: each, less: 0.5 * each}, "never more than the time itself"
    assert unknown not in found


def test_the_sentence_says_what_to_do() -> None:
    (line,) = launching_lines({"N=64": 3.1, "N=65": 1.0}, {"N=64": 3.4})
    assert line == (
        "N=64: launching is what is measured (3.1 us of 3.4 us); use larger sizes or weigh it less"
    )


@pytest.mark.parametrize(("name", "arch"), [("cuda", "sm_90"), ("hip", "gfx942")])
def test_an_empty_kernel_compiles_for_gpus(name: str, arch: str) -> None:
    try:
        compiler = backend(name).compiler(arch=arch)
        compiled = compile_empty(compiler)
    except BackendMissing as missing:
        pytest.skip(str(missing))
    assert compiled.binaries[()].symbols.keys() == {"empty"}
