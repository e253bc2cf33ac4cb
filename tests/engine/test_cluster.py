"""Ray's start on a machine that is too busy for it."""

from pathlib import Path
from typing import Any

import pytest
import ray

from engine.cluster import layout, ray_session
from engine.config import parse_config
from evaluators.cpu import device_count

pytestmark = pytest.mark.skipif(device_count() == 0, reason="the cpu backend finds no compiler")

TOO_LATE = "The current node timed out during startup. This could happen because of load."


@pytest.mark.parametrize(("late", "starts"), [(0, True), (3, True), (4, False)])
def test_a_start_that_ray_gave_up_is_tried_again(
    late: int, starts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders: list[Path] = []

    def init(*, _temp_dir: str, **_: Any) -> None:
        folders.append(Path(_temp_dir))
        if len(folders) <= late:
            raise Exception(TOO_LATE)

    monkeypatch.setattr(ray, "init", init)
    config = parse_config({"task": "sgemm"}, where="test")
    if starts:
        with ray_session(config, layout(config)):
            assert folders[-1].is_dir()
    else:
        with pytest.raises(Exception, match="timed out"), ray_session(config, layout(config)):
            pass
    assert len(set(folders)) == late + starts
    assert not any(folder.exists() for folder in folders)


def test_any_other_failure_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def init(**_: Any) -> None:
        calls.append(1)
        raise ValueError("no such address")

    monkeypatch.setattr(ray, "init", init)
    config = parse_config({"task": "sgemm"}, where="test")
    with pytest.raises(ValueError, match="no such"), ray_session(config, layout(config)):
        pass
    assert len(calls) == 1
