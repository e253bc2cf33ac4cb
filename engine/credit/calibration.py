"""A designer's predictions beside what was measured, as its later cycles are told of them."""

from collections.abc import Iterable, Mapping

from engine.config import CampaignConfig
from engine.store.kinds.credit import Earned
from operators.calibration import Calibration, Prediction

CATALOGUE = "the catalogue"


def predictions_in(earned: Iterable[Earned]) -> list[Prediction]:
    """Of experiments that came to an end, those that failed among them."""
    return [
        Prediction(low=one.predicted[0], high=one.predicted[1], gain=one.gain)
        for one in earned
        if one.predicted is not None and one.origin
    ]


def designer_of(config: CampaignConfig, island: int, models: Mapping[str, str]) -> str:
    """The name of the model that designs on an island, or CATALOGUE. models: role -> name, where
    it is not the role's own."""
    mix = config.operators_of(island)
    if mix.kind != "llm" or config.llm is None:
        return CATALOGUE
    asked = models.get("designer") or mix.models.get("designer", "")
    return config.llm.model_name("designer", asked, island)


class Calibrations:
    """Of one island, by designer: the name of a model, or CATALOGUE."""

    def __init__(self) -> None:
        self._made: dict[str, list[Prediction]] = {}

    def take(self, designer: str, earned: Iterable[Earned]) -> None:
        self._made.setdefault(designer, []).extend(predictions_in(earned))

    def of(self, designer: str) -> Calibration:
        return Calibration.of(self._made.get(designer, ()))
