"""The scripted mind: its ideas are paraphrased, and it avoids what its prompt says was tried.

python -m tests.scripts.test_shared_memory ARGUMENTS

measures as scripts/llm_loop/shared_memory.py does, with these arguments, without Ray.
"""

import itertools
import json
import re
import sys
from pathlib import Path

import pytest

import operators.catalog
from operators.individual import Experiment
from operators.llm.prompts.render import Scene, designer_prompt, writer_prompt
from scripts.llm_loop.shared_memory import interval, main
from scripts.scripted_model.individuals import DEVICE, SGEMM, individual
from scripts.scripted_model.mind import ScriptedMind, ideas, ideas_in, recognised, with_idea
from tests.engine.local_ray import local_ray

SCENE = Scene(task=SGEMM, device=DEVICE)
SEED = individual()


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower()))


def test_an_idea_s_ways_share_under_half_of_their_words() -> None:
    for ways in ideas():
        for (name, sentence), (other, another) in itertools.combinations(ways, 2):
            first, second = words(f"{name} {sentence}"), words(f"{other} {another}")
            assert len(first & second) < 0.5 * min(len(first), len(second)), (name, other)


def test_no_idea_is_called_as_the_catalogue_calls_a_technique() -> None:
    files = Path(operators.catalog.__file__).parent.rglob("*.py")
    catalogue = " ".join(file.read_text() for file in files).lower()
    names = {name for ways in ideas() for name, _ in ways}
    assert len(names) == 3 * len(ideas()) == 90
    assert not [n for n in names if n in catalogue or n.replace("-", " ") in catalogue]


def test_a_mind_proposes_nothing_that_its_prompt_shows_as_tried() -> None:
    mind = ScriptedMind(seed=1)
    known = {SEED.id: SEED}
    tried: set[int] = set()
    for number in range(4):
        prompt = designer_prompt(SCENE, SEED, SEED, known, avenues=10, experiments=5)
        asked = [{"role": m.role, "content": m.content} for m in prompt.messages]
        assert recognised(asked[-1]["content"]) >= tried
        said = json.loads(mind(asked, number).split("```")[1].removeprefix("json"))
        for one in said["experiments"][:3]:
            (idea,) = recognised(one["description"])
            assert idea not in tried
            tried.add(idea)
            experiment = Experiment(
                technique=one["technique"],
                description=one["description"],
                rubric=one["rubric"],
                performance=tuple(one["performance"]),
                innovation=one["innovation"],
            )
            written = writer_prompt(SCENE, SEED, SEED, experiment, known)
            mind([{"role": m.role, "content": m.content} for m in written.messages], number)
            assert mind.written[-1] == idea
            made = individual(
                with_idea(SEED.candidate.source, idea, len(tried)),
                parents=(SEED.id,),
                origin="experiment",
                experiment=experiment,
            )
            assert ideas_in([made.candidate.source]) == {idea}
            known[made.id] = made
    assert len(set(mind.written)) == len(mind.written) == 12


def test_an_interval_holds_the_mean() -> None:
    found = interval([0.1, 0.2, 0.3, 0.4])
    assert found["low"] < found["mean"] == 0.25 < found["high"]


@pytest.mark.soak
def test_a_campaign_of_the_mind_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--seeds", "1", "--arms", "default", "--evaluations", "6", "--latency", "0"]
    assert main(few, place=local_ray) == 0
    found = json.loads(capsys.readouterr().out)["default"]["runs"][0]
    assert found["evaluations"] == 6 <= found["writers"]


if __name__ == "__main__":
    sys.exit(main(place=local_ray))
