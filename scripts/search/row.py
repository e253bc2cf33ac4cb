"""Rows: one measured configuration each, as a T4 file has it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluators.evaluation import Status
from evaluators.spelling import shortened

TIME = "time"
"""The measurement that others' tables have: the mean, in milliseconds. Tables that were recorded
here have one for each shape besides, named by its label."""

LEAST_MS, MOST_MS = 1e-9, 1e30
"""Times within are times."""

INVALIDITY: Mapping[Status, str] = {
    Status.PASSED: "correct",
    Status.STOPPED_EARLY: "timeout",
    Status.INVALID: "constraints",
    Status.UNSUPPORTED: "compile",
    Status.COMPILE_ERROR: "compile",
    Status.LAUNCH_ERROR: "runtime",
    Status.WRONG: "correctness",
    Status.FORBIDDEN: "runtime",
    Status.CRASHED: "runtime",
    Status.TIMEOUT: "timeout",
}
STATUS: Mapping[str, Status] = {
    "correct": Status.PASSED,
    "compile": Status.COMPILE_ERROR,
    "runtime": Status.LAUNCH_ERROR,
    "correctness": Status.WRONG,
    "timeout": Status.TIMEOUT,
}
"""Of a point; one that broke a restriction ("constraints") is no point of the space."""

Value = int | float | str | bool


class TableError(Exception):
    """A table can't be used. One sentence: which file, what is wrong, what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One configuration. times_ms: by measurement's name; empty where it did not pass. reason: why
    it did not, where that was recorded. number: its place among the file's results, from 1."""

    configuration: Mapping[str, Value]
    status: Status
    times_ms: Mapping[str, float] = field(default_factory=dict)
    compile_ms: float | None = None
    reason: str = ""
    number: int = field(default=0, compare=False)

    def as_json(self) -> dict[str, Any]:
        return {
            "configuration": dict(self.configuration),
            "invalidity": INVALIDITY[self.status],
            "measurements": [
                {"name": name, "value": value, "unit": "ms"}
                for name, value in self.times_ms.items()
            ],
            "times": {} if self.compile_ms is None else {"compilation": self.compile_ms},
            **({"reason": self.reason} if self.reason else {}),
        }


def row_of(where: str, number: int, raw: Any) -> Row | None:
    """None: it broke a restriction. Raises TableError."""
    where = f"{where}: result {number}"
    configuration, measured = _parts(where, raw)
    for name, value in configuration.items():
        if not _is_value(value):
            told = shortened(repr(value), 40)
            raise TableError(f"{where}: {name!r} is {told}, and no number, word, true or false")
    invalidity = raw.get("invalidity", "correct")
    if not isinstance(invalidity, str):
        raise TableError(f"{where}: 'invalidity' is no word, such as 'correct' or 'runtime'")
    if invalidity == "constraints":
        return None
    passed = invalidity == "correct" and TIME in measured
    if passed and not _is_time(measured[TIME]):
        told = shortened(repr(measured[TIME]), 40)
        raise TableError(
            f"{where} is 'correct' and its {TIME!r} is {told}, no time in milliseconds: one that "
            "failed has another 'invalidity', such as 'runtime'"
        )
    times_ms = {name: float(value) for name, value in measured.items() if _is_time(value)}
    return Row(
        configuration=configuration,
        status=Status.PASSED if passed else _failure(invalidity),
        times_ms=times_ms if passed else {},
        compile_ms=_compile_ms(where, raw.get("times")),
        reason=str(raw.get("reason", "")),
        number=number,
    )


def _parts(where: str, raw: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Its configuration, and its measurements by name."""
    if not isinstance(raw, dict) or not isinstance(raw.get("configuration"), dict):
        raise TableError(f"{where} lacks 'configuration', parameters with their values")
    measurements = raw.get("measurements") or []
    try:
        return raw["configuration"], {str(one["name"]): one["value"] for one in measurements}
    except (KeyError, TypeError):
        raise TableError(f"{where}: 'measurements' is no list of names with values") from None


def _is_value(value: Any) -> bool:
    return isinstance(value, int | str) or (isinstance(value, float) and math.isfinite(value))


def _is_time(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and LEAST_MS <= value < MOST_MS


def _compile_ms(where: str, times: Any) -> float | None:
    if times is not None and not isinstance(times, dict):
        raise TableError(f"{where}: 'times' is no mapping of names to milliseconds")
    found = (times or {}).get("compilation")
    return float(found) if found is not None and _is_time(found) else None


def _failure(invalidity: str) -> Status:
    status = STATUS.get(invalidity, Status.CRASHED)
    return Status.CRASHED if status is Status.PASSED else status
