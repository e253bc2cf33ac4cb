"""A forecast: calls, tokens and dollars that the evaluations of a campaign will take."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from engine.config import CampaignConfig, OperatorMix
from engine.forecast.ranges import Range, exact
from engine.forecast.records import Record, shipped
from engine.llm.config import LlmModel
from engine.store.budget import Left
from engine.store.kinds.sessions import ForecastMade
from operators.llm.prompts.room import PROMPT_TOKENS
from operators.llm.question import ROLES, Role

BY_STRUCTURE = 1.5
"""Times as many calls as the configuration makes one expect, or as few."""

BY_RECORDS = 1.2
"""The same beyond what earlier campaigns took."""

PROMPTS = 1.4
"""Times as long as prompts are expected, or as short."""

OTHER_KINDS = 3.0
"""The same of calls, where islands that ask nobody take evaluations too."""

Price = Callable[[LlmModel], tuple[float, float]]
"""Of a token that is sent, and of one that is written."""

OTHERWISE = 100
"""Evaluations that are told of, where nothing bounds them beforehand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """For `evaluations`. dollars: None where no model has a price. first: the budget that ends it,
    empty where none is known to; certain: whether the ranges leave no other. limits: what is left
    of budgets, by name. sources: where the figures come from."""

    evaluations: Range
    calls: Range
    tokens: Range
    dollars: Range | None
    first: str
    certain: bool
    limits: Mapping[str, float]
    sources: str

    def event(self, session: int) -> ForecastMade:
        return ForecastMade(
            number=session,
            text=self.sentence,
            evaluations=self.evaluations.told,
            calls=self.calls.told,
            tokens=self.tokens.told,
            dollars=self.dollars.told if self.dollars else None,
            first=self.first,
        )

    @property
    def sentence(self) -> str:
        """For a person, without a full stop."""
        paid = [self.calls.text("calls"), self.tokens.text("tokens")]
        if self.dollars is not None:
            paid.append(self.dollars.text("dollars"))
        if self.first in ("", "evaluations"):
            told = f"{exact(self.evaluations.likely)} evaluations will take about "
            return f"{told}{', '.join(paid)}{self._ending()}; {self.sources}"
        limit, bought = exact(self.limits[self.first]), self.evaluations.text("evaluations")
        rest = [one for one in paid if f" {self.first} " not in one]
        return (
            f"{limit} {self.first} will buy about {bought}, with {', '.join(rest)}: "
            f"{self._surely}; {self.sources}"
        )

    @property
    def _surely(self) -> str:
        return f"{self.first} {'' if self.certain else 'probably '}end first"

    def _ending(self) -> str:
        if not self.first:
            return ""
        others = [name for name in ("calls", "tokens", "dollars") if name in self.limits]
        if not others:
            return ""
        of = ", ".join(f"{exact(self.limits[name])} {name}" for name in others)
        return f" of {of}: {self._surely}"


def forecast(
    config: CampaignConfig,
    left: Left,
    first_prompts: Mapping[Role, int],
    records: Sequence[Record],
) -> Forecast:
    """Of a campaign that asks models. left: of its budgets. first_prompts: tokens of a role's
    prompt as the campaign begins. records: earlier campaigns, the best to go by first."""
    alike = [one for one in records if _same_operators(one, config)]
    calls, per_call = _calls(config, alike), _Sizes(config, first_prompts, records)
    by_role = {role: calls[role] for role in ROLES if role in calls}
    one = _sum(by_role)
    tokens = one.and_by(per_call.tokens(by_role))
    dollars = one.and_by(cost) if (cost := per_call.dollars(by_role)) else None
    takes = {"calls": one, "tokens": tokens}
    if dollars is not None:
        takes["dollars"] = dollars
    priced = [name for name, range_ in takes.items() if range_.low > 0]
    limits = {
        name: float(limit)
        for name in ("evaluations", *takes)
        if (limit := getattr(left, name)) is not None
    }
    buys = {name: takes[name].under(limit) for name, limit in limits.items() if name in priced}
    if "evaluations" in limits:
        count = limits["evaluations"]
        buys["evaluations"] = Range(likely=count, low=count, high=count)
    first = min(buys, key=lambda name: buys[name].likely, default="")
    evaluations = buys[first] if first else Range.about(OTHERWISE, 1.0)
    return Forecast(
        evaluations=evaluations,
        calls=one.times(evaluations.likely),
        tokens=tokens.times(evaluations.likely),
        dollars=dollars.times(evaluations.likely) if dollars else None,
        first=first,
        certain=all(evaluations.high <= buys[name].low for name in buys if name != first),
        limits=limits,
        sources=_sources(records, alike),
    )


def _same_operators(record: Record, config: CampaignConfig) -> bool:
    mine = config.model_dump(mode="json")["operators"]
    return bool(record.operators == mine)


def _sources(records: Sequence[Record], alike: Sequence[Record]) -> str:
    if not records:
        return (
            "by the first prompts, and by replies of a scripted endpoint, which does not reason: "
            "a model that does may take up to max_tokens a call"
        )
    names = ", ".join(one.name for one in records)
    if alike:
        return f"by what {names} took"
    return f"by the sizes of calls in {names}, whose operators differ"


