"""RunChild: the parent's end of one run child; sends commands, takes replies, reads its clock."""

import fcntl
import math
import os
import select
import signal
import struct
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NoReturn

from evaluators.cpu.library_memory import memory_of
from evaluators.cpu.runner import runner, system_calls
from evaluators.device import Binary
from evaluators.evaluation import Rejected, Status

START_DEADLINE_S = 30.0
SCRIPT_BYTES = 16 << 20
WALL_FACTOR, WALL_SLACK_S = 10.0, 10.0
"""Deadlines are of processor time; a child that gets none ends after so much more by the wall."""

STACK_BYTES = 8 << 20

EMPTY_COMMANDS = 9
"""Timed before a child's first run, when nothing of its kernel has run yet."""

_COMMAND = struct.Struct("=IIQQQ")
_REPLY = struct.Struct("=IIqqq96s")
_least_empty_us: dict[int, float] = {}  # by core
_CPUCLOCK_SCHED = 2  # Linux: a process's clock id is its complemented number and this, below


class _Command(IntEnum):
    MAP = 1
    RUN = 2
    MAP_DATA = 3
    HIDE = 4
    SEAL = 5
    MAP_READ_ONLY = 6


class _Reply(IntEnum):
    READY = 1
    DONE = 2
    FAULT = 3
    FORBIDDEN_CALL = 4
    BROKEN = 5
    LOADED = 6


@dataclass
class Fault(Exception):
    """A signal that the kernel raised. address: the child's own."""

    signal: int
    address: int
    writing: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Deadline:
    """seconds: as asked for. The ends: by the child's processor clock, and by the wall clock."""

    seconds: float
    busy_end_s: float
    wall_end_s: float


