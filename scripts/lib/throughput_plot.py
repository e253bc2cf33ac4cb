"""A throughput measurement as a picture: rates, gains over devices, the stages' latencies."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


def draw(found: Mapping[str, Any], file: Path) -> None:
    """What was measured of it, side by side."""
    parts = [
        *((lambda axes: _rates(axes, found["floor"]),) if "floor" in found else ()),
        *((lambda axes: _gains(axes, found),) if {"scaling", "small"} & found.keys() else ()),
        lambda axes: _stages(axes, _arms(found)),
    ]
    figure = Figure(figsize=(4.4 * len(parts), 4), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, part in zip(figure.subplots(1, len(parts), squeeze=False)[0], parts, strict=True):
        part(axes)
    device = found.get("devices_are") or _arms(found)[0]["device"]
    figure.suptitle(f"{device}, {found['task']} {found['size']}, {found['date']}")
    figure.savefig(file, dpi=120)


def _arms(found: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Campaigns whose stages are shown: those beside the bare loop, else of added devices."""
    for part in ("floor", "small", "scaling"):
        if part in found:
            return [arm for arm in found[part]["arms"] if arm["path"] == "campaign"]
    return []


def _rates(axes: Axes, floor: Mapping[str, Any]) -> None:
    arms = floor["arms"]
    names = [f"{number + 1}\n{arm['path']}" for number, arm in enumerate(arms)]
    colours = ["tab:blue" if arm["path"] == "campaign" else "tab:grey" for arm in arms]
    axes.bar(names, [arm["candidates_per_hour"] for arm in arms], color=colours)
    axes.set_title(f"candidates an hour, campaign / bare loop = {floor['ratio']:.2f}", fontsize=9)


def _gains(axes: Axes, found: Mapping[str, Any]) -> None:
    for part, marker in (("scaling", "o-"), ("small", "s-")):
        arms = found.get(part, {"arms": []})["arms"]
        if not arms:
            continue
        counts = [arm["devices"] for arm in arms]
        axes.plot(counts, counts, "--", color="tab:grey")
        axes.plot(counts, [arm["gain"] for arm in arms], marker, label=_label(part, found))
    axes.set_title("gain by devices (dashed: proportional)", fontsize=9)
    axes.set_xlabel("devices")
    axes.legend()


def _label(part: str, found: Mapping[str, Any]) -> str:
    if part == "scaling":
        return f"{found['scaling'].get('gpu_ms', 0):g} ms each"
    return f"{found['small']['arms'][0]['device_ms']:.0f} ms each"


def _stages(axes: Axes, arms: Sequence[Mapping[str, Any]]) -> None:
    for arm in arms:
        latencies = arm["latencies_ms"]
        axes.plot(list(latencies), [middle for middle, _ in latencies.values()], "o-")
        axes.plot(list(latencies), [high for _, high in latencies.values()], "^:")
    axes.set_yscale("log")
    axes.set_title("a stage's ms: median (o) and 95th percentile (^)", fontsize=9)
