"""An event's body as JSON text: dataclasses as mappings, and no number that JSON does not know."""

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from evaluators.spelling import storable


def body_of(event: object) -> str:
    """event: a dataclass of plain values, mappings, sequences and dataclasses."""
    try:
        body = json.dumps(event, default=_plain, separators=(",", ":"), allow_nan=False)
    except ValueError:
        body = ""
    if body and "\\ud" not in body:  # how JSON writes surrogates, in pairs and lone
        return body
    return json.dumps(_readable(event), separators=(",", ":"), allow_nan=False)


def _plain(value: object) -> dict[str, Any]:
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: getattr(value, one.name) for one in fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} can't be stored")


def _readable(value: Any) -> Any:
    """JSON has no infinity: the largest float stands for it, and for what is not a number.

    Nor can a lone surrogate be read again: see storable.
    """
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, float) and not math.isfinite(value):
        return math.copysign(sys.float_info.max, value)
    if isinstance(value, list | tuple):
        return [_readable(one) for one in value]
    if isinstance(value, Mapping) or is_dataclass(value):
        return {_readable(key): _readable(one) for key, one in _plain(value).items()}
    return value
