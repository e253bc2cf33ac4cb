"""What is looked at before a campaign is sent: budgets, devices of the cluster, endpoints."""

import asyncio
from collections.abc import Sequence
from urllib.parse import urlsplit

from engine.cli.jobs.cluster import Node
from engine.cli.usage import UsageError
from engine.config import CampaignConfig
from engine.config_errors import ConfigError
from engine.llm.config import Llm
from operators.llm.question import ModelUnavailable

VENDORS = {"hip": "AMD", "cuda": "NVIDIA"}
OTHER_VENDORS = ("AMD", "Intel")
"""Ray names their GPUs with this first, and NVIDIA's without."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def check_budgets(config: CampaignConfig) -> None:
    """Raises ConfigError: one of them buys nothing."""
    budgets = config.budgets
    if budgets.evaluations == 1 and config.start_from is None:
        raise ConfigError(
            "budgets.evaluations=1 pays for the naive seed alone, so nothing would be searched; "
            "set more"
        )
    if config.llm is None or not config.asks_models:
        return
    name, model = min(config.llm.models.items(), key=lambda one: one[1].max_tokens)
    if budgets.tokens is not None and budgets.tokens <= model.max_tokens:
        raise ConfigError(
            f"budgets.tokens={budgets.tokens} pays for no call: {model.max_tokens} are set aside "
            f"for the reply alone (llm.models.{name}.max_tokens); set more, or max_tokens lower"
        )
    least = min(one.dollars(0, one.max_tokens) for one in config.llm.models.values())
    if budgets.dollars is not None and budgets.dollars < least:
        raise ConfigError(
            f"budgets.dollars={budgets.dollars:g} pays for no call: {least:g} are set aside for "
            "the longest reply (max_tokens) at least; set more, or max_tokens lower"
        )


def check_devices(config: CampaignConfig, nodes: Sequence[Node], address: str) -> None:
    """Raises UsageError: Ray counts no GPU for the backend on any node, or is told which."""
    vendor = VENDORS.get(config.backend)
    if vendor is None or config.devices.emulated:
        return
    if config.devices.ids is not None:
        raise UsageError(
            "devices.ids: on a cluster Ray shares out the GPUs; leave it out, and bound their "
            "number by devices.most"
        )
    of = f"the Ray cluster at {address}"
    usable = [node for node in nodes if node.gpus > 0]
    if not usable:
        nodes_text = "1 node" if len(nodes) == 1 else f"{len(nodes)} nodes"
        raise UsageError(
            f"{of} has no GPU on its {nodes_text}, and backend {config.backend} needs one: start "
            "nodes where Ray finds theirs, or with 'ray start --num-gpus=N'"
        )
    kinds = {kind for node in usable for kind in node.accelerators}
    if kinds and not any(_vendor(kind) == vendor for kind in kinds):
        raise UsageError(
            f"{of} has no GPU of {vendor}, which backend {config.backend} needs: it has "
            f"{', '.join(sorted(kinds))}"
        )


def _vendor(accelerator: str) -> str:
    return next((name for name in OTHER_VENDORS if accelerator.startswith(name)), "NVIDIA")


def check_endpoints(llm: Llm, *, here: bool) -> str:
    """Ask each endpoint for its models; returns what can't be looked at from here, in a sentence.

    here: the cluster is on this machine. Raises ConfigError: no key; UsageError: no endpoint, no
    such model.
    """
    from engine.llm.preflight import preflight

    places = {name: model.base_url or llm.base_url for name, model in llm.models.items()}
    hidden = {name for name, url in places.items() if not here and _is_loopback(url)}
    seen = {name: model for name, model in llm.models.items() if name not in hidden}
    try:
        if seen:
            asyncio.run(preflight(llm.model_copy(update={"models": seen})))
    except ModelUnavailable as unavailable:
        raise UsageError(
            f"{unavailable}; where the job reaches it and this machine does not, add "
            "--unseen-endpoints"
        ) from None
    if not hidden:
        return ""
    urls = ", ".join(sorted({places[name] for name in hidden}))
    return f"{urls} will be asked from the driver's node, and can't be looked at from here"


def _is_loopback(url: str) -> bool:
    return urlsplit(url).hostname in LOOPBACK
