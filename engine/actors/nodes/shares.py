"""Which devices of a cluster's nodes are a campaign's to measure on."""

from collections import Counter, defaultdict

from engine.actors.nodes.home import Home
from engine.actors.nodes.node import Found


class Shares:
    """Cores of one machine measure once, though several nodes may be on it; and no more devices
    than most measure. None: as many as there are."""

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._cores: dict[str, dict[int, str]] = defaultdict(dict)  # machine -> core -> node
        self._claimed: Counter[str] = Counter()  # by the node's id

    def claim(self, home: Home, found: Found) -> list[int]:
        """Of the node's devices those that may measure; it is noted where others have them all."""
        devices = list(home.plan.devices)
        if not home.plan.gpus:
            cores = sorted(found.cores)
            taken = self._cores[found.machine]
            for device in home.plan.devices:
                core = cores[device] if device < len(cores) else device
                if taken.setdefault(core, home.node.name) != home.node.name:
                    devices.remove(device)
            if home.plan.devices and not devices:
                home.notes.append("only compiles: another node has the same cores")
        if self._most is not None:
            devices = devices[: max(0, self._most - self._claimed.total())]
        self._claimed[home.node.id] = len(devices)
        return devices

    def give_back(self, home: Home) -> None:
        """One of its devices will not measure."""
        self._claimed[home.node.id] -= 1

    def lose(self, home: Home) -> None:
        """The node has left."""
        self._claimed.pop(home.node.id, None)
        for taken in self._cores.values():
            for core in [core for core, name in taken.items() if name == home.node.name]:
                del taken[core]
