"""Models' structured replies: the pydantic models, their JSON schemas, and how they are read."""

import re
from math import isfinite
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from evaluators.spelling import without_controls
from operators.llm.question import Failure, Malformed, Reply
from operators.llm.reading.numbers import percents
from operators.llm.reading.trees import Shape, may_go_on, texts, tree


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


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """JSON schema in the strict form: every field required, no others, no references."""
    whole = model.model_json_schema()
    schema = _strict(whole, whole.get("$defs", {}))
    assert isinstance(schema, dict)
    return schema


def _strict(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_strict(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _strict(definitions[node["$ref"].rpartition("/")[2]], definitions)
    left_out = ("$defs", "title", "default", "minLength", "description")
    kept = {k: _strict(v, definitions) for k, v in node.items() if k not in left_out}
    if "properties" in node:
        # A field may be called like a keyword; its name is not one.
        kept["properties"] = {k: _strict(v, definitions) for k, v in node["properties"].items()}
        kept["required"] = list(node["properties"])
        kept["additionalProperties"] = False
    return kept


Structured = TypeVar("Structured", bound=BaseModel)


def read_structured(reply: Reply, model: type[Structured]) -> Structured:
    """The object in a reply, JSON or YAML: bare, in a fence, or amid prose. Raises Malformed."""
    check_said(reply)
    shape = SHAPES[model]
    problem: Malformed | None = None
    for text in texts(reply.text, shape):
        try:
            found = tree(text, shape)
        except ValueError as error:
            problem = problem or Malformed(Failure.MALFORMED_JSON, str(error))
            continue
        if found is None:
            continue
        try:
            read = model.model_validate(found)
        except ValidationError as error:
            problem = Malformed(Failure.MISSING_FIELDS, _fields(error))
            continue
        if reply.finish == "length" and may_go_on(text) and reply.text.endswith(text):
            break  # what is cut off reads like YAML that has come to its end
        return read
    if reply.finish == "length":
        raise cut_off(reply)
    raise problem or Malformed(
        Failure.PROSE_ONLY,
        f"there is no JSON object in the reply, and no line that begins with {_asked(shape)}",
    )


def _asked(shape: Shape) -> str:
    return " or ".join(f"{name!r}" for name in dict.fromkeys(shape.keys.values()))


def check_said(reply: Reply) -> None:
    """Raises Malformed when the reply holds no answer at all."""
    if reply.refusal or reply.finish == "content_filter":
        said = reply.refusal or "stopped by a content filter"
        raise Malformed(Failure.REFUSAL, f"the request was refused: {said[:200]}")
    if reply.text:
        if len(reply.text) < 600 and _REFUSALS.match(reply.text):
            raise Malformed(Failure.REFUSAL, f"the request was refused: {reply.text[:200]}")
        return
    if reply.reasoning_characters:
        raise Malformed(
            Failure.ONLY_REASONING, "there was reasoning and no answer; answer after less of it"
        )
    raise Malformed(Failure.EMPTY, "the reply was empty")


_REFUSALS = re.compile(
    r"\W*(I['’]m sorry|I am sorry|Sorry,|I can(no|['’])t (help|assist|comply|provide)|"
    r"I(['’]m| am) (unable|not able) to|As an AI)",
    re.IGNORECASE,
)


def cut_off(reply: Reply) -> Malformed:
    return Malformed(
        Failure.TRUNCATED,
        f"the reply was cut off after {reply.completion_tokens} tokens; be shorter: no "
        "deliberation in the answer, and nothing that was not asked for",
    )


def _fields(error: ValidationError) -> str:
    """Up to four problems in one sentence."""
    problems = [
        f"{'.'.join(map(str, problem['loc'])) or 'the object'}: {problem['msg'].lower()}"
        for problem in error.errors(include_url=False, include_input=False)[:4]
    ]
    return "; ".join(problems)
