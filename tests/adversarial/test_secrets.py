"""Kernels that ask: what should be there, and on which shapes will a win be checked?"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from engine.cli import main as cli
from evaluators.device import Compiled, backend
from evaluators.evaluate import compile_kernel
from evaluators.evaluation import Status
from evaluators.kernel.source import KernelSource
from evaluators.measuring.policy import TimingPolicy
from evaluators.measuring.sittings import elsewhere
from tests.adversarial.timed_task import FRONT, Contest, kernel, write_task

HELD_OUT = 7013

ASKING = {
    "by a value": kernel(after="if (N > 6000 && i < N) y[i] = N;"),
    "by the place of a wrong element": kernel(before="if (i == N - 1 && N > 6000) return;"),
    "by the count of elements": kernel(before="if (N > 6000) return;"),
    "by a write behind the end": kernel(after="if (N > 6000 && i == 0) y[N] = 1.0f;"),
    "by a crash": kernel(after="if (N > 6000 && i == 0) y[(1 << 28) + N] = 1.0f;"),
    "by blocks that are too large": kernel().replace(
        "block: [64]", 'block: ["64 + N * (N > 6000)"]'
    ),
    "by LDS that is too large": kernel().replace(
        "block: [64]", 'block: [64], lds_bytes: "100000 * N * (N > 6000)"'
    ),
    "by scratch that is too large": kernel(scratch=True).replace(
        '"4 * 40 * 8192"', '"4096 + 100000 * N * (N > 6000)"'
    ),
    "by two runs that differ": kernel(
        preamble="__device__ int runs;",
        after="if (N > 6000 && i == 5 && ++runs == 3) y[i] = y[i] + 7013.0f;",
    ),
}

ASKING_THE_COMPILER = {
    "by a grid of nothing": kernel().replace('"ceil_div(N, 64)"', '"ceil_div(N, 64) * (N < 6000)"'),
    "by a grid that is too large": kernel().replace(
        '"ceil_div(N, 64)"', '"ceil_div(N, 64) + N * 4294967296 * (N > 6000)"'
    ),
    "by a division": kernel().replace('"ceil_div(N, 64)"', '"ceil_div(N, 64) + 0 // (N - 7013)"'),
    "by an assertion": kernel(
        preamble='static_assert(N < 6000, "tell me");',
    )
    .replace("int N", "int M")
    .replace("---*/", "specialize: [N]\n---*/"),
    "by a branch that does not compile": kernel(preamble="static_assert(WIDTH == 1);").replace(
        "---*/", "params: {WIDTH: 1}\nvariants: [{when: 'N > 6000', params: {WIDTH: 77}}]\n---*/"
    ),
}


@pytest.fixture(scope="module")
def contest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Contest]:
    """Times do not matter here."""
    device, briefly = backend("cpu").open_device(0), TimingPolicy(max_blocks=3, interval_us=200.0)
    yield Contest(write_task(tmp_path_factory.mktemp("timed") / "task"), device, policy=briefly)
    device.close()


@pytest.fixture(scope="module")
def asked(contest: Contest) -> tuple[KernelSource, Compiled]:
    """A kernel that fails where it runs."""
    return compile_kernel(ASKING["by the count of elements"], contest.task, contest.compiler, "cpu")


def tells_a_held_out_shape(said: str) -> bool:
    """Its size, or any number that another shape of the task would not have given."""
    known = {"1", "64", "77", "100", "1900", "2301"}
    numbers = set(re.findall(r"\d+", said.replace(",", "")))
    return str(HELD_OUT) in said or bool(numbers - known)


@pytest.mark.parametrize("how", ASKING)
def test_a_rejection_on_a_held_out_shape_tells_only_that(how: str, contest: Contest) -> None:
    kernel, compiled = compile_kernel(ASKING[how], contest.task, contest.compiler, "cpu")
    evaluation = contest.evaluator.measure(kernel, compiled, None)
    assert evaluation.passed, evaluation.reason
    verdict = contest.evaluator.verify(kernel, compiled, "held_out")
    assert verdict.status is Status.WRONG  # however it fails
    assert "held-out" in verdict.reason
    assert not tells_a_held_out_shape(verdict.reason + verdict.log), verdict.reason


@pytest.mark.parametrize("how", ASKING_THE_COMPILER)
def test_what_can_not_even_be_compiled_for_a_held_out_shape_is_told_as_late_and_no_more(
    how: str, contest: Contest, asked: tuple[KernelSource, Compiled]
) -> None:
    kernel, compiled = compile_kernel(
        ASKING_THE_COMPILER[how], contest.task, contest.compiler, "cpu"
    )
    assert contest.evaluator.measure(kernel, compiled, None).passed
    assert not contest.evaluator.verify(*asked).passed
    for look in (contest.evaluator.verify, partial(elsewhere, contest.evaluator)):
        assert look(kernel, compiled) == look(*asked)


VARIED = {
    "block": kernel().replace("block: [64]", 'block: ["N"]'),
    "LDS": kernel().replace("block: [64]", 'block: [64], lds_bytes: "N"'),
    "sizes": kernel().replace("int N", "int M").replace("---*/", "specialize: [N]\n---*/"),
    "variant": kernel().replace(
        "---*/", "params: {W: 1}\nvariants: [{when: 'N > 6000', params: {W: 7013}}]\n---*/"
    ),
}


@pytest.mark.parametrize("what", VARIED)
@pytest.mark.parametrize("form", ["--json", "--backend=cpu"])
def test_compile_only_tells_of_shapes_that_are_shown(
    what: str, form: str, contest: Contest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "kernel.hip"
    file.write_text(VARIED[what])
    command = ["evaluate", str(file), "--task", str(contest.task.folder), "--compile-only", form]
    assert cli.main([*command, "--backend", "cpu"]) == 0
    said = capsys.readouterr().out
    assert "7013" not in said
    if form != "--json":
        assert {"sizes": "4 builds"}.get(what, "1 builds") in said


def test_resources_and_logs_are_of_shapes_that_are_shown(contest: Contest) -> None:
    """A table of builds by their defines would tell which variants the held-out shapes take."""
    text = kernel().replace(
        "---*/", "params: {WIDTH: 1}\nvariants: [{when: 'N > 6000', params: {WIDTH: 77}}]\n---*/"
    )
    built, compiled = compile_kernel(text, contest.task, contest.compiler, "cpu")
    evaluation = contest.evaluator.measure(built, compiled, None)
    assert evaluation.passed, evaluation.reason
    assert [build["defines"] for build in evaluation.resources] == [{"WIDTH": 1}]
    assert contest.evaluator.verify(built, compiled, "held_out").passed


@pytest.mark.parametrize(
    "after",
    ["if (N > 1000 && i < N) y[i] = 0.0f;", "if (N > 1000 && i == 5) y[i] = y[i] + 1.0f;"],
)
def test_of_a_benchmark_shape_no_expected_value_is_told(after: str, contest: Contest) -> None:
    evaluation = contest.measure(kernel(after=after))
    assert evaluation.status is Status.WRONG
    said = evaluation.reason + evaluation.log
    assert re.search(r"y\[\d+\] is .*\(\d+ of \d+ elements wrong\).* on N=\d+", evaluation.reason)
    assert "expected" not in said
    assert "largest error" not in said


def test_of_a_test_shape_everything_is_told(contest: Contest) -> None:
    evaluation = contest.measure(kernel(after="if (i == 5 && i < N) y[i] = y[i] + 1.0f;"))
    assert evaluation.status is Status.WRONG
    assert re.search(r"y\[5\] is .*, expected .* on N=100", evaluation.reason)


def test_the_honest_twin_passes_everywhere(contest: Contest) -> None:
    kernel, compiled = compile_kernel(
        FRONT + contest.task.naive.split("---*/")[1], contest.task, contest.compiler, "cpu"
    )
    assert contest.evaluator.verify(kernel, compiled, "held_out").passed
