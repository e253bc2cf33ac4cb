"""What gives emulated devices, who inherits it, and what it leaves as it was."""

from pathlib import Path

import pytest

from evaluators.cxx import CACHE_VARIABLE, COMPILER_VARIABLE
from evaluators.device import shown_alone, times
from evaluators.device_info import EMULATE, EMULATED_ORDER, BackendMissing, emulated, emulating
from evaluators.processes.stand_by import environment_of


def test_it_holds_for_a_while_and_is_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(EMULATE, raising=False)
    with emulating(True, "hip", asked_by="--emulate", order=7):
        assert emulated("hip") and not emulated("cuda")
        assert not times("hip")
        assert not shown_alone("hip")
        inherited = environment_of("hip", 1)
        assert (inherited[EMULATE], inherited[EMULATED_ORDER]) == ("1", "7")
        assert "HIP_VISIBLE_DEVICES" not in inherited
    assert not emulated("hip")
    assert times("hip") and shown_alone("hip")


def test_who_builds_the_emulator_inherits_the_compiler_and_the_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A measuring process has no HOME."""
    monkeypatch.setenv(COMPILER_VARIABLE, "clang++")
    monkeypatch.delenv(CACHE_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with emulating(True, "hip", asked_by="--emulate"):
        inherited = environment_of("hip", 0)
    assert inherited[COMPILER_VARIABLE] == "clang++"
    assert inherited[CACHE_VARIABLE] == str(tmp_path / "kernel-scientist")


def test_what_was_set_before_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(EMULATE, "1")
    with emulating(False, "cpu", asked_by="--emulate"):
        assert emulated("hip")
    assert emulated("hip")


@pytest.mark.parametrize("name", ["cpu", "cuda"])
def test_other_backends_have_no_emulator(name: str) -> None:
    with (
        pytest.raises(BackendMissing, match=f"goes with backend hip only, not with {name}"),
        emulating(True, name, asked_by="--emulate"),
    ):
        pass
