"""Profiling one kernel: which one, what is said of it, what is kept of it and where."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from engine.cli import main as cli
from engine.cli.look.subject import find_kernel
from engine.cli.usage import UsageError
from engine.config import CampaignConfig
from engine.store.events import Added, Drafted, EpochStarted, Evaluated, Event
from engine.store.kinds.sessions import CampaignStarted
from engine.store.replay import replay
from engine.tracking.upload import upload
from evaluators.evaluation import Status
from evaluators.kernel.source import kernel_id
from evaluators.tasks.task_file import load_task
from operators.individual import Candidate
from scripts.bench_engine import INFO
from tests.engine import campaign_log as log
from tests.evaluators.profile.test_profile import FIXTURES, NCU, ROCPROFV3, put_tool

SOFTMAX = load_task("softmax")
NAIVE = kernel_id(SOFTMAX.naive)
OTHER = SOFTMAX.naive + "// another one\n__device__ int other;\n"
FAILED = SOFTMAX.naive + "// one that fails\n__device__ int fails;\n"


def campaign(folder: Path, backend: str, tracking: str = "none") -> Path:
    """Two kernels that passed, one that did not compile. Returns its folder."""
    settings = CampaignConfig.model_validate(
        {
            "task": "softmax",
            "backend": backend,
            "name": "short",
            "runs_dir": folder,
            "tracking": tracking,
            "islands": {"count": 1},
        }
    )
    events = [of_softmax(one) for one in log.opening(settings)]
    for cycle, (source, speedup) in enumerate([(OTHER, 2.0), (FAILED, None)], start=1):
        steps = log.step(0, cycle, kernel_id(source), NAIVE, speedup)
        events += [of_softmax(one, source) for one in steps]
    log.write(folder / "short" / "store.sqlite", [*events, *log.ending()])
    return folder / "short"


def of_softmax(event: Event, source: str = SOFTMAX.naive) -> Event:
    """About a kernel of that text; one that failed did not compile."""
    match event:
        case CampaignStarted():
            return replace(event, baseline_id=NAIVE, task_hash=SOFTMAX.hash)
        case Drafted():
            candidate = Candidate.from_source(source)
            return replace(event, kernel_id=kernel_id(source), candidate=candidate)
        case Evaluated():
            verdict = replace(event.evaluation, kernel_id=kernel_id(source))
            if not verdict.passed:
                broken = {"status": Status.COMPILE_ERROR, "reason": "line 3: no"}
                verdict = replace(verdict, **broken)  # type: ignore[arg-type]
            return replace(event, evaluation=verdict)
        case EpochStarted():
            return replace(event, anchor_id=NAIVE)
        case Added():
            return replace(event, kernel_id=kernel_id(source))
        case _:
            return event


def shown(*arguments: str | Path) -> int:
    return cli.main(["profile", *map(str, arguments)])


def kept(run: Path) -> Path:
    [folder] = (run / "profiles").glob("*/*")
    return folder


def test_the_best_under_ncu_with_its_tables_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = campaign(tmp_path / "runs", "cuda")
    write = NCU.format(fixture="ncu_memory_bound.csv") + 'print("==PROF== done")\n'
    put_tool(tmp_path / "ncu", write, monkeypatch)
    assert shown(run) == 0
    out = capsys.readouterr().out
    best = kernel_id(OTHER)[:12]
    largest = max(
        SOFTMAX.workloads("benchmarks", "cuda"), key=lambda one: one.dims["R"] * one.dims["C"]
    )
    assert out.startswith(f"{best} of short on {largest.label}, by ncu in ")
    assert "bound by device memory (88% of memory bandwidth" in out
    assert "3 launches, 135 µs, 88.4% of memory bandwidth" in out
    assert "measured in the campaign's search" in out
    folder = kept(run)
    assert (folder.parent.name, folder.name.endswith("-ncu")) == (best, True)
    assert (folder / "raw" / "ncu.csv").read_text() == (
        FIXTURES / "ncu_memory_bound.csv"
    ).read_text()
    assert "==PROF== done" in (folder / "raw" / "said.txt").read_text()
    assert (folder / "kernel.hip").read_text() == OTHER
    assert "bound by device memory" in (folder / "advice.txt").read_text()
    told = json.loads((folder / "profile.json").read_text())
    assert (told["kernel_id"], told["tool"], told["shape"]) == (
        kernel_id(OTHER),
        "ncu",
        largest.label,
    )
    assert told["kernels"][0]["registers"] == 24 and told["times_us"]


def test_the_seed_under_rocprofv3_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = campaign(tmp_path / "runs", "hip")
    put_tool(tmp_path / "rocprofv3", ROCPROFV3, monkeypatch)
    info = replace(INFO, peak_bytes_per_s={"dram": 5.3e12})  # there is no GPU to open
    monkeypatch.setattr("evaluators.profile.profiler._info", lambda _: info)
    shape = SOFTMAX.workloads("benchmarks", "hip")[0].label
    assert shown(run, "seed", "--shape", shape, "--json", "--out", tmp_path / "mine") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["kernel_id"], told["tool"], told["shape"]) == (NAIVE, "rocprofv3", shape)
    assert told["advice"][0].startswith("void gemm<32, 128, 128, 64>")
    assert told["folder"] == str(tmp_path / "mine")
    tables = list((tmp_path / "mine" / "raw").glob("*/*_counter_collection.csv"))
    assert len(tables) == 7 and not (run / "profiles").exists()


def test_a_tool_that_breaks_leaves_what_it_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = campaign(tmp_path / "runs", "cuda")
    put_tool(tmp_path / "ncu", "sys.exit('its driver is too old')", monkeypatch)
    assert shown(run) == 1
    assert capsys.readouterr().err.startswith("kernel-scientist: ncu: no table in its output")
    assert "too old" in (kept(run) / "raw" / "said.txt").read_text()


def test_without_a_tool_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = campaign(tmp_path / "runs", "cuda")
    monkeypatch.setattr("evaluators.profile.profiler.find_tool", lambda _: None)
    assert shown(run, "--json") == 1
    said = capsys.readouterr()
    assert json.loads(said.out)["reason"] == "ncu is not on PATH, so there is no profile"
    assert "ncu is not on PATH" in said.err and not (run / "profiles").exists()


def test_a_kernel_that_did_not_compile_is_not_profiled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = campaign(tmp_path / "runs", "cuda")
    assert shown(run, kernel_id(FAILED)[:8]) == 1
    assert capsys.readouterr().err == "kernel-scientist: COMPILE_ERROR: line 3: no\n"


def test_on_cpu_the_compiler_says_what_it_made_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = campaign(tmp_path / "runs", "cpu")
    assert shown(run, "seed") == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{NAIVE[:12]} of short, by ") and "vectorised" in out
    told = json.loads((kept(run) / "profile.json").read_text())
    assert any("vectorised" in sentence for sentence in told["advice"])
    assert shown(run, "seed", "--shape", "R=64 C=8192") == 2
    assert "--shape is for a profiler" in capsys.readouterr().err


def test_a_file_that_is_in_no_campaign(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.hip"
    file.write_text(SOFTMAX.naive)
    assert shown(file, "--task", "softmax", "--backend", "cpu") == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{file}, by ") and "kept" not in out
    assert shown(file, "--task", "softmax", "--backend", "cpu", "--out", tmp_path / "it") == 0
    assert (tmp_path / "it" / "kernel.hip").read_text() == SOFTMAX.naive
    file.write_text(SOFTMAX.naive.replace("expf(", "exqf("))
    capsys.readouterr()
    assert shown(file, "--task", "softmax", "--backend", "cpu") == 1
    assert "COMPILE_ERROR" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{run}", "zz"], "no kernel begins with 'zz'"),
        (["{run}", "best", "--task", "softmax"], "has a task and a backend of its own"),
        (["{run}/none.hip"], "for a kernel file its --task and --backend"),
        (["{run}/none.hip", "--task", "softmax", "--backend", "cpu"], "it can't be read"),
        (["{run}/none.hip", "best"], "no campaign's folder: leave out 'best'"),
        (["{run}", "--shape", "N=1"], "softmax has no benchmark shape 'N=1': choose one of R="),
    ],
)
def test_wrong_usage_is_one_sentence(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = campaign(tmp_path / "runs", "cuda")
    assert shown(*(one.format(run=run) for one in arguments)) == 2
    err = capsys.readouterr().err
    assert said in err and len(err.splitlines()) == 1


def test_a_prefix_of_two_names_both(tmp_path: Path) -> None:
    log.write(
        tmp_path / "store.sqlite",
        [
            *log.opening(log.config(tmp_path)),
            *log.step(0, 1, "tile", "seed", 3.0),
            *log.step(0, 2, "tilt", "seed", 4.0),
            *log.step(0, 3, "til", "seed", 4.0),
        ],
    )
    whole = replay(tmp_path / "store.sqlite")
    with pytest.raises(UsageError, match=r"3 kernels begin with 'ti', tile, tilt, til: name one"):
        find_kernel(whole, "ti", where=tmp_path)
    assert find_kernel(whole, "til", where=tmp_path) == "til"
    assert find_kernel(whole, "TILT", where=tmp_path) == "tilt"
    with pytest.raises(UsageError, match=r"'tilx' \(did you mean til\?\); the fastest are til"):
        find_kernel(whole, "tilx", where=tmp_path)


@pytest.mark.soak
def test_mlflow_shows_it_with_the_campaign(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from mlflow import MlflowClient

    run = campaign(tmp_path / "runs", "cpu", tracking="sqlite")
    assert shown(run, "seed") == 0
    assert "note: MLflow was not told: there is no" in capsys.readouterr().err
    uri = f"sqlite:///{tmp_path / 'runs' / 'mlflow.db'}"
    assert cli.main(["track", str(run)]) == 0
    first = kept(run)
    for file in first.iterdir():
        file.unlink()
    first.rmdir()
    assert shown(run, "seed") == 0
    assert "note" not in capsys.readouterr().err
    client = MlflowClient(uri)
    experiment = client.get_experiment_by_name("kernel-scientist/softmax")
    assert experiment is not None
    wanted = "tags.`kernel_scientist.island` = 'all'"
    [whole] = client.search_runs([experiment.experiment_id], wanted)
    at = f"profiles/{NAIVE[:12]}/{kept(run).name}"
    found = {one.path for one in client.list_artifacts(whole.info.run_id, at)}
    assert {f"{at}/kernel.hip", f"{at}/advice.txt", f"{at}/profile.json"} <= found


@pytest.mark.long
def test_a_server_that_is_away_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    trouble = upload(
        tmp_path,
        uri="http://127.0.0.1:9",
        experiment="kernel-scientist",
        campaign="short/1",
        under="profiles",
    )
    assert trouble == "MLflow at http://127.0.0.1:9 does not answer"
