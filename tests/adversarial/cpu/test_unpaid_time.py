"""Processor time that a kernel which took its process over spends anywhere is in its time."""

import os
import time
from pathlib import Path

import numpy as np
import pytest

from evaluators.cpu.device import CpuDevice, open_device
from evaluators.cpu.session import CpuSession
from evaluators.device import Buffer
from evaluators.kernel.plan import Plan
from tests.evaluators.hostile import hostile
from tests.evaluators.launching import DEADLINE_S, MEMORY_BYTES, launch, plan

pytestmark = pytest.mark.skipif(
    os.uname().machine != "x86_64", reason="these kernels hold x86 assembly"
)

# A launch that never returns: it answers the evaluator's commands itself. The launch's LDS bytes
# tell it the descriptors; the number of its own command lies on the runner's stack, near the
# launch's record.
SERVER = """
struct Command { unsigned kind, sequence; unsigned long a, b, c; };
static void work(float *out) { for (long i = 0; i < 3000000; ++i) *(volatile float *)out += 1; }
static unsigned own_sequence(const KsLaunch *launch) {
    const unsigned *at = (const unsigned *)launch - 256;
    for (int i = 0; i < 1024; ++i)
        if (at[i] == 2 && at[i + 1] < 1000 && *(const unsigned long *)(at + i + 2) == 1)
            return at[i + 1];
    return 0;
}
ENTRY {
    const long commands = launch->lds_bytes >> 8, replies = launch->lds_bytes & 255;
    float *out = (float *)launch->args[0];
    unsigned reply[32] = {2, own_sequence(launch)};
    for (bool ready = false;;) {
        Command command = {};
        DO_AFTER
        call(1, replies, (long)reply, sizeof reply);
        call(0, commands, (long)&command, sizeof command);
        reply[1] = command.sequence;
        if (command.kind == 2) { DO_BEFORE }
    }
}"""
MECHANISMS = {
    "in the empty commands": (
        "",
        "if (!command.a) work(out), ready = true; else if (!ready) work(out); else ready = false;",
    ),
    "as soon as it is woken": ("", "work(out);"),
}


@pytest.fixture(scope="module")
def device() -> CpuDevice:
    return open_device(0)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_all_time_since_the_data_was_placed_counts(
    device: CpuDevice, tmp_path: Path, mechanism: str
) -> None:
    after, before = MECHANISMS[mechanism]
    compiled, _ = hostile(tmp_path, SERVER.replace("DO_AFTER", after).replace("DO_BEFORE", before))
    with device.open(compiled, memory_bytes=MEMORY_BYTES) as session:
        out = {"out": session.alloc(4096)}
        taken_over = plan(launch("k", ["out"], lds_bytes=pipes(session._child.pid)))
        session.run(taken_over, out, deadline_s=DEADLINE_S)
        for _ in range(3):
            used_us = placed_and_timed(session, taken_over, out)
            assert used_us[0] > 0.8 * used_us[1]


def placed_and_timed(
    session: CpuSession, taken_over: Plan, out: dict[str, Buffer]
) -> tuple[float, float]:
    """What the session charges, and what the process used since the data was placed."""
    clock = session._child._clock
    session.write(out["out"], np.zeros(1024, np.float32))
    before = time.clock_gettime_ns(clock)
    charged_us = session.time(taken_over, [out], deadline_s=DEADLINE_S)
    return charged_us, (time.clock_gettime_ns(clock) - before) / 1e3


def pipes(pid: int) -> int:
    """The child's pipes: the one that it reads, times 256, and the one that it writes."""
    found = {}
    for entry in Path(f"/proc/{pid}/fdinfo").iterdir():
        if os.readlink(f"/proc/{pid}/fd/{entry.name}").startswith("pipe:"):
            flags = int(entry.read_text().split("flags:")[1].split()[0], 8)
            found[flags & os.O_ACCMODE] = int(entry.name)
    return found[os.O_RDONLY] << 8 | found[os.O_WRONLY]
