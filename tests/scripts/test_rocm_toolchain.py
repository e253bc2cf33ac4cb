"""The script that fetches ROCm's compiler: what it prints, and that its failures are sentences."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "rocm_toolchain.sh"


def run(target: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [SCRIPT],
        env={"PATH": os.environ["PATH"], "KERNEL_SCIENTIST_ROCM": str(target), **environment},
        capture_output=True,
        text=True,
        timeout=580,
        check=False,
    )


@pytest.fixture
def needs_apt() -> None:
    if shutil.which("apt-get") is None:
        pytest.skip("no apt-get here: the script ends before it comes to this")


def test_a_fetched_folder_is_left_alone(tmp_path: Path) -> None:
    stamp = {"recipe": 1, "rung": "forky"}
    (tmp_path / "toolchain.json").write_text(json.dumps(stamp) + "\n")
    done = run(tmp_path)
    assert (done.returncode, json.loads(done.stdout), done.stderr) == (0, stamp, "")


@pytest.mark.usefixtures("needs_apt")
def test_an_unknown_rung_is_named(tmp_path: Path) -> None:
    done = run(tmp_path / "rocm", KERNEL_SCIENTIST_ROCM_RUNGS="sarge")
    assert done.returncode == 1
    assert "names sarge: choose from experimental, forky, clang" in done.stderr.splitlines()[-1]
    assert not (tmp_path / "rocm").exists()


@pytest.mark.usefixtures("needs_apt")
def test_a_mirror_that_does_not_answer_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    mirror = (tmp_path / "empty").as_uri()
    done = run(
        tmp_path / "rocm",
        KERNEL_SCIENTIST_DEBIAN_MIRROR=mirror,
        KERNEL_SCIENTIST_ROCM_RUNGS="forky clang",
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert "KERNEL_SCIENTIST_DEBIAN_MIRROR, or install ROCm" in done.stderr.splitlines()[-1]
    # Nothing half-made stays behind but the lock.
    assert [entry.name for entry in tmp_path.iterdir() if entry.name != "empty"] == ["rocm.lock"]
