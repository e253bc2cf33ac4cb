"""The LLM loop's recorded replies, the rule that answers from them, and the figures of a run."""

from typing import Any

import pytest

from engine.store.events import CycleFinished, Drafted, Evaluated, Event
from engine.store.kinds.calls import CallReplied, CallReserved, TurnedAway
from engine.store.kinds.sessions import SearchEnded, SearchStarted, SessionStarted
from engine.store.store import Stored
from evaluators.cuda.nvrtc import NvrtcChild
from evaluators.device import backend
from evaluators.device_info import BackendMissing, target_of
from evaluators.evaluate import compile_kernel, opened
from evaluators.evaluation import Evaluation, Status
from evaluators.kernel.source import kernel_id, parse_kernel
from evaluators.tasks.arguments import SUITES
from evaluators.tasks.task_file import load_task
from operators.individual import Candidate, Experiment
from operators.llm.kernel_reply import read_kernel
from operators.llm.prompts.render import Scene, designer_prompt, reask, repair_prompt, writer_prompt
from operators.llm.question import Failure, Malformed, Message, Prompt, Reply
from operators.llm.replies import DesignerReply, ExperimentReply
from operators.llm.structured import read_structured
from scripts.llm_loop.check import compile_fault, cpu_faults
from scripts.llm_loop.figures import figures
from scripts.llm_loop.log import Log
from scripts.llm_loop.model import RecordedModel
from scripts.llm_loop.recorded import recordings, tasks
from scripts.scripted_model.individuals import DEVICE, individual

WANTED = 25
TASKS = tasks()


def said(text: str, finish: str = "stop") -> Reply:
    return Reply(
        text=text, finish=finish, model="m", prompt_tokens=10, completion_tokens=10, latency_s=1.0
    )


def messages(prompt: Prompt) -> list[dict[str, str]]:
    return [{"role": one.role, "content": one.content} for one in prompt.messages]


# --- what is recorded -------------------------------------------------------------------------


@pytest.mark.parametrize("name", TASKS)
def test_recorded_kernels_are_many_and_differ_and_can_be_planned(name: str) -> None:
    task, found = load_task(name), recordings(name)
    assert len({kernel_id(one.sound) for one in found}) == len(found) >= WANTED
    assert len({one.family for one in found}) >= 3
    for one in found:
        kernel = parse_kernel(one.sound)
        assert kernel.front.space, one.technique
        ExperimentReply.model_validate({"technique": one.technique, **one.said})
        for where in ("cpu", "cuda"):
            for suite in SUITES:
                for workload in task.workloads(suite, where):
                    kernel.plan(task, workload, target_of(where))


@pytest.mark.parametrize("name", TASKS)
def test_some_recorded_replies_are_flawed_at_first_in_several_ways(name: str) -> None:
    flawed = [one for one in recordings(name) if one.flaw]
    assert len({one.flaw for one in flawed}) >= 4
    unusable = 0
    for one in flawed:
        try:
            assert read_kernel(said(one.first), "").source != one.sound
        except Malformed:
            unusable += 1
    assert 0 < unusable < len(flawed)


def test_a_recorded_kernel_is_right_on_its_tests() -> None:
    task = load_task("softmax")
    one = next(r for r in recordings("softmax") if r.technique == "online-normaliser-a-thread")
    with opened(task, "cpu") as evaluator:
        compiler = backend("cpu").compiler(arch=evaluator.device.info.arch)
        built = compile_kernel(one.sound, task, compiler, "cpu")
        assert evaluator.verify(*built, "tests").passed


@pytest.mark.soak
@pytest.mark.parametrize("name", TASKS)
def test_every_recorded_kernel_is_right_on_cpu(name: str) -> None:
    sources = {one.technique: one.sound for one in recordings(name)}
    assert {key: why for key, why in cpu_faults(sources, load_task(name)) if why} == {}


@pytest.mark.soak
@pytest.mark.parametrize("name", TASKS)
def test_every_recorded_kernel_compiles_for_an_h200(name: str) -> None:
    try:
        assert NvrtcChild().version
    except BackendMissing as missing:
        pytest.skip(str(missing))
    task = load_task(name)
    faults = {one.technique: compile_fault(one.sound, task) for one in recordings(name)}
    assert {key: why for key, why in faults.items() if why} == {}


# --- the rule ---------------------------------------------------------------------------------


def designs(model: RecordedModel, count: int) -> list[Experiment]:
    seed = individual()
    scene = Scene(task=load_task("sgemm"), device=DEVICE)
    prompt = designer_prompt(scene, seed, seed, {seed.id: seed}, avenues=10, experiments=5)
    made: list[Experiment] = []
    for number in range(count):
        reply = read_structured(said(model(messages(prompt), number)), DesignerReply)
        assert len(reply.avenues) == 10
        made += [
            Experiment(
                technique=one.technique,
                description=one.description,
                rubric=one.rubric,
                performance=(one.performance[0], one.performance[1]),
                innovation=round(one.innovation),
            )
            for one in reply.experiments
        ]
    return made


