"""The command line as a person or a script uses it: output, exit codes, one sentence of error."""

import io
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from engine.cli import main as cli
from engine.cli.look import options
from engine.cli.progress import LiveTable, PlainLines, line, progress, table
from engine.cli.result import result_lines, tracking_lines
from engine.cli.spans import span
from engine.commands import command
from engine.snapshot import DispatcherState, Improvement, IslandState, Outage, Snapshot
from engine.store.events import Drafted, Evaluated
from engine.store.replay import replay
from engine.store.scoreboard import Best
from engine.store.spending import CallBudget, Spending
from engine.store.summary import summarise
from operators.llm.question import PARTS
from tests.engine import campaign_log as log
from tests.evaluators.small_task import SPACIOUS, write_task

ROOT = Path(__file__).resolve().parents[3]
NAIVE = ROOT / "evaluators" / "tasks" / "sum_reduction" / "seeds" / "naive.hip"


def kernel_scientist(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).parent / "kernel-scientist", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=580,
    )


# --- wrong usage ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "COMMAND"),
        (["fly"], "'fly' is no command: choose one of run, resume, evaluate"),
        (["rnu", "x.yaml"], "'rnu' is no command (did you mean run?)"),
        (["evaluate", str(NAIVE), "--task", "sgem", "--backend", "cpu"], "did you mean sgemm?"),
        (["evaluate", str(NAIVE), "--task", "sgemm", "--backend", "cdua"], "did you mean cuda?"),
        (["run"], "CONFIG"),
        (["run", "no-such.yaml"], "no-such.yaml: the configuration can't be read"),
        (["run", "configs/quickstart.yaml", "no_such_key=1"], "no_such_key is not a known key"),
        (
            ["run", "configs/quickstart.yaml", "task=softmax", "budgts.evaluations=3"],
            "kernel-scientist: 'budgts.evaluations=3': budgts is not a known key "
            "(did you mean budgets?)",
        ),
        (["run", "configs/quickstart.yaml", "backend=hpi"], "'hpi' (did you mean hip?)"),
        (["run", "configs/quickstart.yaml", "hurry"], "'hurry' is no override"),
        (["run", "configs/quickstart.yaml", "task=no_such_task"], "no_such_task"),
        (["resume", "no-such-run"], "no-such-run/store.sqlite: no such store"),
        (["resume", "no-such-run", "faster"], "'faster' changes nothing"),
        (["track", "no-such-run"], "no-such-run/store.sqlite: no such store"),
        (["evaluate", "no-such.hip", "--task", "sgemm", "--backend", "cpu"], "no-such.hip"),
        (["evaluate", str(NAIVE), "--task", "no_such_task", "--backend", "cpu"], "no_such_task"),
        (["evaluate", str(NAIVE), "--task", "sgemm", "--backend", "abacus"], "'abacus'"),
        (["evaluate", str(NAIVE), "--backend", "cpu"], "--task"),
        (
            ["evaluate", str(NAIVE), "--task", "sgemm", "--backend", "cpu", "--seconds", "-1"],
            "-1 is no number of seconds: give 0 or more",
        ),
        (["certify", str(NAIVE), "--task", "sgemm", "--seconds", "0"], "too few"),
        (
            ["evaluate", str(NAIVE), "--task", "sgemm", "--backend", "cpu", "--arch", "gfx942"],
            "--compile-only",
        ),
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_code_2(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.chdir(ROOT)
    try:
        code = cli.main(arguments)
    except SystemExit as exit:
        code = int(str(exit.code))
    captured = capsys.readouterr()
    assert (code, captured.out) == (2, "")
    assert told in captured.err
    assert captured.err.startswith("kernel-scientist")
    assert len(captured.err.splitlines()) == 1


def test_a_budget_that_resume_does_not_know_is_blamed_and_guessed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log.write(tmp_path / "store.sqlite", list(log.opening(log.config(tmp_path))))
    assert cli.main(["resume", str(tmp_path), "evaluatons=9"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("kernel-scientist: 'budgets.evaluatons=9': budgets.evaluatons is not a")
    assert "(did you mean evaluations?)" in told


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"kernel-scientist {version('kernel-scientist')}\n"


def test_help_names_every_command_and_starts_without_ray_mlflow_and_numpy() -> None:
    script = (
        "import sys\n"
        "from engine.cli import main as cli\n"
        "try:\n"
        "    cli.main(['--help'])\n"
        "except SystemExit:\n"
        "    pass\n"
        "assert not {'ray', 'mlflow', 'numpy'} & set(sys.modules)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert result.stderr == ""
    names = ("run", "resume", "evaluate", "submit", "track", "prompts", "doctor")
    for name in (*names, "runs", "watch", "profile", "pause", "inject"):
        assert f"\n    {name} " in result.stdout


# --- run --------------------------------------------------------------------------------------


@pytest.mark.soak
def test_run_to_the_end_without_tracking(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    task = write_task(tmp_path_factory.mktemp("tasks") / "mine", seed=SPACIOUS)
    script = (
        "import sys\n"
        "from engine.cli import main as cli\n"
        "code = cli.main(sys.argv[1:])\n"
        "assert 'mlflow' not in sys.modules\n"
        "sys.exit(code)\n"
    )
    overrides = [f"task={task}", "name=once", "tracking=none", "budgets.evaluations=2"]
    overrides += ["final.seconds=0", "islands.count=1"]
    arguments = ["run", "configs/quickstart.yaml", f"runs_dir={tmp_path}", *overrides]
    result = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=580,
    )
    assert result.returncode == 0, result.stderr
    progress_lines = result.stderr.splitlines()
    assert progress_lines[0].startswith("once: starting Ray")
    assert f"results go to {tmp_path / 'once'}; searching " in progress_lines[0]
    assert "  finished" in progress_lines[-1]
    assert result.stdout.startswith("once: the evaluations are spent; 2 evaluations (")
    assert "evaluate" in result.stdout.splitlines()[-1]
    summary = json.loads((tmp_path / "once" / "summary.json").read_text())
    assert summary["evaluations"]["total"] == 2
    [go_on] = [one for one in result.stdout.splitlines() if one.startswith("go on ")]
    assert go_on.endswith(f"resume {tmp_path / 'once'} budgets.evaluations=4")
    assert [path.name for path in tmp_path.iterdir()] == ["once"]

    again = kernel_scientist("run", ROOT / "configs" / "quickstart.yaml", *arguments[2:])
    assert again.returncode == 2
    assert "resume" in again.stderr
    assert len(again.stderr.splitlines()) == 1


# --- evaluate ---------------------------------------------------------------------------------


def test_evaluate_prints_the_verdict_as_json_and_exits_0_when_it_passed(tmp_path: Path) -> None:
    task = write_task(tmp_path / "mine", seed=SPACIOUS)
    (seed,) = (task / "seeds").glob("*.hip")
    result = kernel_scientist(
        *("evaluate", seed, "--task", task, "--backend", "cpu"),
        *("--seconds", "0", "--json"),
    )
    assert (result.returncode, result.stderr) == (0, ""), result.stdout
    verdict = json.loads(result.stdout)
    assert (verdict["status"], verdict["reason"]) == ("PASSED", "")
    low, high = verdict["ci95"]
    assert low <= verdict["speedup"] <= high
    assert verdict["times_us"]
    assert verdict["arithmetic"] == "float32"
    assert all(time_us > 0 for time_us in verdict["times_us"].values())
    assert verdict["engine"].startswith("cpu-")
    assert verdict["compiler"]


def test_evaluate_exits_1_and_says_why_when_the_kernel_did_not_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.hip"
    broken.write_text(NAIVE.read_text().replace("float", "flaot"))
    arguments = ["evaluate", str(broken), "--task", "sum_reduction", "--backend", "cpu"]
    assert cli.main([*arguments, "--json"]) == 1
    verdict = json.loads(capsys.readouterr().out)
    assert verdict["status"] == "COMPILE_ERROR"
    assert "flaot" in verdict["reason"] + verdict["log"]
    assert (verdict["speedup"], verdict["ci95"], verdict["times_us"]) == (None, None, {})
    assert cli.main([*arguments, "--compile-only"]) == 1
    assert capsys.readouterr().out.startswith("COMPILE_ERROR  ")


def test_compile_only_needs_no_device(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["evaluate", str(NAIVE), "--task", "sum_reduction", "--backend", "cpu"]
    assert cli.main([*arguments, "--compile-only", "--json"]) == 0
    compiled = json.loads(capsys.readouterr().out)
    assert compiled["status"] == "COMPILED"
    assert compiled["builds"] == len(compiled["bytes"]) >= 1
    assert compiled["diagnosis"]
    assert cli.main([*arguments, "--compile-only"]) == 0
    assert f"  {compiled['diagnosis'][0]}" in capsys.readouterr().out.splitlines()


def test_explain_tells_the_regions(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["evaluate", str(NAIVE), "--task", "sum_reduction", "--explain", "--backend"]
    assert cli.main([*arguments, "cpu"]) == 0
    assert capsys.readouterr().out.startswith("sum_reduction, line")
    assert cli.main([*arguments, "hip"]) == 2
    assert "--explain goes with --backend cpu" in capsys.readouterr().err


# --- prompts ----------------------------------------------------------------------------------


def test_the_names_written_out_in_the_parser_are_all_there_are() -> None:
    assert options.ROLE_NAMES == PARTS


def test_prompts_show_the_seed_or_the_kernels_of_a_campaign(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["prompts", "--role", "writer"]
    assert cli.main([*arguments, "--task", "sum_reduction"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("[system]\n")
    assert NAIVE.read_text().partition("---*/")[2].strip() in told
    run_dir = tmp_path / "short"
    log.write(run_dir / "store.sqlite", [*log.opening(log.config(tmp_path)), *log.middle()])
    assert cli.main([*arguments, "--run-dir", str(run_dir)]) == 0
    assert "// wide" in capsys.readouterr().out


# --- progress ---------------------------------------------------------------------------------


def snapshot(**changes: Any) -> Snapshot:
    dispatcher: dict[str, Any] = {
        "by_status": {"WRONG": 2, "PASSED": 5, "COMPILE_ERROR": 3},
        "best": Best(kernel_id="0123456789abcdef", speedup=4.5, ci95=(4.25, 4.75)),
        "epoch": 0,
        "asked": 12,
        "evaluated": 10,
        "compiling": 2,
        "ready": 1,
        "measuring": 1,
        "faults": 0,
        "device_busy_s": 15.0,
        "compile_workers": 3,
        "bound": "device",
        "quarantined": 0,
        "tuned": 0,
        "idle": "",
    }
    dispatcher |= {key: changes.pop(key) for key in [*changes] if key in dispatcher}
    island = IslandState(
        index=0,
        cycles=4,
        evaluations=10,
        population=5,
        diversity=2.0,
        best_id="0123456789abcdef",
        best_speedup=4.5,
    )
    values: dict[str, Any] = {
        "campaign": "short",
        "run_dir": "runs/short",
        "phase": "running",
        "elapsed_s": 20.0,
        "session_s": 20.0,
        "devices": 1,
        "device": log.DEVICE,
        "dispatcher": DispatcherState(**dispatcher),
        "islands": (island,),
        "evaluations_left": 30,
        "seconds_left": None,
    }
    return Snapshot(**{**values, **changes})


def test_a_line_says_everything_worth_knowing() -> None:
    text = line(snapshot())
    for part in (
        "20 s",
        "best 4.50x [4.25, 4.75] 0123456789ab",
        "10 evaluations (5 passed, 3 COMPILE_ERROR, 2 WRONG)",
        "0.5/s",
        "75% busy",
        "left: 30 evaluations",
    ):
        assert part in text
    assert "faults" not in text
    assert "7 faults" in line(snapshot(faults=7))
    assert "left: 30 evaluations, 12 s" in line(snapshot(seconds_left=12.0))


def test_plain_lines_come_with_news_and_else_every_few_seconds() -> None:
    lines: list[str] = []
    now = 100.0
    faster = Best(kernel_id="f00", speedup=6.0, ci95=None)
    moments: list[tuple[float, dict[str, Any], int]] = [
        (0.0, {"phase": "starting", "doing": "starting Ray"}, 1),
        (0.5, {}, 2),  # another phase
        (1.0, {}, 2),
        (1.5, {"best": faster}, 3),
        (2.0, {"best": faster}, 3),
        (6.6, {"best": faster}, 4),
    ]
    show = PlainLines(lines.append, clock=lambda: now)
    for elapsed, changes, count in moments:
        now = 100.0 + elapsed
        show(snapshot(**changes))
        assert len(lines) == count
    assert lines[0].startswith("short: starting Ray")


def test_trouble_with_tracking_is_told_once() -> None:
    lines: list[str] = []
    show = PlainLines(lines.append, clock=lambda: 100.0)
    for _ in range(3):
        show(snapshot(tracking_trouble="MLflow at http://x can't be written to: no"))
    assert [one for one in lines if one.startswith("warning: MLflow at http://x")] == lines[:1]
    assert len(lines) == 2


def test_an_outage_stands_on_the_line_and_is_told_once_at_either_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    since = 14 * 3600 + 3 * 60 + 10.0
    away = Outage(base_url="http://here/v1", since=since, until=since + 900)
    text = "endpoint away since 14:03:10, waiting until 14:18:10"
    assert text in line(snapshot(outages=(away,)))
    from rich.console import Console

    console = Console(file=io.StringIO(), width=200)
    with console.capture() as captured:
        console.print(table(snapshot(outages=(away,))))
    assert text in captured.get()
    assert "away" not in line(snapshot())
    lines: list[str] = []
    show = PlainLines(lines.append, clock=lambda: 100.0)
    for outages in ((), (away,), (away,), (), ()):
        show(snapshot(outages=outages))
    assert lines[1:] == [
        "warning: nothing answers at http://here/v1 since 14:03:10; calls wait for it until "
        "14:18:10 (llm.outage_s), then the campaign ends",
        "http://here/v1 answers again; it was away since 14:03:10",
    ]
    monkeypatch.undo()
    time.tzset()


def test_a_role_that_rests_is_told_once_and_again_after_it_recovered() -> None:
    [island] = snapshot().islands
    lines: list[str] = []
    show = PlainLines(lines.append, clock=lambda: 100.0)
    for told in ({}, {"selector": "4 cycles"}, {"selector": "8 cycles"}, {}, {"selector": "4"}):
        show(snapshot(islands=(replace(island, resting=told),)))
    assert lines[1:] == ["warning: island 0: 4 cycles", "warning: island 0: 4"]


def test_quarantine_and_compiling_are_shown_when_they_matter() -> None:
    text = line(snapshot())
    assert "quarantine" not in text and "compile" not in text.lower().replace("compile_error", "")
    assert "2 of 8 devices in quarantine" in line(snapshot(quarantined=2, devices=8))
    assert "compile-bound (3 workers)" in line(snapshot(bound="compile"))
    assert "compile-bound" not in line(snapshot(bound="compile", phase="stopping"))


def test_warnings_come_once_and_again_when_it_is_worse() -> None:
    lines: list[str] = []
    show = PlainLines(lines.append, clock=lambda: 100.0)
    for quarantined in (0, 1, 1, 2, 0, 1):
        show(snapshot(quarantined=quarantined, devices=8))
    warnings = [one for one in lines if one.startswith("warning: ")]
    assert [one.split()[1] for one in warnings] == ["1", "2", "1"]
    assert "of 8 devices in quarantine: left alone after faults" in warnings[0]
    assert "kernel-scientist doctor --device" in warnings[0]
    lines.clear()
    for bound in ("", "compile", "asking", "compile", "device", "compile"):
        show(snapshot(bound=bound))
    (warning,) = [one for one in lines if one.startswith("warning: ")]
    assert warning.startswith("warning: compile-bound: 3 compile workers make fewer kernels than")
    assert "devices.compile_workers" in warning


def test_a_stream_that_is_no_terminal_gets_plain_lines() -> None:
    stream = io.StringIO()
    with progress(stream) as show:
        show(snapshot())
    assert stream.getvalue() == line(snapshot()) + "\n"


def test_a_terminal_gets_a_table_with_the_same_figures() -> None:
    from rich.console import Console

    console = Console(file=io.StringIO(), width=120)
    with console.capture() as captured:
        changes = {"quarantined": 1, "bound": "compile", "compile_workers": 1}
        console.print(table(snapshot(tracking_trouble="MLflow is away", **changes)))
    text = " ".join(captured.get().split())
    assert "4.50x [4.25, 4.75]" in text  # no part of it is taken for markup
    assert "5 passed, 3 COMPILE_ERROR, 2 WRONG" in text
    assert "MLflow is away" in text
    assert "1 of 1 device in quarantine: left alone after faults" in text
    assert "compile-bound: 1 compile worker makes fewer kernels" in text


def test_on_top_of_the_table_stands_what_is_left_and_below_the_best_how_it_improved() -> None:
    from rich.console import Console

    steps = tuple(
        Improvement(
            at=time.time() - 10,
            kernel_id=f"{number}" * 16,
            technique=f"technique {number}",
            before=1.0 + number,
            after=2.0 + number,
            contest=number > 0,
        )
        for number in range(2)
    )
    budget = CallBudget(calls=100, dollars=2.0)
    spending = Spending(
        calls=40, tokens=9, dollars=0.5, in_flight=0, replies=40, lost=0, failures={}
    )
    shown = snapshot(improvements=steps, calls=spending, call_budget=budget, seconds_left=90.0)
    console = Console(file=io.StringIO(), width=120)
    with console.capture() as captured:
        console.print(table(shown))
    lines = captured.get().splitlines()
    left = (
        "30 evaluations, 90 s, 60 calls, 1.50 dollars; "
        "at this rate the calls last for 15 more evaluations"
    )
    assert lines[1].split() == ["left", *left.split()]
    assert lines[3].startswith("improved") and "2.00x -> 3.00x 111111111111 technique 1" in lines[3]
    assert "10 s ago: 1.00x -> 2.00x 000000000000 technique 0 (without a contest)" in lines[4]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-1, "0 s"), (0, "0 s"), (99.4, "99 s"), (100, "2 min"), (5939, "99 min"), (5970, "1.7 h"),
     (36000, "10 h"), (350000, "97 h"), (400000, "5 days")],
)  # fmt: skip
def test_spans_of_time(seconds: float, text: str) -> None:
    assert span(seconds) == text


# --- the result -------------------------------------------------------------------------------


def results(run_dir: Path, events: list[Any], **kwargs: Any) -> list[str]:
    log.write(run_dir / "store.sqlite", events)
    whole = replay(run_dir / "store.sqlite")
    return list(result_lines(summarise(whole, run_dir), whole, **kwargs))


def test_the_last_lines_say_what_was_found_and_how_to_look_at_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_dir = tmp_path / "runs" / "short"
    run_dir.mkdir(parents=True)
    for name in ("best.hip", "report.html"):
        (run_dir / name).write_text("")
    events = [*log.opening(log.config(run_dir.parent)), *log.middle(), *log.ending()]
    lines = results(run_dir, events, tracking_uri="sqlite:////elsewhere/mlflow.db")
    text = "\n".join(lines)
    assert "report     runs/short/report.html (open it in a browser)" in lines
    assert "short: evaluations spent; 4 evaluations (3 passed, 1 WRONG)" in lines[0]
    assert "found wide: 6.00x the naive seed (95% interval 5.40 to 6.60)" in text
    assert "100.0 µs ->       16.7 µs" in text
    steps = [one.split() for one in lines[lines.index("how it came about:") + 1 :][:3]]
    assert [(step[0], step[1]) for step in steps] == [
        ("1.00x", "seed"),
        ("3.00x", "tile"),
        ("6.00x", "wide"),
    ]
    assert "mlflow ui --backend-store-uri sqlite:////elsewhere/mlflow.db" in text
    assert lines[-1].endswith("evaluate runs/short/best.hip --task sum_reduction --backend cpu")


def test_the_result_says_whose_speed_of_light_it_is(tmp_path: Path) -> None:
    events = [*log.opening(log.config(tmp_path)), *log.middle(), *log.ending()]
    named = [
        replace(one, evaluation=replace(one.evaluation, arithmetic="float32"))
        if isinstance(one, Evaluated)
        else one
        for one in events
    ]
    said = (
        "  the speed of light is what memory and float32 arithmetic, which the task admits, allow"
    )
    assert said in results(tmp_path / "named", named, tracking_uri=None)
    assert said not in results(tmp_path / "short", events, tracking_uri=None)


def test_a_campaign_that_found_nothing_says_so(tmp_path: Path) -> None:
    events = [*log.opening(log.config(tmp_path)), *log.ending()]
    lines = results(tmp_path / "short", events, tracking_uri=None)
    assert "nothing faster than the naive seed was found" in lines
    assert not any("MLflow" in one for one in lines)


def test_what_mlflow_was_not_told_is_said_with_the_command_that_tells_it(tmp_path: Path) -> None:
    events = list(log.opening(log.config(tmp_path)))
    lines = results(tmp_path / "short", events, tracking_uri="http://x", trouble="it was away")
    (place,) = [number for number, one in enumerate(lines) if "it was away" in one]
    assert " track " in lines[place + 1]
    assert not any("open http://x" in one for one in lines)


def test_commands_work_as_they_stand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = "/#/experiments/1/runs/2"
    assert [*tracking_lines("http://a:5000/", page)] == [f"open http://a:5000{page}"]
    assert [*tracking_lines("http://a:5000")] == ["open http://a:5000"]
    first, then = tracking_lines("sqlite:////elsewhere/mlflow.db", page)
    assert first.endswith("mlflow ui --backend-store-uri sqlite:////elsewhere/mlflow.db")
    assert then == f"then open http://127.0.0.1:5000{page}"
    monkeypatch.setenv("PATH", str(tmp_path))
    words = command("kernel-scientist", "resume", "my runs/short")
    assert words.endswith("kernel-scientist resume 'my runs/short'")
    monkeypatch.chdir(tmp_path)
    assert Path(words.split()[0]).name == "kernel-scientist"


# --- what other programs read -----------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "no-such.hip", "--task", "sum_reduction", "--backend", "cpu", "--json"],
        ["evaluate", str(NAIVE), "--task", "no_such_task", "--backend", "cpu", "--json"],
        ["evaluate", str(NAIVE), "--backend", "cpu", "--json"],
        ["evaluate", str(NAIVE), "--task", "sum_reduction", "--backend", "abacus", "--json"],
        ["doctor", "no-such.yaml", "--json"],
        ["doctor", "--device", "--json"],
        ["doctor", "--json", "--out", "report.md"],
    ],
)
def test_what_can_not_be_done_is_json_too_where_json_was_asked_for(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = cli.main(arguments)
    except SystemExit as exit:
        code = int(str(exit.code))
    said = capsys.readouterr()
    assert code == 2
    sentence = json.loads(said.out)["error"]
    assert sentence and sentence in said.err
    assert len(said.err.splitlines()) == 1


def test_a_reader_who_has_seen_enough_is_no_error() -> None:
    """As in `kernel-scientist ... | head`, once head has gone."""
    reading, writing = os.pipe()
    os.close(reading)
    arguments = ["--task", "sum_reduction", "--backend", "cpu", "--compile-only"]
    command = [str(Path(sys.executable).parent / "kernel-scientist"), "evaluate", str(NAIVE)]
    with os.fdopen(writing, "w") as stdout:
        ended = subprocess.run(
            [*command, *arguments], stdout=stdout, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (ended.returncode, ended.stderr) == (cli.UNREAD, "")


def test_a_campaign_goes_on_when_nobody_reads_its_progress() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stream, progress(stream) as show:
        show(snapshot())
        show(snapshot(phase="finished"))


# --- starting and ending ----------------------------------------------------------------------


def test_a_start_says_what_it_does_with_a_clock_that_runs() -> None:
    from rich.console import Console

    now = 100.0
    shown = LiveTable(clock=lambda: now)
    texts = []
    for elapsed in (0.0, 7.0, 12.0):
        now = 100.0 + elapsed
        if elapsed == 7.0:
            shown(snapshot(phase="starting", doing="measuring the naive seed", elapsed_s=7.0))
        console = Console(file=io.StringIO(), width=120)
        with console.capture() as captured:
            console.print(shown)
        texts.append(captured.get())
    assert texts[0].startswith("loading Ray and checking the task, 0 s")
    assert "measuring the naive seed, 7 s" in texts[1]
    assert "measuring the naive seed, 12 s" in texts[2]
    assert "runs/short" in texts[2] and "evaluations" not in texts[2]


def test_plain_lines_tell_each_step_of_a_start_once() -> None:
    lines: list[str] = []
    show = PlainLines(lines.append, clock=lambda: 100.0)
    for doing in ("starting Ray", "starting Ray", "opening the device", "measuring the naive seed"):
        show(snapshot(phase="starting", doing=doing, elapsed_s=3.0))
    assert [one.removeprefix("short: ").partition(" (3 s); ")[0] for one in lines] == [
        "starting Ray",
        "opening the device",
        "measuring the naive seed",
    ]


def test_a_session_that_has_evaluated_nothing_shows_no_rate() -> None:
    assert "0.5/s  device 75% busy" in line(snapshot())
    tuned = "device 75% busy (7 mutations in idle time)  islands"
    assert tuned in line(snapshot(tuned=7))
    reason = "waiting for models, budgets.tuning (7) is spent"
    assert f"75% busy, idle: {reason}" in line(snapshot(idle=reason))
    assert reason not in line(snapshot(idle=reason, phase="stopping"))
    assert "/s" not in line(snapshot(evaluated=0)) and "busy" not in line(snapshot(evaluated=0))


def test_a_kernel_without_parents_is_found_as_well(tmp_path: Path) -> None:
    """A newcomer's lineage is itself alone."""
    drafted, evaluated, added = log.step(0, 1, "newcomer", "seed", 4.94)
    assert isinstance(drafted, Drafted)
    opening = log.opening(log.config(tmp_path))
    events = [*opening, replace(drafted, parents=()), evaluated, added, *log.ending()]
    text = "\n".join(results(tmp_path / "short", events, tracking_uri=None))
    assert "found newcomer: 4.94x the naive seed" in text
    assert "nothing faster" not in text


@pytest.mark.parametrize(
    ("ci95", "ci99", "found"),
    [
        ((1.01, 1.20), (1.005, 1.25), True),
        ((1.01, 1.20), None, True),
        ((1.01, 1.20), (0.99, 1.25), False),
        ((0.95, 1.20), None, False),
        ((1.00, 1.20), (0.95, 1.25), False),
    ],
)
def test_nothing_is_found_where_the_interval_holds_1(
    ci95: tuple[float, float], ci99: tuple[float, float] | None, found: bool, tmp_path: Path
) -> None:
    drafted, evaluated, added = log.step(0, 1, "close", "seed", 1.1)
    assert isinstance(evaluated, Evaluated)
    close = replace(evaluated, evaluation=replace(evaluated.evaluation, ci95=ci95, ci99=ci99))
    events = [*log.opening(log.config(tmp_path)), drafted, close, added, *log.ending()]
    lines = results(tmp_path / "short", events, tracking_uri=None)
    assert any(one.startswith("found close: 1.10x") for one in lines) is found
    sentence = "nothing was shown to be faster than the naive seed: the best, close, is 1.10x"
    assert any(one.startswith(sentence) for one in lines) is not found
