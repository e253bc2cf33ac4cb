"""Several devices at once: each in a process of its own, and none slower than alone."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from statistics import median

from evaluators.acceptance.apart import Apart, Ended
from evaluators.acceptance.launching import DEADLINE_S, compile_one, launch, plan
from evaluators.acceptance.rates import COPY, MULTIPLY, copying, multiplying
from evaluators.acceptance.trial import Broken, Setup, Skipped, Trial, expect_that
from evaluators.device import Compiled, Device, backend
from evaluators.evaluation import Status
from evaluators.kernel.plan import LaunchStep

ILLEGAL = "__global__ void bad(int *out) { out[(1LL << 40) + threadIdx.x] = 1; }"
ALONE_S, TOGETHER_S = 0.5, 2.0
MOST_DEVICES, MOST_CORES = 16, 2
MOST_SLOWER, MOST_SLOWER_CPU = 1.03, 3.0
"""Median together / alone of any device. Cores share their caches and memory; GPUs nothing."""


def disturbance(
    setup: Setup, code: str, launching: Callable[[Device], tuple[LaunchStep, Mapping[str, int]]]
) -> str:
    """The worst ratio, in words. Raises Broken, Skipped."""
    on_cpu = setup.backend_name == "cpu"
    count = min(backend(setup.backend_name).device_count(), MOST_CORES if on_cpu else MOST_DEVICES)
    if count < 2:
        raise Skipped(f"there is {count} device here, it takes two")
    step, nbytes = launching(setup.device)
    compiled = compile_one(setup.compiler, code, step)
    with ExitStack() as stack:
        devices = [stack.enter_context(Apart(setup.backend_name, i)) for i in range(count)]
        alone = [_timed([one], compiled, step, nbytes, ALONE_S)[0] for one in devices]
        together = _timed(devices, compiled, step, nbytes, TOGETHER_S)
    ratios = [both / single for single, both in zip(alone, together, strict=True)]
    worst = max(ratios)
    said = (
        f"{count} devices: {median(alone):,.4g} us a launch alone, {median(together):,.4g} us "
        f"together; device {ratios.index(worst)} the most disturbed, {worst:.3f} times its own"
    )
    spread = max(alone) / min(alone)
    said += f"; slowest to fastest device {spread:.3f}"
    expect_that(worst < _most(setup), said)
    return said


def neighbour(setup: Setup) -> str:
    """Device 1 works while a kernel faults on device 0. Raises Broken, Skipped."""
    if backend(setup.backend_name).device_count() < 2:
        raise Skipped("there is one device here, it takes two")
    step, nbytes = _multiplying(setup.device)
    good = compile_one(setup.compiler, MULTIPLY, step)
    bad_step = launch("bad", ["out"])
    bad = compile_one(setup.compiler, ILLEGAL, bad_step)
    with Apart(setup.backend_name, 0) as faulty, Apart(setup.backend_name, 1) as working:
        alone_us = _timed([working], good, step, nbytes, ALONE_S)[0]
        working.start_timing(good, plan(step), nbytes=nbytes, seconds=TOGETHER_S)
        ended = faulty.run(bad, plan(bad_step), nbytes={"out": 256}, deadline_s=DEADLINE_S)
        times_us = working.times_us()
    expect_that(ended.status is Status.CRASHED, f"an illegal address was {ended.status}")
    if isinstance(times_us, Ended):
        raise Broken(f"device 1 failed with device 0: {times_us.reason}")
    ratio = median(times_us) / alone_us
    said = f"device 1 took {ratio:.3f} times its own time while a kernel faulted on device 0"
    expect_that(ratio < _most(setup), said)
    return said


def _most(setup: Setup) -> float:
    return MOST_SLOWER_CPU if setup.backend_name == "cpu" else MOST_SLOWER


def _timed(
    devices: Sequence[Apart],
    compiled: Compiled,
    step: LaunchStep,
    nbytes: Mapping[str, int],
    seconds: float,
) -> list[float]:
    """Each device's median, microseconds a launch, all running at the same time."""
    once = plan(step)
    for device in devices:
        device.start_timing(compiled, once, nbytes=nbytes, seconds=seconds)
    medians = []
    for number, device in enumerate(devices):
        times_us = device.times_us()
        if isinstance(times_us, Ended):
            raise Broken(f"device {number} of {len(devices)}: {times_us.reason}")
        medians.append(median(times_us))
    return medians


def _copying(device: Device) -> tuple[LaunchStep, Mapping[str, int]]:
    step, nbytes = copying(device)
    return step, {"from": nbytes, "to": nbytes}


def _multiplying(device: Device) -> tuple[LaunchStep, Mapping[str, int]]:
    step, nbytes, _ = multiplying(device)
    return step, {"data": nbytes}


def trials() -> Sequence[Trial]:
    todo = (
        "see the devices' power limits, clocks and temperatures while all of them work "
        "(rocm-smi or nvidia-smi), and that nothing else runs on them"
    )
    return (
        Trial(
            name="copying",
            run=partial(disturbance, code=COPY, launching=_copying),
            todo=todo,
            times=True,
        ),
        Trial(
            name="multiplying",
            run=partial(disturbance, code=MULTIPLY, launching=_multiplying),
            todo=todo,
            times=True,
        ),
        Trial(
            name="a fault next door",
            run=neighbour,
            times=True,
            todo="look into the kernel log (dmesg): one candidate's fault disturbs other devices",
        ),
    )
