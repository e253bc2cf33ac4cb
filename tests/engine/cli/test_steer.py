"""The commands that steer: what they refuse, in one sentence, and what they leave behind."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.cli import main as cli
from engine.cli.look.picture import line, stage
from engine.cli.progress import PlainLines, table
from engine.cli.progress import line as progress_line
from engine.history.follow import Follower
from engine.inbox import INBOX, REFUSED, Entry, is_to_pause, put, set_aside, waiting
from engine.preparation import campaign_started
from engine.store.events import Drafted, Evaluated, Event
from engine.store.kinds.sessions import SearchEnded, SearchStarted
from engine.store.kinds.steering import Injected, Paused, WentOn
from engine.store.store import driving
from evaluators.kernel.source import kernel_id
from evaluators.tasks.task_file import load_task
from operators.individual import Candidate
from tests.engine import campaign_log as log
from tests.engine.cli.test_cli import snapshot
from tests.engine.test_scientist_campaign import section

TASK = load_task("sum_reduction")
MINE = TASK.naive.rstrip() + "\n__device__ float twice(float a) { return 2.0f * a; }\n"
MODELS = {"operators": [{"kind": "catalog"}, {"kind": "llm"}], "llm": section("http://nowhere/v1")}


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Path]:
    """run(*events, **config): the folder of a campaign that was started, and does not run."""

    def make(*events: Event, **changes: Any) -> Path:
        settings = log.config(tmp_path, **changes)
        opening = [campaign_started(settings, TASK), *list(log.opening(settings))[1:]]
        log.write(tmp_path / "short" / "store.sqlite", [*opening, *events])
        return tmp_path / "short"

    return make


def file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def refused(capsys: pytest.CaptureFixture[str], *words: str | Path, code: int = 2) -> str:
    assert cli.main([str(word) for word in words]) == code
    told = capsys.readouterr()
    (sentence,) = (told.err if code == 2 else told.out).splitlines()
    return sentence


def test_a_kernel_lies_in_the_inbox_until_the_campaign_goes_on(
    run: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, mine = run(), file(tmp_path, "mine.hip", MINE)
    assert cli.main(["inject", str(folder), str(mine), "--island", "1"]) == 0
    said = capsys.readouterr().out
    assert "does not run, and takes it when it goes on" in said and "resume" in said
    ((_, entry),) = waiting(folder)
    assert entry == Entry(what="kernel", name="mine.hip", text=MINE, island=1)
    assert not list((folder / INBOX).glob(".*"))
    again = refused(capsys, "inject", folder, mine, "--wait", code=1)
    assert "nothing was put in, as the inbox holds this kernel already; the campaign does" in again


def test_nobody_waits_for_a_campaign_that_does_not_run(
    run: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, mine = run(), file(tmp_path, "mine.hip", MINE)
    assert cli.main(["inject", str(folder), str(mine), "--wait"]) == 1
    assert "nothing to wait for" in capsys.readouterr().out
    assert len(list(waiting(folder))) == 1


def test_what_is_wrong_with_a_file_is_said_at_once(
    run: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = run()
    bare = file(tmp_path, "bare.hip", "int main() {}\n")
    assert "begins with its front matter" in refused(capsys, "inject", folder, bare)
    sgemm = file(tmp_path, "sgemm.hip", load_task("sgemm").naive)
    assert "no kernel for the task sum_reduction: " in refused(capsys, "inject", folder, sgemm)
    missing = tmp_path / "missing.hip"
    assert "it can't be read (No such file" in refused(capsys, "inject", folder, missing)
    mine = file(tmp_path, "mine.hip", MINE)
    said = refused(capsys, "inject", folder, mine, "--island", "7")
    assert said.endswith("can't take this kernel; the campaign's islands are 0, 1")
    idea = file(tmp_path, "idea.md", "Use fewer barriers.\n")
    assert "no island of this campaign asks a model" in refused(capsys, "inject", folder, idea)
    assert not list(waiting(folder))


def test_a_kernel_that_the_campaign_has_is_said_with_its_verdict(
    run: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    identity, mine = kernel_id(MINE), file(tmp_path, "mine.hip", MINE)
    drafted = Drafted(
        island=0,
        cycle=1,
        slot=0,
        kernel_id=identity,
        candidate=Candidate.from_source(MINE),
        origin="random",
    )
    folder = run(drafted, Evaluated(evaluation=log.evaluation(identity, 3.0)))
    said = refused(capsys, "inject", folder, mine, code=1)
    assert f"this is kernel {identity[:12]} of the campaign (PASSED, 3.00x)" in said


def test_an_idea_may_name_its_base(
    run: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = run(*log.middle(), **MODELS)
    idea = file(tmp_path, "idea.md", "---\nbase: til\n---\n\nUse fewer barriers.\n")
    assert cli.main(["inject", str(folder), str(idea)]) == 0
    ((_, entry),) = waiting(folder)
    assert entry == Entry(what="idea", name="idea.md", text="Use fewer barriers.", base_id="tile")
    capsys.readouterr()
    said = refused(capsys, "inject", folder, idea, code=1)
    assert "nothing was put in, as the inbox holds this idea already" in said
    for text, why in (
        ("---\nbase: nobody\n---\nx", "no kernel begins with 'nobody'"),
        ("---\nbase: broken\n---\nx", "kernel broken did not pass, so it can be no base"),
        ("---\nspeed: 3\n---\nx", "its front matter holds base alone"),
        ("---\nbase: tile\nx", "is not closed by a line ---"),
        ("---\nbase: [\n---\nx", "idea.md, line "),
        (" \n", "it says nothing"),
        ("Try this.\n\x1b[2J", "line 2: the control character U+001B is not allowed"),
        ("x" * 9000, "it has 9000 characters, and an idea 8000 at most"),
    ):
        idea.write_text(text)
        assert why in refused(capsys, "inject", folder, idea)
    idea.write_text("Other words.")
    said = refused(capsys, "inject", folder, idea, "--island", "0")
    assert said.endswith("can't take this idea; the campaign's islands that ask a model are 1")


def test_only_a_campaign_that_runs_is_paused_and_resume_lets_it_go_on(
    run: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = run()
    assert "does not run, so there is nothing to pause" in refused(capsys, "pause", folder, code=1)
    assert not is_to_pause(folder)
    with driving(folder / "store.sqlite"):
        assert cli.main(["pause", str(folder)]) == 0
        assert is_to_pause(folder)
        assert "'" in capsys.readouterr().out
        said = refused(capsys, "resume", folder, "budgets.evaluations=500")
        assert "budgets and stop change only when it does not run" in said and is_to_pause(folder)
        assert cli.main(["resume", str(folder)]) == 0
        assert not is_to_pause(folder)
        assert "goes on in the process that runs it" in capsys.readouterr().out


def test_what_comes_after_the_search_is_for_when_it_goes_on(
    run: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = (SearchStarted(number=0), SearchEnded(number=0, reason="the evaluations are spent"))
    folder, mine = run(*ended), file(tmp_path, "mine.hip", MINE)
    with driving(folder / "store.sqlite"):
        os.utime(folder / "store.sqlite.driver", (1.7e9, 1.7e9))  # it began before
        assert "searches no more" in refused(capsys, "pause", folder, code=1)
        assert not is_to_pause(folder)
        assert cli.main(["inject", str(folder), str(mine)]) == 0
        assert "the campaign ends just now, and takes it when it" in capsys.readouterr().out


def test_a_campaign_that_starts_takes_it_once_it_searches(
    run: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = run(SearchStarted(number=0))
    with driving(folder / "store.sqlite"):
        for began, state in ((time.time() + 60, "starts just now"), (1.7e9, "within a second")):
            os.utime(folder / "store.sqlite.driver", (began, began))  # beside all that is stored
            mine = file(tmp_path, f"{began:.0f}.hip", f"{MINE}// {began:.0f}\n")
            assert cli.main(["inject", str(folder), str(mine)]) == 0
            assert state in capsys.readouterr().out


def test_only_a_campaign_is_paused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = file(tmp_path, "it.yaml", "task: sgemm\n")
    assert "this is not a campaign's store" in refused(capsys, "pause", config)
    assert "no campaign is here" in refused(capsys, "pause", tmp_path / "nowhere")


@pytest.mark.parametrize("name", [b"red\x1b[31m\n.hip", b"latin\xff.hip"])
def test_a_name_that_no_terminal_should_be_told_is_told_by_its_codes(
    run: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], name: bytes
) -> None:
    folder, mine = run(), file(tmp_path, os.fsdecode(name), MINE)
    assert cli.main(["inject", str(folder), str(mine)]) == 0
    (said,) = capsys.readouterr().out.splitlines()
    ((_, entry),) = waiting(folder)
    assert entry is not None and entry.name.isprintable() and entry.name in said


def test_watch_says_since_when_a_campaign_rests(run: Callable[..., Path]) -> None:
    folder = run(SearchStarted(number=0), Paused(session=0, number=0))
    follower = Follower(folder / "store.sqlite")
    with driving(folder / "store.sqlite"):
        (folder / "store.sqlite.driver").touch()
        follower.look()
        assert follower.session is not None and follower.session.paused_at is not None
        follower.session.ended_at = time.time() + 5  # its driver began before
        assert stage(follower).doing.startswith("paused since ")
        assert "resume" in stage(follower).doing and "paused since" in line(follower, time.time())
        assert follower.searching_s(time.time() + 60) == 0
        log.write(folder / "store.sqlite", [WentOn(session=0, number=0)])
        follower.look()
        follower.session.ended_at = time.time() + 5
        assert stage(follower).doing == "running"


def test_runs_lists_a_paused_campaign_as_such(
    run: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = run(SearchStarted(number=0))
    with driving(folder / "store.sqlite"):
        os.utime(folder / "store.sqlite.driver", (1.7e9, 1.7e9))  # it began before
        for paused in (False, True):
            if paused:
                assert cli.main(["pause", str(folder)]) == 0
            capsys.readouterr()
            assert cli.main(["runs", str(folder.parent), "--json"]) == 0
            (listed,) = json.loads(capsys.readouterr().out)
            assert (listed["state"], listed["paused"]) == ("running", paused)
            assert cli.main(["runs", str(folder.parent)]) == 0
            assert ("paused" in capsys.readouterr().out) is paused


def test_progress_says_since_when_a_campaign_rests() -> None:
    at_work, resting = snapshot(), snapshot(paused_since=1.8e9)
    lines: list[str] = []
    show = PlainLines(lines.append, clock=lambda: 100.0)
    for one in (at_work, at_work, resting, resting, at_work):
        show(one)
    assert ["paused since" in text for text in lines] == [False, True, False]
    assert "runs/short' goes on" in lines[1] and "left: 30 evaluations" in lines[1]
    assert "paused since" in str(next(iter(table(resting).columns[1].cells)))
    assert "paused" not in progress_line(at_work)
    cells = [" ".join(map(str, table(one).columns[1].cells)) for one in (at_work, resting)]
    assert ["ends in about" in text for text in cells] == [True, False]


def test_entries_keep_their_order_and_one_that_is_no_entry_is_told_apart(tmp_path: Path) -> None:
    names = [put(tmp_path, Entry(what="kernel", name=str(n), text="")) for n in range(3)]
    file(tmp_path / INBOX, "8.json", '{"what": "song"}')
    (tmp_path / INBOX / "9.json").mkdir()
    found = list(waiting(tmp_path))
    assert [name for name, _ in found] == [*names, "8.json", "9.json"]
    assert [entry is None for _, entry in found] == [False, False, False, True, True]
    for name, _ in found[-2:]:
        set_aside(tmp_path, name, where=REFUSED)
    assert [name for name, _ in waiting(tmp_path)] == names


def test_an_injection_says_where_its_draft_stands() -> None:
    event = Injected(number=3, island=1, what="kernel", name="a.hip", text="", entry="e")
    assert (event.key, event.draft_key) == ("3", "i1/c0/s-3")
