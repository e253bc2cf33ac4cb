"""The mixture of experts of the AMD Developer Challenge 2025, as its judge gives it."""

from typing import Any

import torch

LEADERBOARD = "amd-mixture-of-experts"
GPU = "MI300"


def unpack(data: Any) -> tuple[dict[str, Any], dict[str, int], Any]:
    """The task's arguments by name, its sizes by name, and what custom_kernel returns.

    data: x (B x S x D), a dict of weights, a dict of sizes; all tensors in float16. Of weights
    experts.I.0 and .1 are gate and up (D x F), experts.I.2 is down (F x D).
    """
    x, weights, config = data
    experts = config["n_routed_experts"]
    if (config["n_experts_per_token"], config["n_shared_experts"]) != (4, 1):
        raise ValueError("the task has 4 experts a token and 1 shared expert")
    # The judge keeps each expert's weights by themselves, the task has them behind each other. They
    # differ from call to call, so each call copies them, and its time counts: at 32 experts this
    # reads and writes 2.8 GB each.
    gate, up, down = (
        torch.stack([weights[f"experts.{i}.{part}.weight"] for i in range(experts)])
        for part in range(3)
    )
    y = torch.empty_like(x)
    arguments = {"x": x, "router": weights["router.weight"], "gate": gate, "up": up, "down": down}
    for part, name in enumerate(("shared_gate", "shared_up", "shared_down")):
        arguments[name] = weights[f"shared_experts.{part}.weight"]
    sizes = {"B": x.shape[0], "S": x.shape[1], "E": experts, "D": x.shape[2], "F": gate.shape[2]}
    return {**arguments, "y": y}, sizes, y
