"""Which Ray cluster a campaign joins, and whether one answers there."""

import os
import socket
from collections.abc import Mapping

from engine.config import CampaignConfig
from engine.config_errors import ConfigError

PATIENCE_S = 5.0
"""For a head that does not answer; Ray itself would try for a minute, then end the process."""


def address_of(config: CampaignConfig, environment: Mapping[str, str]) -> tuple[str, str]:
    """Who names the address, and the address: empty for a Ray of the campaign's own.

    RAY_ADDRESS counts where the configuration names none, or says auto, as with ray.init().
    """
    key, address = "ray.address", config.ray.address or ""
    named = environment.get("RAY_ADDRESS", "").strip()
    if named and address in ("", "auto"):
        key, address = "the environment variable RAY_ADDRESS", named
    return key, "" if address == "local" else address


def in_job() -> bool:
    """Whether this process is a job's, whose folder Ray has brought to every node."""
    return "RAY_JOB_CONFIG_JSON_ENV_VAR" in os.environ


TOKEN_NEEDED = (
    "it asks for a token; set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN to the one of its head "
    "(~/.ray/auth_token there)"
)


def check_answers(key: str, address: str) -> None:
    """Raises ConfigError when nothing listens there.

    "auto" is the cluster that 'ray start' made here: where none is, Ray would join the Ray that
    another campaign started for itself, and end with it.
    """
    from ray._private.services import canonicalize_bootstrap_address, find_bootstrap_address

    started = find_bootstrap_address(None) if address == "auto" else address
    if started is None:
        raise ConfigError(
            f"{key}: no Ray cluster runs on this machine; start one with 'ray start --head', "
            "or leave the address out"
        )
    try:
        found = canonicalize_bootstrap_address(started) or ""
    except (ValueError, OSError):  # no host:port, or a host that has no address
        found = ""
    host, _, port = found.rpartition(":")
    if not host or not port.isdigit():
        raise ConfigError(
            f"{key}: {address!r} is no address of a Ray cluster; write auto, or host:port of its "
            "head, as in 10.0.0.1:6379"
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE_S).close()
    except (OSError, OverflowError) as error:
        raise ConfigError(
            f"{key}: no Ray cluster answers at {found} ({error}); start one there, or leave the "
            "address out"
        ) from None
