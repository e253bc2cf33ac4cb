"""A GPU's clocks, power and temperature, as far as its vendor's library tells them.

A GPU is found by its PCI address: an index counts differently under every variable that hides
GPUs, and vendors' libraries heed none of them.
"""

from collections.abc import Callable, Mapping

from evaluators.device import Telemetry


def nothing() -> dict[str, float]:
    """Of a GPU whose vendor's library is not here, or does not know it."""
    return {}


def readings(calls: Mapping[str, Callable[[], float]], failed: type[Exception]) -> Telemetry:
    """calls: by reading; those that fail are left out, as of what a board does not have."""

    def read() -> dict[str, float]:
        told = {}
        for name, call in calls.items():
            try:
                told[name] = float(call())
            except (failed, KeyError, ValueError, TypeError):
                continue
        return told

    return read
