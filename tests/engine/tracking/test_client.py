"""MLflow is given no database of another program, and none that can't be opened."""

import sqlite3
from pathlib import Path

import pytest

from engine.cli.main import main
from engine.tracking.reading import TrackingError, read_campaigns
from tests.engine import campaign_log as log


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    events = [*log.opening(log.config(tmp_path)), *log.middle(), *log.ending()]
    log.write(tmp_path / "short" / "store.sqlite", events)
    return tmp_path / "short"


def test_a_store_is_no_database_of_mlflow(
    run_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = run_dir / "store.sqlite"
    before = store.read_bytes()
    uri = f"sqlite:///{store}"
    assert main(["track", str(run_dir), "--uri", uri]) == 1
    assert main(["compare", "--experiment", "x", "--uri", uri, "--no-plot"]) == 2
    for sentence in capsys.readouterr().err.splitlines():
        assert "holds tables of another program (events" in sentence
    assert store.read_bytes() == before


def test_what_is_no_database_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "junk.db").write_bytes(b"\x01junk" * 1000)
    with pytest.raises(TrackingError, match=r"junk\.db can't be opened as its database"):
        read_campaigns(f"sqlite:///{tmp_path / 'junk.db'}", "x", "", ())


def test_a_database_that_can_not_be_made_is_told_at_once(
    run_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["track", str(run_dir), "--uri", f"sqlite:///{run_dir}/no/where.db"]) == 1
    assert "can't be opened as its database" in capsys.readouterr().err


def test_an_empty_file_becomes_one(run_dir: Path) -> None:
    (run_dir.parent / "new.db").touch()
    uri = f"sqlite:///{run_dir.parent / 'new.db'}"
    assert main(["track", str(run_dir), "--uri", uri]) == 0
    with sqlite3.connect(run_dir.parent / "new.db") as made:
        assert made.execute("SELECT count(*) FROM runs").fetchone()[0] > 0
