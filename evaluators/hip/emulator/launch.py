"""What a kernel finds in its registers and arguments when it begins: the launch ABI.

Source: LLVM, User Guide for AMDGPU Backend, "Initial Kernel Execution State", "Kernel Argument
Segment" and code object metadata V5; HSA Runtime Programmer's Reference, the dispatch packet.
"""

import ctypes
import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from evaluators.evaluation import Rejected, Status
from evaluators.gpu.driver import Params
from evaluators.hip.emulator.code_object import PAGE, USER_SCALARS, Descriptor
from evaluators.hip.emulator.machine import Setup
from evaluators.kernel.plan import LaunchStep

Bytes = np.ndarray[Any, np.dtype[np.uint8]]

SYNC_BYTES = 64
STACK_BYTES = 16 << 10
"""A lane's scratch where the compiler can't tell how much calls take."""
PRIVATE_HIGH, SHARED_HIGH = 2 << 16, 1 << 16  # native/state.hpp: PRIVATE_BASE, SHARED_BASE


def arguments(kernel: Mapping[str, Any], step: LaunchStep, params: Params, nbytes: int) -> Bytes:
    """The kernel argument segment. kernel: its metadata. Raises Rejected(UNSUPPORTED)."""
    made = np.zeros(nbytes + PAGE, np.uint8)
    explicit = [a for a in kernel.get(".args", ()) if not a[".value_kind"].startswith("hidden_")]
    for argument, value in zip(explicit, params, strict=True):
        data = ctypes.string_at(value, argument[".size"])
        _put(made, argument[".offset"], data)
    for argument in kernel.get(".args", ()):
        if argument[".value_kind"].startswith("hidden_"):
            _put(made, argument[".offset"], _hidden(argument, step))
    return made


def grid_sync(kernel: Mapping[str, Any], step: LaunchStep, kernarg: Bytes) -> Bytes:
    """What the blocks of a cooperative launch meet in, told to the kernel as the runtime does.

    ROCm's device library: num_wg at byte 40, and two words at 32 that it counts in.
    """
    made = np.zeros(SYNC_BYTES, np.uint8)
    made[40:44] = np.frombuffer(struct.pack("<I", math.prod(step.grid)), np.uint8)
    for argument in kernel.get(".args", ()):
        if argument[".value_kind"] == "hidden_multigrid_sync_arg":
            _put(kernarg, argument[".offset"], struct.pack("<Q", int(made.ctypes.data)))
    return made


def _put(made: Bytes, offset: int, data: bytes) -> None:
    made[offset : offset + len(data)] = np.frombuffer(data, np.uint8)


def _hidden(argument: Mapping[str, Any], step: LaunchStep) -> bytes:
    kind, size = argument[".value_kind"].removeprefix("hidden_"), argument[".size"]
    axis = "xyz".find(kind[-1])
    known = {
        "grid_dims": 3,
        "dynamic_lds_size": step.lds_bytes,
        "private_base": PRIVATE_HIGH,
        "shared_base": SHARED_HIGH,
    }
    if kind in known:
        value = known[kind]
    elif kind.startswith("block_count_"):
        value = step.grid[axis]
    elif kind.startswith("group_size_"):
        value = step.block[axis]
    else:  # offsets and remainders are 0; of printf, the heap and grids of several devices: none
        value = 0
    return value.to_bytes(size, "little")


def packet(step: LaunchStep, descriptor: Descriptor, kernarg: int) -> Bytes:
    """The 64 bytes of the dispatch packet."""
    threads = [blocks * size for blocks, size in zip(step.grid, step.block, strict=True)]
    data = struct.pack(
        "<HH3HHIIIIIQQQQ",
        *(0, 3),
        *step.block,
        0,
        *threads,
        descriptor.scratch_bytes,
        descriptor.lds_bytes + step.lds_bytes,
        *(0, kernarg, 0, 0),
    )
    return np.frombuffer(data, np.uint8).copy()


def setup(
    descriptor: Descriptor, step: LaunchStep, *, kernarg: Bytes, dispatch: Bytes, stack: bool
) -> Setup:
    """Registers and sizes; the rest is filled in by machine.Run. Raises Rejected(UNSUPPORTED).

    stack: whether the kernel's calls need more scratch than its descriptor says.
    """
    made = Setup(
        lds_bytes=descriptor.lds_bytes + step.lds_bytes,
        scratch_bytes=_scratch_bytes(descriptor, stack),
        vectors=max(descriptor.vectors, 8),
        accumulators=descriptor.accumulators,
        user_scalars=descriptor.user_scalars,
        workgroup_ids=descriptor.workgroup_ids,
        mode=descriptor.mode,
    )
    made.grid[:], made.size[:] = step.grid, step.block
    if descriptor.mode & 0xF:
        raise Rejected(
            Status.UNSUPPORTED, "the emulator rounds to the nearest even, this kernel otherwise"
        )
    values = {
        "dispatch_ptr": dispatch.ctypes.data,
        "kernarg_segment_ptr": kernarg.ctypes.data,
        "private_segment_size": made.scratch_bytes,
    }
    at = 0
    for name in descriptor.user:
        value = values.get(name, 0)
        for word in range(USER_SCALARS[name]):
            made.user[at] = value >> 32 * word & 0xFFFFFFFF
            at += 1
    words = kernarg.view(np.uint32)
    for word in range(descriptor.preloaded):
        made.user[at + word] = int(words[descriptor.preload_offset + word])
    return made


def _scratch_bytes(descriptor: Descriptor, stack: bool) -> int:
    if descriptor.dynamic_stack or stack:
        return descriptor.scratch_bytes + STACK_BYTES
    return descriptor.scratch_bytes
