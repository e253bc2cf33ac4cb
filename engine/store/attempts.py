"""Attempts: the calls that open questions had, and what those without a reply took."""

from collections import Counter

from engine.store.kinds.calls import CallFailed, CallReserved
from operators.llm.question import NOTHING_VAIN, Vain


class Attempts:
    """By the question's key."""

    def __init__(self) -> None:
        self._calls: Counter[str] = Counter()
        self._vain: dict[str, Vain] = {}

    def take(self, event: CallReserved | CallFailed) -> None:
        key = event.request
        if isinstance(event, CallReserved):
            self._calls[key] += 1
        else:
            self._vain[key] = self.vain(key) + Vain(seconds=event.seconds, dollars=event.dollars)

    def calls(self, key: str) -> int:
        """That were reserved."""
        return self._calls[key]

    def vain(self, key: str) -> Vain:
        """What those without a reply took together."""
        return self._vain.get(key, NOTHING_VAIN)

    def close(self, key: str) -> None:
        """Forget a question that has its outcome."""
        self._calls.pop(key, None)
        self._vain.pop(key, None)

    def under(self, prefix: str) -> list[str]:
        """Keys of questions that begin so."""
        return [key for key in self._calls if key.startswith(prefix)]