# --- how many calls ------------------------------------------------------------------------------


def _calls(config: CampaignConfig, alike: Sequence[Record]) -> Mapping[Role, Range]:
    """By role, for one evaluation."""
    if alike:
        asked = [role for role in ROLES if any(one.calls.get(role) for one in alike)]
        return {
            role: Range.of([one.calls.get(role, 0.0) or 1e-6 for one in alike], BY_RECORDS)
            for role in asked
        }
    islands = [config.operators_of(index) for index in range(config.islands.count)]
    asking = [mix for mix in islands if mix.kind == "llm"]
    share = len(asking) / len(islands)
    factor = BY_STRUCTURE if share == 1 else BY_STRUCTURE * OTHER_KINDS
    each = [calls_by_structure(mix) for mix in asking]
    calls = {
        role: Range.about(share * fmean(one[role] for one in each), factor)
        for role in each[0]
        if any(one[role] for one in each)
    }
    if every := config.findings.every:
        a_question = shipped().calls_a_question["distiller"]
        calls["distiller"] = Range.about(a_question / every, factor)
    return calls


def calls_by_structure(mix: OperatorMix) -> Mapping[Role, float]:
    """By role, for one evaluation, as the cycles of an island ask."""
    known = shipped()
    total = sum(mix.weights.values())
    experiment, crossover = mix.experiment / total, mix.crossover / total
    own = (mix.weights["mutation"] + mix.weights["tuning"]) / total
    written = experiment * mix.experiments_per_cycle + crossover
    repaired = written * known.failed * min(mix.repairs, 1)
    evaluations = known.judged * (written + repaired) + own
    questions: Mapping[Role, float] = {
        "selector": (experiment + crossover) * mix.evolves,
        "designer": experiment,
        "writer": experiment * mix.experiments_per_cycle,
        "crossover": crossover,
        "repair": repaired,
    }
    return {
        role: many * known.calls_a_question[role] / evaluations for role, many in questions.items()
    }


def _sum(parts: Mapping[Role, Range]) -> Range:
    return Range(
        likely=sum(one.likely for one in parts.values()),
        low=sum(one.low for one in parts.values()),
        high=sum(one.high for one in parts.values()),
    )


# --- how large they are --------------------------------------------------------------------------


class _Sizes:
    """Of calls, by role: a prompt's and a reply's, and their price."""

    def __init__(
        self,
        config: CampaignConfig,
        first_prompts: Mapping[Role, int],
        records: Sequence[Record],
    ) -> None:
        self._config, self._first, self._records = config, first_prompts, records

    def tokens(self, calls: Mapping[Role, Range]) -> Range:
        """Of a mean call."""
        return self._mean(calls, lambda model: (1.0, 1.0))

    def dollars(self, calls: Mapping[Role, Range]) -> Range | None:
        """Of a mean call; None where nothing has a price."""
        llm = self._config.llm
        assert llm is not None
        if not any(m.dollars(1, 0) + m.dollars(0, 1) for m in llm.models.values()):
            return None
        return self._mean(calls, lambda model: (model.dollars(1, 0), model.dollars(0, 1)))

    def _mean(self, calls: Mapping[Role, Range], price: Price) -> Range:
        total = sum(many.likely for many in calls.values())
        sums = dict.fromkeys(("likely", "low", "high"), 0.0)
        for role, many in calls.items():
            models = self._models(role)
            for model in models:
                weight = many.likely / total / len(models)
                sent, written = price(model)
                prompt, completion = self._prompt(role, model), self._completion(role, model)
                for name in sums:
                    cost = sent * getattr(prompt, name) + written * getattr(completion, name)
                    sums[name] += weight * cost
        return Range(**sums)

    def _models(self, role: Role) -> list[LlmModel]:
        """Of each island that asks."""
        config, llm = self._config, self._config.llm
        assert llm is not None
        mixes = {index: config.operators_of(index) for index in range(config.islands.count)}
        return [
            llm.models[llm.model_name(role, mix.models.get(role, ""), index)]
            for index, mix in mixes.items()
            if mix.kind == "llm"
        ]

    def _seen(self, role: Role, model: LlmModel, what: str) -> list[float]:
        sizes = [one.sizes.get((role, model.model)) for one in self._records]
        return [getattr(one, what) for one in sizes if one is not None]

    def _prompt(self, role: Role, model: LlmModel) -> Range:
        if seen := self._seen(role, model, "prompt"):
            return Range.of(seen, BY_RECORDS)
        assert self._config.llm is not None
        most = self._config.llm.prompt_tokens.get(role, PROMPT_TOKENS[role])
        likely = min(most, self._first[role] * shipped().prompt_growth[role])
        return Range(likely=likely, low=likely / PROMPTS, high=min(most, likely * PROMPTS))

    def _completion(self, role: Role, model: LlmModel) -> Range:
        """Unseen ones lie between a reply without reasoning and all that the model may write."""
        if seen := self._seen(role, model, "completion"):
            return Range.of(seen, BY_RECORDS)
        low = min(float(model.max_tokens), shipped().completion[role])
        high = float(model.max_tokens)
        return Range(likely=(low * high) ** 0.5, low=low, high=high)
