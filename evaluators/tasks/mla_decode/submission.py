"""The MLA decode step of the AMD Developer Challenge 2025, as its judge gives it."""

from typing import Any

import torch

LEADERBOARD = "amd-mla-decode"
GPU = "MI300"

# Every call on a cache makes it longer, so a build for one length alone serves one call.
CHANGING = ("L",)


def unpack(data: Any) -> tuple[dict[str, Any], dict[str, int], Any]:
    """The task's arguments by name, its sizes by name, and what custom_kernel returns.

    data: a config with the sizes and weights, x (B x 1 x D), and a cache: its data (B x T x
    (C + P)), of which seq_len rows are filled. All tensors are in bfloat16; a weight has one row
    an output. The new row is the kernel's to write; the cache's length grows here.
    """
    config, x, kv_cache = data
    cache, length = kv_cache.data, kv_cache.seq_len
    kv_cache.seq_len = length + 1
    y = torch.empty_like(x)
    arguments = {
        "x": x,
        "cache": cache,
        "q_down": config.Q_proj_down_weight,
        "kv_down": config.KV_proj_down_weight,
        "q_up": config.Q_proj_up_weight,
        "kv_up": config.KV_proj_up_weight,
        "wo": config.wo_weight,
        "y": y,
    }
    sizes = {
        "B": x.shape[0],
        "D": x.shape[2],
        "R": config.q_lora_rank,
        "H": config.n_heads,
        "C": config.kv_lora_rank,
        "N": config.qk_nope_head_dim,
        "P": config.qk_rope_head_dim,
        "V": config.v_head_dim,
        "T": cache.shape[1],
        "L": length,
    }
    return arguments, sizes, (y, cache)
