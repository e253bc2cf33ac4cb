"""What probes answer on cpu: right buffers, sane ratios, a verdict on everything that fails."""

import json
import secrets
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pydantic import TypeAdapter

from evaluators.cpu.compiler import CpuCompiler
from evaluators.cpu.device import CpuDevice, open_device
from evaluators.evaluation import Status
from evaluators.measuring.evaluator import Evaluator
from evaluators.probes.measured import Interval
from evaluators.probes.probe import Answer, BuiltProbe, compile_probe
from evaluators.probes.run import answer, measure
from evaluators.probes.shipped import catalogue, shipped
from evaluators.probes.telling import numbers
from evaluators.processes.child_evaluator import ChildEvaluator
from evaluators.tasks.task_file import load_task
from tests.evaluators.probes.files import ADD, probe_text

HANG = "while (((volatile float *)out)[0] >= 0.0f) {}"


@pytest.fixture(scope="module")
def device() -> Iterator[CpuDevice]:
    yield open_device(0)


def built(text: str, device: CpuDevice) -> BuiltProbe:
    return compile_probe(text, CpuCompiler(), device.info)


def failing(statement: str) -> str:
    return probe_text(code=ADD.replace("int at", f"{statement}\n    int at"))


def test_an_answer_shows_one_run_on_buffers_as_they_were_filled(device: CpuDevice) -> None:
    probe = built(probe_text(more="  per: N\n  show: {out: 5}\n"), device)
    said = answer(device, probe)
    assert (said.status, said.reason) == (Status.PASSED, "")
    assert len(said.sentences) >= 2
    assert said.sentences[0].startswith("N = 64: ")
    assert said.sentences[0].endswith("; out begins with 2 to 6 in steps of 1.")
    assert " an operation (96% interval " in said.sentences[0]
    assert said.seconds > 0


@pytest.mark.parametrize(
    ("buffer", "wanted"),
    [
        ("{elements: N}", [0.0, 0.0, 0.0]),
        ("{elements: N, fill: one, dtype: float16}", [1.0, 1.0, 1.0]),
        ("{elements: N, fill: iota, dtype: int32}", [0, 1, 2]),
    ],
)
def test_fills(device: CpuDevice, buffer: str, wanted: list[float]) -> None:
    text = probe_text(
        buffers=f"{{out: {{elements: N}}, seen: {buffer}}}", more="  show: {seen: 3}\n"
    )
    assert measure(device, built(text, device))[0].shown["seen"].tolist() == wanted


def test_random_values_are_the_same_each_time(device: CpuDevice) -> None:
    text = probe_text(
        buffers="{out: {elements: N}, seen: {elements: N, fill: random}}",
        more="  show: {seen: 9}\n",
    )
    one, two = (measure(device, built(text, device))[1].shown["seen"] for _ in range(2))
    assert (one == two).all()
    assert (one >= 0).all() and (one < 1).all() and len(set(one.tolist())) == 9


def test_times_are_of_operations_and_without_the_baseline(device: CpuDevice) -> None:
    """Sixteen times the work takes about as long for each."""
    loop = ADD.replace("out[at] += 2.0f;", "for (int i = 0; i < n; ++i) out[at] = sinf(out[at]);")
    text = probe_text(
        cases="[{N: 512}, {N: 8192}]",
        more="  baseline: {N: 1}\n  per: N\n",
        buffers="{out: {elements: 64}}",
        launch="- {kernel: add, grid: [1], block: [64], args: [out, N]}",
        code=loop.replace("if (at < n)", ""),
    )
    short, long = measure(device, built(text, device))
    assert 0.5 < long.each_ns / short.each_ns < 2.0
    assert 4.0 < long.us.median / short.us.median < 64.0


def test_an_interval_holds_its_median() -> None:
    assert Interval.of([5, 1, 9, 3, 4, 7, 6, 2, 8]) == Interval(median=5, low=2, high=8)
    assert Interval.of([3, 1, 2]) == Interval(median=2, low=1, high=3)


