"""kernel-scientist report: a page and where it is, or a sentence that says what to do."""

import json
from pathlib import Path

import pytest

from engine.cli.main import main
from engine.store.run_folder import begin_store
from engine.store.sessions import CampaignStarted
from engine.store.store import Store
from tests.engine import campaign_log as log
from tests.engine.report.page_reader import PageReader

OLD = Path(__file__).parents[1] / "data" / "store_of_20edbf1.jsonl"


@pytest.fixture
def run_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A killed campaign; the current folder is the one that holds runs."""
    monkeypatch.chdir(tmp_path)
    events = [*log.opening(log.config(tmp_path / "runs")), *log.middle()]
    log.write(tmp_path / "runs" / "short" / "store.sqlite", events)
    return tmp_path / "runs" / "short"


def test_it_says_where_the_page_is(run_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "runs/short"]) == 0
    assert capsys.readouterr().out == "wrote runs/short/report.html\n"
    assert "Not yet" in PageReader.of(run_dir / "report.html").text
    assert (run_dir / "plots" / "best_so_far.svg").is_file()


def test_another_file_gets_the_page_alone(
    run_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(run_dir), "--out", "page.html"]) == 0
    assert capsys.readouterr().out == "wrote page.html\n"
    assert "6.00×" in PageReader.of(Path("page.html")).text
    assert not (run_dir / "report.html").exists() and not (run_dir / "plots").exists()


def test_a_campaign_under_way_runs(run_dir: Path) -> None:
    with Store(run_dir / "store.sqlite"):
        assert main(["report", str(run_dir)]) == 0
    assert "The campaign still runs" in PageReader.of(run_dir / "report.html").text


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["no-such-run"], "no-such-run: no campaign is here; name the folder of one"),
        (["."], "no campaign is here"),
        (["runs/short", "--out", "no/where.html"], "no/where.html: the report can't be written"),
    ],
)
@pytest.mark.usefixtures("run_dir")
def test_what_can_not_be_reported_is_told(
    capsys: pytest.CaptureFixture[str], words: list[str], wanted: str
) -> None:
    assert main(["report", *words]) == 2
    error = capsys.readouterr().err
    assert wanted in error and len(error.splitlines()) == 1


def test_a_store_that_came_to_no_session(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "begun"
    started = CampaignStarted(
        config=log.config(tmp_path).model_dump(mode="json"), task_hash="", baseline_id="seed"
    )
    begin_store(run, started)
    assert main(["report", str(run)]) == 0
    assert "never came to a session" in PageReader.of(run / "report.html").text


def test_a_store_of_an_earlier_version(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "it"
    run.mkdir(parents=True)
    rows = [json.loads(line) for line in OLD.read_text().splitlines()]
    with Store(run / "store.sqlite") as store:
        store.append(
            [(r["kind"], r["key"], r["island"], r["cycle"], json.dumps(r["body"])) for r in rows]
        )
    assert main(["report", str(run)]) == 0
    text = PageReader.of(run / "report.html").text
    assert "12 evaluations" in text and "this figure is from one race of the search" in text
