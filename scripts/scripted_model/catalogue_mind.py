"""A rule that answers with the catalogue's kernels, in the words and at the lengths of a model."""

import json
import random
from collections.abc import Callable

import numpy as np

from evaluators.tasks.task import Task
from operators.catalog import random_candidate
from scripts.scripted_model.answers import Messages, answer, role_of
from scripts.scripted_model.mind import ideas, recognised

AVENUES, EXPERIMENTS = 10, 5


def catalogue_mind(task: Task) -> Callable[[Messages, int], str]:
    """(messages, number) -> a reply. Writers draw a kernel of the task's families."""

    def rule(messages: Messages, number: int) -> str:
        role = role_of(messages)
        if role in ("selector", "distiller", "probe"):
            return answer(messages, number)
        draft = random_candidate(task, np.random.default_rng(number))
        if role == "designer":
            prompt = "\n".join(one["content"] for one in messages)
            return _design(prompt, draft.report, random.Random(number))
        return f"```hip\n{draft.candidate.source}```\n\n## Report\n{_report(draft.report)}\n"

    return rule


def _design(prompt: str, kernel: str, draw: random.Random) -> str:
    """Ideas that its prompt shows nobody to have tried come first; of others it says what is new,
    which is a kernel of the catalogue to make them on."""
    known = recognised(prompt)
    places = draw.sample(range(len(ideas())), len(ideas()))
    places.sort(key=lambda place: place in known)
    said = {
        "avenues": [": ".join(draw.choice(ideas()[place])) for place in places[:AVENUES]],
        "experiments": [_experiment(place, kernel, draw) for place in places[:EXPERIMENTS]],
    }
    return json.dumps(said)


def _experiment(place: int, kernel: str, draw: random.Random) -> dict[str, object]:
    ways = draw.sample(list(ideas()[place]), len(ideas()[place]))
    return {
        "technique": ways[0][0],
        "avenue": ways[0][0],
        "description": " ".join(sentence for _, sentence in ways),
        "rubric": "\n".join(f"{step}. {sentence}" for step, (_, sentence) in enumerate(ways, 1))
        + "\n4. Give what is changed a parameter with a space of its own, and leave the rest.",
        "new": f"It is made on another kernel: {kernel}.",
        "performance": [draw.randint(-5, 10), draw.randint(11, 60)],
        "innovation": draw.randint(0, 100),
    }


def _report(made: str) -> str:
    return (
        f"The kernel is {made}. The steps of the rubric are done but for the ragged edge, which "
        "a guard in the inner loop handles, as a loop of its own would have doubled the code. It "
        "should win on the long rows, where it reads each element once less, and lose a little "
        "on the shortest, where starting a block is most of the work."
    )
