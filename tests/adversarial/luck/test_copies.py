"""No kernel wins over itself: campaigns of textually different equivalents on the cpu backend."""

from pathlib import Path

import pytest

from engine.campaign import run_campaign
from engine.store.run_folder import STORE
from evaluators.cpu.device import device_count
from scripts.copies import config, told, write_copies

pytestmark = [
    pytest.mark.usefixtures("in_this_process"),
    pytest.mark.skipif(device_count() == 0, reason="the cpu backend finds no compiler"),
]


def announced(folder: Path, *, copies: int, campaigns: int) -> list[str]:
    """Ids of the copies that became the best."""
    task = write_copies(folder / "copies", copies=copies, elements=4096, rounds=64)
    found = []
    for number in range(campaigns):
        name = f"copies-{number}"
        run_campaign(config(task, folder, name, "cpu", copies))
        made = told(folder / name / STORE)
        assert made["passed"] == copies + 1
        found += made["announced"]
    return found


@pytest.mark.soak
def test_no_copy_of_a_few_is_announced(tmp_path: Path) -> None:
    assert announced(tmp_path, copies=5, campaigns=1) == []


@pytest.mark.soak
def test_in_twenty_campaigns_of_thirty_copies_none_is_announced(tmp_path: Path) -> None:
    assert announced(tmp_path, copies=30, campaigns=20) == []
