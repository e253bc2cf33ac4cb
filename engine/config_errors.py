"""What people write by key: what is wrong with it, as a sentence that says what may stand there."""

import re
from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails

from evaluators.spelling import did_you_mean, printable, shortened


class ConfigError(Exception):
    """A configuration that can't be used. One sentence: which file, which key, what to do."""


GIVEN = 100
"""Characters that are quoted of a value."""


_T = TypeVar("_T")


def _form(given: Any) -> str:
    return "(list)" if isinstance(given, list | tuple) else "(one)"


OneOrList = Annotated[
    Annotated[_T, Tag("(one)")] | Annotated[tuple[_T, ...], Field(min_length=1), Tag("(list)")],
    Discriminator(_form),
]
"""A problem is told of the form that is written. Its tag, in parentheses, is in no sentence."""


class Keys(BaseModel):
    """A mapping that people write. Refused are unknown keys, and for numbers what pydantic takes
    for one: infinity, and yes and no, which Python counts as 1 and 0."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False
    )

    @model_validator(mode="before")
    @classmethod
    def _no_word_for_a_number(cls, value: Any) -> Any:
        for key, given in value.items() if isinstance(value, dict) else ():
            field = cls.model_fields.get(key)
            if field is None or not isinstance(given, bool):
                continue
            kinds = set(_parts(field.annotation))
            if kinds & {int, float} and bool not in kinds:
                raise ValueError(f"{key} is a number, not {str(given).lower()}")
        return value


def _parts(annotation: Any) -> Iterator[Any]:
    """A type, or those that it leaves a choice of."""
    yield annotation
    if get_origin(annotation) in (Annotated, Union, UnionType):
        for part in get_args(annotation):
            yield from _parts(part)


WORDS = {
    "string_pattern_mismatch": "it names a folder: letters, digits, '.', '_' and '-', a letter or "
    "digit first",
    "string_too_short": "write something",
    "string_type": "write text, in quotes where it looks like a number",
    "path_type": "write a path",
    "tuple_type": "write a list, as in [a, b]",
    "float_type": "write a number",
    "float_parsing": "write a number",
    "int_type": "write a whole number",
    "int_parsing": "write a whole number",
    "int_from_float": "write a whole number",
    "finite_number": "write a finite number",
    "too_short": "name {min_length} or more",
}
"""Where pydantic's would be code; `name` alone has a pattern."""


def place_of(error: ValidationError) -> tuple[int | str, ...]:
    """Where the problem is that first_problem() tells of: keys, and positions in lists."""
    return _place(_first(error))


def _place(problem: ErrorDetails) -> tuple[int | str, ...]:
    return tuple(part for part in problem["loc"] if not re.fullmatch(r"\(\w+\)", str(part)))


def first_problem(error: ValidationError, root: type[BaseModel]) -> str:
    """The first problem in one sentence; it names the key and says what may stand there."""
    return shortened(printable(_first_problem(error, root)))


def _first(error: ValidationError) -> ErrorDetails:
    """A misspelt key explains a missing one."""
    return min(error.errors(include_url=False), key=lambda one: one["type"] != "extra_forbidden")


def _first_problem(error: ValidationError, root: type[BaseModel]) -> str:
    problem = _first(error)
    place = _place(problem)
    key = ".".join(str(part) for part in place)
    if problem["type"] == "extra_forbidden":
        known = _known_keys(root, place[:-1])
        guess = did_you_mean(str(place[-1]), known)
        return f"{key} is not a known key{guess}; known here: {', '.join(known)}"
    if problem["type"] == "model_type":
        inside = ", ".join(_known_keys(root, place))
        return f"{key} holds keys ({inside}): set them inside it, not {problem['input']!r}"
    if problem["type"] == "missing":
        return f"{key} is missing; add it"
    message = problem["msg"].removeprefix("Value error, ")
    if problem["type"] in WORDS:
        message = WORDS[problem["type"]].format(**problem.get("ctx", {}))
    message = message[0].lower() + message[1:]
    if not key:
        return message
    plain = isinstance(problem["input"], str | int | float)
    given = f", not {shortened(repr(problem['input']), GIVEN)}" if plain else ""
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
