"""What a model is sent in a role, for a person to read: as it was sent, else as it would be."""

import sys
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

from engine.config import CampaignConfig, OperatorMix, parse_config
from engine.findings.distillation import Distillation
from engine.islands.rehearsal import Rehearsal, stored_outcomes
from engine.llm.config import Llm, LlmModel
from engine.store.kept_task import find_task
from engine.store.kinds.calls import CallReserved
from engine.store.replay import Replay, replay
from engine.store.run_folder import STORE
from engine.store.store import StoreError, read_events
from evaluators.device import backend
from evaluators.device_info import DeviceInfo
from evaluators.kernel.seeds import on_backend
from evaluators.tasks.task_file import load_task
from operators.finding import best_founded
from operators.llm.distiller import SCHEMA
from operators.llm.preview import preview
from operators.llm.prompts.distilling import distiller_prompt
from operators.llm.prompts.render import Scene
from operators.llm.prompts.room import PROMPT_TOKENS
from operators.llm.question import CAMPAIGN, Message, Part, Request, part_of

DIFFERED = "what was sent then differed: its hash is another"


def seed_prompt(task: str, role: Part, backend_name: str) -> str:
    """With the naive seed alone. Raises TaskError, BackendMissing."""
    loaded = on_backend(load_task(task), backend_name)
    return _text(preview(role, loaded, _device(backend_name)).messages)


def campaign_prompt(
    run_dir: Path,
    role: Part,
    *,
    island: int | None = None,
    cycle: int | None = None,
    next_one: bool = False,
) -> str:
    """The last that the role was sent, on that island and in that cycle where they are named.

    Where it was not stored, it is asked anew by the campaign's own code, from the log. next_one,
    or nothing was sent: what the role is sent next. Raises StoreError, ConfigError, TaskError,
    BackendMissing.
    """
    sent = _last_sent(run_dir, role, island, cycle)
    if role == "distiller":
        return _text(_distillers(run_dir, None if next_one else sent))
    if sent is not None and not next_one:
        return _text(sent.prompt or _again(rehearsal_of(run_dir, island=sent.island), sent))
    if cycle is not None:
        raise StoreError(f"{run_dir / STORE}: no {role} was asked in cycle {cycle}")
    if not next_one:
        print(f"no {role} was asked in this campaign; this would be sent next", file=sys.stderr)
    if island is None:
        island = sent.island if sent is not None else 0
    request, left_aside = rehearsal_of(run_dir, island=island).next(role)
    if request is None:
        raise StoreError(f"{run_dir / STORE}: as this campaign stands, no {role} is asked next")
    if left_aside:
        print("cycles under way are left aside", file=sys.stderr)
    return _text(request.prompt.messages)


def rehearsal_of(run_dir: Path, *, island: int) -> Rehearsal:
    """An island of a stored campaign, to be asked what it asks. Raises as campaign_prompt()."""
    store = run_dir / STORE
    whole = replay(store)
    config = asking(parse_config(dict(whole.campaign.config), where=str(store)))
    return Rehearsal(
        whole=whole,
        outcomes=stored_outcomes(read_events(store)),
        config=config,
        task=on_backend(load_task(find_task(whole, run_dir)), config.backend),
        device=_told_of(whole) or _device(config.backend),
        island=island,
    )


def _distillers(run_dir: Path, sent: CallReserved | None) -> Sequence[Message]:
    """As it was sent; else as it would be now. Raises as above."""
    if sent is not None and sent.prompt:
        return sent.prompt
    request = distillers_request(run_dir, sent)
    if sent is not None and request.prompt_hash != sent.prompt_hash:
        print(DIFFERED, file=sys.stderr)
    return request.prompt.messages


def distillers_request(run_dir: Path, asked: CallReserved | None) -> Request:
    """Of the log until that was asked, or of all of it. Raises as above."""
    whole = replay(run_dir / STORE)
    config = parse_config(dict(whole.campaign.config), where=str(run_dir / STORE))
    task = load_task(find_task(whole, run_dir))
    distillation = Distillation(run_dir, task, every=config.findings.every)
    log = read_events(run_dir / STORE)
    distillation.record(takewhile(lambda stored: stored.event != asked, log))
    draft = distillation.draft(edited=asked is None)  # the file is of later
    own = config.llm.prompt_tokens if config.llm else {}
    scene = Scene(
        task=task,
        device=_told_of(whole) or _device(config.backend),
        tokens={**PROMPT_TOKENS, **own}["distiller"],
    )
    standing = best_founded(draft.templates)
    return Request(
        key=asked.request if asked else f"d{draft.number}/distiller/0",
        role="distiller",
        island=CAMPAIGN,
        cycle=0,
        prompt=distiller_prompt(scene, draft.record.known, standing),
        schema=SCHEMA,
    )


def _last_sent(
    run_dir: Path, role: Part, island: int | None, cycle: int | None
) -> CallReserved | None:
    sent = [
        stored.event
        for stored in read_events(run_dir / STORE)
        if isinstance(stored.event, CallReserved)
        and part_of(stored.event.role, stored.event.request) == role
        and island in (None, stored.event.island)
        and cycle in (None, stored.event.cycle)
    ]
    return sent[-1] if sent else None


def _again(rehearsal: Rehearsal, sent: CallReserved) -> Sequence[Message]:
    """What was sent and not stored. Says so where it is not what it was."""
    for request in rehearsal.cycle(sent.cycle):
        if request.key == sent.request:
            if request.prompt_hash != sent.prompt_hash:
                print(DIFFERED, file=sys.stderr)
            return request.prompt.messages
    raise StoreError(f"the log does not lead to {sent.request} again")


def _told_of(whole: Replay) -> DeviceInfo | None:
    """The device as the last session found it; None: the store is from before that was kept."""
    return whole.sessions[-1].started.info if whole.sessions else None


def asking(config: CampaignConfig) -> CampaignConfig:
    """The same campaign with models asked on all islands, where it asks none."""
    if config.asks_models:
        return config
    llm = config.llm or Llm(models={"none": LlmModel(model="none")})
    return config.model_copy(
        update={"llm": llm, "operators": (OperatorMix(kind="llm", mutation=0),)}
    )


def _device(backend_name: str) -> DeviceInfo:
    device = backend(backend_name).open_device(0)
    try:
        return device.info
    finally:
        device.close()


def _text(messages: Sequence[Message]) -> str:
    """The messages one after the other, each under its speaker's name."""
    return "\n\n".join(f"[{one.role}]\n{one.content}" for one in messages)
