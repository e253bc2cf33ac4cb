"""One launch in a process of its own, from code."""

from evaluators.acceptance.apart import run_apart
from evaluators.acceptance.launching import compile_one, plan
from evaluators.device import backend
from evaluators.evaluation import Status
from evaluators.kernel.plan import LaunchStep
from tests.hip_double.twins import with_twins

ARCH = {"hip": "gfx942", "cuda": None, "cpu": None}
"""Named for hip, so that this process never opens the runtime that its children shall open."""


def outcome(
    name: str, code: str, step: LaunchStep, *, nbytes: int, deadline_s: float
) -> tuple[Status, str]:
    """Status and reason of running the launch on zeroed buffers of nbytes."""
    compiler = with_twins(backend(name).compiler(arch=ARCH[name]))
    ended = run_apart(
        compile_one(compiler, code, step), plan(step), nbytes=nbytes, deadline_s=deadline_s
    )
    return ended.status, ended.reason
