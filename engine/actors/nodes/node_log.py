"""What a campaign has of a cluster, stored whenever that changes."""

from collections.abc import Mapping

from engine.actors.journal import StoreJournal
from engine.store.kinds.sessions import NodesChanged


class NodeLog:
    """Stores what nodes a session has, whenever they have changed."""

    def __init__(self, session: int, journal: StoreJournal) -> None:
        self._session, self._journal = session, journal
        self._count, self._last = 0, dict[str, int]()

    def __call__(self, nodes: Mapping[str, int]) -> None:
        if nodes == self._last:
            return
        self._last = dict(nodes)
        told = NodesChanged(number=self._session, count=self._count, nodes=self._last)
        self._count += 1
        self._journal.post(told)
