"""An event's body as JSON text: dataclasses as mappings, and no number that JSON does not know."""

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def body_of(event: object) -> str:
    """event: a dataclass of plain values, mappings, sequences and dataclasses."""
    try:
        return json.dumps(event, default=_plain, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return json.dumps(_finite(event), separators=(",", ":"), allow_nan=False)


def _plain(value: object) -> dict[str, Any]:
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: getattr(value, one.name) for one in fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} can't be stored")


def _finite(value: Any) -> Any:
    """JSON has no infinity: the largest float stands for it, and for what is not a number."""
    if isinstance(value, float) and not math.isfinite(value):
        return math.copysign(sys.float_info.max, value)
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    if isinstance(value, Mapping) or is_dataclass(value):
        return {key: _finite(one) for key, one in _plain(value).items()}
    return value
