"""The parent's end of a process that runs one baseline on the host (child.py)."""

import os
import pickle
import sys
from itertools import count

from evaluators.baselines.messages import Done, Drop, Request, Share
from evaluators.evaluation import Rejected, Status
from evaluators.sandbox.child import Child, Died
from evaluators.sandbox.environment import device_variables
from evaluators.sandbox.frames import Overdue
from evaluators.spelling import printable
from evaluators.tasks.baselines import Baseline

START_S = 180.0
"""For importing torch, from a disk that is cold."""

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
_numbers = count()


class BaselineProcess(Child):
    """One thread on one core, as a kernel has; no secrets in its environment."""

    def __init__(self, baseline: Baseline, core: int) -> None:
        environment = {
            **device_variables(),
            **dict.fromkeys(_THREADS, "1"),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        told = pickle.dumps(baseline).hex()
        super().__init__("evaluators.baselines.child", str(core), told, environment=environment)

    def share(self, descriptor: int, nbytes: int) -> int:
        """Let it see a memory of this process; the number by which to name it. Raises Rejected."""
        number = next(_numbers)
        path = f"/proc/{os.getpid()}/fd/{descriptor}"
        self.ask(Share(number=number, path=path, nbytes=nbytes), START_S)
        return number

    def drop(self, number: int) -> None:
        self.ask(Drop(number=number), START_S)

    def ask(self, request: Request, deadline_s: float) -> float:
        """Microseconds of processor time. Raises Rejected; the process may be gone then."""
        self.tell(request)
        try:
            done = self.answer(deadline_s)
        except Overdue:
            self.end()
            raise Rejected(Status.TIMEOUT, f"it took longer than {deadline_s:g} s") from None
        except Died as died:
            self.end()
            last = [printable(line) for line in died.said.splitlines()[-1:]]
            said = ": ".join([died.ending, *last])
            raise Rejected(Status.CRASHED, f"its process ended ({said})") from None
        assert isinstance(done, Done)
        if done.rejected is not None:
            raise done.rejected
        return done.taken_us
