"""How fast a family's kernels can be on a device that is not here, by its roofline, and why."""

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

from engine.cli.evaluate import NoSuchKernel
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Rejected
from evaluators.hip.emulator.device import emulated_info
from evaluators.kernel.seeds import on_backend
from evaluators.kernel.source import KernelSource, parse_kernel
from evaluators.tasks.task_file import load_task
from evaluators.text_file import read_text
from operators.catalog.families import Params, families
from operators.catalog.mfma_roofline import FAMILY, Prediction, Sizes, predict, ranked, sizes_of

BACKEND = "hip"
UNPROVED = "a roofline of the structure alone, never held against a real MI300"


def predict_family(arguments: Namespace, stream: IO[str]) -> None:
    """Print the family's fastest kernels by shape, or one kernel's times, and what bounds them.

    Raises NoSuchKernel: the task has no such family, or the file is none of its kernels; TaskError.
    """
    task = on_backend(load_task(arguments.task), BACKEND)
    known = families(task)
    source = known.sources.get(FAMILY)
    if source is None:
        raise NoSuchKernel(
            f"nothing predicts kernels of the task {task.name}: the catalogue has a roofline for "
            f"block-scaled fp8 products alone, such as fp8_gemm"
        )
    device = emulated_info()
    shapes = {one.label: sizes_of(task, one) for one in task.workloads("benchmarks", BACKEND)}
    order = ranked(source, list(shapes.values()), device)
    if arguments.kernel is None:
        told = _of_family(order, shapes, device, arguments.top)
    else:
        told = _of_kernel(_params(arguments, known.of, source), order, shapes, device)
    about = {"task": task.name, "device": device.name, "family": FAMILY, "kernels": len(order)}
    if arguments.json:
        print(json.dumps({**about, "meaning": UNPROVED, **told}, indent=2), file=stream)
        return
    print(
        f"{task.name} on {device.name.partition(',')[0]}, {len(order)} kernels of {FAMILY}: "
        f"{UNPROVED}",
        file=stream,
    )
    for line in _lines(told):
        print(line, file=stream)


def _params(arguments: Namespace, family_of: Any, source: KernelSource) -> Params:
    """Of a file's kernel. Raises NoSuchKernel."""
    try:
        kernel = parse_kernel(read_text(arguments.kernel))
    except (OSError, UnicodeDecodeError, Rejected) as error:
        raise NoSuchKernel(f"{arguments.kernel} can't be read: {error}") from None
    if family_of(kernel) != FAMILY:
        raise NoSuchKernel(
            f"{arguments.kernel} is no kernel of the family {FAMILY}: its code or front matter "
            f"differs, so nothing is known of its structure; see `evaluate --emulate`"
        )
    return {name: kernel.params[name] for name in source.params}


def _of_family(
    order: Sequence[tuple[Params, float]],
    shapes: Mapping[str, Sizes],
    device: DeviceInfo,
    top: int,
) -> dict[str, Any]:
    points = [params for params, _ in order]
    by_shape = []
    for shape, sizes in shapes.items():
        found = predict(points, sizes, device)
        place = min(range(len(found)), key=lambda i: found[i].time_us)
        by_shape.append({**_row(shape, found[place]), "params": dict(points[place])})
    fastest = [{"geometric_mean_us": mean, "params": dict(one)} for one, mean in order[:top]]
    return {"fastest": fastest, "by_shape": by_shape}


def _of_kernel(
    params: Params,
    order: Sequence[tuple[Params, float]],
    shapes: Mapping[str, Sizes],
    device: DeviceInfo,
) -> dict[str, Any]:
    place, mean = next((i + 1, mean) for i, (one, mean) in enumerate(order) if one == params)
    rows = [_row(shape, predict([params], one, device)[0]) for shape, one in shapes.items()]
    here = {"geometric_mean_us": mean, "params": dict(params), "place": place}
    return {"fastest": [here], "by_shape": rows}


def _row(shape: str, one: Prediction) -> dict[str, Any]:
    parts = {name: round(us, 2) for name, us in one.parts.items()}
    return {
        "shape": shape,
        "speed_of_light_us": one.light_us,
        "time_us": one.time_us,
        "bound": one.bound,
        "why": one.why,
        "parts_us": parts,
    }


def _lines(told: dict[str, Any]) -> Iterator[str]:
    yield "over all shapes (geometric mean):"
    for one in told["fastest"]:
        place = f", place {one['place']}" if "place" in one else ""
        yield f"  {one['geometric_mean_us']:8.1f} µs{place}  {_values(one['params'])}"
    yield "by shape:"
    width = max(len(row["shape"]) for row in told["by_shape"])
    for row in told["by_shape"]:
        light_us = row["speed_of_light_us"]
        part = 100 * light_us / row["time_us"]
        shape, time_us = row["shape"], row["time_us"]
        yield (
            f"  {shape:{width}}  {time_us:7.1f} µs, {part:2.0f}% of the speed of light "
            f"({light_us:.1f} µs): {row['bound']}"
        )
        if "params" in row:
            yield f"  {'':{width}}  {_values(row['params'])}"
    yield "what that means:"
    for bound, why in {row["bound"]: row["why"] for row in told["by_shape"]}.items():
        yield f"  {bound}: {why}"


def _values(params: Params) -> str:
    return ", ".join(f"{name} = {value}" for name, value in params.items())
