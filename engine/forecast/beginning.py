"""The forecast as a session begins: from its first prompts, and from what is in its folder."""

from engine.config import CampaignConfig
from engine.forecast.forecast import Forecast, forecast
from engine.forecast.records import earlier_campaigns, own_record
from engine.store.budget import Left, left
from engine.store.replay import Replay
from evaluators.device_info import DeviceInfo
from evaluators.tasks.task import Task
from operators.llm.call import estimated_tokens
from operators.llm.preview import preview
from operators.llm.question import PARTS


def foretell(
    config: CampaignConfig, task: Task, device: DeviceInfo, before: Replay | None
) -> Forecast:
    """For what is left of the budgets. before: what the store holds of earlier sessions; where
    they tell enough, nothing else is asked."""
    assert config.llm is not None
    run_dir = config.runs_dir / config.name
    own = own_record(run_dir) if before is not None else None
    models = [model.model for model in config.llm.models.values()]
    records = [own] if own is not None else earlier_campaigns(config.runs_dir, models)
    first = {part: estimated_tokens(preview(part, task, device).messages) for part in PARTS}
    granted = len(before.probes.granted) if before is not None else 0
    probes = max(0, config.probes.most - granted)
    return forecast(config, _left(config, before), first, records, probes=probes)


def _left(config: CampaignConfig, before: Replay | None) -> Left:
    """Of the budgets of today."""
    evaluations = config.budgets.evaluations
    if before is not None and evaluations is not None:
        evaluations = max(0, evaluations - before.scores.asked)
    return left(
        evaluations=evaluations,
        wall_time_s=None,
        calls=before.calls.totals.spending() if before is not None else None,
        budget=config.budgets.of_calls,
    )
