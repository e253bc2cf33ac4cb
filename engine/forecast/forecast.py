"""A forecast: calls, tokens and dollars that the evaluations of a campaign will take."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.config import CampaignConfig
from engine.forecast.calls import Calls
from engine.forecast.ranges import Range, amount, exact, only
from engine.forecast.records import Record
from engine.forecast.sizes import Sizes
from engine.store.budget import Left
from engine.store.kinds.sessions import ForecastMade
from operators.llm.question import Part

OTHERWISE = 100.0
"""Evaluations that are told of, where nothing bounds them beforehand."""

MOST_EVALUATIONS = 1e7
"""A budget that is enough for so many ends no campaign."""

SAME = 1e-6
"""Share by which a number of evaluations may be off; of one, where it is less."""

Case = Literal["low", "likely", "high"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """For `evaluations`. dollars: None where no model has a price. by_part: calls by whom they
    speak to. first: the budget that ends it,
    empty where none is known to; certain: whether the ranges leave no other. limits: what is left
    of budgets, by name. sources: where the figures come from."""

    evaluations: Range
    calls: Range
    tokens: Range
    dollars: Range | None
    by_part: Mapping[Part, Range]
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
            return f"{told}{', '.join(paid)}{self._ending()}; {self._parts}{self.sources}"
        limit, bought = exact(self.limits[self.first]), self.evaluations.text("evaluations")
        rest = [one for one in paid if f" {self.first} " not in one]
        return (
            f"{limit} {self.first} will buy about {bought}, with {', '.join(rest)}: "
            f"{self._surely}; {self._parts}{self.sources}"
        )

    @property
    def _parts(self) -> str:
        """Those that are likely, the most first."""
        likely = {part: amount(round(one.likely)) for part, one in self.by_part.items()}
        told = sorted(likely, key=lambda part: -self.by_part[part].likely)
        named = [f"{part} {likely[part]}" for part in told if likely[part] != "0"]
        return f"of the calls {', '.join(named)}; " if named else ""

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
    first_prompts: Mapping[Part, int],
    records: Sequence[Record],
    *,
    probes: int,
) -> Forecast:
    """Of a campaign that asks models. left: of its budgets. first_prompts: tokens of a part's
    prompt as the campaign begins. records: earlier campaigns, the best to go by first. probes: how
    many designers may still ask for."""
    alike = [one for one in records if _same_operators(one, config)]
    costs = _Costs(
        calls=Calls(config=config, alike=alike, probes=probes),
        sizes=Sizes(config=config, first_prompts=first_prompts, records=records),
    )
    limits = {
        name: float(limit)
        for name in ("evaluations", "calls", "tokens", "dollars")
        if (limit := getattr(left, name)) is not None
    }
    bought = {name: costs.bought(name, limit) for name, limit in limits.items()}
    buys = {name: count for name, count in bought.items() if count.likely < MOST_EVALUATIONS}
    first = min(buys, key=lambda name: buys[name].likely, default="")
    evaluations = buys[first] if first else only(OTHERWISE)
    takes = costs.of(evaluations.likely)
    if first in takes:
        takes[first] = only(limits[first])
    return Forecast(
        evaluations=evaluations,
        calls=takes["calls"],
        tokens=takes["tokens"],
        dollars=takes.get("dollars"),
        by_part=costs.calls.of(evaluations.likely),
        first=first,
        certain=all(evaluations.high <= buys[name].low for name in buys if name != first),
        limits=limits,
        sources=_sources(records, alike),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Costs:
    calls: Calls
    sizes: Sizes

    def of(self, evaluations: float) -> dict[str, Range]:
        """By what is spent. Without dollars where no model has a price."""
        by_part = self.calls.of(evaluations)
        calls = Range.sum(by_part.values())
        costs = {"calls": calls, "tokens": calls.and_by(self.sizes.tokens(by_part))}
        if dollars := self.sizes.dollars(by_part):
            costs["dollars"] = calls.and_by(dollars)
        return costs

    def bought(self, name: str, limit: float) -> Range:
        """Evaluations that a budget is enough for; MOST_EVALUATIONS where it is for all."""
        if name == "evaluations":
            return only(limit)

        def enough(case: Case) -> float:
            low, high = 0.0, MOST_EVALUATIONS
            while high - low > SAME * max(high, 1.0):
                middle = (low + high) / 2
                cost = self.of(middle).get(name)
                if cost is None or getattr(cost, case) <= limit:
                    low = middle
                else:
                    high = middle
            return high if low else 0.0

        return Range(likely=enough("likely"), low=enough("high"), high=enough("low"))


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
