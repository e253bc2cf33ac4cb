"""kernel-scientist report: a page and where it is, or a sentence that says what to do."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from engine.cli.main import main
from engine.store.kinds.sessions import CampaignStarted
from engine.store.run_folder import begin_store
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


def test_a_page_replaces_no_store_and_no_device(
    run_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = run_dir / "store.sqlite"
    before = store.read_bytes()
    os.mkfifo(tmp_path / "pipe")
    for out, why in (
        (store, "a database is there"),
        (tmp_path, "this is a folder"),
        (Path(), "this is a folder"),
        (tmp_path / "pipe", "this is no regular file"),
    ):
        assert main(["report", str(run_dir), "--out", str(out)]) == 2
        assert why in capsys.readouterr().err
    assert store.read_bytes() == before and (tmp_path / "pipe").is_fifo()


def test_a_page_is_written_where_a_link_leads(run_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "link.html").symlink_to(tmp_path / "page.html")
    assert main(["report", str(run_dir), "--out", str(tmp_path / "link.html")]) == 0
    assert (tmp_path / "link.html").is_symlink() and (tmp_path / "page.html").is_file()


@pytest.mark.parametrize(
    "change", ["kind = 'teleported'", "body = '{}'", "body = '{\"x\":'", "body = x'ff'"]
)
@pytest.mark.parametrize(
    "words", [["report"], ["compare", "--no-plot"], ["watch", "--once"], ["profile"], ["track"]]
)
def test_an_event_that_can_not_be_read_is_one_sentence(
    run_dir: Path, words: list[str], change: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with sqlite3.connect(run_dir / "store.sqlite") as store:
        store.execute(f"UPDATE events SET {change} WHERE seq = 6")
    assert main([words[0], str(run_dir), *words[1:]]) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert "event 6 can't be read" in sentence


def test_a_campaign_is_named_from_inside_its_folder(
    run_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(run_dir)
    assert main(["runs", ".", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["name"] == "short"
    main(["watch", ".", "--once"])
    assert capsys.readouterr().out.startswith("short ")


COMMAND = "from engine.cli.main import main; import sys; sys.exit(main(sys.argv[1:]))"


@pytest.mark.parametrize(
    ("redirected", "code", "says"),
    [
        ("> /dev/full", 2, "the output can't be used (No space left on device)"),
        (">&-", 0, ""),
        ("| head -c 1 > /dev/null; exit ${PIPESTATUS[0]}", 0, ""),
    ],
)
def test_output_that_goes_nowhere_is_no_traceback(
    run_dir: Path, redirected: str, code: int, says: str
) -> None:
    line = f'"$0" -c "$1" runs "$2" {redirected}'
    words = ["bash", "-c", line, sys.executable, COMMAND, str(run_dir.parent)]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode in (code, 141 if "head" in redirected else code)
    assert says in done.stderr and "Traceback" not in done.stderr


def test_what_an_encoding_lacks_is_written_all_the_same(run_dir: Path) -> None:
    run_dir.rename(run_dir.with_name("sü"))
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "runs", str(run_dir.parent)],
        check=False,
        capture_output=True,
        timeout=120,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 0 and b"s\\xfc" in done.stdout
