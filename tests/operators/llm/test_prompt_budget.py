"""What each role is told and no more: budgets of tokens, stable beginnings, knowledge, diffs."""

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Status
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task, shipped_tasks
from operators.catalog import random_candidate
from operators.finding import Finding
from operators.individual import Individual
from operators.llm.call import estimated_tokens
from operators.llm.preview import preview
from operators.llm.prompts.distilling import distiller_prompt
from operators.llm.prompts.page import difference
from operators.llm.prompts.render import (
    Scene,
    crossover_prompt,
    designer_prompt,
    repair_prompt,
    selector_prompt,
    writer_prompt,
)
from operators.llm.prompts.room import DROPPED_TOGETHER, PROMPT_TOKENS, Room
from operators.llm.question import ROLES, Prompt, Role
from operators.operator import Knowledge
from tests.operators.people import DEVICE, EXPERIMENT, SEED, SGEMM, TILE, failure, individual

GPU = replace(DEVICE, backend="hip", arch="gfx942", judges_on_device=True)
WORDY = replace(
    EXPERIMENT, description="Read each element once less. " * 40, rubric="1. Change it. " * 400
)


def crowd(task: Task, count: int) -> list[Individual]:
    """Kernels as long as the catalogue writes them, told of at length; one in ten fails."""
    known = load_task("sgemm")
    drafts = [random_candidate(known, np.random.default_rng(i)).candidate.source for i in range(8)]
    longest = max(drafts, key=len)
    labels = [w.label for w in task.workloads("benchmarks", "cpu")]
    people: list[Individual] = []
    for i in range(count):
        source = f"{longest}// number {i}\n" + "// what it does, line by line\n" * 100
        if i % 10 == 9:
            people.append(
                failure(source, Status.WRONG, "y[3] is 4. " * 200, log="note\n" * 5000, parent="x")
            )
            continue
        one = individual(
            source,
            speedup=1 + i / 10,
            parents=(people[-1].id,) if people else (),
            origin="experiment",
            experiment=WORDY,
            report="It reads in order. " * 200,
        )
        times = dict.fromkeys(labels, 100.0 / (1 + i))
        light = dict.fromkeys(labels, 0.5)
        evaluation = replace(one.evaluation, times_us=times, speed_of_light=light)
        people.append(replace(one, evaluation=evaluation))
    return people


def prompts(scene: Scene, people: list[Individual]) -> Mapping[Role, Prompt]:
    """Each role's, in its own budget where the scene has none."""
    known = {one.id: one for one in people}
    passed = [one for one in reversed(people) if one.evaluation.passed]
    failed = next(one for one in reversed(people) if not one.evaluation.passed)
    base, reference = passed[0], passed[-1]

    def own(role: Role) -> Scene:
        return replace(scene, tokens=scene.tokens or PROMPT_TOKENS[role])

    return {
        "selector": selector_prompt(own("selector"), passed, known),
        "designer": designer_prompt(
            own("designer"), base, reference, known, avenues=10, experiments=5
        ),
        "writer": writer_prompt(own("writer"), base, reference, WORDY, known),
        "crossover": crossover_prompt(own("crossover"), base, reference, known),
        "repair": repair_prompt(own("repair"), replace(failed, parents=(base.id,)), known),
        "distiller": distiller_prompt(own("distiller"), known, RULES[: len(people)]),
    }


def text_of(prompt: Prompt) -> str:
    return "\n".join(message.content for message in prompt.messages)


RULES = [
    Finding(
        id=f"{number:08x}",
        kind="win" if number % 2 else "trap",
        rule="Let a thread own 8x4 outputs, and keep their sums in registers. " * 3,
        ratio=(2.1, 1.9, 2.3) if number % 2 else (0.8, 0.7, 0.9),
        shown_by=("0123456789abcdef",) * 3,
    )
    for number in range(100)
]
LARGEST = max(
    map(load_task, shipped_tasks()), key=lambda task: len(task.description + task.reference_text)
)


