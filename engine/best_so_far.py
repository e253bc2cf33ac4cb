"""The best kernel so far: the file that holds it, and the last steps by which it became faster."""

import time
from collections import deque
from pathlib import Path

from engine.history.history import History
from engine.history.improvements import improvement, improvements
from engine.snapshot import Improvement
from engine.store.run_folder import STORE
from engine.store.scoreboard import Best
from engine.store.store import find_draft
from engine.store.summary import write_best

IMPROVEMENTS_KEPT = 3


class BestSoFar:
    """Keeps best.hip up to date, so that a kill leaves the best kernel behind."""

    def __init__(self, run_dir: Path) -> None:
        self._run_dir = run_dir
        self._best: Best | None = None
        self._written = ""  # the id of the kernel in best.hip, where this wrote it
        self.improvements: deque[Improvement] = deque(maxlen=IMPROVEMENTS_KEPT)
        """The last few, over all sessions, in order."""

    def take_up(self, history: History) -> None:
        """Of earlier sessions."""
        self._best = history.replay.scores.best
        self.improvements.extend(improvements(history))

    def look(self, best: Best | None) -> None:
        """best: the dispatcher's."""
        if best is None or best.kernel_id == self._written:
            return
        drafted = find_draft(self._run_dir / STORE, best.kernel_id)
        if drafted is None:
            return  # the seed's draft may come a little after its evaluation
        write_best(drafted.candidate.source, self._run_dir)
        step = improvement(self._best, best, drafted, at=time.time())
        if step is not None:
            self.improvements.append(step)
        self._best, self._written = best, best.kernel_id
