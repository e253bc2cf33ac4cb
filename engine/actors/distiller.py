"""The actor that makes findings of a campaign's results, and tells its islands."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ray.actor import ActorHandle

from engine.actors.followers import stand_aside
from engine.actors.gateway import GatewayModel
from engine.actors.journal import StoreJournal
from engine.actors.lifeline import Driver
from engine.config import CampaignConfig
from engine.ending import CampaignFailed, Stopped
from engine.findings.distillation import Distillation, Draft
from engine.llm.config import Llm
from engine.store.kinds.findings import Distilled
from engine.store.store import decode
from evaluators.device_info import DeviceInfo
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from operators.finding import Finding
from operators.llm.distiller import LlmDistiller
from operators.llm.prompts.room import PROMPT_TOKENS
from operators.llm.question import CAMPAIGN
from operators.operator import Context, Declined

READ_AT_ONCE = 500
"""Events that it reads at a time."""

LEAST_REST = 20
"""After a distillation nothing is distilled for so many times as long as its own work took."""

ALONE = "no model had part in it"
"""Why follows."""

LAST_QUESTION_S = 120.0
"""At the end of a campaign a model has so long to answer."""


class DistillerActor:
    """Follows the store; nothing waits for it but the end of a campaign."""

    def __init__(self, driver: Driver, cores: frozenset[int]) -> None:
        stand_aside(driver, cores)
        self._turn = asyncio.Lock()
        self._rested_at = 0.0
        self._told = -1

    async def open(
        self,
        config: CampaignConfig,
        run_dir: Path,
        gateway: ActorHandle[Any] | None,
        islands: Sequence[ActorHandle[Any]],
        writer: ActorHandle[Any],
    ) -> None:
        """gateway: None where no island asks a model, and then no model is asked here."""
        self._config, self._writer, self._islands = config, writer, islands
        self._journal = StoreJournal(writer)
        self._task = load_task(config.task)
        self._distillation = Distillation(run_dir, self._task, every=config.findings.every)
        self._model = GatewayModel(gateway, {}) if gateway is not None else None

    async def catch_up(self) -> tuple[str, str]:
        """Distil where it is due. What is wrong, in one sentence, or nothing; and no more."""
        async with self._turn:
            await self._read()
            if self._distillation.due and time.monotonic() >= self._rested_at:
                await self._distil(self._model)
            self._tell()
            return self._distillation.trouble, ""

    async def finish(self) -> tuple[str, str]:
        """The last time; a model is asked where one still answers, and there is something new."""
        async with self._turn:
            await self._read()
            if self._distillation.stale:
                model = self._model if self._distillation.evaluated else None
                await self._distil(model, last=True)
            return self._distillation.trouble, ""

    async def _read(self) -> None:
        follower = self._distillation
        while rows := await self._writer.read.remote(follower.position, READ_AT_ONCE):
            follower.record(decode(rows))

    def _tell(self) -> None:
        """The islands, of what is stored; each takes it in once."""
        last = self._distillation.last
        if last is not None and last.number > self._told:
            self._told = last.number
            for island in self._islands:
                island.know.remote(last)

    async def _distil(self, model: GatewayModel | None, *, last: bool = False) -> None:
        began = time.monotonic()
        draft = self._distillation.draft()
        _ = draft.templates
        ended = time.monotonic()
        self._rested_at = ended + LEAST_REST * (ended - began)
        info = self._distillation.device
        event = draft.event()
        if model is not None and info is not None:
            try:
                event = await self._event(draft, info, model, last=last)
            except Stopped:
                if not last:
                    return  # the last one may ask
                event = draft.event(model=f"{ALONE}: none may be asked any more")
        await self._journal.commit(event)
        await self._read()
        if not self._distillation.write(event):
            await self._distil(None, last=last)

    async def _event(
        self, draft: Draft, info: DeviceInfo, model: GatewayModel, *, last: bool
    ) -> Distilled:
        """With what a model has to say; without, where it fails. Raises Stopped."""
        try:
            async with asyncio.timeout(LAST_QUESTION_S if last else None):
                said = await distilled_by(model, draft, self._task, info, self._config.llm)
        except TimeoutError:
            return draft.event(model=f"{ALONE}: no reply came within {LAST_QUESTION_S:.0f} s")
        except (Declined, CampaignFailed) as failed:
            return draft.event(model=f"{ALONE}: {failed}")
        return draft.event(said, model=f"a model brought {len(said)} rules")


async def distilled_by(
    model: GatewayModel, draft: Draft, task: Task, info: DeviceInfo, llm: Llm | None
) -> tuple[Finding, ...]:
    """Raises Declined: nothing that can be used; Stopped."""
    tokens = {**PROMPT_TOKENS, **(llm.prompt_tokens if llm else {})}["distiller"]
    context = Context(
        task=task,
        device=info,
        rng=np.random.default_rng(0),  # nothing is drawn
        island=CAMPAIGN,
        cycle=0,
        key=f"d{draft.number}",
    )
    distiller = LlmDistiller(model, tokens=tokens)
    standing = [one for one in draft.templates if not one.fallen]
    return await distiller.distil(draft.record.known, standing, draft.bear, context)
