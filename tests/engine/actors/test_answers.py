"""What the driver is told of the processes that it waits for."""

import pytest
import ray
from ray.exceptions import ActorDiedError, RayTaskError, WorkerCrashedError

from engine.actors import answers
from engine.dispatch.workbench import Broken
from engine.ending import CampaignFailed


def raised(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def get(references: object, *, timeout: float | None = None) -> object:
        raise error

    monkeypatch.setattr(ray, "get", get)
    answers.answer([])


def of(cause: Exception) -> RayTaskError:
    return RayTaskError("run", "its traceback", cause)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize(
    "error",
    [ActorDiedError(), WorkerCrashedError(), of(ActorDiedError()), of(of(ActorDiedError()))],
    ids=["that was asked", "its worker", "that it asked", "further on"],
)
def test_a_lost_process_is_a_sentence_wherever_it_was(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    with pytest.raises(CampaignFailed, match=r"^a process of the campaign was lost; .*resume"):
        raised(monkeypatch, error)


def test_what_broke_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CampaignFailed, match=r"^a part of it broke: no disk; .*resume"):
        raised(monkeypatch, of(Broken("no disk")))


def test_a_fault_of_the_code_is_raised_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZeroDivisionError):
        raised(monkeypatch, of(ZeroDivisionError()))
