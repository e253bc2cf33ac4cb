"""A campaign's folder and its store, made before anything else that can be killed."""

from pathlib import Path

from engine.config_errors import ConfigError
from engine.store.events import Event, to_row
from engine.store.kinds.sessions import CampaignStarted
from engine.store.kinds.steering import Injected
from engine.store.kinds.task import TaskKept
from engine.store.store import Store

STORE = "store.sqlite"
REPORT, PLOTS = "report.html", "plots"
FINDINGS = "findings.yaml"
RAY_LOG = "ray.log"
"""What Ray had to say, if anything."""


def begin_store(
    run_dir: Path, campaign: CampaignStarted, *carried: Injected, task: TaskKept | None = None
) -> None:
    """Make the folder and a store that can be resumed. carried: what the campaign begins with of
    another one; task: its files, where it is no shipped one. Raises ConfigError, StoreError."""
    try:
        run_dir.mkdir(parents=True, exist_ok=True)
        (run_dir / STORE).touch()
    except OSError as error:
        raise ConfigError(
            f"runs_dir: {run_dir} can't be made or written to ({error.strerror}); name a folder "
            "that you may write to"
        ) from None
    with Store(run_dir / STORE) as store:
        events: list[Event] = [campaign, *filter(None, [task]), *carried]
        store.append(list(map(to_row, events)))


def discard_store(run_dir: Path) -> None:
    """Take back what begin_store() made: the campaign can't start with its configuration."""
    for path in run_dir.glob(f"{STORE}*"):
        path.unlink()
    if not any(run_dir.iterdir()):
        run_dir.rmdir()
