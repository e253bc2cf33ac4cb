"""What a session needs of a GPU's driver, and what a launch must fulfil."""

import ctypes
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from evaluators.device import Buffer
from evaluators.evaluation import Rejected, Status
from evaluators.gpu.resources import KernelArgument, Resources
from evaluators.kernel.by_value import kind, packed, size, told
from evaluators.kernel.plan import Given, LaunchStep, Scalar

Params = ctypes.Array[ctypes.c_void_p]


class Driver(Protocol):
    """What a session asks of a device, all in order on one stream.

    Every method raises Rejected when the kernel is to blame, DeviceFault when the device is.
    Modules, functions, events and graphs are the vendor's handles.
    """

    def close(self) -> None: ...
    def stream_handle(self) -> int:
        """The vendor's handle of the stream, for libraries that are to work on it."""

    def load(self, code: bytes) -> Any: ...
    def unload(self, module: Any) -> None: ...
    def function(self, module: Any, symbol: str, lds_bytes: int) -> Any:
        """lds_bytes: the most dynamic LDS it will be launched with."""

    def variable(self, module: Any, symbol: str) -> tuple[int, int] | None:
        """Address and bytes; None where the driver knows no such name: a static variable's."""

    def malloc(self, nbytes: int) -> int: ...
    def free(self, address: int) -> None: ...
    def copy_in(self, address: int, array: np.ndarray[Any, Any]) -> None: ...
    def copy_out(self, array: np.ndarray[Any, Any], address: int) -> None: ...
    def fill(self, address: int, byte: int, nbytes: int) -> None: ...
    def launch(self, function: Any, step: LaunchStep, params: Params) -> None: ...
    def resident_blocks(self, function: Any, step: LaunchStep) -> int:
        """How many blocks of that launch the whole device holds at once."""

    def event(self) -> Any: ...
    def release_event(self, event: Any) -> None: ...
    def record(self, event: Any) -> None: ...
    def finished(self, event: Any) -> bool:
        """Whether all before it is done; raises what the launches before it ran into.

        On AMD it never raises that: a fault ends the process (clr's hip_event.cpp tells only
        ready or not, and ROCr aborts).
        """

    def elapsed_us(self, start: Any, end: Any) -> float: ...
    def capture(self, enqueue: Callable[[], None]) -> Any:
        """A graph of what enqueue launches, or None where the driver has none."""

    def replay(self, graph: Any) -> None: ...
    def release_graph(self, graph: Any) -> None: ...


def check_launch(step: LaunchStep, resources: Resources, *, lds_bytes: int, threads: int) -> None:
    """Compare a launch with the compiled kernel and the device's limits a block.

    Raises Rejected(LAUNCH_ERROR): argument count or size, block, LDS.
    """

    def refuse(reason: str) -> Rejected:
        return Rejected(Status.LAUNCH_ERROR, f"{step.entry}{reason}")

    if len(step.args) != len(resources.args):
        raise refuse(f" takes {len(resources.args)} arguments, the launch gives {len(step.args)}")
    for i, (given, taken) in enumerate(zip(step.args, resources.args, strict=True), 1):
        if not _fits(given, taken) or size(given) != taken.size:
            raise refuse(
                f": argument {i} is {told(given)} of {size(given)} bytes, "
                f"the kernel takes {taken.type or 'one'} of {taken.size} bytes"
            )
    block = step.block[0] * step.block[1] * step.block[2]
    limit = threads if resources.max_threads is None else min(threads, resources.max_threads)
    if block > limit:
        raise refuse(f": {block} threads a block, at most {limit} are allowed")
    total = resources.lds_bytes + step.lds_bytes
    if total > lds_bytes:
        raise refuse(
            f": {total} bytes of LDS ({resources.lds_bytes} static, {step.lds_bytes} dynamic), "
            f"at most {lds_bytes} are allowed"
        )


def _fits(given: Given, taken: KernelArgument) -> bool:
    """As far as the type that the kernel takes is known; a struct's fields are not."""
    match taken.type:
        case "":
            return True
        case "value":
            return told(given) != "pointer"
        case "pointer":
            return told(given) == "pointer"
    return isinstance(given, Scalar) and kind(given.type) == kind(taken.type)


def argument_value(argument: Given, buffers: Mapping[str, Buffer]) -> Any:
    """What a launch passes for an argument: its bytes."""
    data = packed(argument, lambda name: buffers[name].offset)
    return (ctypes.c_char * len(data)).from_buffer_copy(data)
