"""Which model, which prompt: situations from stores, asked of a scripted endpoint, and judged."""

import gzip
import json
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binomtest

from engine.config import parse_config
from engine.config_file import load_config
from engine.store.events import (
    Added,
    CycleStarted,
    Drafted,
    EpochStarted,
    Evaluated,
    Event,
    Selected,
    to_row,
)
from engine.store.kinds.sessions import CampaignStarted, SessionStarted
from engine.store.run_folder import STORE
from engine.store.store import Store, read_events
from evaluators.evaluation import Evaluation, Status
from evaluators.kernel.source import kernel_id
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from operators.individual import Candidate, Experiment
from operators.llm.prompts.templates import FOLDER, replaced_by, templates_hash
from operators.operator import Selection
from scripts import bench_roles
from scripts.roles.answers import Answer, Answers
from scripts.roles.bench import asked_config, bench, models_of, tasks_of
from scripts.roles.collect import collect, spread
from scripts.roles.intervals import Difference, Figure, sign_p, wilson
from scripts.roles.judging import judge
from scripts.roles.quantities import beside, regret
from scripts.roles.scores import compared, scores
from scripts.roles.situations import BENCHED, Recorded, Situation, SituationError, read, write
from scripts.scripted_model.answers import Messages, role_of
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.individuals import DEVICE
from scripts.scripted_model.server import Script

SHIPPED = Path(__file__).parents[2] / "docs" / "measured" / "situations"

TASK = """
description: y = 2 x.
dims: [N]
arguments:
  - {name: x, dtype: float32, shape: [N], role: in}
  - {name: y, dtype: float32, shape: [N], role: out, rtol: 0, atol: 0}
tests: [{N: 100}]
benchmarks: [{N: 20000}]
"""
REFERENCE = 'def reference(x, N):\n    return {"y": 2 * x}\n'
SEED = """/*---
params: {BLOCK: 64}
launches:
  - {kernel: twice, grid: ["ceil_div(N, BLOCK)"], block: [BLOCK], args: [x, y, N]}
---*/
__global__ void twice(const float* x, float* y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) y[i] = 2.0f * x[i];
}
"""
FAST, BEST, OTHER = (SEED.replace("BLOCK: 64", f"BLOCK: {size}") for size in (128, 256, 32))
WRONG = SEED.replace("2.0f * x[i]", "x[i]")
CURE = SEED.replace("2.0f * x[i]", "x[i] + x[i]")
BROKEN = SEED.replace("2.0f * x[i]", "two * x[i]")


def sure(low: float, high: float, technique: str = "wider-blocks") -> Experiment:
    return Experiment(
        technique=technique,
        description="Blocks of twice as many threads, so that fewer of them are scheduled.",
        rubric="1. Double BLOCK. 2. Keep the rest as it stands.",
        performance=(low, high),
        innovation=20,
        params={"only": "for a catalogue"},
    )


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    folder = tmp_path_factory.mktemp("tasks") / "twice"
    (folder / "seeds").mkdir(parents=True)
    (folder / "task.yaml").write_text(TASK)
    (folder / "reference.py").write_text(REFERENCE)
    (folder / "seeds" / "naive.hip").write_text(SEED)
    return load_task(folder)


def verdict(task: Task, source: str, speedup: float | None) -> Evaluation:
    """Passed beside the naive seed, at a speedup; without one it is WRONG."""
    common: dict[str, Any] = {
        "kernel_id": kernel_id(source),
        "task_hash": task.hash,
        "device_class": DEVICE.device_class,
    }
    if speedup is None:
        return Evaluation(status=Status.WRONG, reason="y[3] is 1, not 2", **common)
    gain = math.log(speedup)
    return Evaluation(
        status=Status.PASSED,
        times_us={"N=20000": 100.0 / speedup},
        blocks={"N=20000": (gain - 0.001, gain, gain + 0.001)},
        gains={"N=20000": gain},
        speedup=speedup,
        ci95=(0.99 * speedup, 1.01 * speedup),
        anchor_id=kernel_id(SEED),
        **common,
    )


