"""A script for test_gpu_draws: what a GPU draws, beside what numpy draws from the same key."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from evaluators.checks.gpu_kernels import Harness, compile_trusted
from evaluators.checks.gpu_placing import key_of
from evaluators.checks.gpu_work import NOISE, Source
from evaluators.device import backend
from evaluators.dtypes import is_floating
from evaluators.tasks.arguments import DTYPES, Argument, Array, Distribution
from evaluators.tasks.task_file import load_task
from tests.hip_double.twins import with_twins

COUNTS = (1, 300, 2049, 70_000)
FLOATS = tuple(name for name, dtype in DTYPES.items() if is_floating(dtype))
WHOLE = tuple(name for name, dtype in DTYPES.items() if dtype.kind in "iu")
WIDTHS = (1.0, 1e-7, 1e-2, 300.0, 1e5, 1e-39, 2e38)


def distributions() -> Iterator[tuple[str, Distribution]]:
    """By dtype: every kind, within and beyond what each type holds, rounded and not."""
    for dtype in FLOATS:
        for kind in ("zeros", "ones"):
            yield dtype, Distribution(kind=kind)
        for width in WIDTHS:
            yield dtype, Distribution(kind="uniform", parameters={"low": -width, "high": width / 2})
            yield dtype, Distribution(kind="normal", parameters={"scale": width, "mean": -width})
        for through in FLOATS:
            yield dtype, Distribution(parameters={"scale": 50.0}, through=through)
        yield dtype, Distribution(kind="integers", parameters={"low": -3, "high": 70_000})
    whole = {"low": -(2**31), "high": 2**31}
    yield "int32", Distribution(kind="integers", parameters=whole)
    yield "int32", Distribution(kind="integers", through="bfloat16", parameters={"high": 1000})
    yield "bool", Distribution(kind="integers")
    for dtype in WHOLE:
        info = np.iinfo(DTYPES[dtype])
        most = min(int(info.max) + 1, 2**63)
        yield dtype, Distribution(kind="integers", parameters={"low": int(info.min), "high": most})
        for kind in ("zeros", "ones"):
            yield dtype, Distribution(kind=kind)
    yield "uint64", Distribution(kind="integers", parameters={"low": 2**63 + 5, "high": 2**64})


def twin(argument: Argument, count: int, key: int) -> Array:
    """What draw.hip says it draws, by numpy."""
    halves, normals = _halves(count, key)
    drawn = argument.distribution
    p = drawn.given({})
    single = np.float32
    with np.errstate(over="ignore"):
        match drawn.kind:
            case "normal":
                values: Array = normals * single(p["scale"]) + single(p["mean"])
            case "uniform":
                unit = (halves >> np.uint32(8)).astype(single) * single(2**-24)
                values = unit * single(p["high"] - p["low"]) + single(p["low"])
            case "integers":
                low, span = int(p["low"]), int(p["high"]) - int(p["low"])
                whole = [low + (int(half) * span >> 32) for half in halves]
                values = np.array(whole, np.uint64 if p["high"] > 2**63 else np.int64)
            case _:
                values = np.full(count, drawn.kind == "ones", single)
        if drawn.through is not None:
            values = values.astype(DTYPES[drawn.through])
        return values.astype(argument.np_dtype)


def _halves(count: int, key: int) -> tuple[Array, Array]:
    """Half words in the order of the elements, and the normal numbers made from their pairs."""
    tiles = -(-count // 2048)
    halves = np.random.Philox(key=key).random_raw(tiles * 1024).view(np.uint32)
    first, second = halves[::2].astype(np.float64), halves[1::2].astype(np.float64)
    radius = np.sqrt(-2.0 * np.log((first + 0.5) * 2.0**-32))
    turn = second * (6.283185307179586 * 2.0**-32)
    normals = np.empty(len(halves), np.float32)
    normals[::2], normals[1::2] = radius * np.cos(turn), radius * np.sin(turn)

    def in_order(data: Array) -> Array:
        turned: Array = data.reshape(tiles, 256, 8).transpose(0, 2, 1).reshape(-1)[:count]
        return turned

    return in_order(halves), in_order(normals)


def main() -> None:
    """Prints every difference, and the number of comparisons."""
    name = sys.argv[1]
    device = backend(name).open_device(0)
    compiler = with_twins(backend(name).compiler(arch=device.info.arch))
    trusted = compile_trusted(load_task("transpose"), compiler, name)
    harness, memory = Harness(device, trusted), device.open(trusted.harness, memory_bytes=1 << 20)
    there = memory.alloc(8 * max(COUNTS))
    some = load_task("transpose").arguments[0]
    compared = 0
    for dtype, distribution in distributions():
        argument = replace(some, dtype=dtype, distribution=distribution)
        for count in COUNTS:
            key = key_of(b"a secret of 16 B", f"{argument} {count}")
            at = there.view(0, count * argument.np_dtype.itemsize)
            work = harness.work()
            work.draw(at, Source.of(argument, {}), count, key)
            work.redraw(at, Source.of(argument, {}), count, key, slot=0)
            (same,) = harness.run(work, 1)
            _compare(argument, memory.read(at, argument.np_dtype, (count,)), count, key)
            assert same.fine
            compared += 1
    _check_noise(harness, memory, there)
    print(compared)


def _compare(argument: Argument, found: Array, count: int, key: int) -> None:
    raw = f"u{argument.np_dtype.itemsize}"
    wanted, told = twin(argument, count, key).view(raw), found.view(raw)
    wrong = np.flatnonzero(wanted != told)
    if wrong.size:
        i = wrong[0]
        what = f"{argument.dtype} {argument.distribution} of {count}"
        print(f"{what}: {wrong.size} differ, {i} is {told[i]:x}, not {wanted[i]:x}")


def _check_noise(harness: Harness, memory: Any, there: Any) -> None:
    work, at = harness.work(), there.view(3, 4099)
    work.draw(at, NOISE, at.nbytes, 5)
    work.redraw(at, NOISE, at.nbytes, 6, slot=0)
    (other,) = harness.run(work, 1)
    assert other.changed > 0.9 * at.nbytes
    wanted = _halves(at.nbytes, 5)[0].astype(np.uint8)
    if not np.array_equal(memory.read(at, np.dtype(np.uint8), wanted.shape), wanted):
        print("noise differs")
