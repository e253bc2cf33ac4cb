"""A campaign's report written beside its store: report.html, and its plots as files."""

import os
import time
from errno import EEXIST, EISDIR
from pathlib import Path

from engine.history.campaigns import State
from engine.history.history import History
from engine.report.page import make_page
from engine.store.run_folder import PLOTS, REPORT

SQLITE = b"SQLite format 3"
"""How the files of databases begin, such as stores."""


def write_report(
    history: History,
    run_dir: Path,
    *,
    state: State,
    out: Path | None = None,
    made_at: float | None = None,
) -> Path:
    """Write the page of what is in the history by now, and return where it is.

    The one entry point, for the command and for whoever follows a campaign's log: it reads no
    store and changes no history. state: of the campaign; a page made while it runs says so.
    out: the page alone, there; by default run_dir/report.html, with run_dir/plots/*.svg. made_at:
    seconds since 1970, now by default; all else is the same for the same history. Every file is
    replaced in one step. Raises OSError.
    """
    run_dir = run_dir.resolve()
    now = time.time() if made_at is None else made_at
    page = make_page(history, run_dir, state=state, made_at=now)
    if out is None:
        (run_dir / PLOTS).mkdir(parents=True, exist_ok=True)
        for plot in page.plots:
            _put(run_dir / PLOTS / f"{plot.name}.svg", plot.svg)
    target = run_dir / REPORT if out is None else out
    _put(target if out is None else _page(out), page.html)
    return target


def _page(out: Path) -> Path:
    """Where a page may be put. Raises OSError: what is there is something else."""
    if out.is_dir():
        raise IsADirectoryError(EISDIR, "this is a folder", str(out))
    if out.exists() and not out.is_file():
        raise FileExistsError(EEXIST, "this is no regular file", str(out))
    if out.is_file() and out.open("rb").read(len(SQLITE)) == SQLITE:
        raise FileExistsError(EEXIST, "a database is there", str(out))
    return out.resolve()


def _put(path: Path, text: str) -> None:
    """In one step. The command and a running campaign may write the same file."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        partial.write_text(text, encoding="utf-8", errors="backslashreplace")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