LEARNED = Knowledge(
    measured=("A barrier of a block of 256 threads costs 40 ns. " * 4,) * 60,
    findings=("win: 8x4 outputs a thread, 2.1x (1.9 to 2.3), kernel 0123456789ab. " * 3,) * 100,
)


@pytest.fixture(scope="module")
def two_hundred() -> list[Individual]:
    return crowd(LARGEST, 200)


@pytest.mark.parametrize("device", [DEVICE, GPU], ids=["cpu", "gpu"])
def test_every_role_keeps_its_budget_among_two_hundred(
    device: DeviceInfo, two_hundred: list[Individual]
) -> None:
    people = two_hundred
    wordy = {one.id: ("Bound by the latency of memory. " * 30,) * 20 for one in people}
    scene = Scene(
        task=LARGEST,
        device=device,
        tokens=0,
        knowledge=LEARNED,
        profiles=wordy,
        rationale="It wins on the long rows. " * 500,
    )
    for role, prompt in prompts(scene, people).items():
        assert estimated_tokens(prompt.messages) <= PROMPT_TOKENS[role], role


def test_it_is_said_how_much_of_what_was_learned_is_left_out(two_hundred: list[Individual]) -> None:
    scene = Scene(task=LARGEST, device=DEVICE, tokens=0, knowledge=LEARNED)
    for role, prompt in prompts(scene, two_hundred).items():
        lines = [line for line in text_of(prompt).splitlines() if line.startswith("- win: 8x4")]
        left_out = re.findall(r"- \((\d+) further ones are left out\.\)", text_of(prompt))
        assert lines, role
        assert len(lines) + int(left_out[-1]) == 100, role


def test_a_distiller_is_told_how_many_rules_and_steps_are_left_out(
    two_hundred: list[Individual],
) -> None:
    text = text_of(prompts(Scene(task=LARGEST, device=DEVICE, tokens=0), two_hundred)["distiller"])
    rules = re.findall(r"^- [0-9a-f]{8}: ", text, re.MULTILINE)
    (unsaid,) = re.findall(r"\((\d+) further ones are left out\.\)", text)
    assert rules and len(rules) + int(unsaid) == len(RULES)
    steps = re.findall(r"^- [0-9a-f]{16}: ", text, re.MULTILINE)
    (dropped,) = re.findall(r"\((\d+) older ones are left out\.\)", text)
    assert steps and len(steps) + int(dropped) == len(two_hundred) - 1  # the first is nobody's


def test_a_task_told_at_length_keeps_the_budget_too(two_hundred: list[Individual]) -> None:
    long = LARGEST.reference_text + "# numpy\n" * 20_000
    task = replace(LARGEST, description="Rows. " * 20_000, reference_text=long)
    for role, prompt in prompts(Scene(task=task, device=DEVICE, tokens=0), two_hundred).items():
        assert estimated_tokens(prompt.messages) <= PROMPT_TOKENS[role], role


def test_what_is_left_out_is_said(two_hundred: list[Individual]) -> None:
    people = two_hundred
    made = prompts(Scene(task=LARGEST, device=DEVICE, tokens=0), people)
    assert re.search(r"- earlier \(\d+ steps\): ", text_of(made["designer"]))
    assert "slower kernels of the tournament are left out.)" in text_of(made["selector"])
    assert "characters left out" in text_of(made["repair"])
    small = prompts(Scene(task=LARGEST, device=DEVICE, tokens=4000), people)
    assert "there is no room" in text_of(small["writer"])
    for role in ROLES:
        assert len(text_of(small[role])) < len(text_of(made[role]))


def test_nothing_is_said_to_be_left_out_where_nothing_is() -> None:
    people = [SEED, TILE, failure("x", Status.WRONG, "wrong", parent=TILE.id)]
    for prompt in prompts(Scene(task=SGEMM, device=DEVICE, tokens=0), people).values():
        assert "left out" not in text_of(prompt).replace("what you left out", "")


