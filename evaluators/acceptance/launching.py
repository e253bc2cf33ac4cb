"""Short ways to write a kernel, a plan and a launch down, for checks of a device."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evaluators.device import Compiled, Compiler, Device
from evaluators.kernel.plan import Defines, Dim3, LaunchStep, MemsetStep, Plan, Scalar
from evaluators.kernel.source import KernelSource, parse_kernel

MEMORY_BYTES = 64 << 20
DEADLINE_S = 20.0

Array = np.ndarray[Any, Any]


def kernel(code: str, *, options: Sequence[str] = (), params: str = "{}") -> KernelSource:
    """A kernel file around device code; its launches are not used: checks make their own plans."""
    return parse_kernel(
        "/*---\nlaunches: [{kernel: k, grid: [1], block: [1], args: []}]\n"
        f"params: {params}\noptions: [{', '.join(options)}]\n---*/\n{code}"
    )


def launch(
    entry: str,
    args: Sequence[str | int | float | Scalar],
    *,
    grid: Dim3 = (1, 1, 1),
    block: Dim3 = (1, 1, 1),
    lds_bytes: int = 0,
) -> LaunchStep:
    """int stands for an int32, float for a float32."""
    kinds = {int: "int32", float: "float32"}
    return LaunchStep(
        entry=entry,
        grid=grid,
        block=block,
        lds_bytes=lds_bytes,
        args=tuple(
            a if isinstance(a, str | Scalar) else Scalar(value=a, type=kinds[type(a)]) for a in args
        ),
    )


def plan(*steps: LaunchStep | MemsetStep, defines: Defines = ()) -> Plan:
    return Plan(defines=defines, steps=steps, prepare=(), scratch={})


def compile_one(compiler: Compiler, code: str, *steps: LaunchStep | MemsetStep) -> Compiled:
    return compiler.compile(kernel(code), [plan(*steps)])


def run(
    device: Device,
    compiler: Compiler,
    code: str,
    *steps: LaunchStep | MemsetStep,
    arrays: Mapping[str, Array],
) -> dict[str, Array]:
    """Compile, load, put the arrays there, run once; the arrays as they are then."""
    return run_compiled(device, compile_one(compiler, code, *steps), *steps, arrays=arrays)


def run_compiled(
    device: Device,
    compiled: Compiled,
    *steps: LaunchStep | MemsetStep,
    arrays: Mapping[str, Array],
) -> dict[str, Array]:
    """The same of what was compiled for these steps."""
    with device.open(compiled, memory_bytes=MEMORY_BYTES) as session:
        buffers = {name: session.alloc(array.nbytes) for name, array in arrays.items()}
        for name, array in arrays.items():
            session.write(buffers[name], array)
        session.run(plan(*steps), buffers, deadline_s=DEADLINE_S)
        return {
            name: session.read(buffers[name], array.dtype, array.shape)
            for name, array in arrays.items()
        }