class RunChild:
    """A fresh process with one kernel's libraries, that may do nothing but run them.

    The reply that a launch is done is not believed: the child counts as done when it sleeps, and
    the only call of its that sleeps is the one that waits for the next command. What it
    computes after its reply is thus in the time, and before the outputs are looked at.
    """

    def __init__(
        self,
        binaries: Sequence[Binary],
        *,
        core: int,
        arena: int,
        arena_bytes: int,
        data: int,
        remaps: bool = False,
    ) -> None:
        """arena, data: descriptors of shared memory; the libraries' variables move into data, one
        after another (see library_memory), and behind them lies the kernels' stack. remaps:
        whether pages are still shown and hidden once a kernel has run.
        Raises RuntimeError when it can't start.
        """
        executable = str(runner())
        self.script = os.memfd_create("script")
        os.ftruncate(self.script, SCRIPT_BYTES)
        command_end, self._commands = os.pipe()
        self._replies, reply_end = os.pipe()
        libraries = [_library(binary.data) for binary in binaries]
        shared = (command_end, reply_end, arena, self.script, data)
        numbers = [os.getpid(), core, int(remaps), arena_bytes, SCRIPT_BYTES, *shared]
        argv = [executable, *map(str, numbers + _described(binaries, libraries))]
        passed = (*shared, *libraries)
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                pass_fds=passed,
                start_new_session=True,
            )
        finally:
            for descriptor in (command_end, reply_end, *libraries):
                os.close(descriptor)
        self._stat = os.open(f"/proc/{self._process.pid}/stat", os.O_RDONLY)
        self._clock = (~self._process.pid << 3) | _CPUCLOCK_SCHED
        self._sequence = 0
        self._accounted_ns: int | None = None  # until the first run
        self._core = core
        try:
            deadline = self._deadline(START_DEADLINE_S)
            self.bases = [self._reply(_Reply.LOADED, deadline) for _ in binaries]
            self.arena = self._reply(_Reply.READY, deadline)
        except Rejected as rejected:
            # nothing of the kernel has run yet: this is not its fault, unless a symbol is missing
            if rejected.status is Status.COMPILE_ERROR or rejected.killed:
                raise
            raise RuntimeError(f"the run child did not start: {rejected.reason}") from None

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def sealed(self) -> bool:
        """Whether something was run: from then on memory is mapped only where remaps was asked."""
        return self._accounted_ns is not None

    def show(self, offset: int, nbytes: int, deadline_s: float, *, read_only: bool = False) -> None:
        """Let the child see a part of the arena."""
        kind = _Command.MAP_READ_ONLY if read_only else _Command.MAP
        self._command(kind, (self.arena + offset, nbytes, offset), deadline_s)

    def show_data(self, address: int, nbytes: int, offset: int, deadline_s: float) -> None:
        """Let the child see a part of a library's variables again."""
        self._command(_Command.MAP_DATA, (address, nbytes, offset), deadline_s)

    def hide(self, address: int, nbytes: int, deadline_s: float) -> None:
        """Whole pages that the child may not touch from now on."""
        self._command(_Command.HIDE, (address, nbytes, 0), deadline_s)

    def run(self, records: int, deadline_s: float) -> float:
        """Play the script's records; microseconds of processor time that the child took for them.

        All of its time since the command before was over counts: whatever a kernel makes of its
        process, it can't work on what was placed for this run in time that nobody pays. The
        least that an empty command took (some 20 us, for the two pipes), here or in a child
        before on this core, is subtracted; they are timed before the kernel's first run only.
        deadline_s: of processor time too. Raises Rejected or Fault; then the child is gone.
        """
        if self._accounted_ns is None:
            self._seal(deadline_s)
        return max(self._timed(records, deadline_s) - _least_empty_us[self._core], 0.1)

    def _seal(self, deadline_s: float) -> None:
        self._command(_Command.SEAL, (0, 0, 0), deadline_s)
        self._accounted_ns = time.clock_gettime_ns(self._clock)
        taken_us = [self._timed(0, deadline_s) for _ in range(EMPTY_COMMANDS)]
        least_us = _least_empty_us.get(self._core, math.inf)
        _least_empty_us[self._core] = min(least_us, *taken_us)

    def _timed(self, records: int, deadline_s: float) -> float:
        """Microseconds from the end of the command before to this one's."""
        before = self._accounted_ns
        assert before is not None
        self._command(_Command.RUN, (records, 0, 0), deadline_s)
        self._accounted_ns = time.clock_gettime_ns(self._clock)
        return (self._accounted_ns - before) / 1e3

    def close(self) -> None:
        """End the child, whatever it does, and wait until it is gone."""
        if self._commands < 0:
            return
        self._process.kill()
        self._process.wait()
        for descriptor in (self._commands, self._replies, self.script, self._stat):
            os.close(descriptor)
        self._commands = -1

    def _command(self, kind: _Command, values: tuple[int, int, int], deadline_s: float) -> None:
        deadline = self._deadline(deadline_s)
        self._sequence += 1
        try:
            os.write(self._commands, _COMMAND.pack(kind, self._sequence, *values))
        except BrokenPipeError:
            self._ended()
        self._reply(_Reply.DONE, deadline)
        while not self._sleeps():
            self._left_s(deadline)
            time.sleep(20e-6)
        if self._readable(0.0):
            self._reject(Status.FORBIDDEN, "it sent a reply that nobody had asked for")

    def _deadline(self, seconds: float) -> _Deadline:
        return _Deadline(
            seconds=seconds,
            busy_end_s=time.clock_gettime(self._clock) + seconds,
            wall_end_s=time.monotonic() + WALL_FACTOR * seconds + WALL_SLACK_S,
        )

    def _left_s(self, deadline: _Deadline) -> float:
        """How soon it can be over. Raises Rejected(TIMEOUT) when it is."""
        busy_s = deadline.busy_end_s - time.clock_gettime(self._clock)
        left_s = min(busy_s, deadline.wall_end_s - time.monotonic())
        if left_s <= 0:
            self._reject(Status.TIMEOUT, f"it was still running after {deadline.seconds:.3g} s")
        return left_s

    def _reply(self, wanted: _Reply, deadline: _Deadline) -> int:
        """The first value of the reply that is waited for."""
        while not self._readable(self._left_s(deadline)):
            continue
        data = os.read(self._replies, _REPLY.size)
        if len(data) < _REPLY.size:
            self._ended()
        kind, sequence, a, b, c, text = _REPLY.unpack(data)
        if kind == wanted and sequence == self._sequence:
            return int(a)
        if kind == _Reply.FAULT:
            self.close()
            raise Fault(a, b, None if c < 0 else bool(c))
        if kind == _Reply.FORBIDDEN_CALL:
            call = system_calls().get(a, f"number {a}")
            self._reject(Status.FORBIDDEN, f"it tried the system call {call}, which no kernel may")
        if kind == _Reply.BROKEN:
            said = text.split(b"\0")[0].decode(errors="replace")
            if "undefined symbol: " in said:
                name = said.split("undefined symbol: ")[1]
                self._reject(Status.COMPILE_ERROR, f"{name} is not in this machine's libm")
            self.close()
            raise RuntimeError(f"the run child could not start or go on: {said}")
        self._reject(Status.FORBIDDEN, "it forged a reply to the evaluator")

    def _readable(self, seconds: float) -> bool:
        poll = select.poll()
        poll.register(self._replies, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def _sleeps(self) -> bool:
        """Whether the child waits in read(): it may call nothing else that sleeps."""
        stat = os.pread(self._stat, 512, 0)
        state = stat[stat.rindex(b")") + 2 : stat.rindex(b")") + 3]
        if state in b"ZX":
            self._ended()
        return state == b"S"

    def _ended(self) -> NoReturn:
        code = self._process.wait()
        if code >= 0:
            self._reject(Status.FORBIDDEN, f"it ended its process with exit status {code}")
        name, killed = signal.Signals(-code).name, -code == signal.SIGKILL
        more = " (out of memory?)" if killed else ""
        self._reject(Status.CRASHED, f"its process was killed by {name}{more}", killed=killed)

    def _reject(self, status: Status, reason: str, *, killed: bool = False) -> NoReturn:
        self.close()
        raise Rejected(status, reason, killed=killed)


def _described(binaries: Sequence[Binary], descriptors: Sequence[int]) -> list[int]:
    """The kernels' stack, then each library, as the runner's argv holds them."""
    memories = [memory_of(binary.data) for binary in binaries]
    numbers = [STACK_BYTES, sum(memory.nbytes for memory in memories)]
    offset = 0
    for descriptor, binary, memory in zip(descriptors, binaries, memories, strict=True):
        numbers += [descriptor, len(binary.symbols)]
        numbers += [memory.start, memory.filled, memory.nbytes, offset]
        offset += memory.nbytes
    return numbers


def _library(data: bytes) -> int:
    """A sealed file in memory."""
    descriptor = os.memfd_create("kernel", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(data)
    seals = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor
