"""configs/cluster/slurm.sh, with doubles of Slurm's commands: what it refuses, starts and ends."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from engine.store.replay import replay
from evaluators.cpu.device import device_count
from tests.engine.ports import free_port
from tests.engine.ray_head import BIN
from tests.engine.small_tasks import small

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "configs" / "cluster" / "slurm.sh"

SRUN = """#!/bin/bash
# One more process on this machine, which ends with this one.
while [[ $1 == --* ]]; do [[ $1 == --nodelist=* ]] && node=${1#*=}; shift; done
echo "$node: $*" >> "$SAID"
exec "$@"
"""
SCONTROL = "#!/bin/bash\necho one\necho two\n"
RAY = """#!/bin/bash
case "$1" in
    status) for _ in $(cat "$UP" 2>/dev/null); do echo " 1 node_of_ours"; done ;;
    start)
        echo up >> "$UP"
        trap 'echo "ray ended" >> "$SAID"; kill $!; exit' TERM
        sleep 60 &
        wait ;;
esac
"""
SCIENTIST = """#!/bin/bash
echo "campaign $RAY_AUTH_MODE ${#RAY_AUTH_TOKEN}: $*" >> "$SAID"
trap 'echo "ends in order" >> "$SAID"; exit 0' TERM
[[ -z ${LONG:-} ]] || for _ in {1..600}; do sleep 0.1; done
exit 7
"""


def put(folder: Path, programs: Mapping[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in programs.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., "subprocess.Popen[str]"]:
    """The script in a checkout of doubles, in an allocation of two nodes."""
    put(tmp_path / "slurm", {"srun": SRUN, "scontrol": SCONTROL})
    put(tmp_path / ".venv" / "bin", {"ray": RAY, "kernel-scientist": SCIENTIST})
    (tmp_path / "mine.yaml").write_text("task: softmax\n")
    (tmp_path / "copies").mkdir()

    def begin(*words: str, **variables: str) -> "subprocess.Popen[str]":
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("SLURM")},
            "PATH": f"{tmp_path / 'slurm'}{os.pathsep}{os.environ['PATH']}",
            "SAID": str(tmp_path / "said"),
            "UP": str(tmp_path / "up"),
            "SLURM_JOB_ID": "12",
            "SLURM_JOB_NODELIST": "n[1-2]",
            "KS_LOCAL": str(tmp_path / "local"),
            **variables,
        }
        return subprocess.Popen(
            [SCRIPT, *words],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    return begin


@pytest.mark.parametrize(
    ("words", "variables", "says"),
    [
        (("mine.yaml",), {}, "name a configuration, the campaign and a shared folder"),
        (("none.yaml", "it", "copies"), {}, "none.yaml is no file"),
        (("mine.yaml", "it", "none"), {}, "none is no folder"),
        (("mine.yaml", "it", "copies"), {"SLURM_JOB_ID": ""}, "inside an allocation"),
    ],
)
def test_what_it_refuses_it_says_in_one_sentence(
    start: Callable[..., "subprocess.Popen[str]"],
    words: tuple[str, ...],
    variables: dict[str, str],
    says: str,
) -> None:
    process = start(*words, **variables)
    _, error = process.communicate(timeout=60)
    assert (process.returncode, len(error.splitlines())) == (2, 1)
    assert says in error


def test_it_starts_a_head_a_worker_and_the_campaign_and_ends_all(
    start: Callable[..., "subprocess.Popen[str]"], tmp_path: Path
) -> None:
    process = start("mine.yaml", "it", "copies", "budgets.evaluations=5", KS_HEAD_IP="10.1.2.3")
    process.communicate(timeout=60)
    assert process.returncode == 7  # the campaign's
    head, worker, campaign, *ended = (tmp_path / "said").read_text().splitlines()
    assert head.startswith("one: ray start --head --node-ip-address=10.1.2.3 --port=20012")
    assert worker.startswith("two: ray start --address=10.1.2.3:20012")
    assert campaign == (
        "campaign token 32: run --or-resume mine.yaml name=it ray.address=10.1.2.3:20012 "
        f"runs_dir={tmp_path / 'local'}/runs snapshots.folder=copies budgets.evaluations=5"
    )
    assert ended == ["ray ended", "ray ended"]


def test_a_signal_before_the_time_is_up_ends_the_campaign_in_order(
    start: Callable[..., "subprocess.Popen[str]"], tmp_path: Path
) -> None:
    process = start("mine.yaml", "it", "copies", LONG="1")
    said = tmp_path / "said"
    until = time.monotonic() + 60
    while "campaign" not in (said.read_text() if said.exists() else ""):
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.05)
    process.terminate()  # as --signal=B:TERM@600 does: this script alone is told
    process.communicate(timeout=60)
    assert process.returncode == 0
    *_, order, first, second = said.read_text().splitlines()
    assert (order, first, second) == ("ends in order", "ray ended", "ray ended")


@pytest.mark.soak
@pytest.mark.skipif(device_count() == 0, reason="the cpu backend finds no compiler")
def test_a_campaign_on_two_nodes_ends_by_a_signal_and_goes_on_elsewhere(
    start: Callable[..., "subprocess.Popen[str]"], tmp_path: Path
) -> None:
    for name in ("ray", "kernel-scientist"):
        (tmp_path / ".venv" / "bin" / name).unlink()
        (tmp_path / ".venv" / "bin" / name).symlink_to(BIN / name)
    task = small("transpose", tmp_path / "mine")
    (tmp_path / "mine.yaml").write_text(
        f"task: {task}\ntracking: none\nbudgets: {{evaluations: 400}}\nfinal: {{seconds: 0}}\n"
        "snapshots: {every_s: 2}\n"
    )
    words = ("mine.yaml", "it", str(tmp_path / "copies"))
    outside = {"PYTHONPATH": str(ROOT), "KS_HEAD_IP": "127.0.0.1"}
    process = start(*words, SLURM_JOB_ID=str(free_port()), **outside)
    copy = tmp_path / "copies" / "it.sqlite"
    until = time.monotonic() + 240
    while not copy.exists() or len(replay(copy).scores.evaluations) < 3:
        assert time.monotonic() < until and process.poll() is None, process.communicate()
        time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    _, error = process.communicate(timeout=240)
    assert process.returncode == 0, error
    before = replay(copy)
    assert before.ended == "interrupted"

    again = {**outside, "KS_LOCAL": str(tmp_path / "elsewhere")}
    more = f"budgets.evaluations={len(before.scores.evaluations) + 2}"
    process = start(*words, more, SLURM_JOB_ID=str(free_port()), **again)
    while len(replay(copy).scores.evaluations) < len(before.scores.evaluations) + 2:
        assert time.monotonic() < until + 240 and process.poll() is None, process.communicate()
        time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    _, error = process.communicate(timeout=240)
    assert "nothing is lost" in error and process.returncode == 0, error
    summary = json.loads((tmp_path / "elsewhere" / "runs" / "it" / "summary.json").read_text())
    assert summary["resumed"]
