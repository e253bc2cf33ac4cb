"""How large calls of models are: a prompt's and a reply's tokens, and what they cost."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from engine.config import CampaignConfig
from engine.forecast.ranges import Range
from engine.forecast.records import Record, shipped
from engine.llm.config import LlmModel
from operators.llm.prompts.room import PROMPT_TOKENS
from operators.llm.question import Part, Role

BY_RECORDS = 1.2
"""Times as large as in earlier campaigns, or as small."""

PROMPTS = 1.5
"""Times as long as prompts are expected, or shorter than the first is."""

OF_THE_SEED = 1.2
"""Times as long as the first at most, where operators see nothing of the search."""

Price = Callable[[LlmModel], tuple[float, float]]
"""Of a token that is sent, and of one that is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """first_prompts: tokens of each part's, as the campaign begins. records: earlier campaigns that
    asked one of the models."""

    config: CampaignConfig
    first_prompts: Mapping[Part, int]
    records: Sequence[Record]

    def tokens(self, calls: Mapping[Part, Range]) -> Range:
        """Of a mean call."""
        return self._mean(calls, lambda model: (1.0, 1.0))

    def dollars(self, calls: Mapping[Part, Range]) -> Range | None:
        """Of a mean call; None where nothing has a price."""
        llm = self.config.llm
        assert llm is not None
        if not any(m.dollars(1, 0) + m.dollars(0, 1) for m in llm.models.values()):
            return None
        return self._mean(calls, lambda model: (model.dollars(1, 0), model.dollars(0, 1)))

    def _mean(self, calls: Mapping[Part, Range], price: Price) -> Range:
        total = sum(many.likely for many in calls.values())
        if not total:
            return Range(likely=0.0, low=0.0, high=0.0)
        means = [self._call(part, price).times(many.likely / total) for part, many in calls.items()]
        return Range.sum(means)

    def _call(self, part: Part, price: Price) -> Range:
        """One of a part. Where credit chooses among models, it may choose one alone."""
        islands = []
        for models in self._models(role_of(part)):
            costs = []
            for model in models:
                sent, written = price(model)
                prompt, completion = self._prompt(part, model), self._completion(part, model)
                costs.append(Range.sum([prompt.times(sent), completion.times(written)]))
            islands.append(Range.around(costs))
        return Range.sum(islands).times(1 / len(islands))

    def _models(self, role: Role) -> list[list[LlmModel]]:
        """Of each island that asks."""
        config, llm = self.config, self.config.llm
        assert llm is not None
        mixes = {index: config.operators_of(index) for index in range(config.islands.count)}
        names = []
        for index, mix in mixes.items():
            if mix.kind == "llm":
                own, several = mix.models.get(role, ""), llm.roles.get(role)
                if config.credit.on and not own and isinstance(several, tuple):
                    names.append(several)
                else:
                    names.append((llm.model_name(role, own, index),))
        return [[llm.models[name] for name in dealt] for dealt in names]

    def _seen(self, part: Part, model: LlmModel, what: str) -> list[float]:
        sizes = [one.sizes.get((part, model.model)) for one in self.records]
        return [getattr(one, what) for one in sizes if one is not None]

    def _prompt(self, part: Part, model: LlmModel) -> Range:
        """Unseen ones grow; the first is estimated long."""
        if seen := self._seen(part, model, "prompt"):
            return Range.of(seen, BY_RECORDS)
        assert self.config.llm is not None
        role, first = role_of(part), float(self.first_prompts[part])
        most = self.config.llm.prompt_tokens.get(role, PROMPT_TOKENS[role])
        likely = min(most, first * self._growth(part))
        high = min(most, likely * PROMPTS)
        return Range(likely=likely, low=min(likely, first) / PROMPTS, high=high)

    def _growth(self, part: Part) -> float:
        mixes = map(self.config.operators_of, range(self.config.islands.count))
        grown = shipped().prompt_growth[part]
        evolves = any(mix.kind == "llm" and mix.evolves for mix in mixes)
        return grown if evolves or part == "distiller" else min(grown, OF_THE_SEED)

    def _completion(self, part: Part, model: LlmModel) -> Range:
        """Unseen ones lie between the shortest and all that the model may write."""
        if seen := self._seen(part, model, "completion"):
            return Range.of(seen, BY_RECORDS)
        high = float(model.max_tokens)
        plain = min(high, shipped().completion[part])
        return Range(likely=(plain * high) ** 0.5, low=min(high, shipped().terse[part]), high=high)


def role_of(part: Part) -> Role:
    """Whose model and budget of tokens a part has."""
    return "writer" if part == "prober" else part