def made(
    task: Task, cycle: int, slot: int, source: str, parent: str, speedup: float | None
) -> Iterator[Event]:
    identity = kernel_id(source)
    yield Drafted(
        island=0,
        cycle=cycle,
        slot=slot,
        kernel_id=identity,
        candidate=Candidate.from_source(source),
        origin="experiment" if parent else "seed",
        parents=(kernel_id(parent), kernel_id(SEED)) if parent else (),
        experiment=sure(10.0, 120.0) if parent else None,
    )
    yield Evaluated(evaluation=verdict(task, source, speedup), verified=not parent)
    yield Added(island=0, cycle=cycle, slot=slot, kernel_id=identity, status="NEW")


def began(cycle: int, tournament: Sequence[str], base: str, *, model: bool) -> Iterator[Event]:
    ids = tuple(map(kernel_id, tournament))
    yield CycleStarted(island=0, cycle=cycle, operator="experiment", tournament=ids)
    decided: Any = "model" if model else "tournament"
    selection = Selection(
        base_id=kernel_id(base), reference_id=ids[-1], rationale="so it is", decided_by=decided
    )
    yield Selected(island=0, cycle=cycle, selection=selection)


def events(task: Task) -> Iterator[Event]:
    """Three cycles. After the second has begun, FAST has a child of 3x and the seed one of 1.5x."""
    config = {"task": str(task.folder), "name": "short", "budgets": {"evaluations": 9}}
    config |= {"islands": {"count": 1}}
    yield CampaignStarted(
        config=parse_config(config, where="test").model_dump(mode="json"),
        task_hash=task.hash,
        baseline_id=kernel_id(SEED),
    )
    yield SessionStarted(
        number=0,
        began_at=1.8e9,
        device=DEVICE.name,
        device_class=DEVICE.device_class,
        devices=1,
        budgets={},
        info=replace(DEVICE, pci_address="0000:c1:00.0"),
    )
    yield from made(task, 0, 0, SEED, "", 1.0)
    yield EpochStarted(number=0, anchor_id=kernel_id(SEED))
    yield from began(1, [SEED], SEED, model=False)
    yield from made(task, 1, 0, FAST, SEED, 2.0)
    yield from made(task, 1, 1, WRONG, SEED, None)
    yield from began(2, [FAST, SEED], FAST, model=True)
    yield from made(task, 2, 0, BEST, FAST, 3.0)
    yield from made(task, 2, 1, OTHER, SEED, 1.5)
    yield from began(3, [BEST, FAST, SEED], BEST, model=False)


