"""Models' structured replies: what each may hold, and the words that models use for it."""

import re
from math import isfinite
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from evaluators.spelling import without_controls
from operators.llm.reading.numbers import percents
from operators.llm.reading.trees import Shape


class _Reply(BaseModel):
    # A field too many harms nobody; one too few does.
    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)

    @field_validator("*")
    @classmethod
    def _moves_no_cursor(cls, value: Any) -> Any:
        if isinstance(value, list):
            return [without_controls(v) if isinstance(v, str) else v for v in value]
        return without_controls(value) if isinstance(value, str) else value


class SelectorReply(_Reply):
    base_id: str = Field(min_length=1)
    reference_id: str = Field(min_length=1)
    rationale: str = Field(min_length=1)

    @field_validator("base_id", "reference_id", mode="before")
    @classmethod
    def _id(cls, value: Any) -> Any:
        """ "kernel `77cafb01`, the best" is 77cafb01."""
        found = _ID.search(value) if isinstance(value, str) else None
        return found[0] if found else value

    @field_validator("rationale", mode="before")
    @classmethod
    def _told(cls, value: Any) -> Any:
        return _as_text(value)


class ExperimentReply(_Reply):
    """performance: expected uplift [min, max] in percent."""

    technique: str = ""
    avenue: str = ""
    new: str = ""
    description: str = Field(min_length=1)
    rubric: str = Field(min_length=1)
    performance: list[float] = Field(min_length=2, max_length=2)
    innovation: float = Field(ge=0, le=100, allow_inf_nan=False)

    @field_validator("rubric", "description", mode="before")
    @classmethod
    def _steps(cls, value: Any) -> Any:
        """A rubric may come as a list of steps."""
        return _as_text(value)

    @field_validator("technique", "avenue", "new", mode="before")
    @classmethod
    def _words(cls, value: Any) -> Any:
        return "" if value is None else _as_text(value)

    @field_validator("performance", mode="before")
    @classmethod
    def _percent(cls, value: Any) -> Any:
        """ "5-20%" is [5, 20], and "15%" [15, 15]."""
        found = [one for one in percents(value) if isfinite(one)]
        if len(found) == 1 and not isinstance(value, list | dict):
            found *= 2
        if len(found) != 2:
            raise ValueError("it must be two numbers, [min, max], in percent")
        return found

    @field_validator("innovation", mode="before")
    @classmethod
    def _points(cls, value: Any) -> Any:
        """ "70/100" is 70."""
        found = percents(value) if isinstance(value, str) else []
        return found[0] if found else value


class DesignerReply(_Reply):
    avenues: list[str] = []  # where it names none, those of its experiments
    experiments: list[ExperimentReply] = Field(min_length=1)

    @field_validator("avenues", mode="before")
    @classmethod
    def _described(cls, value: Any) -> Any:
        """An avenue may come as {name, description}, and all of them as lines."""
        if isinstance(value, str):
            value = value.splitlines()
        elif isinstance(value, dict):
            value = list(value.values())
        if not isinstance(value, list):
            return value
        said = [_as_text(v, between=": ") for v in value]
        return [_BULLET.sub("", v, count=1) if isinstance(v, str) else v for v in said if v]


class ProbeReply(_Reply):
    question: str = Field(min_length=1)
    rubric: str = ""


class AskingDesignerReply(DesignerReply):
    """A designer's that may ask for probes."""

    probes: list[ProbeReply] = []

    @field_validator("probes", mode="before")
    @classmethod
    def _readable(cls, value: Any) -> Any:
        """A design is not lost for a probe that can't be read."""
        asked = []
        for one in value if isinstance(value, list) else []:
            said = one if isinstance(one, dict) else {"question": one}
            told = {key: _as_text(said.get(key)) for key in ("question", "rubric")}
            asked.append({key: text for key, text in told.items() if isinstance(text, str)})
        return [one for one in asked if one.get("question", "").strip()]


class RuleReply(_Reply):
    """id: of a rule of before that this one renews; shown_by, against: ids of kernels."""

    kind: Literal["win", "trap"]
    rule: str = Field(min_length=1)
    condition: str = ""
    shown_by: list[str] = Field(min_length=1)
    against: list[str] = []
    id: str = ""

    @field_validator("kind", mode="before")
    @classmethod
    def _kind(cls, value: Any) -> Any:
        return value.strip().lower() if isinstance(value, str) else value

    @field_validator("rule", "condition", "id", mode="before")
    @classmethod
    def _said(cls, value: Any) -> Any:
        return "" if value is None else _as_text(value)

    @field_validator("shown_by", "against", mode="before")
    @classmethod
    def _ids(cls, value: Any) -> Any:
        """ "kernels 77cafb01 and 0f1e2d3c" are two."""
        if value is None:
            return []
        text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
        return _ID.findall(text)


class DistillerReply(_Reply):
    """No rule is an answer: the record may show nothing."""

    rules: list[RuleReply]


_ID = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{6,64}(?![0-9A-Za-z])")
_BULLET = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+")
_DEEPEST = 4


def _as_text(value: Any, *, between: str = "\n", depth: int = 0) -> Any:
    """A list of sentences in one text; a mapping as "key: value", or its values by between."""
    if depth < _DEEPEST and isinstance(value, list):
        parts = [_as_text(one, depth=depth + 1) for one in value]
    elif depth < _DEEPEST and isinstance(value, dict):
        told = {key: _as_text(one, depth=depth + 1) for key, one in value.items()}
        named = between == "\n" or len(told) == 1
        parts = [f"{key}: {one}" if named else one for key, one in told.items()]
    else:
        return str(value) if depth and isinstance(value, int | float) else value
    return between.join(parts) if all(isinstance(part, str) for part in parts) else value


def _shape(**keys: str) -> dict[str, str]:
    """Spelling -> name, of each name with the other words that models use for it."""
    return {word: name for name, words in keys.items() for word in (name, *words.split())}


_EXPERIMENT_KEYS = _shape(
    technique="name title",
    avenue="",
    description="idea",
    rubric="steps",
    new="",
    performance="expected_performance expected_uplift performance_uplift uplift",
    innovation="innovation_score",
)

SHAPES: dict[type[BaseModel], Shape] = {
    SelectorReply: Shape(
        keys=_shape(
            base_id="basis_code base_code base basis base_kernel",
            reference_id="basis_reference reference_code reference ref_id reference_kernel",
            rationale="reason reasoning",
        )
    ),
    DesignerReply: Shape(
        keys=_shape(avenues="optimization_avenues", experiments=""),
        items="experiments",
        item_keys=_EXPERIMENT_KEYS,
    ),
    AskingDesignerReply: Shape(
        keys=_shape(avenues="optimization_avenues", experiments="", probes=""),
        items="experiments",
        item_keys=_EXPERIMENT_KEYS,
    ),
    DistillerReply: Shape(
        keys=_shape(rules="findings"),
        items="rules",
        item_keys=_shape(
            kind="type",
            rule="finding",
            condition="conditions when",
            shown_by="kernels shown evidence",
            against="contradicted_by",
            id="",
        ),
    ),
}
