"""What is wrong with a configuration, as a sentence that names the key and what may stand there."""

import re
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from evaluators.spelling import did_you_mean, printable, shortened


class ConfigError(Exception):
    """A configuration that can't be used. One sentence: which file, which key, what to do."""


WORDS = {
    "string_pattern_mismatch": "it names a folder: letters, digits, '.', '_' and '-', a letter or "
    "digit first",
}
"""Where pydantic's would be code; `name` alone has a pattern."""


def first_problem(error: ValidationError, root: type[BaseModel]) -> str:
    """The first problem in one sentence; it names the key and says what may stand there."""
    return shortened(printable(_first_problem(error, root)))


def _first_problem(error: ValidationError, root: type[BaseModel]) -> str:
    problems = error.errors(include_url=False)
    # A misspelt key explains a missing one.
    problem = min(problems, key=lambda one: one["type"] != "extra_forbidden")
    key = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        known = _known_keys(root, problem["loc"][:-1])
        guess = did_you_mean(str(problem["loc"][-1]), known)
        return f"{key} is not a known key{guess}; known here: {', '.join(known)}"
    if problem["type"] == "model_type":
        inside = ", ".join(_known_keys(root, problem["loc"]))
        return f"{key} holds keys ({inside}): set them inside it, not {problem['input']!r}"
    if problem["type"] == "missing":
        return f"{key} is missing; add it"
    message = WORDS.get(problem["type"]) or problem["msg"].removeprefix("Value error, ")
    message = message[0].lower() + message[1:]
    if not key:
        return message
    given = f", not {problem['input']!r}" if isinstance(problem["input"], str | int | float) else ""
    choices = re.findall(r"'([^']*)'", problem.get("ctx", {}).get("expected", ""))
    return f"{key}: {message}{given}{did_you_mean(str(problem['input']), choices)}"


def _known_keys(section: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    """The keys of the section at a place; a list's position or a mapping's own key is passed."""
    for part in location:
        if part in section.model_fields:
            section = _section_in(section.model_fields[str(part)].annotation) or section
    return sorted(section.model_fields)


def _section_in(annotation: Any) -> type[BaseModel] | None:
    """The model that an annotation holds, as in Llm | None or Mapping[str, LlmModel]."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_section_in, get_args(annotation))), None)
