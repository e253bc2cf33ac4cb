"""Scores and comparisons as lines for people."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scripts.roles.quantities import QUANTITIES

SCALES = {one.name: one.scale for one in QUANTITIES}
FEW = 10
"""Situations: of fewer a table says so."""


def score_lines(found: Mapping[str, Any]) -> Iterator[str]:
    """found: what `ask` prints as JSON."""
    for role, told in found["roles"].items():
        model = found["asked"]["models"].get(role, {})
        yield f"{role}: {_model(model)}, {_counts(told)}"
        rows = [(name, _figure(name, one)) for name, one in told["figures"].items()]
        yield from _aligned(rows)
        for name in ("failures", "verdicts"):
            if told[name]:
                yield f"  {name}: " + ", ".join(f"{n} {kind}" for kind, n in told[name].items())
        if told["kernels"] and told["judged"] < told["kernels"]:
            yield f"  {told['kernels'] - told['judged']} kernels are not judged yet"
        for one in told["bases_that_failed"]:
            yield f"  a Base failed here: {one}"


def compare_lines(found: Mapping[str, Any]) -> Iterator[str]:
    """found: what `compare` prints as JSON."""
    for role, figures in found["roles"].items():
        n = max(one["difference"]["n"] for one in figures.values())
        yield f"{role}, {_situations(n)} in common"
        rows = [
            (
                name,
                _figure(name, one["first"]),
                _figure(name, one["second"]),
                _difference(name, one),
            )
            for name, one in figures.items()
            if one["better"] or one["first"] != one["second"]  # else it tells of no model
        ]
        yield from _aligned([("", "first", "second", "second beside first"), *rows])


def _counts(told: Mapping[str, Any]) -> str:
    dollars = f", {told['dollars']:.4g} dollars" if told["dollars"] else ""
    many = f"{told['answers']} answers in {_situations(told['situations'])}"
    return f"{many}, {told['calls']} calls{dollars}"


def _situations(count: int) -> str:
    few = " (few: intervals are wide)" if count < FEW else ""
    return f"{count} situation{'s' if count != 1 else ''}{few}"


def _model(model: Mapping[str, Any]) -> str:
    temperature = model.get("temperature")
    warmth = "" if temperature is None else f" at temperature {temperature:g}"
    return f"{model.get('model', '?')}{warmth}"


def _figure(name: str, one: Mapping[str, Any]) -> str:
    scale = SCALES.get(name, "mean")
    between = ""
    if one["low"] is not None:
        between = f" ({_number(scale, one['low'])} to {_number(scale, one['high'])})"
    return f"{_number(scale, one['mean'])}{between}  n {one['n']}"


def _difference(name: str, told: Mapping[str, Any]) -> str:
    one, scale = told["difference"], SCALES.get(name, "mean")
    if scale == "ratio":
        text = _figure(name, one)
    else:
        ends = "" if one["low"] is None else f" ({one['low']:+.3g} to {one['high']:+.3g})"
        text = f"{one['mean']:+.3g}{ends}  n {one['n']}"
    if not told["better"]:
        return text
    if not one["shown"]:
        return f"{text}  not shown"
    equal = 1.0 if scale == "ratio" else 0.0
    more = one["mean"] > equal
    return f"{text}  {'better' if more == (told['better'] == 'more') else 'worse'}"


def _number(scale: str, value: float) -> str:
    if scale == "share":
        return f"{100 * value:.0f}%"
    return f"{value:.3g}x" if scale == "ratio" else f"{value:.4g}"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  " + "  ".join(cells).rstrip()
