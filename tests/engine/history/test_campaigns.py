"""Whether a campaign runs, ended or was killed, told from its store alone."""

from pathlib import Path

import pytest

from engine.history.campaigns import state_of, store_of, stores_in
from engine.store.replay import replay
from engine.store.store import Store, StoreError, driving, is_driven
from tests.engine import campaign_log as log


def test_the_state_is_the_writers_and_the_last_sessions(tmp_path: Path) -> None:
    path = tmp_path / "short" / "store.sqlite"
    log.write(path, list(log.opening(log.config(tmp_path)))[:1])
    with driving(path):
        assert is_driven(path)
        assert state_of(replay(path), path) == "starting"
    log.write(path, [*log.opening(log.config(tmp_path)), *log.middle()])
    assert not is_driven(path)
    assert state_of(replay(path), path) == "killed"
    with Store(path):  # as older versions, whose drivers left no mark
        assert state_of(replay(path), path) in ("starting", "running")
    log.write(path, list(log.ending()))
    assert state_of(replay(path), path) == "ended"


def test_looking_whether_it_runs_keeps_no_writer_away(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with Store(path):
        pass
    assert not is_driven(path)
    with Store(path, lock_wait_s=0.0):
        assert is_driven(path)


def test_campaigns_are_found_by_folder(tmp_path: Path) -> None:
    for name in ("b", "a"):
        log.write(tmp_path / name / "store.sqlite", list(log.opening(log.config(tmp_path))))
    (tmp_path / "mlartifacts").mkdir()
    assert [store.parent.name for store in stores_in(tmp_path)] == ["a", "b"]
    store = tmp_path / "a" / "store.sqlite"
    assert store_of(tmp_path / "a") == store_of(store) == store
    with pytest.raises(StoreError, match="no campaign is here"):
        store_of(tmp_path / "mlartifacts")
