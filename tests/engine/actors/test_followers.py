"""Actors that follow a campaign, as its driver sees them: their order, and what breaks in them."""

import asyncio
from collections.abc import Iterator

import pytest

from engine.actors.followers import Follower
from tests.engine.local_ray import Local


class Slow:
    """Takes its time to open, and can do nothing before."""

    async def open(self) -> None:
        await asyncio.sleep(0.2)
        self._read = 3

    async def catch_up(self) -> tuple[str, str]:
        return "", f"{self._read} read"

    async def finish(self) -> tuple[str, str]:
        return "", f"all {self._read} read"


class Unready(Slow):
    async def open(self) -> None:
        raise ModuleNotFoundError("No module named 'mlflow'")


class Broken(Slow):
    async def finish(self) -> tuple[str, str]:
        raise ValueError("a slip of ours")


@pytest.fixture
def local(monkeypatch: pytest.MonkeyPatch) -> Iterator[Local]:
    local = Local()
    monkeypatch.setattr("engine.actors.followers.ray", local)
    yield local
    local.close()


def following(local: Local, kind: type) -> Follower:
    actor = local.remote(kind).remote()
    return Follower(actor, actor.open.remote(), does="tells MLflow", takes="MLflow took")


def test_a_campaign_that_ends_before_it_is_open(local: Local) -> None:
    follower = following(local, Slow)
    assert follower.finish() == ""
    assert follower.told == "all 3 read"


def test_what_breaks_costs_a_sentence(local: Local) -> None:
    follower = following(local, Broken)
    said = "the process that tells MLflow broke: ValueError: a slip of ours"
    assert follower.finish() == said
    assert follower.catch_up() == said


def test_what_cannot_begin_says_so(local: Local) -> None:
    follower = following(local, Unready)
    said = "the process that tells MLflow can't begin: No module named 'mlflow'"
    assert follower.finish() == said
