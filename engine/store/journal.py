"""Where events go, as those who make them see it."""

from typing import Protocol

from engine.store.events import Event


class Journal(Protocol):
    """Where events go; both ways keep the order of the calls."""

    def post(self, event: Event) -> None:
        """Store it soon."""

    async def commit(self, event: Event) -> None:
        """Return when it is stored, and all events before it."""
