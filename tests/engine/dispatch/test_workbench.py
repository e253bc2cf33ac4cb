"""The seam to the evaluators: few hands on the way, wins that hold, faults told as Broken."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from engine.dispatch.workbench import (
    AnchorBroken,
    BackendWorkbench,
    Broken,
    Built,
    Sick,
    linked,
    raising_broken,
    verified,
)
from evaluators.device import register
from evaluators.device_info import FURTHER_BACKENDS
from evaluators.evaluation import Evaluation, Rejected, Status
from evaluators.measuring.policy import Anchor, TimingPolicy
from evaluators.measuring.race import AnchorFailed
from evaluators.processes.child_evaluator import DeviceSick
from tests.evaluators import without_oracle
from tests.evaluators.small_task import kernel, write_task

ROOT = Path(__file__).parents[3]
QUICK = TimingPolicy(budget_s=0.3, interval_us=1000.0, link_budget_s=0.2, deadline_slack_s=1.0)


@pytest.fixture(scope="module")
def workbench(tmp_path_factory: pytest.TempPathFactory) -> BackendWorkbench:
    task = write_task(tmp_path_factory.mktemp("task") / "small")
    return BackendWorkbench(task=str(task), backend="cpu", secret=7, policy=QUICK)


def measuring_classes(package: str) -> set[str]:
    """Those with a measure() of their own; protocols say what one is, and hand on nothing."""
    found = set()
    for path in (ROOT / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and "Protocol" not in map(ast.unparse, node.bases):
                methods = (ast.FunctionDef, ast.AsyncFunctionDef)
                if any(isinstance(one, methods) and one.name == "measure" for one in node.body):
                    found.add(node.name)
    return found


def test_measure_is_handed_on_four_times() -> None:
    """From the dispatcher: to its lane, the actor, the child's evaluator, the one in the child."""
    assert measuring_classes("engine") == {"RayLane", "EvaluatorActor"}
    assert measuring_classes("evaluators") == {"ChildEvaluator", "Evaluator"}


def test_the_search_times_some_shapes_and_sittings_all(workbench: BackendWorkbench) -> None:
    some = replace(workbench, shapes=1)
    for opened, count in ((some.open(0), 1), (some.open_afresh(0, 1), 2), (workbench.open(0), 2)):
        with opened as evaluator:
            built = some.compile(kernel(), evaluator.device.info)
            assert isinstance(built, Built)
            made = evaluator.measure(built.kernel, built.compiled, None)
            assert made.passed and len(made.times_us) == count


@pytest.mark.parametrize("wrong_from", [100_000, 6000])
def test_a_win_must_hold_on_held_out_shapes(workbench: BackendWorkbench, wrong_from: int) -> None:
    with workbench.open(0) as evaluator:
        source = kernel(before=f"if (N > {wrong_from}) return;")
        built = workbench.compile(source, evaluator.device.info)
        assert isinstance(built, Built)
        made = evaluator.measure(built.kernel, built.compiled, None)
        assert made.passed and made.speedup == 1.0
        win = verified(evaluator, built, made)
    assert win.evaluation.seconds["device"] > made.seconds["device"]
    assert win.verified == (wrong_from > 7000)
    if not win.verified:
        assert win.evaluation.status is Status.WRONG and win.evaluation.times_us == {}
        assert "on a held-out shape" in win.evaluation.reason
        assert "7000" not in win.evaluation.reason


def test_a_link_of_a_kernel_that_now_fails_is_none(workbench: BackendWorkbench) -> None:
    with workbench.open(0) as evaluator:
        right, wrong = (
            workbench.compile(kernel(before=before), evaluator.device.info)
            for before in ("", "if (N > 2) return;")
        )
        assert isinstance(right, Built) and isinstance(wrong, Built)
        anchor = Anchor(kernel_id=right.kernel_id, kernel=right.kernel, compiled=right.compiled)
        assert linked(evaluator, wrong, anchor) is None
        assert set(linked(evaluator, right, anchor) or {}) == {"N=3000", "N=5001"}


def test_a_source_that_does_not_compile_has_its_verdict(workbench: BackendWorkbench) -> None:
    with workbench.open(0) as evaluator:
        made = workbench.compile(kernel(before="int i = sum;"), evaluator.device.info)
    assert isinstance(made, Evaluation) and made.status is Status.COMPILE_ERROR


WRONG = Rejected(Status.WRONG, "y[0] is 0, expected 2")


@pytest.mark.parametrize(
    ("raised", "told", "said"),
    [
        (DeviceSick("it computes 3 where 4 is right"), Sick, "it computes 3 where 4 is right"),
        (AnchorFailed(WRONG), AnchorBroken, "the anchor failed while a kernel was timed against"),
    ],
)
def test_faults_are_told_in_a_campaigns_terms(
    raised: Exception, told: type[Broken], said: str
) -> None:
    with pytest.raises(told) as caught, raising_broken():
        raise raised
    assert str(caught.value).startswith(said)
    if isinstance(caught.value, AnchorBroken):
        assert (caught.value.status, caught.value.reason) == (Status.WRONG, str(WRONG))


def test_races_are_looked_for_on_the_host_where_a_device_shows_none(
    workbench: BackendWorkbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FURTHER_BACKENDS, "")
    register(without_oracle.NAME, without_oracle.MODULE)
    blind = replace(workbench, backend=without_oracle.NAME)
    info = without_oracle.open_device(0).info
    right, racy = (
        blind.compile(kernel(before=before), info)
        for before in ("", "if (i + 1 < N) y[i + 1] = 0.0f;")
    )
    assert isinstance(right, Built) and isinstance(racy, Built)
    assert blind.watch(right, info, 0).passed
    seen = blind.watch(racy, info, 1)
    assert seen.status is Status.WRONG and seen.reason.startswith("on the cpu, ")
    assert workbench.watch(racy, replace(info, backend="cpu"), 0).passed  # it has an oracle