def test_no_kernel_comes_twice_though_there_are_more_experiments_than_recordings() -> None:
    model = RecordedModel(task="sum_reduction", backend="cuda")
    seed = individual()
    scene = Scene(task=load_task("sgemm"), device=DEVICE)
    kernels: list[str] = []
    for number, experiment in enumerate(designs(model, 12)):
        prompt = writer_prompt(scene, seed, seed, experiment, {seed.id: seed})
        reply = said(model(messages(prompt), 100 + number))
        try:
            source = read_kernel(reply, "").source
            parse_kernel(source)
        except Malformed as malformed:
            again = reask(prompt, reply.text, malformed)
            source = read_kernel(said(model(messages(again), 200 + number)), "").source
        kernels.append(kernel_id(source))
    assert len(kernels) == 60 > len(recordings("sum_reduction"))
    assert len(set(kernels)) == len(kernels)
    assert model.beyond == 0


def test_a_flawed_kernel_is_repaired_by_its_recorded_cure() -> None:
    model = RecordedModel(task="transpose", backend="cuda")
    made = designs(model, 6)
    seed = individual()
    scene = Scene(task=load_task("sgemm"), device=DEVICE)
    one = next(r for r in recordings("transpose") if r.technique == "padded-tile-in-lds")
    experiment = next(e for e in made if e.technique == one.technique)
    prompt = writer_prompt(scene, seed, seed, experiment, {seed.id: seed})
    broken = read_kernel(said(model(messages(prompt), 1)), "").source
    assert "__syncthreads" not in broken
    failed = individual(broken, parents=(seed.id,), origin="experiment", experiment=experiment)
    mended = model(messages(repair_prompt(scene, failed, {seed.id: seed})), 2)
    assert read_kernel(said(mended), "").source == one.sound


# --- figures ----------------------------------------------------------------------------------


def evaluated(kernel: str, device_s: float) -> Evaluated:
    return Evaluated(
        evaluation=Evaluation(
            kernel_id=kernel,
            task_hash="t",
            device_class="d",
            status=Status.PASSED,
            times_us={"N=1": 1.0},
            seconds={"device": device_s, "compile": 0.5},
        )
    )


def drafted(cycle: int, kernel: str, origin: Any) -> Drafted:
    return Drafted(
        island=0,
        cycle=cycle,
        slot=0,
        kernel_id=kernel,
        candidate=Candidate.from_source(kernel),
        origin=origin,
    )


def call(cycle: int, number: int = 0) -> tuple[CallReserved, CallReplied]:
    question = f"i0/c{cycle}/s0/writer/0"
    reserved = CallReserved(
        island=0,
        cycle=cycle,
        request=question,
        number=number,
        role="writer",
        model="m",
        prompt_hash="",
        template="",
        tokens=1,
        dollars=0.0,
        prompt=(Message(role="user", content=f"question {cycle}"),),
    )
    return reserved, CallReplied(
        island=0, cycle=cycle, request=question, number=number, reply=said("text")
    )


def session(number: int) -> SessionStarted:
    return SessionStarted(
        number=number, began_at=0.0, budgets={}, device="d", device_class="d", devices=1
    )


def log(*events: tuple[float, Event]) -> Log:
    return Log(
        events=[Stored(seq, at, event) for seq, (at, event) in enumerate(events)],
        calls=[],
        samples=[],
    )


def test_figures_of_a_run_that_was_killed_and_resumed() -> None:
    ask = {cycle: call(cycle) for cycle in (1, 2, 3)}
    away = TurnedAway(
        island=0, cycle=2, request=ask[2][1].request, failure=Failure.PROSE_ONLY, reason="prose"
    )
    found = figures(
        log(
            (0.0, session(0)),
            (10.0, evaluated("seed", 1.0)),
            (10.0, SearchStarted(number=0)),
            (11.0, ask[1][0]),
            (12.0, drafted(9, "mutant", "mutation")),
            (14.0, ask[1][1]),
            (14.0, drafted(1, "first", "experiment")),
            (16.0, evaluated("mutant", 3.0)),
            (18.0, evaluated("first", 2.0)),
            (20.0, ask[2][0]),  # killed; lost 10 s
            (30.0, session(1)),
            (31.0, SearchStarted(number=1)),
            (32.0, ask[2][1]),
            (32.0, away),
            (33.0, CycleFinished(island=0, cycle=2)),
            (34.0, ask[3][0]),
            (40.0, ask[3][1]),
            (41.0, SearchEnded(number=1, reason="time")),
        )
    )
    assert found["replies"] == {
        "received": 3,
        "verdict": 1,
        "turned away": 1,
        "cut off at the end": 1,
        "share_judged": 0.667,
        "unjudged_requests": [],
        "every_reply_judged": True,
    }
    assert found["reply_to_verdict_s"]["median"] == 4.0
    assert found["device"]["searched_s"] == 20.0  # 10 to 20, 31 to 41
    assert found["device"]["busy_share"] == pytest.approx(5.0 / 20.0)
    # Compiled at 14.5, on a device from 16 to 18; the mutant held it until 16.
    assert found["waits"]["behind_mutations_s"]["most"] == 1.5
    assert found["calls"]["questions_answered_twice"] == []


def test_figures_tell_a_reply_without_verdict_and_a_call_paid_twice() -> None:
    first, again = call(1), call(1, number=1)
    found = figures(
        log(
            (0.0, session(0)),
            (1.0, evaluated("seed", 0.5)),
            (1.0, SearchStarted(number=0)),
            (2.0, first[0]),
            (3.0, first[1]),
            (4.0, again[0]),
            (5.0, again[1]),
            (6.0, CycleFinished(island=0, cycle=1)),
        )
    )
    assert not found["replies"]["every_reply_judged"]
    assert found["calls"]["questions_answered_twice"] == [first[1].request]
    assert found["calls"]["asked_again_after_its_reply_was_stored"] == [again[0].key]
