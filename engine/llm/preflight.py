"""Endpoints looked at before anything is asked of them."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from engine.llm.config import Llm
from operators.llm.call import ApiKey, NoReply
from operators.llm.question import ModelUnavailable

if TYPE_CHECKING:
    from operators.llm.endpoint import Endpoint

MOST_NAMED = 8


def endpoints(config: Llm, environment: Mapping[str, str]) -> "dict[str, Endpoint]":
    """By the name of each model; one client for each address and key. Raises ModelUnavailable."""
    # Imported here: it takes a second, in processes most of which ask no model.
    from operators.llm.endpoint import Endpoint

    opened: dict[tuple[str, ApiKey], Endpoint] = {}
    found: dict[str, Endpoint] = {}
    for name, model in config.models.items():
        place = model.base_url or config.base_url, config.key_of(name, environment)
        if place not in opened:
            opened[place] = Endpoint(*place)
        found[name] = opened[place]
    return found


async def preflight(config: Llm, environment: Mapping[str, str] = os.environ) -> None:
    """Ask each endpoint which models it has. Raises ModelUnavailable: no key, no endpoint, no
    such model."""
    found = endpoints(config, environment)
    try:
        for name, endpoint in found.items():
            await _look(endpoint, name, config.models[name].model)
    finally:
        for endpoint in set(found.values()):
            await endpoint.close()


async def _look(endpoint: "Endpoint", name: str, model: str) -> None:
    try:
        served = await endpoint.models()
    except NoReply as failed:
        raise ModelUnavailable(failed.reason) from None
    if served is not None and model not in served:
        known = ", ".join(sorted(served)[:MOST_NAMED]) or "none"
        raise ModelUnavailable(
            f"{endpoint.base_url} has no model {model!r} (it serves {known}); "
            f"set llm.models.{name}.model"
        )
