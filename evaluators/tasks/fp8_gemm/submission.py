"""The fp8 product of the AMD Developer Challenge 2025, as its judge gives it to custom_kernel."""

from typing import Any

LEADERBOARD = "amd-fp8-mm"
GPU = "MI300"


def unpack(data: Any) -> tuple[dict[str, Any], dict[str, int], Any]:
    """The task's arguments by name, its sizes by name, and what custom_kernel returns.

    data: a (M x K) and b (N x K) in float8_e4m3fnuz, a_scale (M x K / 128) and b_scale
    (ceil(N / 128) x K / 128) in float32, all four column-major, and c (M x N) in bfloat16,
    row-major, which is filled and returned.
    """
    a, b, a_scale, b_scale, c = data
    # Transposed, what is column-major lies as the task has it: K x M and so on. Nothing is copied.
    arguments = {"a": a.T, "b": b.T, "a_scale": a_scale.T, "b_scale": b_scale.T, "c": c}
    sizes = {"M": a.shape[0], "N": b.shape[0], "K": a.shape[1]}
    return arguments, sizes, c
