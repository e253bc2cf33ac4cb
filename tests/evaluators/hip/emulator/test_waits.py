"""Loads that are under way: hand-written assembly must wait for them; compilers always do."""

from typing import Any

import numpy as np
import pytest

from evaluators.acceptance.launching import MEMORY_BYTES, launch, plan
from evaluators.device import Binary, Compiled
from evaluators.evaluation import Rejected, Status
from evaluators.hip.emulator.device import open_emulated
from evaluators.hip.hiprtc import HiprtcChild

Array = np.ndarray[Any, Any]

SOURCE = """
__global__ void k(const int *x, int *y) {{
    volatile __shared__ int lds[64];
    lds[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    int made;
    unsigned at = threadIdx.x * 4;
    {assembly}
    y[threadIdx.x] = made;
}}"""
GLOBAL = (
    'asm volatile("global_load_dword %0, %1, %2\\n{wait}\\nv_add_u32 %0, 1, %0"'
    ' : "=&v"(made) : "v"(at), "s"(x) : "memory");'
)
LDS = (
    'asm volatile("ds_read_b32 %0, %1\\n{wait}\\nv_add_u32 %0, 1, %0"'
    ' : "=&v"(made) : "v"(at) : "memory");'
)
SCALAR = (
    'asm volatile("s_load_dword s20, %1, 0x0\\n{wait}\\nv_mov_b32 %0, s20\\nv_add_u32 %0, 1, %0"'
    ' : "=&v"(made) : "s"(x) : "memory", "s20");'
)
TWO = (
    'asm volatile("global_load_dword %0, %1, %2\\nglobal_load_dword v60, %1, %2 offset:4\\n'
    '{wait}\\nv_add_u32 %0, 1, %0" : "=&v"(made) : "v"(at), "s"(x) : "memory", "v60");'
)


AGAIN = (
    'asm volatile("global_load_dword %0, %1, %2 offset:4\\nglobal_load_dword %0, %1, %2\\n'
    '{wait}\\nv_add_u32 %0, 1, %0" : "=&v"(made) : "v"(at), "s"(x) : "memory");'
)
"""Loads of one kind come in order."""


def run(gfx942: HiprtcChild, assembly: str) -> Array:
    step = launch("k", ["x", "y"], block=(64, 1, 1))
    made = gfx942.compile(SOURCE.format(assembly=assembly), arch="gfx942", names=("k",))
    binary = Binary(data=made.code, symbols=made.symbols)
    compiled = Compiled(
        kernel_id="k",
        backend="hip",
        arch="gfx942",
        engine="hip",
        compiler="hiprtc",
        binaries={(): binary},
    )
    with open_emulated(0, order=0).open(compiled, memory_bytes=MEMORY_BYTES) as session:
        x, y = session.alloc(4 * 128), session.alloc(4 * 64)
        session.write(x, np.arange(128, dtype=np.int32))
        session.run(plan(step), {"x": x, "y": y}, deadline_s=20)
        return session.read(y, np.dtype(np.int32), (64,))


@pytest.mark.parametrize(
    ("assembly", "wait"),
    [
        (GLOBAL, "s_waitcnt vmcnt(0)"),
        (LDS, "s_waitcnt lgkmcnt(0)"),
        (TWO, "s_waitcnt vmcnt(1)"),
        (AGAIN, "s_waitcnt vmcnt(0)"),
        (SCALAR, "s_waitcnt lgkmcnt(0)"),
    ],
)
def test_who_waits_is_right(gfx942: HiprtcChild, assembly: str, wait: str) -> None:
    found = run(gfx942, assembly.format(wait=wait))
    wanted = np.full(64, 1) if assembly == SCALAR else np.arange(64) + 1
    assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize(
    ("assembly", "wait", "register"),
    [
        (GLOBAL, "", "v"),
        (GLOBAL, "s_waitcnt lgkmcnt(0)", "v"),
        (LDS, "s_waitcnt vmcnt(0)", "v"),
        (TWO, "s_waitcnt vmcnt(2)", "v"),
        (AGAIN, "s_waitcnt vmcnt(1)", "v"),
        (SCALAR, "", "s20"),
    ],
)
def test_who_does_not_wait_is_told(
    gfx942: HiprtcChild, assembly: str, wait: str, register: str
) -> None:
    with pytest.raises(Rejected) as caught:
        run(gfx942, assembly.format(wait=wait))
    assert caught.value.status is Status.WRONG
    said = caught.value.reason
    assert f"the kernel uses {register}" in said
    assert "before its load is through: an s_waitcnt is missing" in said