@pytest.mark.parametrize("role", ROLES)
def test_two_prompts_of_a_role_begin_alike(role: Role, two_hundred: list[Individual]) -> None:
    """Up to the first listing nine tenths are the same, a cycle later: endpoints cache that."""
    scene = Scene(task=LARGEST, device=DEVICE, tokens=0)
    people = two_hundred
    first, later = (text_of(prompts(scene, people[:n])[role]) for n in (21, 24))
    assert first != later
    titles = {"selector": "# The kernels of this tournament", "distiller": "# The record"}
    title = titles.get(role, ": kernel ")
    start = first.index(title, first.index("# The device"))
    parts = next(i for i, (a, b) in enumerate(zip(first, later, strict=False)) if a != b)
    assert parts >= 0.9 * start


def test_lines_are_dropped_together_so_that_beginnings_last() -> None:
    lines = [f"line {i:03}" for i in range(40)]
    begins = {
        Room(100, 0).lines(lines[:count], 10_000)[0][0]
        for count in range(30, 30 + DROPPED_TOGETHER)
    }
    assert len(begins) <= 2
    kept, dropped = Room(100, 0).lines(lines, 10_000)
    assert kept == lines[dropped:] and dropped % DROPPED_TOGETHER == 0


# --- the device ------------------------------------------------------------------------------


def test_no_prompt_for_a_processor_speaks_of_gpus() -> None:
    for role in ROLES:
        told = text_of(preview(role, SGEMM, DEVICE))
        assert not [word for word in ("GPU", "occupancy", "MFMA", "split-K") if word in told]


def test_what_a_device_says_of_itself_is_told_to_those_who_think_of_code() -> None:
    told = replace(DEVICE, notes=("Vectors: 64 bytes.", "Compiled with -O3."))
    made = prompts(Scene(task=SGEMM, device=told, tokens=0), [SEED, TILE, BROKEN])
    for role, prompt in made.items():
        said = "- Vectors: 64 bytes.\n- Compiled with -O3." in text_of(prompt)
        assert said == (role not in ("selector", "distiller"))


BROKEN = failure("/*---\n---*/\n// broken", Status.WRONG, "wrong", parent=TILE.id)


# --- listings ---------------------------------------------------------------------------------


def test_a_reference_like_the_base_is_shown_as_a_diff() -> None:
    near = individual(TILE.candidate.source.replace("TM: 2", "TM: 8"), parents=(TILE.id,))
    known = {one.id: one for one in (SEED, TILE, near)}
    scene = Scene(task=SGEMM, device=DEVICE, tokens=24_000)
    text = text_of(writer_prompt(scene, near, TILE, EXPERIMENT, known))
    assert near.candidate.source.strip() in text
    assert TILE.candidate.source.strip() not in text
    shown = text.partition("# Reference")[2].partition("```diff\n")[2].partition("\n```")[0]
    assert shown == difference(near.candidate.source, TILE.candidate.source)
    assert "-params: {BX: 8, BY: 8, TM: 8, TN: 4}" in shown
    assert "+params: {BX: 8, BY: 8, TM: 2, TN: 4}" in shown
    unlike = text_of(writer_prompt(scene, near, SEED, EXPERIMENT, known))
    assert SEED.candidate.source.strip() in unlike and "```diff" not in unlike


def test_a_designer_reads_why_the_two_were_chosen() -> None:
    scene = Scene(
        task=SGEMM, device=DEVICE, tokens=16_000, rationale="The Base leads; the seed reads less."
    )
    known = {one.id: one for one in (SEED, TILE)}
    text = text_of(designer_prompt(scene, TILE, SEED, known, avenues=10, experiments=5))
    assert "# Why these two were chosen\nThe Base leads; the seed reads less." in text
    silent = designer_prompt(
        replace(scene, rationale=""), TILE, SEED, known, avenues=10, experiments=5
    )
    assert "Why these two" not in text_of(silent)


def test_edits_are_advised_for_long_kernels() -> None:
    long = individual(TILE.candidate.source + "// a line\n" * 100)
    scene = Scene(task=SGEMM, device=DEVICE, tokens=24_000)
    assert "where most stay, give edits" in text_of(
        writer_prompt(scene, long, long, EXPERIMENT, {})
    )
    assert "where most stay" not in text_of(writer_prompt(scene, TILE, TILE, EXPERIMENT, {}))
