"""A campaign's actors as the driver sees them: start, ask, stop."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayActorError, RayTaskError

from engine.actors import DispatcherActor, IslandActor, StoreWriter, TrackerActor
from engine.cluster import Layout, on_this_node
from engine.config import CampaignConfig
from engine.dispatcher import CampaignFailed
from engine.events import Event, to_row
from engine.journal import root_cause
from engine.replay import Replay
from engine.scoreboard import Scoreboard
from engine.snapshot import DispatcherState, IslandState
from engine.watch import Driver
from engine.workbench import Workbench
from evaluators.device import DeviceInfo
from evaluators.evaluation import Evaluation
from operators.individual import Candidate

TRACKING_PATIENCE_S = 60.0
"""At the end a dead tracking server is not waited for any longer."""


class Crew:
    """One store writer, one dispatcher with its evaluators, the islands, perhaps a tracker."""

    def __init__(
        self, config: CampaignConfig, plan: Layout, workbench: Workbench, store: Path
    ) -> None:
        """All processes start at once. Raises StoreError when another one runs the campaign."""
        self._config, self._plan = config, plan
        driver = Driver.here()
        here = {"num_cpus": 0, "scheduling_strategy": on_this_node()}
        writer: Any = ray.remote(StoreWriter)
        self._writer: Any = writer.options(**here).remote(driver)
        self._dispatcher: Any = (
            ray.remote(DispatcherActor)
            .options(**here)
            .remote(workbench, self._writer, driver, plan.devices, plan.gpus)
        )
        self._islands: list[Any] = [
            ray.remote(IslandActor)
            .options(num_cpus=0)
            .remote(index, config, self._writer, self._dispatcher, driver)
            for index in range(config.islands.count)
        ]
        self._tracker: Any = None
        self._tracked: Any = None
        if config.tracking_uri is not None:
            self._tracker = ray.remote(TrackerActor).options(**here).remote(driver)
            experiment = config.tracking.experiment
            self._tracked = self._tracker.open.remote(
                config.tracking_uri, experiment, store.parent, self._writer
            )
        answer(self._writer.open.remote(store))

    def devices(self) -> list[DeviceInfo]:
        """Once all are open."""
        infos: list[DeviceInfo] = answer(self._dispatcher.open.remote())
        return infos

    def append(self, *events: Event) -> None:
        answer(self._writer.append.remote([to_row(event) for event in events]))

    def begin(
        self, info: DeviceInfo, session: int, baseline: Candidate, before: Replay | None
    ) -> None:
        """Measure the naive seed, bring every island to where the store left it."""
        scores = before.scores if before else Scoreboard()
        anchor = None
        if before and scores.anchor_id in before.first_drafts:
            anchor = before.first_drafts[scores.anchor_id].candidate
        evaluation: Evaluation = answer(
            self._dispatcher.begin.remote(
                self._config, info, session, self._plan, baseline, scores, anchor
            )
        )
        answer(
            [
                island.begin.remote(
                    info,
                    baseline,
                    evaluation,
                    before.history(index) if before else [],
                    self._islands,
                )
                for index, island in enumerate(self._islands)
            ]
        )

    def start(self) -> list[Any]:
        """Let every island run; one reference each, to what it ended with."""
        return [island.run.remote() for island in self._islands]

    def states(self) -> tuple[DispatcherState, tuple[IslandState, ...]]:
        first, *others = answer(
            [self._dispatcher.state.remote(), *(one.state.remote() for one in self._islands)]
        )
        return first, tuple(others)

    def stop(self) -> None:
        """Take no more; let the devices finish what they have begun."""
        answer(self._dispatcher.stop.remote())

    def drain(self) -> None:
        answer(self._dispatcher.drain.remote())

    def track(self) -> None:
        """Let the tracker catch up with the store, unless it still does."""
        if self._tracker is not None and ray.wait([self._tracked], timeout=0)[0]:
            answer(self._tracked)
            self._tracked = self._tracker.catch_up.remote()

    def finish_tracking(self) -> None:
        """Everything stored so far, and the run folder's files."""
        if self._tracker is not None:
            try:
                answer(self._tracker.finish.remote(), timeout_s=TRACKING_PATIENCE_S)
            except GetTimeoutError:
                return  # the store holds it all: a later catch-up can bring the view up to date

    def close(self) -> None:
        """Let go of the store."""
        answer(self._writer.close.remote())


def answer(references: Any, *, timeout_s: float | None = None) -> Any:
    """What Ray's references stand for. Raises what was raised there, as it was raised."""
    try:
        return ray.get(references, timeout=timeout_s)
    except RayTaskError as error:
        raise root_cause(error) from error
    except RayActorError as error:
        raise CampaignFailed(
            "a process of the campaign was lost; 'kernel-scientist resume' goes on where it was"
        ) from error


def ended(runs: Sequence[Any], *, timeout_s: float) -> bool:
    """Whether every island has come to its end; raises what one of them raised."""
    done, running = ray.wait(list(runs), num_returns=len(runs), timeout=timeout_s)
    answer(done)
    return not running
