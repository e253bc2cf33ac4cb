"""How long a failed call waits for its next try."""

import random

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 60.0
LONGEST_RETRY_AFTER_S = 600.0


def backoff_s(failures: int, retry_after_s: float | None) -> float:
    """Exponential with jitter; at least what the endpoint asked for."""
    grown = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** (failures - 1))
    asked = min(retry_after_s or 0.0, LONGEST_RETRY_AFTER_S)
    return max(asked, grown * random.uniform(0.5, 1.0))
