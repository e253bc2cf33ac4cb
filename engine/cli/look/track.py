"""MLflow brought up to date with a stored campaign, outside of any run of it."""

from dataclasses import dataclass
from pathlib import Path

from engine.config import parse_config
from engine.config_errors import ConfigError
from engine.store.replay import replay
from engine.store.run_folder import STORE
from engine.store.store import read_events


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """trouble: one sentence; empty when MLflow knows everything. page: the campaign's there,
    after the server's address."""

    uri: str
    trouble: str
    page: str


def catch_up(run_dir: Path, uri: str | None = None) -> Told:
    """Tell MLflow what it does not know yet.

    uri: in place of the configuration's. Raises StoreError, ConfigError.
    """
    store = run_dir.resolve() / STORE
    stored = dict(replay(store).campaign.config)
    config = parse_config({**stored, "runs_dir": str(store.parents[1])}, where=str(store))
    uri = uri or config.tracking_uri
    if uri is None:
        raise ConfigError(
            f"{run_dir}: this campaign is not tracked; name MLflow's address by --uri"
        )
    from engine.tracking.tracker import Tracker

    tracker = Tracker(uri=uri, experiment=config.experiment, run_dir=store.parent)
    tracker.record(list(read_events(store)))
    tracker.finish()
    return Told(uri=uri, trouble=tracker.trouble, page=tracker.page)
