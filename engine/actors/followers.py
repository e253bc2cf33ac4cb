"""What follows the store beside a campaign, which never waits for it: tracker and reporter."""

import os
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayActorError, RayTaskError

from engine.actors.journal import root_cause
from engine.actors.lifeline import Driver, live_with

PATIENCE_S = 60.0
"""At the end none is waited for any longer, unless it says so."""


def stand_aside(driver: Driver, cores: frozenset[int]) -> None:
    """Called in a follower's process. cores: where it may run, so that it leaves measuring ones
    alone; none: anywhere."""
    live_with(driver)
    if cores:
        os.sched_setaffinity(0, cores)
    os.nice(10)


class Follower:
    """An actor as the driver sees it. Its catch_up() and finish() answer what is wrong, in one
    sentence, or nothing, and what else it has to tell. What breaks in it costs the campaign that
    sentence, and no more."""

    def __init__(
        self,
        actor: Any,
        opened: Any,
        *,
        does: str,
        takes: str,
        patience_s: float = PATIENCE_S,
    ) -> None:
        """opened: a reference to its first answer. does: what its process is for, as in "tells
        MLflow"; takes: what it is said to do for too long, as in "MLflow took ... to ...".
        patience_s: how long its last answer is waited for."""
        self._actor, self._pending = actor, opened
        self._does, self._takes = does, takes
        self._patience_s = patience_s
        self.trouble = ""
        self.told = ""

    def catch_up(self) -> str:
        """Ask it to, unless it still does; what was wrong the last time."""
        if self._actor is not None and ray.wait([self._pending], timeout=0)[0]:
            self._answered(self._pending)
            if self._actor is not None:
                self._pending = self._actor.catch_up.remote()
        return self.trouble

    def finish(self) -> str:
        """With everything stored so far, and the run folder's files; what is wrong."""
        if self._actor is not None:  # Ray may begin a later call first
            self._answered(self._pending, timeout_s=self._patience_s)
        if self._actor is not None:
            self._answered(self._actor.finish.remote(), timeout_s=self._patience_s)
        return self.trouble

    def _answered(self, reference: Any, *, timeout_s: float | None = None) -> None:
        try:
            answered = ray.get(reference, timeout=timeout_s)
            self.trouble, self.told = answered or ("", "")  # to be opened is answered by nothing
        except GetTimeoutError:
            self.trouble = f"{self._takes} longer than {timeout_s:.0f} s"
        except RayTaskError as error:
            cause = root_cause(error)
            what = f"broke: {type(cause).__name__}"
            if isinstance(cause, ImportError):
                what = "can't begin"
            self._lose(f"the process that {self._does} {what}: {cause}")
        except RayActorError:
            self._lose(f"the process that {self._does} was lost")

    def _lose(self, trouble: str) -> None:
        self._actor, self.trouble = None, trouble
