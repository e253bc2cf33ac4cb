"""A campaign's actors as the driver sees them: start, ask, stop."""

import os
from pathlib import Path
from typing import Any

import ray

from engine.actors.answers import answer
from engine.actors.cluster import Site, on_this_node
from engine.actors.copies import Copies
from engine.actors.dispatcher import DispatcherActor
from engine.actors.distiller import LAST_QUESTION_S, DistillerActor
from engine.actors.followers import PATIENCE_S, Follower
from engine.actors.gateway import QUESTIONS_AT_ONCE, GatewayActor, GatewayState
from engine.actors.island import IslandActor
from engine.actors.lifeline import Driver
from engine.actors.passed_on import for_gateway, for_tracker
from engine.actors.reporter import ReporterActor
from engine.actors.store_writer import StoreWriter
from engine.actors.tracker import TrackerActor
from engine.config import CampaignConfig
from engine.dispatch.workbench import Workbench
from engine.snapshot import DispatcherState, IslandState
from engine.store.events import Event, to_row
from engine.store.kinds.findings import Distilled
from engine.store.kinds.probes import ProbeLog
from engine.store.kinds.steering import Injected
from engine.store.replay import Replay
from engine.store.scoreboard import Scoreboard
from engine.store.spending import CallHistory
from evaluators.device import times
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation
from operators.individual import Candidate, Individual


