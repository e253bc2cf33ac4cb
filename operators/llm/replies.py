"""Models' structured replies: the pydantic models, their JSON schemas, and how they are read."""

import json
import re
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from evaluators.lined_yaml import YamlError, load
from operators.llm.fences import fences
from operators.llm.question import Failure, Malformed, Reply


class _Reply(BaseModel):
    # A field too many harms nobody; one too few does.
    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)


class SelectorReply(_Reply):
    base_id: str = Field(min_length=1)
    reference_id: str = Field(min_length=1)
    rationale: str = Field(min_length=1)


class ExperimentReply(_Reply):
    """performance: expected uplift [min, max] in percent."""

    technique: str = ""
    avenue: str = ""
    new: str = ""
    description: str = Field(min_length=1)
    rubric: str = Field(min_length=1)
    performance: list[float] = Field(min_length=2, max_length=2)
    innovation: float = Field(ge=0, le=100)

    @field_validator("rubric", "description", mode="before")
    @classmethod
    def _steps(cls, value: Any) -> Any:
        """A rubric may come as a list of steps."""
        if isinstance(value, list) and all(isinstance(step, str) for step in value):
            return "\n".join(value)
        return value

    @field_validator("performance", mode="before")
    @classmethod
    def _percent(cls, value: Any) -> Any:
        """ "15%" is 15."""
        if not isinstance(value, list):
            return value
        return [v.strip().rstrip("%") if isinstance(v, str) else v for v in value]


class DesignerReply(_Reply):
    avenues: list[str] = Field(min_length=1)
    experiments: list[ExperimentReply] = Field(min_length=1)

    @field_validator("avenues", mode="before")
    @classmethod
    def _described(cls, value: Any) -> Any:
        """An avenue may come as {name, description}."""
        if not isinstance(value, list):
            return value
        return [": ".join(map(str, v.values())) if isinstance(v, dict) else v for v in value]


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
    """The JSON (or YAML) object in a reply: bare, in a fence, or amid prose. Raises Malformed."""
    check_said(reply)
    problem: Malformed | None = None
    for text in _objects(reply.text):
        try:
            tree = _parse(text)
        except ValueError as error:
            problem = problem or Malformed(Failure.MALFORMED_JSON, f"not valid JSON: {error}")
            continue
        if not isinstance(tree, dict):
            continue
        try:
            return model.model_validate(tree)
        except ValidationError as error:
            problem = Malformed(Failure.MISSING_FIELDS, _fields(error))
    if reply.finish == "length":
        raise cut_off(reply)
    raise problem or Malformed(Failure.PROSE_ONLY, "there is no JSON object in the reply")


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


def _objects(text: str) -> Iterator[str]:
    """Texts that may be the object, the likeliest first."""
    if text.startswith("{"):
        yield text
    fenced = [fence.body for fence in fences(text)]
    yield from reversed(fenced)
    if not fenced and not text.startswith("{") and "{" in text:
        yield text[text.index("{") : text.rindex("}") + 1 if "}" in text else len(text)]


def _parse(text: str) -> Any:
    """Raises ValueError with one sentence."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError as error:
        if text.lstrip().startswith("{"):
            raise
        try:
            return load(text)
        except YamlError as broken:
            raise ValueError(f"{broken.reason} (line {broken.line})") from error


def _fields(error: ValidationError) -> str:
    """Up to four problems in one sentence."""
    problems = [
        f"{'.'.join(map(str, problem['loc'])) or 'the object'}: {problem['msg'].lower()}"
        for problem in error.errors(include_url=False, include_input=False)[:4]
    ]
    return "; ".join(problems)
