"""Prompts: what each role is shown, how long they may be, and what must never be in them."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from evaluators.evaluation import Status
from evaluators.kernel.source import kernel_id
from evaluators.tasks.task_file import load_task, shipped_tasks
from operators.llm.preview import preview
from operators.llm.prompts.render import (
    Scene,
    crossover_prompt,
    designer_prompt,
    reask,
    repair_prompt,
    selector_prompt,
    writer_prompt,
)
from operators.llm.prompts.tables import clip
from operators.llm.question import ROLES, Failure, Malformed, Prompt, Role
from scripts.scripted_model.answers import TILED
from tests.operators.people import DEVICE, EXPERIMENT, SEED, SGEMM, TILE, failure

KNOWN = {one.id: one for one in (SEED, TILE)}
SCENE = Scene(task=SGEMM, device=DEVICE, tokens=24_000)
BROKEN = failure(
    TILED.replace("sum[i][j] +=", "sum[j][i] +="),
    Status.WRONG,
    "c[3, 17] on M=33 N=65 K=17 is 0.5, the reference says 4.25",
    log="warning: array index past the end\n" * 400,
    parent=TILE.id,
)


def every_prompt(scene: Scene = SCENE) -> dict[str, Prompt]:
    return {
        "selector": selector_prompt(scene, [TILE, SEED], {**KNOWN, BROKEN.id: BROKEN}),
        "designer": designer_prompt(scene, TILE, SEED, KNOWN, avenues=10, experiments=5),
        "writer": writer_prompt(scene, TILE, SEED, EXPERIMENT, KNOWN),
        "crossover": crossover_prompt(scene, TILE, SEED, KNOWN),
        "repair": repair_prompt(scene, BROKEN, KNOWN),
    }


def text_of(prompt: Prompt) -> str:
    return "\n".join(message.content for message in prompt.messages)


def test_the_selector_sees_times_and_no_code() -> None:
    text = text_of(every_prompt()["selector"])
    assert "__global__" not in text
    for one in (TILE, SEED):
        assert f"| {one.id} |" in text
    assert "4x (4%)" in text  # over the seed, percent of the speed of light
    assert "predicted +10..+60%" in text
    assert EXPERIMENT.description in text
    assert "WRONG" in text  # a failure nearby


def test_the_designer_sees_the_base_its_analysis_and_what_was_tried() -> None:
    text = text_of(every_prompt()["designer"])
    assert TILE.candidate.source.strip() in text
    assert TILE.report in text
    assert "10 *avenues*" in text and "5 *experiments*" in text
    assert f"Gain over {SEED.id}: +300%" in text and f"gain over {SEED.id}" in text
    assert "What is known of such kernels" in text
    assert "variants" in text and "specialize" in text and "scratch" in text
    assert "one experiment alone" in text
    assert "register-tiles: Several outputs a thread" in text


def test_the_writer_sees_reference_base_experiment_and_the_format() -> None:
    text = text_of(every_prompt()["writer"])
    for shown in (
        SEED.candidate.source.strip(),
        TILE.candidate.source.strip(),
        EXPERIMENT.rubric,
        'return {"c": a @ b}',
        "ceil_div(a, b)",
        "-ffast-math",
        "hip/hip_runtime.h",
        "<<<<<<< SEARCH",
        "2e-6 * K",
        SGEMM.description.splitlines()[0],
    ):
        assert shown in text


def test_the_repairer_sees_the_verdict_and_a_trimmed_log() -> None:
    text = text_of(every_prompt()["repair"])
    assert "WRONG: c[3, 17] on M=33 N=65 K=17 is 0.5, the reference says 4.25" in text
    assert "characters left out" in text
    assert text.count("array index past the end") < 150
    assert BROKEN.candidate.source.strip() in text
    # What it was made from is alike, and shown as a diff.
    assert "+                    for (int j = 0; j < TN; ++j) sum[i][j] += x * b" in text


def test_a_profilers_advice_stands_beside_the_compilers() -> None:
    advice = ("sgemm (250 us): bound by latency.", "94% of LDS cycles are lost to bank conflicts.")
    known = replace(
        TILE,
        evaluation=replace(
            TILE.evaluation, resources=({"advice": ["160 VGPRs: 3 waves a SIMD."]},)
        ),
    )
    scene = replace(SCENE, profiles={TILE.id: advice, "gone": ("not here",)})
    shown = f"- measured by a profiler on the largest shape: {advice[0]}"
    for prompt in (
        designer_prompt(scene, known, SEED, KNOWN, avenues=10, experiments=5),
        writer_prompt(scene, known, SEED, EXPERIMENT, KNOWN),
        crossover_prompt(scene, known, SEED, KNOWN),
    ):
        lines = text_of(prompt).splitlines()
        assert lines.index("- 160 VGPRs: 3 waves a SIMD.") == lines.index(shown) + 2
        assert lines.count(shown) == 1 and "not here" not in text_of(prompt)
    text = text_of(selector_prompt(scene, [TILE, SEED], KNOWN))
    assert f"- {TILE.id}: {advice[1]}" in text and "not here" not in text
    assert "profiler" not in text_of(every_prompt()["selector"])


def test_held_out_shapes_are_told_to_nobody() -> None:
    labels = [w.label for w in SGEMM.workloads("held_out", "cpu")]
    assert labels
    for prompt in every_prompt().values():
        assert not any(label in text_of(prompt) for label in labels)


@pytest.mark.parametrize("name", shipped_tasks())
def test_no_prompt_names_a_path_or_the_environment(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THIS_TEST", "sk-not-for-any-prompt")
    scene = replace(SCENE, task=load_task(name))
    values = [v for v in os.environ.values() if len(v) >= 8]
    folders = {str(scene.task.folder), str(Path.home()), str(Path.cwd())} - {"/"}
    for prompt in every_prompt(scene).values():
        text = text_of(prompt)
        assert not [place for place in folders if place in text]
        assert not [value for value in values if value in text]
        assert not re.search(r"(?<![\w<])/(home|root|tmp|usr|work)\b", text)


def test_the_same_question_has_the_same_words() -> None:
    first, again = every_prompt(), every_prompt()
    assert first == again
    assert len({prompt.template for prompt in first.values()}) == 1


def test_what_never_changes_comes_first() -> None:
    other = writer_prompt(SCENE, SEED, SEED, EXPERIMENT, KNOWN)
    assert other.messages[0] == every_prompt()["writer"].messages[0]


@pytest.mark.parametrize("said", ["", "Some prose."])
def test_a_reask_quotes_what_was_wrong(said: str) -> None:
    prompt = every_prompt()["writer"]
    again = reask(prompt, said, Malformed(Failure.PROSE_ONLY, "there is no kernel"))
    roles = [message.role for message in again.messages]
    assert roles == ["system", "user", "assistant", "user"] if said else ["system", "user"]
    assert "prose_only" in again.messages[-1].content
    assert "there is no kernel." in again.messages[-1].content
    assert again.messages[0] == prompt.messages[0]


@pytest.mark.parametrize("role", ROLES)
def test_a_preview_shows_the_naive_seed(role: Role) -> None:
    text = text_of(preview(role, SGEMM, DEVICE))
    assert kernel_id(SGEMM.naive) in text
    assert ("not measured yet" in text) == (role != "repair")


def test_clip_keeps_both_ends_within_the_limit() -> None:
    text = "a" * 500 + "b" * 500
    clipped = clip(text, 300)
    assert len(clipped) <= 300
    assert clipped.startswith("aaa") and clipped.endswith("bbb")
    assert "left out" in clipped
    assert clip("short", 300) == "short"


def test_the_task_is_described_in_json_free_words() -> None:
    """A prompt's examples of replies are valid JSON themselves."""
    for role in ("selector", "designer"):
        text = text_of(every_prompt()[role])
        example = text.rpartition("```json\n")[2].partition("```")[0]
        assert isinstance(json.loads(example), dict)
