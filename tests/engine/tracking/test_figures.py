"""One figure of the best, and what it means, wherever it is told."""

import json
import math
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from mlflow import MlflowClient

from engine.cli.figures import best_text
from engine.cli.result import result_lines
from engine.history.glance import glance
from engine.history.history import read_history
from engine.history.revisions_told import demoted_text
from engine.report.report import write_report
from engine.store.events import Evaluated, Event
from engine.store.kinds.contests import Contested, FinalMeasurement
from engine.store.kinds.sessions import SearchEnded
from engine.store.replay import replay
from engine.store.summary import summarise, write_results
from engine.tracking.tracker import Tracker
from evaluators.evaluation import Beside
from evaluators.measuring.sittings import meaning
from tests.engine import campaign_log as log

CONTEST = Contested(
    number=0,
    kernel_id="tile",
    rival_id="wide",
    why="end",
    outcome="won",
    ratio=(1.06, 1.02, 1.1),
    gains=dict.fromkeys(log.LABELS, 0.058),
    speedup=5.5,
    ci95=(5.2, 5.8),
    ci99=(5.1, 5.9),
    sittings=6,
)
FINAL = FinalMeasurement(
    number=0,
    kernel_id="tile",
    speedup=5.25,
    ci95=(4.75, 5.8),
    ci99=(4.5, 6.1),
    sittings=5,
    rivals={"wide": (1.05, 1.01, 1.09)},
    busy="the machine was busy: so it was",
)


def events(folder: Path) -> Iterator[Event]:
    settings = log.config(folder)
    yield from log.opening(settings)
    yield from log.middle()
    yield SearchEnded(number=0, reason="evaluations spent")
    yield CONTEST
    yield FINAL
    yield from log.ending()


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    log.write(tmp_path / "short" / "store.sqlite", [*events(tmp_path)])
    return tmp_path / "short"


def test_summary_result_and_progress_say_the_final_figure(run_dir: Path) -> None:
    whole = replay(run_dir / "store.sqlite")
    summary = write_results(whole, run_dir)
    best = json.loads((run_dir / "summary.json").read_text())["best"]
    assert (best["id"], best["speedup"], best["ci95"]) == ("tile", 5.25, [4.75, 5.8])
    assert best["meaning"] == meaning(5) and best["sittings"] == 5
    assert best["search"] == {"speedup": 3.0, "ci95": [pytest.approx(2.7), pytest.approx(3.3)]}
    assert best["busy"] == FINAL.busy
    text = "\n".join(result_lines(summary, whole, None))
    assert "found tile: 5.25x the naive seed (95% interval 4.75 to 5.80)" in text
    assert meaning(5) in text and FINAL.busy in text
    assert "beside wide it was 1.05x as fast (95% interval 1.01 to 1.09)" in text
    assert best_text(whole.scores.best) == "5.25x [4.75, 5.80] tile"


def test_a_demotion_is_told(run_dir: Path) -> None:
    whole = replay(run_dir / "store.sqlite")
    sentence = (
        "wide is the best no more: measured again beside it, tile is 1.06x as fast (99% interval "
        "1.02 to 1.10)"
    )
    assert demoted_text(whole.scores.titles.demotions[0]) == sentence
    summary = summarise(whole, run_dir)
    assert summary.demotions == 1
    assert sentence in [*result_lines(summary, whole, None)]
    with sqlite3.connect(run_dir / "store.sqlite") as connection:
        rows = connection.execute("SELECT kernel_id, why, outcome, ratio FROM contests").fetchall()
    connection.close()
    assert rows == [("tile", "end", "won", 1.06)]


