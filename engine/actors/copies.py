"""Copies of the store in snapshots.folder, as the driver has the store's writer make them."""

import time
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayActorError, RayTaskError

from engine.actors.journal import root_cause

PATIENCE_S = 60.0
"""A copy that takes longer is told of, and at the end none is waited for any longer."""


class Copies:
    """One at once, then one every so often, one at the end. What is wrong with them costs the
    campaign a sentence, and no more."""

    def __init__(
        self, writer: Any, target: Path | None, *, every_s: float, cores: frozenset[int]
    ) -> None:
        """target: None where none are wanted. cores: where the work is done, none: anywhere."""
        self._writer, self._target, self._cores = writer, target, cores
        self._every_s = every_s
        self._pending: Any = None
        self._begun = self._made = 0.0
        self._trouble = ""

    def look(self) -> str:
        """Begin one where one is due; what is wrong, in one sentence, or nothing."""
        if self._target is None:
            return ""
        now = time.monotonic()
        if self._pending is not None and ray.wait([self._pending], timeout=0)[0]:
            self._end(timeout_s=None)
        if self._pending is not None:
            if now - self._begun > PATIENCE_S:
                self._trouble = self._sentence(f"it has taken {now - self._begun:.0f} s so far")
        elif not self._begun or now - self._begun >= self._every_s:
            self._begin()
        return self._trouble

    def finish(self) -> str:
        """One of everything that is stored; what is wrong with it, as above."""
        if self._target is None:
            return ""
        if self._pending is not None:
            self._end(timeout_s=PATIENCE_S)
        if self._pending is None:
            self._begin()
            self._end(timeout_s=PATIENCE_S)
        return self._trouble

    def _begin(self) -> None:
        self._begun = time.monotonic()
        self._pending = self._writer.copy.remote(self._target, self._cores)

    def _end(self, *, timeout_s: float | None) -> None:
        try:
            why = str(ray.get(self._pending, timeout=timeout_s))
        except GetTimeoutError:
            self._trouble = self._sentence(f"it took longer than {timeout_s:.0f} s")
            return
        except RayTaskError as error:
            why = str(root_cause(error))
        except RayActorError:
            why = "the process that writes the store was lost"
        self._pending = None
        self._trouble = self._sentence(why) if why else ""

    def _sentence(self, why: str) -> str:
        return f"the store can't be copied to {self._target}: {why}"
