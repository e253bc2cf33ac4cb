"""A campaign's report: what it says of finished, killed, barren, resumed and hostile campaigns."""

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import matplotlib
import pytest

from engine.cli.result import result_lines
from engine.history.campaigns import State
from engine.history.history import read_history
from engine.report.islands import islands_of
from engine.report.report import write_report
from engine.searching import EXHAUSTED_SPACE
from engine.store.events import Added, CycleStarted, Drafted, Evaluated, Event, Migrated
from engine.store.kinds.contests import Contested, FinalMeasurement
from engine.store.kinds.sessions import (
    CampaignStarted,
    DevicesWatched,
    NodesChanged,
    SearchEnded,
    SearchStarted,
    SessionFinished,
    SessionStarted,
)
from engine.store.summary import summarise, write_results
from operators.individual import Candidate, Experiment
from tests.engine import campaign_log as log
from tests.engine.report.page_reader import PageReader

MADE_AT = 1.8e9 + 3600

WON = Contested(
    number=4,
    kernel_id="wide",
    rival_id="tile",
    why="contender",
    outcome="won",
    ratio=(2.0, 1.8, 2.2),
    gains=dict.fromkeys(log.LABELS, 0.69),
    speedup=6.0,
    ci95=(5.4, 6.6),
    ci99=(5.2, 6.9),
    sittings=3,
)
FINAL = FinalMeasurement(
    number=0,
    kernel_id="wide",
    speedup=5.87,
    ci95=(5.41, 6.37),
    ci99=(5.2, 6.6),
    sittings=4,
    rivals={"tile": (1.9, 1.7, 2.1)},
)
DEVICES = DevicesWatched(
    number=0, count=0, busy_s={"candidates": 6.0}, idle_s={"waiting for models": 4.0}
)

Write = Callable[..., PageReader]


def campaign(folder: Path, *, final: FinalMeasurement | None = FINAL) -> Iterator[Event]:
    yield from opened(folder)
    yield from log.middle()
    yield Migrated(island=1, source=0, round=0, drafts=("i0/c1/s0",))
    yield DEVICES
    yield SearchEnded(number=0, reason="evaluations spent")
    yield WON
    if final is not None:
        yield final
    yield from log.ending()


