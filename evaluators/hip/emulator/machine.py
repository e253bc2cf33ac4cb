"""The machine's C interface (native/machine.cpp): what it knows, and a launch that runs on it."""

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluators.hip.emulator.build import library
from evaluators.hip.emulator.instruction import INSTRUCTION
from evaluators.hip.emulator.program import Operations, Program

FAULTS = (
    *("none", "outside", "read_only", "outside_lds", "outside_scratch", "unwritten_lds"),
    *("undefined_address", "undefined_branch", "undefined_exec", "trap", "unsupported"),
    *(
        "bad_jump",
        "misaligned",
        "race",
        "register_range",
        "undefined_scalar",
        "unwaited",
        "undefined_store",
        "unfinished_lds",
    ),
)
RUNNING, DONE, FAILED = range(3)
USER_SCALARS = 32

_U32x3 = ctypes.c_uint32 * 3


class Window(ctypes.Structure):
    """Global memory that a launch may access, from start up to end."""

    _fields_ = [
        ("start", ctypes.c_uint64),
        ("end", ctypes.c_uint64),
        ("writable", ctypes.c_uint32),
        ("id", ctypes.c_uint32),
    ]


class FaultInfo(ctypes.Structure):
    """What ended a launch; address: in global memory, or an offset into LDS or scratch."""

    _fields_ = [
        ("fault", ctypes.c_uint32),
        ("instruction", ctypes.c_uint32),
        ("lane", ctypes.c_uint32),
        ("wave", ctypes.c_uint32),
        ("block", _U32x3),
        ("bytes", ctypes.c_uint32),
        ("address", ctypes.c_uint64),
        ("writes", ctypes.c_uint32),
        ("other_wave", ctypes.c_uint32),
        ("what", ctypes.c_char * 128),
    ]


class Setup(ctypes.Structure):
    """Everything that a launch begins with; pointers must outlive it."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("code",)),
        *((name, ctypes.c_uint64) for name in ("instructions", "code_start", "code_end")),
        *((name, ctypes.c_void_p) for name in ("at", "windows")),
        *((name, ctypes.c_uint64) for name in ("window_count", "seed")),
        *((name, ctypes.c_void_p) for name in ("hits", "extra_lines")),
        *((name, ctypes.c_uint32) for name in ("entry", "lds_bytes", "scratch_bytes", "vectors")),
        *((name, ctypes.c_uint32) for name in ("accumulators", "user_scalars", "workgroup_ids")),
        ("mode", ctypes.c_uint32),
        ("grid", _U32x3),
        ("size", _U32x3),
        ("user", ctypes.c_uint32 * USER_SCALARS),
        *((name, ctypes.c_uint32) for name in ("shuffled", "undefined_checks", "room")),
        ("most_room", ctypes.c_uint32),
    ]


@functools.cache
def _functions() -> ctypes.CDLL:
    found = library()
    found.ks_operation_name.restype = ctypes.c_char_p
    found.ks_launch.restype = found.ks_fault.restype = ctypes.c_void_p
    found.ks_launch.argtypes = [ctypes.POINTER(Setup)]
    found.ks_executed.restype = ctypes.c_uint64
    for name in ("ks_run", "ks_fault", "ks_executed", "ks_free"):
        getattr(found, name).argtypes = [ctypes.c_void_p]
    found.ks_run.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
    assert found.ks_instruction_bytes() == INSTRUCTION.itemsize
    return found


@functools.cache
def operations() -> Operations:
    """Raises BackendMissing."""
    native = _functions()
    count = native.ks_operations()
    names = [native.ks_operation_name(i).decode() for i in range(count)]
    return Operations(
        numbers={name: number for number, name in enumerate(names)},
        results=[native.ks_operation_results(i) for i in range(count)],
    )


class Run:
    """One launch under way. setup's code, at, windows and counters are filled in here."""

    def __init__(
        self, setup: Setup, program: Program, code: np.ndarray[Any, Any], windows: Sequence[Window]
    ) -> None:
        """code: program.code with the addresses at which it lies."""
        self._memory: tuple[object, ...] = ()
        self.hits = np.zeros(len(code), np.uint64)
        self.extra_lines = np.zeros(len(code), np.uint64)
        self._kept = (program, code, (Window * len(windows))(*windows), setup)
        setup.code, setup.instructions = code.ctypes.data, len(code)
        setup.at = program.at.ctypes.data
        setup.windows, setup.window_count = ctypes.addressof(self._kept[2]), len(windows)
        setup.hits, setup.extra_lines = self.hits.ctypes.data, self.extra_lines.ctypes.data
        self._handle = _functions().ks_launch(ctypes.byref(setup))

    def go_on(self, instructions: int) -> int:
        """Up to about so many more: RUNNING, DONE or FAILED."""
        return int(_functions().ks_run(self._handle, instructions))

    def fault(self) -> FaultInfo:
        """A copy."""
        return FaultInfo.from_buffer_copy(
            ctypes.string_at(_functions().ks_fault(self._handle), ctypes.sizeof(FaultInfo))
        )

    def keep(self, *memory: object) -> None:
        """Alive until this run is forgotten."""
        self._memory = memory

    def close(self) -> None:
        if self._handle:
            _functions().ks_free(self._handle)
            self._handle = None
