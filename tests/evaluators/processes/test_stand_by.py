"""A measuring process that stands by: taken by who needs one, and ended with its keeper."""

import os
import signal

import pytest

from evaluators.device_info import BackendMissing
from evaluators.processes.messages import Hello
from evaluators.processes.stand_by import StandBy, environment_of


def test_what_was_prepared_is_taken_once() -> None:
    with StandBy("cpu") as stand_by:
        stand_by.prepare()
        waiting = stand_by._waiting
        taken, further = stand_by.take(), stand_by.take()
        try:
            assert taken is waiting
            assert further is not taken
            assert taken.ask(Hello(backend="cpu", index=0)).error is None
        finally:
            taken.end()
            further.end()


def test_one_that_died_while_it_waited_is_not_given() -> None:
    with StandBy("cpu") as stand_by:
        stand_by.prepare()
        waiting = stand_by._waiting
        assert waiting is not None
        os.kill(waiting.pid, signal.SIGKILL)
        os.waitid(os.P_PID, waiting.pid, os.WEXITED | os.WNOWAIT)
        taken = stand_by.take()
        try:
            assert taken is not waiting
            assert taken.ask(Hello(backend="cpu", index=0)).error is None
        finally:
            taken.end()


def test_what_nobody_took_ends_with_its_keeper() -> None:
    stand_by = StandBy("cpu")
    stand_by.prepare()
    waiting = stand_by._waiting
    assert waiting is not None
    stand_by.close()
    assert not waiting.alive()


def test_a_process_sees_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "never")
    environment = environment_of("cpu", 0)
    assert "OPENAI_API_KEY" not in environment
    assert environment["OPENBLAS_NUM_THREADS"] == "1"


@pytest.mark.parametrize(("shown", "index", "wanted"), [(None, 2, "2"), ("5, 7", 1, "7")])
def test_one_gpu_is_visible(
    monkeypatch: pytest.MonkeyPatch, shown: str | None, index: int, wanted: str
) -> None:
    monkeypatch.delenv("HIP_VISIBLE_DEVICES", raising=False)
    if shown is not None:
        monkeypatch.setenv("HIP_VISIBLE_DEVICES", shown)
    assert environment_of("hip", index)["HIP_VISIBLE_DEVICES"] == wanted


def test_a_device_that_is_not_shown_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    with pytest.raises(BackendMissing, match="CUDA_VISIBLE_DEVICES shows 3: there is no device 1"):
        environment_of("cuda", 1)