def test_mlflow_says_it_too(run_dir: Path, tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    follower = Tracker(uri=uri, experiment="kernel-scientist", run_dir=run_dir)
    follower.record(log.read(run_dir / "store.sqlite"))
    follower.finish()
    assert follower.trouble == ""
    client = MlflowClient(uri)
    experiment = client.get_experiment_by_name("kernel-scientist")
    assert experiment is not None
    runs = client.search_runs([experiment.experiment_id])
    (campaign,) = [run for run in runs if "mlflow.parentRunId" not in run.data.tags]
    values = campaign.data.metrics
    told = (values["best_speedup"], values["best_speedup_low"], values["best_speedup_high"])
    assert told == (5.25, 4.75, 5.8) and values["contests"] == 1
    assert campaign.data.tags["best_speedup_means"] == meaning(5)


def test_what_was_not_measured_again_says_so(tmp_path: Path) -> None:
    settings = log.config(tmp_path)
    run_dir = tmp_path / "short"
    log.write(run_dir / "store.sqlite", [*log.opening(settings), *log.middle()])
    whole = replay(run_dir / "store.sqlite")
    best = summarise(whole, run_dir).best
    assert best is not None and best.meaning == "from one race of the search; not measured again"
    assert whole.lacks_final
    shutil.rmtree(run_dir)


def test_the_time_of_the_last_measurement_is_not_the_searchs(run_dir: Path) -> None:
    whole = replay(run_dir / "store.sqlite")
    (session,) = whole.sessions
    assert session.search_ended_at is not None and session.search_ended_at <= session.ended_at
    assert not whole.lacks_final and whole.ended == "evaluations spent"


WEIGHTS = {label: float(1 + i) for i, label in enumerate(log.LABELS)}
BESIDE = {
    "torch": Beside(ratio=(1.42, 1.38, 1.46), gains=dict.fromkeys(log.LABELS, 0.35)),
    "mine": Beside(refused="was refused: y[3] is 2, expected 1"),
}


def weighted(event: Event) -> Event:
    """As of a task that states weights and baselines, and has a shape that is too small."""
    if isinstance(event, FinalMeasurement):
        gains = dict.fromkeys(log.LABELS, math.log(2.0))
        return replace(event, gains=gains, baselines=BESIDE)
    if isinstance(event, Evaluated) and event.evaluation.passed:
        first = log.LABELS[0]
        launching = {first: 0.9 * event.evaluation.times_us[first]}
        made = replace(event.evaluation, weights=WEIGHTS, launching_us=launching)
        return replace(event, evaluation=made)
    return event


@pytest.fixture
def beside_torch(tmp_path: Path) -> Path:
    """A campaign's folder."""
    made = [weighted(event) for event in events(tmp_path)]
    log.write(tmp_path / "short" / "store.sqlite", made)
    return tmp_path / "short"


HEADLINE = "1.42x over torch (the fastest of 2 baselines), 5.25x over the naive seed"
LINES = (
    f"weighted geometric mean of {len(log.LABELS)} shapes",
    "the whole, weighted by calls: 2.00x",
    "beside the naive seed it is 5.25x as fast (95% interval 4.75 to 5.80)",
    "beside baseline torch it is 1.42x as fast (95% interval 1.38 to 1.46)",
    "baseline mine was refused: y[3] is 2, expected 1",
)


def test_the_headline_is_over_the_fastest_baseline(beside_torch: Path) -> None:
    whole_store = beside_torch / "store.sqlite"
    whole = replay(whole_store)
    summary = write_results(whole, beside_torch)
    text = "\n".join(result_lines(summary, whole, None))
    assert f"found tile: {HEADLINE}\n" in text
    line = "5.25x [4.75, 5.80] (1.42x over torch) tile"
    assert best_text(whole.scores.best) == best_text(glance(whole_store).best) == line
    assert [line for line in LINES if line not in text] == []
    assert f"{log.LABELS[0]}: launching is what is measured (" in text
    best = json.loads((beside_torch / "summary.json").read_text())["best"]
    assert best["fastest"] == {"name": "torch", "ratio": [1.42, 1.38, 1.46], "among": 2}
    assert best["baselines"]["mine"]["refused"] == BESIDE["mine"].refused
    assert best["weights"] == WEIGHTS and best["whole"] == pytest.approx(2.0)
    assert best["speedup"] == 5.25, "over the naive seed, as ever"


def test_mlflow_and_the_report_have_the_same_headline(beside_torch: Path, tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    follower = Tracker(uri=uri, experiment="kernel-scientist", run_dir=beside_torch)
    follower.record(log.read(beside_torch / "store.sqlite"))
    follower.finish()
    client = MlflowClient(uri)
    experiment = client.get_experiment_by_name("kernel-scientist")
    assert experiment is not None
    runs = client.search_runs([experiment.experiment_id])
    (campaign,) = [run for run in runs if "mlflow.parentRunId" not in run.data.tags]
    values, tags = campaign.data.metrics, campaign.data.tags
    assert values["final_over_fastest"] == values["final_over/torch"] == 1.42
    assert values["whole_speedup"] == 2.0 and tags["fastest_baseline"] == "torch"
    assert HEADLINE in tags["mlflow.note.content"]
    page = write_report(
        read_history(beside_torch / "store.sqlite"), beside_torch, state="ended"
    ).read_text()
    assert '<span class="figure">1.42×</span> as fast as torch, the fastest of 2 base' in page
    assert "5.25× as fast as the naive seed" in page and LINES[-1] in page
    assert "The whole, weighted by calls: <strong>2.00×</strong>" in page
    assert "launching is what is measured" in page


def test_a_store_of_before_baselines_reads_as_ever(run_dir: Path) -> None:
    whole = replay(run_dir / "store.sqlite")
    best = summarise(whole, run_dir).best
    assert best is not None and best.fastest is None and best.whole is None
    assert best.headline == "5.25x the naive seed" and best.baseline_lines == ()
