"""What the shipped probes' cases say together: two short sentences each at most, for a prompt."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from evaluators.device_info import DeviceInfo
from evaluators.probes.measured import Measured
from evaluators.probes.telling import cost, digits, duration, rate, size

Reading = Callable[[Sequence[Measured], DeviceInfo], tuple[str, ...]]

FUNCTIONS: Mapping[int, str] = {
    1: "expf",
    2: "__expf",
    3: "logf",
    4: "__logf",
    5: "sqrtf",
    6: "rsqrtf",
    7: "x / y",
    8: "sinf",
    9: "__sinf",
    10: "tanhf",
    11: "erff",
    12: "powf",
}
"""The values of F in functions.hip; 0 is the multiply-add alone."""

HMMA_FLOPS = 2 * 16 * 16 * 16


def of_copy(cases: Sequence[Measured], info: DeviceInfo) -> tuple[str, ...]:
    """The largest copy by width, then what fits nearer, at the width that is best there."""
    largest = max(one.values["BYTES"] for one in cases)
    rows: dict[int, list[Measured]] = {}
    for one in cases:
        rows.setdefault(one.values["BYTES"], []).append(one)
    said = []
    wide, *narrow = sorted(rows.pop(largest), key=lambda one: -one.values["WIDTH"])
    widths = [f"{rate(one.bytes_per_s)} with {one.values['WIDTH']}" for one in narrow]
    beside = f"; {', '.join(widths)}" if widths else ""
    said.append(
        f"A copy of {size(largest)} moves {rate(wide.bytes_per_s)} (reads and writes) with "
        f"{wide.values['WIDTH']} bytes a thread{beside}."
    )
    nearer = [
        f"{rate(max(one.bytes_per_s for one in group))} of {size(nbytes)}"
        for nbytes, group in sorted(rows.items())
    ]
    if nearer:
        said.append(f"Copied again and again, so that caches serve it: {', '.join(nearer)}.")
    return tuple(said)


def of_empty(cases: Sequence[Measured], info: DeviceInfo) -> tuple[str, ...]:
    launch, *full = cases
    blocks = full[0].values["BLOCKS"]
    each = [
        f"{duration(empty_block_ns(launch, one))} with {one.values['THREADS']} threads"
        for one in full
    ]
    return (
        f"A launch costs {duration(launch.each_ns)} in a row of launches; of {blocks:,} blocks "
        f"that write one number each adds {', '.join(each)}.",
    )


def empty_block_ns(launch: Measured, full: Measured) -> float:
    """Of the device's time. launch: with one block."""
    return (full.each_ns - launch.each_ns) / (full.values["BLOCKS"] - 1)


def of_barrier(cases: Sequence[Measured], info: DeviceInfo) -> tuple[str, ...]:
    each = [f"{cost(one)} with {one.values['THREADS']} threads" for one in cases]
    return (f"A barrier costs a block that is alone {', '.join(each)}.",)


def of_exchange(cases: Sequence[Measured], info: DeviceInfo) -> tuple[str, ...]:
    each = [f"{cost(one)} with {one.values['THREADS']} threads" for one in cases]
    return (
        "A value of each thread written to LDS and another one read, with two barriers, costs a "
        f"block {', '.join(each)}.",
    )


def of_atomic(cases: Sequence[Measured], info: DeviceInfo) -> tuple[str, ...]:
    def each(kind: int) -> str:
        one, many = (c for c in cases if c.values["FLOAT"] == kind)
        apart = many.values["MASK"] + 1
        return f"{cost(one)} on one address, {cost(many)} on {apart:,}"

    return (
        f"Of atomicAdds by all threads of a launch each takes {each(0)} (int); {each(1)} (float).",
    )


def of_shuffle(cases: Sequence[Measured], info: DeviceInfo) -> tuple[str, ...]:
    each = [f"{cost(one)} for distance {one.values['DISTANCE']}" for one in cases]
    return (f"A __shfl_xor is waited for {' and '.join(each)}.",)


def of_shuffle_order(cases: Sequence[Measured], info: DeviceInfo) -> tuple[str, ...]:
    wrong = shuffle_faults(cases, info.wavefront)
    if wrong:
        return (f"Shuffles do not do what HIP says here: {wrong[0]}.",)
    return (
        f"In a wavefront of {info.wavefront} lanes __shfl_down(x, d) gives lane i the x of lane "
        "i + d, __shfl_up(x, d) that of i - d, its own where there is no such lane; "
        "__shfl_xor(x, d) that of i ^ d.",
    )


