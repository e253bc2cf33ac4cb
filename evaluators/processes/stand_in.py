"""Races of a kernel whose own device shows none: an oracle elsewhere watches it in its stead."""

import re
import secrets
from contextlib import closing
from dataclasses import replace

from evaluators.device import backend
from evaluators.device_info import BackendMissing, DeviceFault, DeviceInfo
from evaluators.evaluation import Status, Verdict
from evaluators.kernel.source import KernelSource
from evaluators.measuring.evaluator import Evaluator
from evaluators.measuring.race import AnchorFailed
from evaluators.tasks.arguments import TaskError
from evaluators.tasks.task import Task

STAND_IN = "cpu"

MOST_BYTES = 1 << 26
"""Of a shape's arguments: beyond, a processor takes long for the data alone."""


_OF_AMD = ("__HIP_PLATFORM_AMD__=1", "__AMDGCN__=1", "__GFX9__=1")
_OF_NVIDIA = ("__HIP_PLATFORM_NVIDIA__=1", "__CUDACC__=1", "__CUDACC_RTC__=1")


def needs_stand_in(kernel: KernelSource, info: DeviceInfo) -> bool:
    """Whether the kernel's own backend has no oracle. Raises BackendMissing."""
    return backend(info.backend).oracle(kernel, info) is None


def watched_elsewhere(kernel: KernelSource, task: Task, info: DeviceInfo, index: int) -> Verdict:
    """Whether it has a race, as far as a processor can run it, on the task's shapes there.

    info: of its own device, whose wavefronts it is given. index: any number; kernels with
    different ones are watched on different cores. What can't be watched there is no fault: the
    verdict's log says so, as it says what else was not tried.
    """
    try:
        made = _watched(kernel, task, info, index)
    except (AnchorFailed, BackendMissing, DeviceFault, TaskError) as error:
        return _untried(error)
    if made.status in (Status.WRONG, Status.CRASHED):
        return replace(made, reason=f"on the {STAND_IN}, {made.reason}")
    return made if made.passed else _untried(f"{made.status}: {made.reason}")


def _watched(kernel: KernelSource, task: Task, info: DeviceInfo, index: int) -> Verdict:
    """As its device's compiler would read it, where it asks for what that one defines and a
    processor can run it; else as the processor's."""
    macros = macros_of(info.arch)
    named = {macro.partition("=")[0] for macro in macros}
    if named & set(re.findall(r"\w+", kernel.code)):
        made = _seen(kernel, task, replace(info, macros=macros), index)
        if made.status in (Status.WRONG, Status.CRASHED) or (made.passed and not made.log):
            return made
    return _seen(kernel, task, info, index)


def macros_of(arch: str) -> tuple[str, ...]:
    """What a compiler for a GPU defines that tells it from others, as NAME=VALUE."""
    if arch.startswith("gfx"):
        return (*_OF_AMD, f"__{arch}__=1")
    if arch.startswith("sm_"):
        return (*_OF_NVIDIA, f"__CUDA_ARCH__={arch[3:].rstrip('a')}0")
    return ()


def _seen(kernel: KernelSource, task: Task, info: DeviceInfo, index: int) -> Verdict:
    stand_in = backend(STAND_IN)
    device = stand_in.open_device(index % max(1, stand_in.device_count()))
    device.info = replace(device.info, wavefront=info.wavefront, macros=info.macros)
    with closing(device):
        evaluator = Evaluator(task=task, device=device, secret=secrets.randbits(128))
        return evaluator.races(kernel, most_bytes=MOST_BYTES)


def _untried(why: object) -> Verdict:
    log = f"no order of blocks and threads was tried on the {STAND_IN}: {why}"
    return Verdict(status=Status.PASSED, log=log)