@pytest.mark.parametrize(
    ("statement", "status", "words"),
    [
        (HANG, Status.TIMEOUT, ""),
        ("__builtin_trap();", Status.CRASHED, ""),
        ("out[n + 3] = 1.0f;", Status.WRONG, "wrote behind its buffer out"),
        ("out[-2] = 1.0f;", Status.WRONG, "wrote before its buffer out"),
        ("out[1 << 28] = 1.0f;", Status.CRASHED, ""),
    ],
)
def test_one_that_fails_is_an_answer(
    device: CpuDevice, statement: str, status: Status, words: str
) -> None:
    text = failing(statement)
    said = answer(device, built(text.replace("[{N: 64}, {N: 256}]", "[{N: 256}]"), device), 1.0)
    assert said.status is status
    assert words in said.reason
    assert "\n" not in said.reason
    assert said.question == "What does it cost to add two?"


def test_a_launch_that_is_refused_is_an_answer(device: CpuDevice) -> None:
    text = probe_text(launch="- {kernel: add, grid: [1], block: [2048], args: [out, N]}")
    said = answer(device, built(text, device))
    assert said.status is Status.LAUNCH_ERROR
    assert "2048" in said.reason or "2,048" in said.reason


def test_answers_are_plain_json() -> None:
    said = Answer(
        probe_id="a",
        question="b?",
        status=Status.TIMEOUT,
        reason="c",
        sentences=("d",),
        seconds=1.5,
    )
    adapter = TypeAdapter(Answer)
    assert adapter.validate_json(adapter.dump_json(said)) == said
    assert json.loads(adapter.dump_json(said))["status"] == "TIMEOUT"


def test_an_evaluator_answers_and_so_does_one_in_a_process_of_its_own(device: CpuDevice) -> None:
    task = load_task("sum_reduction")
    right = built(probe_text(more="  show: {out: 4}\n"), device)
    ends = built(failing("__builtin_trap();"), device)
    here = Evaluator(task=task, device=device, secret=secrets.randbits(64))
    with ChildEvaluator(task=task, backend_name="cpu", secret=1) as there:
        for evaluator in (here, there):
            assert evaluator.probe(right).sentences[0].endswith("2 to 5 in steps of 1.")
            assert evaluator.probe(ends).status is Status.CRASHED
            assert evaluator.probe(right).passed


@pytest.mark.long
def test_the_shipped_set_on_cpu(device: CpuDevice, tmp_path: Path) -> None:
    found = {
        name: measure(device, built(probe.text, device))
        for name, probe in catalogue(device.info).items()
    }
    of_width = {c.values["WIDTH"]: c for c in found["copy"] if c.values["ROUNDS"] == 1}
    assert of_width[16].bytes_per_s > of_width[1].bytes_per_s
    nearest = max(found["copy"], key=lambda c: c.values["ROUNDS"])
    assert nearest.bytes_per_s > of_width[16].bytes_per_s
    scalar, *vectors = found["vectors"]
    assert min(c.each_ns for c in vectors) < 0.6 * scalar.each_ns
    small, _, large = found["exchange"]
    assert large.each_ns > 2 * small.each_ns
    plain, *functions = found["functions"]
    assert max(c.each_ns for c in functions) > 3 * plain.each_ns
    ints = [c.shown["ints"][0] for c in found["atomic"] if not c.values["FLOAT"]]
    assert ints == [256 * 256, 1]


@pytest.mark.soak
def test_answers_of_the_shipped_set_fit_a_prompt(device: CpuDevice) -> None:
    answers = [answer(device, built(probe.text, device)) for probe in shipped(device.info)]
    assert [one.reason for one in answers if not one.passed] == []
    assert all(1 <= len(one.sentences) <= 2 for one in answers)
    assert sum(len(sentence) for one in answers for sentence in one.sentences) <= 2500


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ("per: 1000000000000000000", "the 1,000,000,000,000,000,000 operations that its file"),
        ("bytes: 1000000000000000", "it can't have done the 1,000,000,000,000,000 bytes that its"),
    ],
)
def test_a_file_that_counts_what_no_device_does_gets_no_rate(
    device: CpuDevice, counts: str, told: str
) -> None:
    probe = built(probe_text(more=f"  {counts}\n"), device)
    first, *_ = answer(device, probe).sentences
    assert told in first and " a run (" in first and "TB/s" not in first


def test_a_row_of_what_is_no_number_is_told_once() -> None:
    assert numbers(np.full(64, np.nan, np.float32)) == "64 times nan"
    assert numbers(np.full(64, 7, np.int32)) == "64 times 7"


def test_a_question_moves_no_cursor(device: CpuDevice) -> None:
    probe = built(probe_text(question=r'"Red?\e[2J\r\nNow"'), device)
    assert answer(device, probe).question == r"Red?\x1b[2J Now"
