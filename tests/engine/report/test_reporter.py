"""The report of a campaign that runs: written now and then, and at the end."""

from pathlib import Path

from engine.report.reporter import EVERY_S, Reporter
from engine.store.store import read_events
from tests.engine import campaign_log as log


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_report_follows_the_log_at_its_own_pace(tmp_path: Path) -> None:
    store, page = tmp_path / "short" / "store.sqlite", tmp_path / "short" / "report.html"
    clock = Clock()
    reporter = Reporter(store.parent, clock)
    log.write(store, [*log.opening(log.config(tmp_path)), *log.middle()])
    reporter.record(read_events(store))
    reporter.write_if_due()
    assert not page.exists()  # a campaign's start has better things to do
    clock.now += EVERY_S
    reporter.write_if_due()
    assert "running" in page.read_text()
    page.unlink()
    clock.now += EVERY_S
    reporter.write_if_due()
    assert not page.exists()  # there is no news
    log.write(store, list(log.ending()))
    reporter.record(read_events(store, reporter.position))
    reporter.write()
    assert "evaluations spent" in page.read_text()
    assert reporter.trouble == ""


def test_a_report_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    store = tmp_path / "short" / "store.sqlite"
    log.write(store, list(log.opening(log.config(tmp_path))))
    nowhere = tmp_path / "taken"
    nowhere.write_text("a file")
    reporter = Reporter(nowhere)
    reporter.record(read_events(store))
    reporter.write()
    assert reporter.trouble.startswith(f"the report can't be written to {nowhere} (")