@pytest.fixture(scope="module")
def run_dir(task: Task, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "short"
    folder.mkdir()
    with Store(folder / STORE) as store:
        store.append([to_row(event) for event in events(task)])
    return folder


@pytest.fixture(scope="module")
def campaign(run_dir: Path) -> Recorded:
    return collect(run_dir, BENCHED, each=10)


@pytest.fixture(scope="module")
def file(campaign: Recorded, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("situations") / "short.json.gz"
    write(path, [campaign])
    return path


def of_role(situations: Sequence[Situation], role: str) -> list[Situation]:
    return [one for one in situations if one.role == role]


# --- situations -------------------------------------------------------------------------------


def test_a_selectors_situation_knows_what_was_measured_later(file: Path) -> None:
    (one,) = of_role(read([file]), "selector")
    fast, seed = kernel_id(FAST), kernel_id(SEED)
    assert [each.id for each in one.tournament] == [fast, seed]
    assert kernel_id(BEST) not in one.known
    later = one.asked.later
    assert later[fast].over_base == pytest.approx(math.log(1.5), rel=1e-4)
    assert later[seed].over_base == pytest.approx(math.log(1.5), rel=1e-4)
    assert later[seed].over_fastest == pytest.approx(math.log(0.75), rel=1e-4)
    assert later[seed].children == 1  # of before it has others
    assert regret(one, fast) == 0
    assert regret(one, seed) == pytest.approx(math.log(2), rel=1e-4)
    assert regret(one, "another") is None
    assert beside(one) == {"fastest": 0, "lot": pytest.approx(math.log(2) / 2, rel=1e-4)}


def test_the_other_roles_have_what_their_prompts_need(file: Path) -> None:
    there = read([file])
    assert [one.base.id for one in of_role(there, "designer") if one.base] == [
        kernel_id(source) for source in (SEED, FAST, BEST)
    ]
    assert [one.asked.rationale for one in of_role(there, "designer")] == ["", "so it is", ""]
    writers = of_role(there, "writer")
    assert len(writers) == 4
    assert all(one.asked.experiment and not one.asked.experiment.params for one in writers)
    outcomes = [one.asked.outcome for one in writers]
    assert [one.gain[0] if one and one.gain else None for one in outcomes] == [
        pytest.approx(2.0, rel=1e-4),
        None,
        pytest.approx(1.5, rel=1e-4),
        pytest.approx(1.5, rel=1e-4),
    ]
    (repair,) = of_role(there, "repair")
    assert repair.failed is not None
    assert repair.failed.candidate.source == WRONG
    assert repair.base is not None
    assert repair.base.id == kernel_id(SEED)
    assert repair.failed.id not in repair.known  # as a campaign asks it
    assert not repair.campaign.device.pci_address


def test_the_same_campaign_makes_the_same_bytes(
    run_dir: Path, file: Path, tmp_path: Path, campaign: Recorded
) -> None:
    again = tmp_path / "again.json.gz"
    write(again, [collect(run_dir, BENCHED, each=10)])
    assert again.read_bytes() == file.read_bytes()
    assert len(read([file, again])) == len(campaign.situations)


def test_no_path_of_the_machine_is_in_a_file(file: Path, task: Task) -> None:
    text = gzip.decompress(file.read_bytes()).decode()
    assert str(task.folder.parent) not in text


def test_situations_are_spread_over_a_campaign() -> None:
    assert spread(range(10), 4) == [0, 3, 6, 9]
    assert spread(range(10), 1) == [0]
    assert spread([1, 2], 5) == [1, 2]


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.json.gz")), ids=lambda path: path.name)
def test_shipped_situations_are_of_todays_tasks_and_say_where_from(path: Path) -> None:
    there = read([path])
    assert tasks_of(there)
    for campaign in {one.campaign.made["campaign"]: one.campaign for one in there}.values():
        assert campaign.made["recorded"]
        assert campaign.device.name
        assert campaign.made["operators"] == ["catalog"] or campaign.made["note"]
    text = gzip.decompress(path.read_bytes()).decode()
    for trace in (os.path.expanduser("~"), "/tmp/", "/home/", "/root/", str(SHIPPED.parents[2])):
        assert trace not in text


def test_situations_are_shipped_for_every_role_within_300_kb() -> None:
    files = sorted(SHIPPED.glob("*.json.gz"))
    assert {one.role for one in read(files)} == set(BENCHED)
    assert len({one.campaign.made["campaign"] for one in read(files)}) >= 3
    assert sum(path.stat().st_size for path in files) < 300_000


# --- intervals --------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "n"), [(0, 5), (3, 7), (40, 40)])
def test_shares_have_wilsons_interval(k: int, n: int) -> None:
    theirs = binomtest(k, n).proportion_ci(method="wilson")
    assert wilson(k / n, n) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_a_mean_without_spread_or_of_one_situation_has_no_interval() -> None:
    for values in ([2.0], [2.0, 2.0, 2.0]):
        figure = Figure.of(values, "mean")
        assert figure is not None
        assert (figure.mean, figure.low, figure.n) == (2.0, None, len(values))
    ratio = Figure.of([0.0, math.log(4)], "ratio", least=0.0)
    assert ratio is not None
    assert ratio.mean == pytest.approx(2.0)
    assert ratio.low == 1.0
    assert Figure.of([], "share") is None


def test_few_pairs_show_nothing_and_many_alike_do() -> None:
    assert sign_p([1.0] * 5) == pytest.approx(2 / 2**5)
    assert not Difference.of([0.0] * 5, [1.0] * 5, "share").shown
    assert Difference.of([0.0] * 6, [1.0] * 6, "share").shown
    assert not Difference.of([1.0] * 9, [1.0] * 9, "share").shown
    spread_out = [0.1 * place for place in range(20)]
    better = Difference.of(spread_out, [one + 1 + one / 9 for one in spread_out], "mean")
    assert better.shown
    assert better.figure.low is not None
    assert better.figure.low > 1


# --- asking -----------------------------------------------------------------------------------


def rule(messages: Messages, number: int) -> str:
    """The slower Base; a design that repeats what was tried, and one that is new; a writer that
    at first talks of FAST, and makes it worse; a repair that cures."""
    prompt = messages[1]["content"]
    match role_of(messages):
        case "selector":
            said = {"base_id": kernel_id(SEED), "reference_id": kernel_id(FAST), "rationale": "r"}
            return json.dumps(said)
        case "designer":
            return json.dumps({"avenues": ["a"], "experiments": designed()})
        case "repair":
            return f"```hip\n{CURE}```\n## Report\nAdded."
        case _ if "BLOCK: 128" not in prompt:
            return f"```hip\n{BEST}```\n## Report\nWider."
        case _ if len(messages) == 2:
            return "One could widen the blocks."
        case _:
            return f"```hip\n{BROKEN}```\n## Report\nTwo."


def designed() -> list[dict[str, Any]]:
    tried = {k: v for k, v in vars_of(sure(0, 10)).items() if k != "params"}
    another = "Load float4 vectors through the read-only cache and unroll the remainder by hand."
    return [
        tried,
        {**tried, "technique": "vector-loads", "description": another, "rubric": another},
    ]


def vars_of(experiment: Experiment) -> dict[str, Any]:
    return {name: getattr(experiment, name) for name in experiment.__slots__}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "asked.yaml"


def tell(config: Path, base_url: str, **more: Any) -> None:
    """Write the configuration, of one call at a time."""
    model = {"model": "scripted", "max_tokens": 2048, "dollars_per_million_prompt": 1.0}
    model["dollars_per_million_completion"] = 2.0
    llm = {"base_url": base_url, "models": {"main": model}, "concurrency": 1, **more}
    config.write_text(json.dumps({"task": "sgemm", "operators": [{"kind": "llm"}], "llm": llm}))


def ask(file: Path, config: Path, task: Task, out: Path, *more: str) -> int:
    given = ["ask", str(file), "--config", str(config), "--task", str(task.folder)]
    return bench_roles.main([*given, "--out", str(out), *more])


def test_every_role_is_asked_and_judged_and_nothing_twice(
    file: Path, config: Path, task: Task, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "answers.jsonl"
    with serving(Script(rule=rule)) as server:
        tell(config, server.base_url)
        assert ask(file, config, task, out) == 0
        calls = len(server.log)
        said = capsys.readouterr()
        assert ask(file, config, task, out) == 0
        assert len(server.log) == calls == 10  # 9 questions, of which one went back
    assert capsys.readouterr().out == said.out
    roles = json.loads(said.out)["roles"]
    assert list(roles) == list(BENCHED)

    figures = roles["selector"]["figures"]
    assert figures["regret"] == {"mean": 2.0, "low": None, "high": None, "n": 1}
    assert figures["regret of the fastest"]["mean"] == 1.0
    assert figures["best-known Base"]["mean"] == 0.0

    figures = roles["designer"]["figures"]
    assert figures["usable"]["n"] == 3
    # In the first cycle nothing was tried yet.
    assert figures["new experiments"]["mean"] == pytest.approx(4 / 3, rel=1e-3)
    assert figures["repeats"]["mean"] == pytest.approx(1 / 3, rel=1e-3)
    assert "passes" not in figures

    figures = roles["writer"]["figures"]
    assert figures["usable"]["mean"] == 1.0
    assert figures["usable at first"]["mean"] == figures["compiles"]["mean"] == 0.75
    assert (figures["parses"]["mean"], figures["passes"]["mean"]) == (1.0, 0.75)
    assert roles["writer"]["failures"] == {"prose_only": 1}
    assert roles["writer"]["verdicts"] == {"COMPILE_ERROR": 1, "PASSED": 3}
    assert figures["gain where it passes"]["n"] == figures["within the prediction"]["n"] == 3
    assert figures["gain a question"]["n"] == 4
    assert figures["the campaign's passed"]["mean"] == 0.75  # the WRONG one did not
    assert figures["the campaign's gain"]["n"] == 3
    assert figures["dollars"]["mean"] > 0
    assert roles["repair"]["figures"]["passes"]["mean"] == 1.0

    assert "usable at first" in said.err
    assert "75% (30% to 95%)" in said.err
    assert "few" in said.err
    assert "\nselector: scripted" in said.err


def test_what_was_answered_is_kept_when_the_endpoint_refuses_in_the_middle(
    file: Path, config: Path, task: Task, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "answers.jsonl"
    with serving(Script()) as server:

        def locking(messages: Messages, number: int) -> str:
            if number == 2:
                server.script.key = "changed"
            return rule(messages, number)

        server.script.rule = locking
        tell(config, server.base_url)
        assert ask(file, config, task, out, "--no-judge") == 1
        lines = capsys.readouterr().err.strip().splitlines()
        assert "refuses the key" in lines[-1]
        assert str(out) in lines[-1]
        kept = Answers.read(out).answers
        assert len(kept) == 3
        server.script.key, server.script.rule = "", rule
        with out.open("a") as answers:
            answers.write('{"kind": "answer", "situ')  # a kill in the middle of a line
        before = sum(one.answered for one in server.log)
        assert ask(file, config, task, out, "--no-judge") == 0
        assert sum(one.answered for one in server.log) == before + 10 - 3
    there = Answers.read(out)
    assert len(there.answers) == 9
    assert kept.items() <= there.answers.items()
    assert "parses" not in json.loads(capsys.readouterr().out)["roles"]["writer"]["figures"]


def test_other_prompts_are_sent_and_their_answers_kept_apart(
    file: Path, config: Path, task: Task, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prompts, out = tmp_path / "prompts", tmp_path / "answers.jsonl"
    prompts.mkdir()
    own = (FOLDER / "selector.md.j2").read_text()
    (prompts / "selector.md.j2").write_text(own + "\nBe bold.\n")
    usual = templates_hash()
    with replaced_by(prompts):
        assert templates_hash() != usual
    assert templates_hash() == usual
    with serving(Script(rule=rule)) as server:
        tell(config, server.base_url)
        only = ["--roles", "selector", "--prompts", str(prompts)]
        assert ask(file, config, task, out, *only, "--temperature", "0.5") == 0
        (call,) = server.log
        assert call.body["messages"][-1]["content"].endswith("Be bold.")
        assert call.body["temperature"] == 0.5
        capsys.readouterr()
        assert ask(file, config, task, out, "--roles", "selector", "--temperature", "0.5") == 1
    assert "prompts: " in capsys.readouterr().err


def test_a_designs_experiments_are_written_where_it_is_followed(
    file: Path, config: Path, task: Task
) -> None:
    there = [one for one in of_role(read([file]), "designer") if one.asked.cycle == 1]
    with serving(Script(rule=rule)) as server:
        tell(config, server.base_url)
        asked = asked_config(load_config(config))
        models = models_of(asked, ["designer", "writer"], temperature=0.25)
        found = bench(there, asked, models, tasks_of(there, [task.folder]), follow=1)
        assert [role_of(one.body["messages"]) for one in server.log] == ["designer", "writer"]
    told = found["designer"]
    assert told["calls"] == 2
    assert told["verdicts"] == {"PASSED": 1}
    assert told["figures"]["within the prediction"]["n"] == 1


def test_who_is_asked_follows_the_configuration() -> None:
    values: dict[str, Any] = {
        "task": "sgemm",
        "budgets": {"evaluations": 9},
        "operators": [{"kind": "catalog"}, {"kind": "llm", "models": {"repair": "third"}}],
        "llm": {
            "models": {
                "first": {"model": "a", "temperature": [0.1, 0.3]},
                "second": {"model": "b", "temperature": 0.7},
                "third": {"model": "c"},
            },
            "roles": {"writer": ["first", "second"]},
        },
    }
    config = asked_config(parse_config(values, where="test"))
    told = {role: (one.model, one.temperature) for role, one in models_of(config).items()}
    assert told == {
        "selector": ("a", 0.3),  # of island 1, the first that asks
        "designer": ("a", 0.3),
        "writer": ("b", 0.7),
        "repair": ("c", None),
    }
    (only,) = models_of(config, ["writer"], model="third", temperature=1.0).values()
    assert (only.model, only.temperature) == ("c", 1.0)


def test_a_gain_is_over_the_base_and_the_base_again_gains_nothing(file: Path, task: Task) -> None:
    one, another, *_ = of_role(read([file]), "writer")
    slow = SEED.replace(
        "y[i] = 2.0f * x[i];",
        "{ float s = x[i]; for (int k = 0; k < 400; ++k) s = sinf(s) * 1.01f;"
        " y[i] = s == 7.0f ? s : 2.0f * x[i]; }",
    )
    answers = Answers({})
    for situation, source in ((one, slow), (another, SEED)):
        said = {"source": source, "report": ""}
        answers.add(
            Answer(
                situation=situation.id,
                role="writer",
                repeat=0,
                usable=True,
                at_first=True,
                said=said,
            )
        )
    judge([one, another], answers, {task.hash: task}, lambda what, done, of: None)
    gains = [judged.gain for judged in answers.verdicts.values()]
    assert gains[0] is not None
    assert gains[0][0] < 0.5
    assert gains[0][1] < gains[0][0] < gains[0][2]
    assert gains[1] == (1.0, 1.0, 1.0)


# --- two sets of answers ----------------------------------------------------------------------


def answered(usable: Sequence[bool], tokens: int) -> Answers:
    made = Answers({"models": {"writer": {"model": "m"}}})
    for number, good in enumerate(usable):
        made.add(
            Answer(
                situation=f"{number:012x}",
                role="writer",
                repeat=0,
                usable=good,
                at_first=good,
                completion_tokens=tokens + number,
            )
        )
    return made


def test_two_sets_are_compared_situation_by_situation() -> None:
    first, second = answered([False] * 7 + [True], 100), answered([True] * 9, 200)
    (figures,) = compared(first, second).values()
    told = figures["usable"]
    assert (told["first"]["mean"], told["second"]["mean"]) == (0.125, 1.0)
    assert told["difference"]["mean"] == 0.875
    assert told["difference"]["n"] == 8  # the ninth was asked once
    assert told["difference"]["shown"]
    assert figures["completion tokens"]["difference"]["mean"] == 100
    same = compared(first, first)["writer"]["usable"]["difference"]
    assert (same["mean"], same["shown"]) == (0.0, False)
    assert scores(second)["writer"]["figures"]["usable"]["n"] == 9


def test_what_is_shown_to_be_worse_is_called_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, made in (("a", answered([True] * 8, 100)), ("b", answered([False] * 8, 300))):
        kept = Answers.kept(tmp_path / name, made.asked)
        for one in made.answers.values():
            kept.add(one)
    assert bench_roles.main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    table = capsys.readouterr().err.splitlines()
    assert any(line.split()[0] == "usable" and line.endswith("worse") for line in table)
    assert any("+200" in line and line.endswith("worse") for line in table)


# --- what can't be done -----------------------------------------------------------------------


def sentence(capsys: pytest.CaptureFixture[str]) -> str:
    (line,) = capsys.readouterr().err.strip().splitlines()
    return line


def packed(content: bytes) -> bytes:
    """Without the time of day, which would give each process of a test run other names."""
    return gzip.compress(content, mtime=0)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no gzip",
        packed(b"{}"),
        packed(b"[1]"),
        packed(b'{"format": 1, "campaigns": [{"task": 3}]}'),
        packed(b'{"format": 99, "campaigns": []}'),
        packed(b"x" * 99)[:-9],
    ],
    ids=["empty", "no gzip", "no campaigns", "a list", "no task", "newer", "cut off"],
)
def test_a_damaged_file_gets_a_sentence(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "damaged.json.gz"
    path.write_bytes(content)
    with pytest.raises(SituationError, match=r"damaged\.json\.gz .*collect it anew"):
        read([path])


@pytest.mark.parametrize("content", ["", "{}\n", "[]\n{}\n", '{"asked": {}}\n{"kind": "odd"}\n'])
def test_damaged_answers_get_a_sentence(content: str, tmp_path: Path) -> None:
    path = tmp_path / "damaged.jsonl"
    path.write_text(content)
    with pytest.raises(SituationError, match="holds no answers"):
        Answers.read(path)


def test_bad_questions_get_a_sentence_each(
    file: Path, config: Path, task: Task, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "answers.jsonl"
    tell(config, "http://127.0.0.1:9/v1", retries=0)
    assert ask(tmp_path / "none.json.gz", config, task, out) == 1
    assert "none.json.gz can't be read: No such file" in sentence(capsys)
    assert ask(file, config, task, out, "--model", "other") == 1
    assert "llm.models, which has main" in sentence(capsys)
    assert ask(file, config, task, out, "--backend", "hip") == 1
    assert "there are those of cpu" in sentence(capsys)
    assert ask(file, config, task, out, "--prompts", str(tmp_path / "nowhere")) == 1
    assert "holds no template" in sentence(capsys)
    assert ask(file, config, task, out) == 1
    assert "nothing answers at http://127.0.0.1:9/v1" in sentence(capsys)
    tell(config, "http://127.0.0.1:9/v1", api_key_env="NO_SUCH_VARIABLE_OF_THIS_TEST")
    assert ask(file, config, task, out) == 1
    assert "NO_SUCH_VARIABLE_OF_THIS_TEST" in sentence(capsys)
    config.write_text("task: sgemm\nbudgets: {evaluations: 9}\n")
    assert ask(file, config, task, out) == 1
    assert "no section llm" in sentence(capsys)
    given = ["ask", str(file), "--config", str(config), "--out", str(out)]
    tell(config, "http://127.0.0.1:9/v1")
    assert bench_roles.main(given) == 1
    assert "name its folder by --task" in sentence(capsys)


def test_a_campaign_without_situations_or_a_store_gets_a_sentence(
    run_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out.json.gz")
    assert bench_roles.main(["collect", str(tmp_path), "--out", out]) == 1
    assert str(tmp_path) in sentence(capsys)
    with Store(tmp_path / STORE) as store:
        log = [stored for stored in bench_events(run_dir) if not isinstance(stored, Selected)]
        store.append([to_row(event) for event in log])
    told = ["collect", str(tmp_path), "--roles", "designer", "--out", out]
    assert bench_roles.main(told) == 1
    assert "no situation for designer" in sentence(capsys)


def bench_events(run_dir: Path) -> list[Event]:
    return [stored.event for stored in read_events(run_dir / STORE)]
