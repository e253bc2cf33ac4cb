"""A rule that answers with the catalogue's kernels, in the words and at the lengths of a model."""

import json
import random
from collections.abc import Callable

import numpy as np

from evaluators.tasks.task import Task
from operators.catalog import random_candidate
from scripts.scripted_model.answers import Messages, answer, role_of

IDEAS = {
    "wider-tiles": "Let one thread own more outputs, so that what it loads is used more often",
    "several-accumulators": "Keep the reduction in several accumulators, so that its latency hides",
    "one-pass-less": "Fold two passes over a row into one, so that a row is read once less",
    "cheaper-exponential": "Replace the exponential by a polynomial of the accuracy that is asked",
    "reciprocal": "Divide once a row, and multiply by the reciprocal in the last pass",
    "rows-by-length": "Choose the number of rows a block takes by the length of the row",
    "contiguous-order": "Reorder the loops so that the innermost one runs over adjacent elements",
    "fewer-blocks": "Give each block more work, so that less is started and ended",
}


def catalogue_mind(task: Task) -> Callable[[Messages, int], str]:
    """(messages, number) -> a reply. Writers draw a kernel of the task's families."""

    def rule(messages: Messages, number: int) -> str:
        role = role_of(messages)
        if role == "selector":
            return answer(messages, number)
        if role == "designer":
            return _design(random.Random(number))
        draft = random_candidate(task, np.random.default_rng(number))
        return f"```hip\n{draft.candidate.source}```\n\n## Report\n{_report(draft.report)}\n"

    return rule


def _design(draw: random.Random) -> str:
    chosen = draw.sample(sorted(IDEAS), 5)
    experiments = [
        {
            "technique": f"{name}-{draw.randint(2, 64)}",
            "avenue": name,
            "description": f"{IDEAS[name]}. The Base is far from the bandwidth of the memory on "
            "the longer rows and far from the peak on the shorter ones, and this step costs "
            "nothing on those shapes that it does not help.",
            "rubric": "1. Find the loop that takes most of the time. 2. Change it as the "
            "description says, and give what is changed a parameter with a space of its own. "
            "3. Handle what is left at the ragged edge in a loop of its own. 4. Leave the rest "
            "as it is, the numerics above all.",
            "performance": [draw.randint(-5, 10), draw.randint(11, 60)],
            "innovation": draw.randint(0, 100),
        }
        for name in chosen
    ]
    avenues = [f"{name}: {IDEAS[name]}" for name in IDEAS]
    return json.dumps({"avenues": avenues, "experiments": experiments})


def _report(made: str) -> str:
    return (
        f"The kernel is {made}. The steps of the rubric are done but for the ragged edge, which "
        "a guard in the inner loop handles, as a loop of its own would have doubled the code. It "
        "should win on the long rows, where it reads each element once less, and lose a little "
        "on the shortest, where starting a block is most of the work."
    )
