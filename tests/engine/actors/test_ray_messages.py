"""Ray's paragraphs about lost processes go to a file, through Ray's own listener."""

import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import ray

from engine.actors.ray_messages import to_file

PARAGRAPH = "(raylet) A worker died or was killed while executing a task.\nWorker ID: 1"


@pytest.fixture
def as_before() -> Iterator[None]:
    kept = ray._private.worker.print_to_stdstream
    yield
    ray._private.worker.print_to_stdstream = kept


def heard(stopped: threading.Event) -> Any:
    """As much of a connected driver as Ray's listener looks at; it is told one paragraph."""

    def poll() -> tuple[str, dict[str, Any]]:
        stopped.set()
        return "", {"job_id": None, "error_message": PARAGRAPH}

    subscriber = SimpleNamespace(subscribe=lambda: None, poll=poll)
    job = SimpleNamespace(binary=lambda: b"1")
    return SimpleNamespace(gcs_error_subscriber=subscriber, current_job_id=job)


def test_what_ray_prints_on_a_drivers_terminal_is_in_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], as_before: None
) -> None:
    to_file(tmp_path / "ray.log")
    stopped = threading.Event()
    ray._private.worker.listen_error_messages(heard(stopped), stopped)
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "")
    assert (tmp_path / "ray.log").read_text() == f"{PARAGRAPH}\n"
