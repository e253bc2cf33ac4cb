"""What a probe found, in short sentences: for each case its time and its buffers, the compiler."""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from evaluators.device_info import DeviceInfo
from evaluators.probes.measured import REPEATS, Array, Interval, Measured
from evaluators.probes.probe import BuiltProbe
from evaluators.spelling import printable, shortened

MOST_CHARACTERS = 2400
"""Of all sentences together; what is left out is counted."""
COMPILER_SENTENCES = 3
SENTENCE_CHARACTERS = 400


MOST_RATE = 1e18
"""Operations a second that no device does."""
MOST_OVER_MEMORY = 100
"""Times the rate of the fastest level of memory: LDS and registers are faster, and not by that."""


def told(built: BuiltProbe, measured: Sequence[Measured], info: DeviceInfo) -> tuple[str, ...]:
    """A sentence a case, and what the compiler says."""
    sentences = [_of_case(built, one, info) for one in measured] + [*_of_compiler(built)]
    kept: list[str] = []
    room = MOST_CHARACTERS
    for sentence in sentences:
        room -= len(sentence) + 1
        if room < 0:
            return (*kept, f"{len(sentences) - len(kept)} more sentences had no room.")
        kept.append(sentence)
    return tuple(kept)


def _of_case(built: BuiltProbe, one: Measured, info: DeviceInfo) -> str:
    names = ", ".join(f"{name} = {value}" for name, value in one.values.items())
    parts = [_miscounted(built, one, info) or _of_time(built, one)]
    parts += [f"{name} begins with {numbers(array)}" for name, array in one.shown.items()]
    said = f"{names}: {'; '.join(parts)}." if names else f"{'; '.join(parts)}."
    return shortened(said[0].upper() + said[1:], SENTENCE_CHARACTERS)


def _miscounted(built: BuiltProbe, one: Measured, info: DeviceInfo) -> str:
    """The time alone, where the file counts what no device does in it; "" where it may be."""
    memory = max(info.peak_bytes_per_s.values(), default=math.inf)
    in_bytes = built.probe.front.bytes is not None
    most = MOST_OVER_MEMORY * memory if in_bytes else MOST_RATE
    if one.us.low <= 0 or one.counted * 1e6 / one.us.median <= most:
        return ""
    what = "bytes" if in_bytes else "operations"
    each = one.us.scaled(1e3)
    return (
        f"{duration(each.median)} a run ({_ends(each, one, duration)}), in which it can't have "
        f"done the {one.counted:,} {what} that its file counts"
    )


def _of_time(built: BuiltProbe, one: Measured) -> str:
    """ "12.1 ns an operation (96% interval 11.9 to 12.4)"."""
    front = built.probe.front
    if front.bytes is not None and one.us.low > 0:
        rates = one.counted * 1e6 / np.array([one.us.median, one.us.high, one.us.low])
        found = Interval(median=rates[0], low=rates[1], high=rates[2])
        return f"{rate(found.median)} ({_ends(found, one, rate)})"
    each = one.us.scaled(1e3 / max(1, one.counted))
    what = "an operation" if front.per is not None else "a run"
    if not front.baseline:
        return f"{duration(each.median)} {what} ({_ends(each, one, duration)})"
    if each.low <= 0:
        return f"no more than the baseline takes, within noise (up to {duration(each.high)} {what})"
    return f"{duration(each.median)} {what} more than the baseline ({_ends(each, one, duration)})"


def cost(one: Measured) -> str:
    """Of an operation, less the baseline's; where noise hides it, what it is at most."""
    each = one.us.scaled(1e3 / max(1, one.counted))
    if each.low > 0:
        return duration(each.median)
    return f"at most {duration(max(0.0, each.high))}"


def _ends(found: Interval, one: Measured, write: Callable[[float], str]) -> str:
    kind = "96% interval" if one.repeats >= REPEATS else f"{one.repeats} repeats:"
    return f"{kind} {write(found.low)} to {write(found.high)}"


def _of_compiler(built: BuiltProbe) -> Iterator[str]:
    said = [
        f"The compiler on {kernel.get('kernel', '').partition(' [')[0]}: {fact}"
        for kernel in built.compiled.resources
        for fact in (*kernel.get("facts", ()), *kernel.get("advice", ()))
    ]
    said += [f"The compiler says: {line}" for line in built.compiled.log.splitlines() if line]
    for sentence in list(dict.fromkeys(said))[:COMPILER_SENTENCES]:
        yield shortened(printable(sentence), SENTENCE_CHARACTERS)


def numbers(array: Array) -> str:
    """ "0, 1, 2.5"; "0 to 31 in steps of 1" for a row of equal steps; "4 times 0"."""
    values = [float(value) for value in array]
    if len(values) > 3 and len({f"{value:.7g}" for value in values}) == 1:
        return f"{len(values)} times {values[0]:.7g}"
    steps = {b - a for a, b in pairwise(values)}
    if len(values) > 3 and len(steps) == 1:
        return f"{values[0]:.7g} to {values[-1]:.7g} in steps of {steps.pop():g}"
    write = "{:.0f}" if array.dtype.kind == "i" else "{:.7g}"
    return ", ".join(write.format(value) for value in values)


def duration(ns: float) -> str:
    """Three digits: "12.1 ns"."""
    for factor, unit in ((1e-9, "s"), (1e-6, "ms"), (1e-3, "µs"), (1.0, "ns")):
        if abs(ns) * factor >= 1.0:
            return f"{digits(ns * factor)} {unit}"
    return f"{digits(ns * 1e3)} ps" if abs(ns) * 1e3 >= 0.01 else "0 ns"


def rate(per_s: float) -> str:
    """Of bytes: "4.12 TB/s"."""
    return f"{digits(per_s / 1e12)} TB/s" if per_s >= 1e12 else f"{digits(per_s / 1e9)} GB/s"


def digits(value: float, count: int = 3) -> str:
    """As many as count, without a power of ten."""
    if abs(value) >= 10**count:
        return f"{value:,.0f}"
    return f"{value:.{count}g}"


def size(nbytes: int) -> str:
    """ "512 MiB"."""
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if nbytes >= 1 << shift:
            return f"{nbytes / (1 << shift):.3g} {unit}"
    return f"{nbytes} bytes"
