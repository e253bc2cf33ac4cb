"""A stored campaign's report, written by the command line."""

from pathlib import Path

from engine.cli.usage import UsageError
from engine.history.campaigns import state_of, store_of
from engine.history.history import read_history
from engine.report.report import write_report


def report_campaign(run: Path, out: Path | None) -> Path:
    """Where it is. Raises StoreError, UsageError."""
    store = store_of(run)
    history = read_history(store)
    state = state_of(history.replay, store)
    try:
        return write_report(history, store.parent, state=state, out=out)
    except OSError as error:
        where = out or store.parent
        raise UsageError(
            f"{where}: the report can't be written ({error.strerror}); name a file by --out"
        ) from None
