"""A process of its own with one device: a fault on a GPU takes the whole process's device along."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from evaluators.device import Compiled
from evaluators.evaluation import Status
from evaluators.kernel.plan import Plan
from evaluators.sandbox.child import Child, Died
from evaluators.sandbox.frames import Overdue

START_S = 60.0
"""What a process may take to start and to open its device; a GPU's driver takes seconds."""
LAUNCHES = 4
"""Of one timed call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a plan ended. memory: its buffers' bytes by name, when it passed."""

    status: Status
    reason: str
    memory: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """seconds: time the plan over and over for so long; 0 runs it once."""

    compiled: Compiled
    plan: Plan
    nbytes: Mapping[str, int]
    deadline_s: float
    seconds: float = 0.0


class Apart(Child):
    """Starts at once; used until something but PASSED comes back, then ended."""

    def __init__(self, backend_name: str, index: int = 0) -> None:
        module = "evaluators.acceptance.apart_child"
        super().__init__(module, backend_name, str(index), environment=os.environ)

    def run(
        self, compiled: Compiled, plan: Plan, *, nbytes: Mapping[str, int], deadline_s: float
    ) -> Ended:
        """Once, with every buffer zeroed. nbytes: by buffer."""
        job = Job(compiled=compiled, plan=plan, nbytes=nbytes, deadline_s=deadline_s)
        self.tell(job)
        answer = self._answer(START_S + deadline_s)
        assert isinstance(answer, Ended), "one run has one ending"
        return answer

    def start_timing(
        self, compiled: Compiled, plan: Plan, *, nbytes: Mapping[str, int], seconds: float
    ) -> None:
        """Begin, without waiting, to time the plan for so long; times_us() waits."""
        self.tell(
            Job(compiled=compiled, plan=plan, nbytes=nbytes, deadline_s=START_S, seconds=seconds)
        )

    def times_us(self) -> list[float] | Ended:
        """Microseconds a launch, one a call; how it ended when it did not pass."""
        return self._answer(2 * START_S)

    def _answer(self, deadline_s: float) -> Ended | list[float]:
        try:
            answer: Ended | list[float] = self.answer(deadline_s)
            return answer
        except Overdue:
            return Ended(status=Status.TIMEOUT, reason="the process did not answer")
        except Died as died:
            said = f"the process ended with status {died.returncode}"
            return Ended(status=Status.CRASHED, reason=died.ending if died.returncode < 0 else said)


def run_apart(compiled: Compiled, plan: Plan, *, nbytes: int, deadline_s: float) -> Ended:
    """Run the plan once on device 0 in a process of its own, every buffer zeroed, nbytes large."""
    names = {arg for launch in plan.launches for arg in launch.args if isinstance(arg, str)}
    with Apart(compiled.backend) as apart:
        sizes = dict.fromkeys(sorted(names), nbytes)
        return apart.run(compiled, plan, nbytes=sizes, deadline_s=deadline_s)