class CampaignActors:
    """One store writer, one dispatcher with its evaluators, the islands; a gateway, a tracker."""

    def __init__(
        self,
        config: CampaignConfig,
        site: Site,
        workbench: Workbench,
        driver: Driver,
        store: Path,
    ) -> None:
        """All processes start at once. Raises StoreError when another one runs the campaign."""
        self._config, self._site, self._driver = config, site, driver
        here = {"num_cpus": 0, "scheduling_strategy": on_this_node()}
        writer: Any = ray.remote(StoreWriter)
        self._writer: Any = writer.options(**here).remote(driver)
        self._dispatcher: Any = (
            ray.remote(DispatcherActor)
            .options(**here)
            .remote(config, workbench, self._writer, driver)
        )
        self._gateway: Any = None
        if config.asks_models:
            self._gateway = (
                ray.remote(GatewayActor)
                .options(**here, max_concurrency=QUESTIONS_AT_ONCE)
                .remote(self._writer, driver)
            )
        devices = max(1, len(site.plan.devices))
        told = config.model_copy(update={"islands": config.islands.with_lanes(devices)})
        self._islands: list[Any] = [
            ray.remote(IslandActor)
            .options(**here)
            .remote(index, told, self._writer, self._dispatcher, self._gateway, driver)
            for index in range(config.islands.count)
        ]
        folder = config.snapshots.folder
        self.copies = Copies(
            self._writer,
            folder / f"{config.name}.sqlite" if folder else None,
            every_s=config.snapshots.every_s,
            cores=site.plan.compile_cores,
        )
        self._reporter = self._following(
            ReporterActor, store.parent, does="writes the report", takes="the report took"
        )
        self._distiller: Follower | None = None
        if config.findings.every and times(config.backend):
            self._distiller = self._following(
                DistillerActor,
                config,
                store.parent,
                self._gateway,
                self._islands,
                does="makes findings",
                takes="the findings took",
                patience_s=PATIENCE_S + LAST_QUESTION_S,
            )
        self._tracker: Follower | None = None
        if config.tracking_uri is not None:
            self._tracker = self._following(
                TrackerActor,
                config.tracking_uri,
                config.experiment,
                store.parent,
                for_tracker(config, os.environ),
                does="tells MLflow",
                takes="MLflow took everything in for",
            )
        answer(self._writer.open.remote(store))

    def _following(
        self, kind: type, *arguments: Any, does: str, takes: str, patience_s: float = PATIENCE_S
    ) -> Follower:
        here = {"num_cpus": 0, "scheduling_strategy": on_this_node()}
        remote: Any = ray.remote(kind)
        actor = remote.options(**here).remote(self._driver, self._site.plan.compile_cores)
        opened = actor.open.remote(*arguments, self._writer)
        return Follower(actor, opened, does=does, takes=takes, patience_s=patience_s)

    def devices(self, naive: Candidate, before: str) -> list[DeviceInfo]:
        """Once all are open. before: their class in earlier sessions."""
        infos: list[DeviceInfo] = answer(self._dispatcher.open.remote(self._site, naive, before))
        return infos

    def append(self, *events: Event) -> None:
        answer(self._writer.append.remote([to_row(event) for event in events]))

    def begin(
        self,
        info: DeviceInfo,
        session: int,
        baseline: Candidate,
        before: Replay | None,
        brought: Distilled | None,
    ) -> Evaluation:
        """Measure the naive seed, bring every island to where the store left it; returns the seed's
        evaluation. brought: what came along from other campaigns."""
        if self._gateway is not None:
            budget = self._config.budgets.of_calls
            history = before.calls if before else CallHistory()
            ideas = before.ideas if before else []
            shared = self._config.islands.memory == "shared"
            passed = for_gateway(self._config, os.environ)
            llm = self._config.llm
            answer(self._gateway.begin.remote(llm, budget, history, ideas, shared, passed))
            most = self._config.probes.most
            answer(self._gateway.begin_probes.remote(most, before.probes if before else ProbeLog()))
        scores = before.scores if before else Scoreboard()
        drafts = before.first_drafts if before else {}
        known = {one: drafts[one].candidate for one in scores.wanted() if one in drafts}
        evaluation: Evaluation = answer(
            self._dispatcher.begin.remote(
                info,
                session,
                baseline,
                scores,
                known,
                before.probes if before else ProbeLog(),
            )
        )
        config = self._config
        answer(
            [
                island.begin.remote(
                    info,
                    baseline,
                    evaluation,
                    before.history(index) if before else [],
                    before.unheard(index, config.memory_partners(index)) if before else [],
                    self._islands,
                    brought,
                )
                for index, island in enumerate(self._islands)
            ]
        )
        answer(self._dispatcher.meet.remote(self._islands))
        return evaluation

    def start(self) -> list[Any]:
        """Let every island run; one reference each, to what it ended with."""
        runs = [island.run.remote() for island in self._islands]
        answer(self._dispatcher.tune.remote())
        return runs

    def states(self) -> tuple[DispatcherState, tuple[IslandState, ...]]:
        first, *others = answer(
            [self._dispatcher.state.remote(), *(one.state.remote() for one in self._islands)]
        )
        return first, tuple(others)

    def calls(self) -> GatewayState | None:
        """None where no island asks a model."""
        if self._gateway is None:
            return None
        state: GatewayState = answer(self._gateway.state.remote())
        return state

    def inject(self, event: Injected, base: Individual | None) -> None:
        """Hand it to its island; it is stored. base: of an idea."""
        answer(self._islands[event.island].inject.remote(event, base))

    def pause(self, paused: bool) -> None:
        """Begin no cycle, call and evaluation until it is taken back."""
        all_of_them = [self._dispatcher, *filter(None, [self._gateway]), *self._islands]
        answer([one.pause.remote(paused) for one in all_of_them])

    def stop(self, reason: str) -> None:
        """Take no more, ask no more; let the devices finish what they have begun."""
        answer(self._dispatcher.stop.remote())
        self.stop_asking(reason)

    def stop_asking(self, reason: str) -> None:
        """Cut the models off: nothing they say could be evaluated."""
        if self._gateway is not None:
            answer(self._gateway.stop.remote(reason))

    def drain(self) -> None:
        """Nobody asks any more: wait for what is under way."""
        answer(self._dispatcher.end.remote())
        if self._gateway is not None:
            answer(self._gateway.drain.remote())

    def finish(self) -> Any:
        """Let the dispatcher measure what was found once more; a reference to its end."""
        return self._dispatcher.finish.remote(self._config.final.seconds)

    def follow(self) -> str:
        """Let findings, report and tracking catch up with the store, unless they still do.

        What is wrong with them, in one sentence; empty when all is well.
        """
        followers = [*filter(None, [self._distiller]), *self._followers()]
        troubles = [one.catch_up() for one in followers]
        return next(filter(None, troubles), "")

    def distil(self, *, ask: bool) -> str:
        """The last time, when all is measured; what is wrong, in one sentence, or nothing.

        ask: a model too, as far as the budget goes.
        """
        if self._distiller is None:
            return ""
        if self._gateway is None:
            return self._distiller.finish()
        try:
            answer(self._gateway.reopen.remote() if ask else self._gateway.end.remote())
            return self._distiller.finish()
        finally:
            answer(self._gateway.end.remote())

    def finish_following(self) -> str:
        """Everything stored so far, and the run folder's files; the same answer."""
        troubles = [one.finish() for one in self._followers()]
        return next(filter(None, troubles), "")

    @property
    def tracking_page(self) -> str:
        """The campaign's in MLflow, after the server's address; empty before it was reached."""
        return self._tracker.told if self._tracker else ""

    def _followers(self) -> list[Follower]:
        """The report first: it is among what MLflow is told."""
        return [self._reporter, *filter(None, [self._tracker])]

    def close(self) -> None:
        """Let go of the store."""
        answer(self._writer.close.remote())