def shuffle_faults(cases: Sequence[Measured], wavefront: int) -> list[str]:
    """Every lane that got another value than HIP's documentation says."""
    said = []
    thread = np.arange(64)
    lane, first = thread % wavefront, thread - thread % wavefront
    for one in cases:
        distance = one.values["DISTANCE"]
        wanted = {
            "down": np.where(lane + distance < wavefront, thread + distance, thread),
            "up": np.where(lane >= distance, thread - distance, thread),
            "across": first + (lane ^ distance),
        }
        for name, lanes in wanted.items():
            for at in np.flatnonzero(one.shown[name] != lanes):
                said.append(
                    f"{name} by {distance} gave thread {at} the value of {one.shown[name][at]}, "
                    f"not of {lanes[at]}"
                )
    return said


def of_functions(cases: Sequence[Measured], info: DeviceInfo) -> tuple[str, ...]:
    plain = next(one for one in cases if one.values["F"] == 0)
    costs = [
        f"{FUNCTIONS[one.values['F']]} {digits(max(0.0, one.each_ns / plain.each_ns - 1), 2)}"
        for one in cases
        if one is not plain
    ]
    return (
        "On a busy device float32 functions cost, in multiply-adds "
        f"({digits(1 / plain.each_ns)} G of them a second here): {', '.join(costs)}.",
    )


def of_lds(cases: Sequence[Measured], info: DeviceInfo) -> tuple[str, ...]:
    first = cases[0]
    slower = [
        f"{digits(one.each_ns / first.each_ns)} at {one.values['STRIDE']}" for one in cases[1:]
    ]
    return (
        f"LDS reads of floats take, in times of those at stride 1 ({duration(first.each_ns)} for "
        f"1,024 threads): {', '.join(slower)}.",
    )


def of_vectors(cases: Sequence[Measured], info: DeviceInfo) -> tuple[str, ...]:
    best = min(cases, key=lambda one: one.each_ns)
    rates = [f"{digits(2 / one.each_ns)} with {one.values['LANES']}" for one in cases]
    return (
        f"Multiply-adds in eight chains of vectors reach GFLOP/s by floats a vector: "
        f"{', '.join(rates)}; {best.values['LANES']} pay most.",
    )


def of_mfma(cases: Sequence[Measured], info: DeviceInfo) -> tuple[str, ...]:
    wrong = [one.values["WHICH"] for one in cases if one.shown["wrong"].any()]
    if wrong:
        return (
            "MFMA instructions do not hold their matrices here as AMD's tables say (cases "
            f"{', '.join(map(str, wrong))} of the probe); find out by a probe before you use them.",
        )
    return mfma_sentences()


MFMA_ROWS: Mapping[int, str] = {
    32: "8 * (r / 4) + 4 * (lane / 32) + r % 4",
    16: "4 * (lane / 16) + r",
}
"""The row of D's register r in a lane, by the matrix's side; as in mfma.hip."""


def mfma_sentences() -> tuple[str, ...]:
    held = (
        "of A a lane holds row lane % S, k = E * (lane / S) + j; of B column lane % S and the same "
        "k; of D column lane % S"
    )
    return (
        "v_mfma S x S, S = 32 or 16, with E elements a lane (8 of fp8 and i8, 4 of f16 and bf16, "
        f"2 of xf32, 1 of f32), checked here: {held}.",
        f"D's register r holds row {MFMA_ROWS[32]} (S = 32) or {MFMA_ROWS[16]} (S = 16).",
    )


def of_tensor_cores(cases: Sequence[Measured], info: DeviceInfo) -> tuple[str, ...]:
    if any(one.shown["wrong"].any() for one in cases):
        return ("NVRTC's __hmma builtins compile, but gave a wrong product here: do not use them.",)
    flops = HMMA_FLOPS / cases[-1].each_ns * 1e9
    return (
        "NVRTC has tensor cores as builtins, no header needed; of a warp, 16x16x16, half in, float "
        "sums, row-major (0), checked here: `int a[8], b[8]; float c[8], d[8]; "
        "__hmma_m16n16k16_ld_a(a, (const int *)A, lda, 0); __hmma_m16n16k16_ld_b(b, (const int *)"
        "B, ldb, 0); __hmma_m16n16k16_mma_f32f32(d, a, b, c, 0, 0); __hmma_m16n16k16_st_c_f32(D, "
        "d, ldd, 0)`.",
        f"They reach {digits(flops / 1e12)} TFLOP/s from registers.",
    )


READINGS: Mapping[str, Reading] = {
    "copy": of_copy,
    "empty": of_empty,
    "barrier": of_barrier,
    "exchange": of_exchange,
    "atomic": of_atomic,
    "shuffle": of_shuffle,
    "shuffle_order": of_shuffle_order,
    "functions": of_functions,
    "lds": of_lds,
    "vectors": of_vectors,
    "mfma": of_mfma,
    "tensor_cores": of_tensor_cores,
}
"""By the name of the probe's file in kernels/."""
