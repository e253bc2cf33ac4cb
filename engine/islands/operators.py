"""Which operators an island has: the catalogue's, or a model's over them."""

from collections.abc import Sequence
from dataclasses import replace

from engine.config import CampaignConfig
from evaluators.device_info import DeviceInfo
from evaluators.kernel.seeds import naive_of
from evaluators.tasks.task import Task
from operators.catalog import catalog_operators
from operators.catalog.generic.first import FirstEdits
from operators.finding import Finding
from operators.llm.designer import focus_of
from operators.llm.question import Model
from operators.llm.scientist import llm_operators
from operators.operator import Initial, Operators
from operators.tuning.elites import Elites
from operators.tuning.initial import InitialDesign


def island_operators(
    config: CampaignConfig,
    index: int,
    task: Task,
    device: DeviceInfo,
    model: Model | None,
    brought: Sequence[Finding] = (),
) -> Operators:
    """model: what an island of kind llm asks; None: nobody is asked. brought: what came along from
    other campaigns."""
    mix = config.operators_of(index)
    classic = catalog_operators(task, device, mix.techniques)
    classic = replace(classic, tuner=Elites(task, device))
    sharing = config.designing_islands
    if index in sharing:
        place, islands = sharing.index(index), len(sharing)
        designed: Initial = InitialDesign(
            task,
            config.seed,
            per_family=config.islands.initial,
            most=config.most_initial,
            place=place,
            islands=islands,
            brought=brought,
            techniques=mix.techniques,
            device=device,
        )
        if not designed and mix.techniques != "families":
            seed = naive_of(task, device.backend)
            designed = FirstEdits(
                task, device, seed, most=config.most_initial, place=place, islands=islands
            )
        classic = replace(classic, initial=designed)
    if mix.kind != "llm" or config.llm is None or model is None:
        return classic
    asked = llm_operators(
        model,
        classic,
        focus=focus_of(index, config.islands.count),
        novelty=config.llm.novelty,
        avenues=mix.avenues,
        experiments=mix.designs,
        prompt_tokens=config.llm.prompt_tokens,
        select_from=mix.select_from,
    )
    # One kernel, the naive seed, is no choice: nobody is asked.
    return asked if mix.evolves else replace(asked, selector=classic.selector)
