"""What waits in an emulated device's queue, and how a launch of it begins."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evaluators.gpu.resources import Resources
from evaluators.hip.emulator import launch as abi
from evaluators.hip.emulator.code_object import CodeObject, Descriptor
from evaluators.hip.emulator.counts import Executed
from evaluators.hip.emulator.faults import Area
from evaluators.hip.emulator.machine import Run, Window
from evaluators.hip.emulator.program import Program
from evaluators.kernel.plan import LaunchStep

RESIDENT = 8
"""Blocks that take turns. Where they wait for others, more come in, up to what the GPU holds."""
IN_ORDER = 0


@dataclass(slots=True)
class Event:
    """done_s: when all before it was done, by time.perf_counter; None before."""

    done_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A loaded code object. resources, executed: by kernel symbol; of launches that are done."""

    code: bytes
    object: CodeObject
    resources: dict[str, Resources]
    executed: dict[str, Executed] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """instructions: the program's, with the addresses at which they lie."""

    module: Module
    symbol: str
    descriptor: Descriptor
    program: Program
    instructions: np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Fill:
    """A memset in the queue."""

    there: np.ndarray[Any, Any]
    byte: int


@dataclass(slots=True, kw_only=True)
class Pending:
    """A launch in the queue. areas: what it may access."""

    function: Function
    step: LaunchStep
    kernarg: np.ndarray[Any, Any]
    areas: Sequence[Area]
    order: int
    run: Run | None = None


def start(pending: Pending, modules: Iterable[Module], resident: int) -> Run:
    """modules: all that are loaded. resident: how many blocks the whole GPU holds at once.

    Raises Rejected(UNSUPPORTED).
    """
    function, step = pending.function, pending.step
    dispatch = abi.packet(step, function.descriptor, int(pending.kernarg.ctypes.data))
    kernel = function.module.object.kernels[function.symbol]
    setup = abi.setup(
        function.descriptor,
        step,
        kernarg=pending.kernarg,
        dispatch=dispatch,
        stack=bool(kernel.get(".uses_dynamic_stack")),
    )
    base = function.module.object.base
    program = function.program
    setup.code_start, setup.code_end = base + program.start, base + program.end
    setup.entry = int(program.at[(function.descriptor.entry - program.start) // 4])
    setup.seed = pending.order or 1
    setup.shuffled = pending.order != IN_ORDER
    setup.undefined_checks = 1
    blocks = step.grid[0] * step.grid[1] * step.grid[2]
    most = max(1, resident)
    setup.room = blocks if step.cooperative else min(RESIDENT, blocks, most)
    setup.most_room = max(setup.room, min(most, blocks))
    own = [(dispatch, False), (pending.kernarg, False)]
    if step.cooperative:
        own.append((abi.grid_sync(kernel, step, pending.kernarg), True))
    windows = [_window(Area(start=int(a.ctypes.data), nbytes=a.nbytes, writable=w)) for a, w in own]
    for module in modules:
        windows.append(_window(Area(start=module.object.base, nbytes=module.object.nbytes)))
    windows += [_window(area, number) for number, area in enumerate(pending.areas)]
    windows.sort(key=lambda window: int(window.start))
    run = Run(setup, program, function.instructions, windows)
    run.keep(*(array for array, _ in own))
    return run


def _window(area: Area, number: int = 0) -> Window:
    return Window(start=area.start, end=area.start + area.nbytes, writable=area.writable, id=number)
