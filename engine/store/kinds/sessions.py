"""A campaign's life in its log: its start, and of each session the search's start and end."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from evaluators.device_info import DeviceInfo

GONE: Mapping[str, frozenset[str]] = {
    "tracking": frozenset({"parent"}),
    "probes": frozenset({"shipped"}),
}
"""By section, keys of configurations that there once were, and that changed no search."""

PLACES: Mapping[str, tuple[str, ...]] = {
    "ray": ("address",),
    "snapshots": ("folder", "every_s"),
    "llm": ("base_url", "api_key_env"),
}
"""By section, keys that say where a campaign and its models are: a resumption may change them."""

Told = tuple[float, float, float]
"""Likely, low, high."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignStarted:
    """Written once, before anything else."""

    kind: ClassVar[str] = "campaign_started"
    config: Mapping[str, Any]
    task_hash: str
    baseline_id: str
    versions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Without GONE, so that configurations of before can be read."""
        config = {
            name: {key: value for key, value in section.items() if key not in GONE[name]}
            if name in GONE and isinstance(section, Mapping)
            else section
            for name, section in self.config.items()
        }
        object.__setattr__(self, "config", config)

    @property
    def key(self) -> str:
        return "campaign"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStarted:
    """One process life of the campaign: number 0 is the first, the others are resumptions.

    harness, compiler: what its times are made with; see engine.store.toolchain. Stores in which
    they are missing were written by harness 1, with the compiler at the end of device_class.
    """

    kind: ClassVar[str] = "session_started"
    number: int
    began_at: float  # seconds since 1970; Ray's start comes before this event
    budgets: Mapping[str, Any]
    device: str
    device_class: str
    devices: int
    harness: str = "1"
    compiler: str = ""
    start_counts: bool = True
    """Whether budgets.wall_time_s counts what comes before SearchStarted, as it once did."""
    info: DeviceInfo | None = None
    """What prompts tell of the device; None in stores of before it was kept."""
    stop: Mapping[str, Any] = field(default_factory=dict)
    """The section of that name, which a resumption may change; {} in stores of before."""
    places: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By section, the keys of PLACES; {} in stores of before."""

    @property
    def key(self) -> str:
        return str(self.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastMade:
    """What a session said of its models' cost before it asked them, for what was left of the
    budgets then. number: the session's. text: for a person. dollars: None where no model has a
    price. first: the budget that is to end it; empty: not known."""

    kind: ClassVar[str] = "forecast_made"
    number: int
    text: str
    evaluations: Told
    calls: Told
    tokens: Told
    dollars: Told | None
    first: str

    @property
    def key(self) -> str:
        return str(self.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchStarted:
    """The islands begin: devices are open, the naive seed is measured. From here time counts."""

    kind: ClassVar[str] = "search_started"
    number: int  # the session's

    @property
    def key(self) -> str:
        return str(self.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchEnded:
    """The islands have ended; what was found is measured once more. reason: why they did."""

    kind: ClassVar[str] = "search_ended"
    number: int  # the session's
    reason: str

    @property
    def key(self) -> str:
        return str(self.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFinished:
    """A session that ended in order; a killed one leaves none."""

    kind: ClassVar[str] = "session_finished"
    number: int
    reason: str

    @property
    def key(self) -> str:
        return str(self.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicesWatched:
    """What the devices of a session did in its search so far, in seconds over all devices.

    count: counts these events of a session, from 0; each tells everything anew. busy_s: by what
    they worked on; idle_s: by what they waited for, as engine.device_time tells it.
    """

    kind: ClassVar[str] = "devices_watched"
    number: int  # the session's
    count: int
    busy_s: Mapping[str, float]
    idle_s: Mapping[str, float]

    @property
    def key(self) -> str:
        return f"{self.number}/{self.count}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesChanged:
    """On a cluster: what a session has from now on. count: counts these events of a session, from
    0, which tells what it began with. nodes: by name, the devices that measure there."""

    kind: ClassVar[str] = "nodes_changed"
    number: int  # the session's
    count: int
    nodes: Mapping[str, int]

    @property
    def key(self) -> str:
        return f"{self.number}/{self.count}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """A copy of the store was taken up on another node, after the event of number seq; what the
    lost node stored beyond it is lost. From here numbers go on after a gap, as MLflow may have been
    told of those. source: the copy's path; last_at, at: of its last event, and now, in seconds
    since 1970."""

    kind: ClassVar[str] = "restored"
    source: str
    seq: int
    last_at: float
    at: float

    @property
    def key(self) -> str:
        return str(self.seq)


SessionEvent = (
    CampaignStarted
    | SessionStarted
    | ForecastMade
    | SearchStarted
    | SearchEnded
    | SessionFinished
    | DevicesWatched
    | NodesChanged
    | Restored
)