def opened(folder: Path) -> Iterator[Event]:
    for event in log.opening(log.config(folder)):
        yield event
        if isinstance(event, SessionStarted):
            yield SearchStarted(number=0)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Events -> the page as a browser reads it; it is in runs/short/report.html."""

    def written(events: Sequence[Event], state: State = "ended") -> PageReader:
        run_dir = tmp_path / "runs" / "short"
        log.write(run_dir / "store.sqlite", events)
        history = read_history(run_dir / "store.sqlite")
        page = PageReader.of(write_report(history, run_dir, state=state, made_at=MADE_AT))
        assert not page.unbalanced and not page.open
        return page

    return written


def test_the_page_says_what_the_summary_says(tmp_path: Path, write: Write) -> None:
    page = write([*campaign(tmp_path)])
    run_dir = tmp_path / "runs" / "short"
    write_results(read_history(run_dir / "store.sqlite").replay, run_dir)
    summary = json.loads((run_dir / "summary.json").read_text())
    best = summary["best"]
    assert f"{best['speedup']:.2f}× as fast as the naive seed" in page.text
    assert "95% interval {:.2f} to {:.2f}".format(*best["ci95"]) in page.text
    assert f"{best['search']['speedup']:.2f}×" in page.text
    assert "Is it to be believed? Yes" in page.text
    assert "4 sittings of new processes on new inputs" in page.text
    assert "which nobody was shown, when it became the best in contest 4" in page.text
    assert "Faster than its runner-up, measured beside it: 1.90× the closest" in page.text
    assert f"{summary['evaluations']['total']} evaluations" in page.text
    for label, time_us in best["times_us"].items():
        assert label in page.text and f"{time_us:.4g} µs" in page.text
    assert "1 fault of infrastructure" in page.text


def test_it_tells_how_to_get_the_kernel_from_anywhere(tmp_path: Path, write: Write) -> None:
    (tmp_path / "runs" / "short").mkdir(parents=True)
    (tmp_path / "runs" / "short" / "best.hip").write_text("// wide")
    page = write([*campaign(tmp_path)])
    on = "runs/short/best.hip --task sum_reduction --backend cpu"
    for command in (f"evaluate {on}", f"certify {on}", "export runs/short"):
        assert f"kernel-scientist {command}" in page.text
    assert "kernel-scientist resume runs/short" in page.text
    assert str(tmp_path) not in (tmp_path / "runs/short/report.html").read_text()


def test_an_exhausted_space_is_not_to_be_gone_on_with(tmp_path: Path, write: Write) -> None:
    *events, _ = campaign(tmp_path)
    reason = f"{EXHAUSTED_SPACE}: 4 of 4 kernels tried"
    page = write([*events, SessionFinished(number=0, reason=reason)])
    assert reason in page.text and "kernel-scientist resume" not in page.text


def test_the_way_to_the_best_with_predictions_gains_and_changes(
    tmp_path: Path, write: Write
) -> None:
    page = write([*campaign(tmp_path)])
    assert "From the naive seed to the best in 2 steps" in page.text
    assert "make tile" in page.text and "make wide" in page.text
    assert "predicted: +10 to +50%" in page.text and "more than predicted" in page.text
    assert "+// wide" in page.text and "-// tile" in page.text
    assert "made wide" in page.text, "the writer's report"
    assert "Of 2 experiments with a prediction and a measured gain, 0% brought" in page.text


def test_islands_verdicts_and_what_devices_waited_for(tmp_path: Path, write: Write) -> None:
    page = write([*campaign(tmp_path)])
    assert "1 elite travelled in 1 migration" in page.text
    assert "WRONG 1" in page.text and "y[3] is 4, not 5" in page.text
    assert "they worked 60%" in page.text
    assert "idle: waiting for models 4 s 40%" in page.text


def test_what_a_session_had_of_its_cluster(tmp_path: Path, write: Write) -> None:
    *events, last = campaign(tmp_path)
    page = write([*events, last])
    assert "of its cluster" not in page.text
    had = [{"a": 2, "b": 1, "head": 0}, {"a": 2, "head": 0}, {"head": 0}]
    changes = [NodesChanged(number=0, count=n, nodes=nodes) for n, nodes in enumerate(had)]
    page = write([*events, *changes, last])
    assert "3 devices: 2 of a, 1 of b; only compiling: head" in page.text
    assert "2 devices: 2 of a; only compiling: head" in page.text
    assert "0 devices; only compiling: head" in page.text


def test_how_often_an_island_began_again(tmp_path: Path, write: Write) -> None:
    *events, last = campaign(tmp_path)
    again = [
        CycleStarted(island=1, cycle=cycle, operator="e", tournament=("seed",), restarted=restarted)
        for cycle, restarted in ((7, True), (8, False), (9, True))
    ]
    write([*events, *again, last])
    islands = islands_of(read_history(tmp_path / "runs" / "short" / "store.sqlite").replay)
    assert [one.restarts for one in islands] == [0, 2]
    page = (tmp_path / "runs" / "short" / "report.html").read_text()
    header, *rows = re.findall(r"<tr>.*?</tr>", page.split('id="islands"')[1], re.DOTALL)[:3]
    column = re.findall(r'scope="col".*?>(.*?)<', header).index("began again")
    assert [re.findall(r"<t[hd].*?>(.*?)</t", row)[column] for row in rows] == ["", "2"]


@pytest.mark.parametrize(
    ("change", "answer", "why"),
    [
        ({"busy": "the machine was busy: so it was"}, "Roughly", "but the machine was busy"),
        ({"ci99": (0.98, 6.9)}, "Not shown", "The 99% interval, 0.98 to 6.90, holds 1"),
        (
            {"rivals": {"tile": (1.0, 0.98, 1.02)}},
            "Yes",
            "Beside tile it was 1.00× as fast (0.98 to 1.02): the two may be equally fast. The win",
        ),
        (
            {"rivals": {"tile": (0.9, 0.85, 0.95)}},
            "Yes",
            "Beside tile it was 0.90× as fast (0.85 to 0.95): that one is the faster. The win",
        ),
    ],
)
def test_whether_to_believe_it(
    tmp_path: Path, write: Write, change: dict[str, object], answer: str, why: str
) -> None:
    page = write([*campaign(tmp_path, final=replace(FINAL, **change))])  # type: ignore[arg-type]
    assert re.search(rf"(Is it a win|Is it to be believed)\? {answer}", page.text)
    assert why in page.text


def test_two_engines_are_no_win(tmp_path: Path, write: Write) -> None:
    def by_two(event: Event) -> Event:
        if not isinstance(event, Evaluated):
            return event
        engine = "cpu-switching" if event.evaluation.kernel_id == "seed" else "cpu-fission"
        return replace(event, evaluation=replace(event.evaluation, engine=engine))

    page = write([by_two(event) for event in campaign(tmp_path)])
    assert "Is it a win? Not shown" in page.text
    assert "Engines differ: cpu-fission timed it and cpu-switching the naive seed" in page.text
    run_dir = tmp_path / "runs" / "short"
    whole = read_history(run_dir / "store.sqlite").replay
    told = [*result_lines(summarise(whole, run_dir), whole, None)]
    assert any("cpu-switching the naive seed" in line for line in told)


def test_a_killed_campaign_says_what_is_missing_and_how_to_go_on(
    tmp_path: Path, write: Write
) -> None:
    events = [*campaign(tmp_path, final=None)][:-1]
    page = write(events, "killed")
    assert "killed" in page.text and "6.00× as fast as the naive seed, so far" in page.text
    assert "Is it to be believed? Not yet" in page.text
    assert "was killed before its final measurement" in page.text
    assert "kernel-scientist resume runs/short goes on and measures it" in page.text
    assert "the last half minute is missing" in page.text


def test_one_that_runs_and_one_that_measured_nothing_at_its_end(
    tmp_path: Path, write: Write
) -> None:
    events = [*campaign(tmp_path, final=None)][:-1]
    assert (
        "The campaign still runs: so far this figure is the product"
        in write(events, "running").text
    )


def test_no_final_measurement_was_asked_for(tmp_path: Path, write: Write) -> None:
    first, *others = campaign(tmp_path, final=None)
    assert isinstance(first, CampaignStarted)
    config = {**first.config, "final": {"seconds": 0}}
    page = write([replace(first, config=config), *others])
    assert "(final.seconds: 0)" in page.text and "Not yet" in page.text


@pytest.mark.parametrize("count", [1, 2, 9])
def test_the_first_events_already_make_a_page(tmp_path: Path, write: Write, count: int) -> None:
    """From the campaign's start alone, which has no session, to the naive seed's drafts."""
    page = write([*opened(tmp_path)][:count], "killed")
    found = "Nothing was measured" if count < 4 else "Nothing was shown to be faster"
    assert found in page.text
    assert ("never came to a session" in page.text) == (count == 1)


def test_a_resumed_campaign_with_another_compiler(tmp_path: Path, write: Write) -> None:
    events = [*campaign(tmp_path)]
    again = next(one for one in events if isinstance(one, SessionStarted))
    more = replace(again, number=1, began_at=again.began_at + 60, compiler="g++ 14")
    page = write([*events, more, SessionFinished(number=1, reason="interrupted")])
    assert "The toolchain changed from test (harness 1) to g++ 14 (harness 1)" in page.text
    assert "2 sessions" in page.text and "interrupted" in page.text


def test_what_had_no_contest_before_the_kill_is_told_as_such(tmp_path: Path, write: Write) -> None:
    drafted, evaluated, added = log.step(0, 1, "tile", "seed", 3.0)
    assert isinstance(evaluated, Evaluated)
    blocks = dict.fromkeys(log.LABELS, (math.log(3.0),) * 2)
    raced = replace(evaluated.evaluation, blocks=blocks)
    in_race = replace(evaluated, verified=False, evaluation=raced)
    page = write([*opened(tmp_path), drafted, in_race, added], "killed")
    assert "Nothing was shown to be faster than the naive seed yet" in page.text
    assert "In one race of the search tile was 3.00× as fast as the naive seed" in page.text
    assert "neither raced again nor tried on held-out shapes yet" in page.text


HOSTILE = "<script>alert('x')</script> $\\frac{$ </pre><img src=x onerror=y> {{ 7 * 7 }}"


def hostile(events: Sequence[Event]) -> Iterator[Event]:
    """What a model may write, wherever it may write."""
    for event in events:
        if isinstance(event, Drafted) and event.experiment is not None:
            experiment = Experiment(
                technique=HOSTILE,
                description=HOSTILE,
                rubric=HOSTILE,
                performance=(10.0, 50.0),
                innovation=50,
            )
            source = event.candidate.source + f"// {HOSTILE}\n"
            yield replace(
                event,
                candidate=Candidate.from_source(source),
                experiment=experiment,
                report=HOSTILE,
            )
        elif isinstance(event, Evaluated):
            yield replace(event, evaluation=_hostile_verdict(event))
        else:
            yield event


def _hostile_verdict(event: Evaluated):  # type: ignore[no-untyped-def]
    verdict = event.evaluation
    if not verdict.passed:
        return replace(verdict, reason=HOSTILE, log=HOSTILE)
    return replace(verdict, times_us={HOSTILE: 100.0 / (verdict.speedup or 1.0)})


def test_what_models_write_is_text_and_never_markup(tmp_path: Path, write: Write) -> None:
    page = write([*hostile([*campaign(tmp_path)])])
    assert not page.of_name("script") and not page.of_name("img")
    assert all(not name.startswith("on") for _, one in page.tags for name in one)
    assert page.text.count("<script>alert('x')</script> $\\frac{$") > 5
    assert "{{ 7 * 7 }}" in page.text
    for plot in (tmp_path / "runs" / "short" / "plots").glob("*.svg"):
        assert "<script" not in plot.read_text()


def test_the_page_needs_nothing_else(tmp_path: Path, write: Write) -> None:
    page = write([*campaign(tmp_path)])
    text = (tmp_path / "runs" / "short" / "report.html").read_text()
    policy = page.of_name("meta")[1]["content"]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    for tag, attributes in page.tags:
        assert tag not in ("script", "link", "iframe", "object", "form")
        for name in ("src", "href", "xlink:href", "srcset", "action"):
            value = attributes.get(name)
            assert value is None or value.removeprefix("#") in page.anchors, (tag, value)
    assert "@import" not in text and "http" not in re.sub(r"\bhttp-equiv", "", text)


def test_plots_have_words_for_those_who_do_not_see_them(tmp_path: Path, write: Write) -> None:
    page = write([*campaign(tmp_path)])
    plots = page.of_name("svg")
    assert len(plots) >= 4
    assert all(one["role"] == "img" and one["aria-label"] for one in plots)
    assert len(page.of_name("h1")) == 1
    names = {path.name for path in (tmp_path / "runs" / "short" / "plots").iterdir()}
    assert {"best_so_far.svg", "times_by_shape.svg", "lineage.svg", "islands.svg"} <= names


def test_the_same_log_makes_the_same_files(tmp_path: Path, write: Write) -> None:
    run_dir, before = tmp_path / "runs" / "short", dict(matplotlib.rcParams)
    write([*campaign(tmp_path)])
    files = [run_dir / "report.html", *sorted((run_dir / "plots").iterdir())]
    first = [path.read_bytes() for path in files]
    write([])
    assert [path.read_bytes() for path in files] == first
    assert dict(matplotlib.rcParams) == before
    assert sorted(path.name for path in run_dir.glob("*.partial")) == []


def test_a_long_campaign_makes_a_page_of_bounded_size(tmp_path: Path, write: Write) -> None:
    events = [*opened(tmp_path)]
    base = "seed"
    for number in range(1, 2001):
        kernel = f"k{number}"
        speedup = 1.0 + number / 200 if number % 7 else None
        events += _step(number, kernel, base, speedup)
        if number % 20 == 1 and speedup:
            base = kernel
    page = write(events, "running")
    size = (tmp_path / "runs" / "short" / "report.html").stat().st_size
    assert size < 2_000_000
    assert "earlier steps left out here" in page.text
    assert "2,001 evaluations" in page.text


def _step(number: int, kernel: str, base: str, speedup: float | None) -> Iterator[Event]:
    for event in log.step(number % 2, number, kernel, base, speedup):
        if isinstance(event, Evaluated):
            yield replace(event, verified=bool(speedup) and number % 20 == 1)
        elif isinstance(event, Drafted):
            source = "/*---\nparams: {}\n---*/\n" + f"int x = {number};\n" * 150
            yield replace(event, candidate=Candidate.from_source(source))
        elif isinstance(event, Added):
            yield event
