"""Which sections a role is told, for a task and a device, and in which room."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from evaluators.device_info import DeviceInfo
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task, shipped_tasks
from operators.llm.knowledge.digest import chosen, knowledge_of
from operators.llm.knowledge.sections import KINDS, Kind, Section, sections_for
from operators.llm.knowledge.traits import traits_of
from operators.llm.preview import preview
from operators.llm.prompts.page import KNOWLEDGE_SHARE
from operators.llm.prompts.room import PROMPT_TOKENS
from operators.llm.question import ROLES, Role
from tests.operators.people import DEVICE, SGEMM

PLENTY = 100_000
FP8 = load_task(str(Path(__file__).parents[3] / "kernels" / "fp8_mfma_gemm"))
GPU = replace(DEVICE, backend="hip", arch="gfx942", judges_on_device=True)
DEVICES: dict[Kind, DeviceInfo] = {
    "cpu": DEVICE,
    "cdna3": GPU,
    "hopper": replace(GPU, backend="cuda", arch="sm_90"),
    "hip": replace(GPU, arch="gfx1100"),
}
TASKS = {name: load_task(name) for name in shipped_tasks()} | {"fp8": FP8}
WANTED: dict[str, tuple[set[str], set[str]]] = {  # topics that a GPU's writer has, and has not
    "sgemm": ({"matrix_cores", "lds", "memory", "occupancy", "small_shapes"}, {"reduction"}),
    "fp8": ({"matrix_cores", "lds", "memory", "precision"}, {"reduction"}),
    "softmax": ({"reduction", "memory", "precision", "synchronisation"}, {"matrix_cores"}),
    "sum_reduction": ({"reduction", "memory", "synchronisation"}, {"matrix_cores"}),
    "transpose": ({"lds", "memory"}, {"matrix_cores", "reduction", "precision"}),
}


def ranked(task: Task, kind: Kind) -> list[Section]:
    return chosen(DEVICES[kind], traits_of(task, DEVICES[kind].backend))


def topics(task: Task, device: Kind, kind: Kind) -> set[str]:
    return {one.front.topic for one in ranked(task, device) if one.kind == kind}


def told(task: Task, role: Role, kind: Kind = "cdna3", characters: int = PLENTY) -> str:
    return knowledge_of(task, DEVICES[kind], role, characters)


@pytest.mark.parametrize("kind", ["cdna3", "hopper"])
@pytest.mark.parametrize("name", WANTED)
def test_a_task_gets_the_topics_that_matter_for_it(name: str, kind: Kind) -> None:
    wanted, unwanted = WANTED[name]
    found, portable = topics(TASKS[name], kind, kind), topics(TASKS[name], kind, "hip")
    assert wanted <= found
    assert not unwanted & (found | portable)


def test_what_is_worth_most_stands_first_and_topics_stay_together() -> None:
    found = ranked(FP8, "cdna3")
    assert found[0].front.topic == "matrix_cores"
    assert ranked(TASKS["transpose"], "hip")[0].front.topic == "lds"
    assert ranked(TASKS["softmax"], "cpu")[0].front.topic == "reduction"
    order = [one.front.topic for one in found]
    assert order == sorted(order, key=order.index)


def test_a_writer_of_an_fp8_product_has_layouts_and_formats() -> None:
    text = told(FP8, "writer")
    assert "__builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8" in text
    assert "[k = e * (l / 32) + j]" in text
    assert "**FNUZ**" in text and "__builtin_amdgcn_cvt_pk_fp8_f32" in text


def test_lines_are_told_only_of_tasks_that_they_concern() -> None:
    sgemm, softmax = told(SGEMM, "writer"), told(TASKS["softmax"], "writer")
    assert "v_pk_fma_f32" in sgemm and "v_pk_fma_f32" not in softmax
    assert "`__expf` 2" in softmax and "`__expf` 2" not in sgemm
    assert not [line for line in (sgemm + softmax).splitlines() if line.lstrip().startswith("- {")]
    assert "FNUZ" not in sgemm + softmax


@pytest.mark.parametrize("role", ["designer", "writer", "crossover", "repair"])
def test_a_device_is_told_of_alone(role: Role) -> None:
    for kind, device in DEVICES.items():
        kinds = {section.kind for section in sections_for(device)}
        assert kinds == {kind, "cpu" if kind == "cpu" else "hip"}
        titles = re.findall(r"^## .*?, (.*)$", told(SGEMM, role, kind), re.MULTILINE)
        assert set(titles) == {KINDS[one] for one in kinds}


def test_a_designer_is_told_strategy_and_a_writer_idioms() -> None:
    softmax = TASKS["softmax"]
    assert "__shfl_xor" in told(softmax, "writer")
    assert "__shfl_xor" not in told(softmax, "designer")
    assert "vector_size" in told(softmax, "writer", "cpu")
    assert "vector_size" not in told(softmax, "designer", "cpu")
    assert told(SGEMM, "writer") == told(SGEMM, "crossover") == told(SGEMM, "repair")
    assert told(SGEMM, "selector") == told(SGEMM, "selector", "cpu") == ""


# --- room ---------------------------------------------------------------------------------------


def everyone() -> Iterator[tuple[Task, Kind, Role]]:
    return ((task, kind, role) for task in TASKS.values() for kind in DEVICES for role in ROLES)


def test_at_the_default_budgets_nothing_is_left_out() -> None:
    for task, kind, role in everyone():
        room = int(PROMPT_TOKENS[role] * 3 * KNOWLEDGE_SHARE)
        assert told(task, role, kind, room) == told(task, role, kind), (task.name, kind, role)


@pytest.mark.parametrize("characters", [0, 50, 300, 1_000, 3_000, 6_000])
def test_whole_sections_are_left_out_and_named(characters: int) -> None:
    for task, kind, role in everyone():
        text, whole = told(task, role, kind, characters), told(task, role, kind)
        assert len(text) <= characters
        if text == whole or not text:
            continue
        shown, _, left_out = text.partition("(Left out for want of room: ")
        kept, sections = parts(shown), parts(whole)
        assert kept == sections[: len(kept)]
        titles = [one.splitlines()[0].removeprefix("## ") for one in sections[len(kept) :]]
        assert left_out == f"{'; '.join(titles)}.)"


def parts(text: str) -> list[str]:
    return [one.strip() for one in re.split(r"\n\n(?=## )", text) if one.strip()]


def test_prompts_are_the_same_for_the_same_state() -> None:
    for kind, device in DEVICES.items():
        first, again = (preview("writer", FP8, device) for _ in range(2))
        assert first == again
        assert told(FP8, "writer", kind) in first.messages[1].content
