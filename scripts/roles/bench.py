"""bench(): situations asked of models and judged, and the scores by role that come of it."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.cli.look.prompts import asking
from engine.config import CampaignConfig
from engine.config_errors import ConfigError
from engine.llm.config import LlmModel
from engine.llm.preflight import preflight
from evaluators.tasks.task import Task, TaskError
from evaluators.tasks.task_file import load_task
from operators.llm.prompts.templates import FOLDER, templates_hash
from operators.llm.question import Role
from scripts.roles.answers import Answers
from scripts.roles.asking import TASKS, Questioner, Told, asked_alone, asking_island
from scripts.roles.judging import judge
from scripts.roles.scores import Scores, scores
from scripts.roles.situations import BENCHED, Situation, SituationError

OUTAGE_S = 60.0
"""An endpoint that is away for longer ends a bench, which can be gone on with: a person waits."""

NOT_SHOWN = {"base_url", "api_key_env"}
"""Of a model's settings: where it is served says nothing of it."""


def bench(
    situations: Sequence[Situation],
    config: CampaignConfig,
    models: Mapping[Role, LlmModel],
    tasks: TASKS,
    *,
    repeats: int = 1,
    follow: int = 0,
    judging: bool = True,
    answers: Answers | None = None,
    told: Told = lambda what, done, of: None,
) -> Scores:
    """Ask and judge what has no answer or verdict yet, and say what came of it, by role.

    config: whose section llm and operators count, as asked_config() makes it. models: who is asked
    as which role; situations of other roles are left out. follow: experiments of each design that
    the writer's model writes, to be judged. answers: where they are kept, by default in memory.
    Raises ModelUnavailable, CallsOver (a budget is spent, or the endpoint went away),
    BackendMissing, DeviceFault, TaskError, jinja2.TemplateError (of other prompts); what was
    answered until then is kept.
    """
    assert config.llm is not None
    kept = Answers(asked(config, models, follow)) if answers is None else answers
    wanted = [
        (one, repeat)
        for repeat in range(repeats)
        for one in situations
        if one.role in models and (one.id, repeat, 0) not in kept.answers
    ]
    if wanted:
        asyncio.run(_asked(wanted, config, models, tasks, kept, follow, told))
    if judging:
        judge(situations, kept, tasks, told)
    return scores(kept)


async def _asked(
    wanted: Sequence[tuple[Situation, int]],
    config: CampaignConfig,
    models: Mapping[Role, LlmModel],
    tasks: TASKS,
    answers: Answers,
    follow: int,
    told: Told,
) -> None:
    assert config.llm is not None
    await preflight(asked_alone(config.llm, models))
    questioner = Questioner(config, models, tasks, answers, follow=follow)
    await questioner.ask(wanted, told)


def asked_config(config: CampaignConfig) -> CampaignConfig:
    """A campaign's configuration as bench() wants it: some island asks models, and of every
    tournament. Raises ConfigError: it names no models."""
    if config.llm is None:
        raise ConfigError(
            "the configuration has no section llm; add one that names the models to ask "
            "(configs/h200.yaml has an example)"
        )
    made = asking(config)
    mixes = tuple(one.model_copy(update={"select_from": 1}) for one in made.operators)
    llm = config.llm.model_copy(update={"outage_s": min(OUTAGE_S, config.llm.outage_s)})
    return made.model_copy(update={"operators": mixes, "llm": llm})


def models_of(
    config: CampaignConfig,
    roles: Sequence[Role] = BENCHED,
    *,
    model: str = "",
    temperature: float | None = None,
) -> dict[Role, LlmModel]:
    """Who a configuration asks as each role, on the first of its islands that asks.

    model: a name in llm.models that all roles ask instead; temperature: in place of the model's.
    Raises ConfigError: there is no such model.
    """
    assert config.llm is not None
    if model and model not in config.llm.models:
        raise ConfigError(
            f"--model {model!r} is none of llm.models, which has {', '.join(config.llm.models)}"
        )
    island = asking_island(config)
    own = config.operators_of(island).models
    found: dict[Role, LlmModel] = {}
    for role in roles:
        name = config.llm.model_name(role, model or own.get(role, ""), island)
        warmth = config.llm.options(name, island).temperature
        told = warmth if temperature is None else temperature
        found[role] = config.llm.models[name].model_copy(update={"temperature": told})
    return found


def asked(config: CampaignConfig, models: Mapping[Role, LlmModel], follow: int) -> dict[str, Any]:
    """What decides the answers, besides the situations: for the file that keeps them."""
    assert config.llm is not None
    mix = config.operators_of(asking_island(config))
    return {
        "models": {
            role: model.model_dump(mode="json", exclude=NOT_SHOWN) for role, model in models.items()
        },
        "prompts": templates_hash(),
        "avenues": mix.avenues,
        "designs": mix.designs,
        "novelty": config.llm.novelty,
        "prompt_tokens": dict(config.llm.prompt_tokens),
        "follow": follow,
    }


def tasks_of(situations: Sequence[Situation], folders: Sequence[Path] = ()) -> TASKS:
    """By hash. folders: of tasks that are not shipped. Raises TaskError, SituationError."""
    given: list[Task] = [load_task(folder) for folder in folders]
    found = {task.hash: task for task in given}
    for campaign in {id(one.campaign): one.campaign for one in situations}.values():
        if campaign.task_hash in found:
            continue
        try:
            task = load_task(campaign.task)
        except TaskError:
            raise SituationError(
                f"situations are of task {campaign.task!r}, which is not shipped; name its folder "
                "by --task"
            ) from None
        if task.hash != campaign.task_hash:
            raise SituationError(
                f"task {campaign.task!r} is another one than when situations were recorded; "
                "collect them from a new campaign, or name the folder of the old one by --task"
            )
        found[task.hash] = task
    return found


def checked_prompts(folder: Path) -> Path:
    """A folder whose templates may stand in for the package's. Raises SituationError."""
    known = sorted(path.name for path in FOLDER.glob("*.j2"))
    there = sorted(path.name for path in folder.glob("*.j2"))
    if not there:
        raise SituationError(
            f"--prompts: {folder} holds no template; copy what you change from "
            "operators/llm/prompts there"
        )
    if unknown := [name for name in there if name not in known]:
        raise SituationError(
            f"--prompts: {folder / unknown[0]} stands in for nothing; templates are "
            f"{', '.join(known)}"
        )
    return folder
