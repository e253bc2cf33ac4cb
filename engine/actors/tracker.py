"""The actor that follows the store and shows it to MLflow."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ray
from ray.actor import ActorHandle

from engine.actors.followers import stand_aside
from engine.actors.lifeline import Driver
from engine.store.store import decode

TRACKED_AT_ONCE = 500
"""Events that the tracker reads at a time."""


class TrackerActor:
    """Follows the store and shows it to MLflow; nothing waits for it."""

    def __init__(self, driver: Driver, cores: frozenset[int]) -> None:
        stand_aside(driver, cores)
        self._tracker: Any = None
        self._writer: Any = None

    def open(
        self,
        uri: str,
        experiment: str,
        run_dir: Path,
        environment: Mapping[str, str],
        writer: ActorHandle[Any],
    ) -> None:
        """environment: the driver's variables that this process needs."""
        self._writer = writer
        os.environ.update(environment)
        # Imported here: MLflow takes seconds, and a campaign without tracking never needs it.
        from engine.tracking.tracker import Tracker

        self._tracker = Tracker(uri=uri, experiment=experiment, run_dir=run_dir)

    def catch_up(self) -> tuple[str, str]:
        """What is wrong with MLflow, in one sentence, empty when all is well; the campaign's page
        there, after the server's address, empty before it was reached."""
        while rows := ray.get(self._writer.read.remote(self._tracker.position, TRACKED_AT_ONCE)):
            self._tracker.record(list(decode(rows)))
        return str(self._tracker.trouble), str(self._tracker.page)

    def finish(self) -> tuple[str, str]:
        """With the run folder's files, which are complete by now; the same answer."""
        self.catch_up()
        self._tracker.finish()
        return str(self._tracker.trouble), str(self._tracker.page)
