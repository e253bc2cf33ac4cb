"""A structured reply, read: the object that was asked for, in whatever form it came."""

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from operators.llm.question import Failure, Malformed, Reply
from operators.llm.reading.trees import Shape, may_go_on, texts, tree
from operators.llm.replies import SHAPES
from operators.llm.said import check_said, cut_off

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


def _fields(error: ValidationError) -> str:
    """Up to four problems in one sentence."""
    problems = [
        f"{'.'.join(map(str, problem['loc'])) or 'the object'}: {problem['msg'].lower()}"
        for problem in error.errors(include_url=False, include_input=False)[:4]
    ]
    return "; ".join(problems)
