"""The rule of a scripted endpoint that answers from recorded replies, none of them twice.

The first time that an experiment is asked for, its recorded reply comes, flaw and all. When all of
a task's are used up, designs propose the recorded kernels with parameters drawn anew from their
own spaces: another kernel each time, though no new idea; each says under `new` what differs, so
that it is written though it resembles earlier ones. Which Base a design is asked for does not
change what it proposes. So this exercises the loop; it says nothing of what a model would find.
"""

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from evaluators.device_info import target_of
from evaluators.evaluation import Rejected
from evaluators.kernel.source import KernelSource, kernel_id, parse_kernel
from evaluators.tasks.arguments import Suite
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from scripts.llm_loop.recorded import Recording, recordings
from scripts.scripted_model.answers import Messages, answer, role_of

EXPERIMENTS = 5
AVENUES = 10
MOST_DRAWS = 300
FLAW_EVERY = 4
"""Of the kernels with new parameters whose recording began with a flaw: one in so many does too."""

TRADES = (
    "fewer resident wavefronts, longer runs apiece, a shorter tail of waves",
    "less register pressure, smaller footprint, denser residency",
    "coarser granularity, lower launch overhead, narrower grid",
    "finer balance over multiprocessors, more requests outstanding, wider coverage",
)

TO_MAKE = "# The experiment to make"
SUITES: tuple[Suite, ...] = ("tests", "benchmarks", "held_out")


@dataclass(slots=True)
class Idea:
    """An experiment that a designer was given, and where its writer stands."""

    recording: Recording
    said: dict[str, Any]
    replies: tuple[str, ...]  # the first, and what comes whenever it is asked again
    failing: str = ""  # the code of a flawed first reply, by which a repair is known
    asked: int = 0

    def reply(self) -> str:
        self.asked += 1
        return self.replies[min(self.asked, len(self.replies)) - 1]


@dataclass(slots=True)
class RecordedModel:
    """A Rule for ScriptedServer: (messages, number of the call) -> text. backend: whose shapes
    parameters must be right for."""

    task: str
    backend: str
    seed: int = 0
    ideas: list[Idea] = field(default_factory=list)
    beyond: int = 0  # replies to what is not recorded: a kernel of the prompt, changed by rule
    _sent: set[str] = field(default_factory=set)  # ids of kernels
    _coming: Iterator[Idea] = field(init=False)
    _task: Task = field(init=False)

    def __post_init__(self) -> None:
        self._task = load_task(self.task)
        self._coming = self._all()

    def __call__(self, messages: Messages, number: int) -> str:
        role = role_of(messages)
        prompt = "\n".join(one["content"] for one in messages if one["role"] != "assistant")
        if role == "designer":
            return self._design()
        if role == "crossover":
            return self._union(prompt) or self._beyond(messages, number)
        if role in ("writer", "repair"):
            idea = self._failed(prompt) if role == "repair" else None
            idea = idea or self._wanted(prompt)
            return idea.reply() if idea else self._beyond(messages, number)
        return answer(messages, number)  # a selector's: by rule from its table

    # --- designs ----------------------------------------------------------------------------

    def _design(self) -> str:
        ideas = list(islice(self._coming, EXPERIMENTS))
        self.ideas += ideas
        if len(ideas) < EXPERIMENTS:  # what was proposed and never written is proposed again
            unwritten = [one for one in self.ideas if not one.asked and one not in ideas]
            ideas += unwritten[: EXPERIMENTS - len(ideas)] or self.ideas[:EXPERIMENTS]
            self.ideas = [one for one in self.ideas if one not in ideas] + ideas
        avenues = dict.fromkeys(
            f"{one.said['avenue']}: {one.technique.replace('-', ' ')}"
            for one in [*(idea.recording for idea in ideas), *recordings(self.task)]
        )
        said = {
            "avenues": list(avenues)[:AVENUES],
            "experiments": [idea.said for idea in ideas],
        }
        return f"```json\n{json.dumps(said, indent=1)}\n```\n"

    def _all(self) -> Iterator[Idea]:
        """Every recording once, families in turn, then with new parameters as long as there are."""
        order = _in_turn(recordings(self.task))
        for one in order:
            self._sent.add(kernel_id(one.sound))
            yield _first(one)
        turn = 0
        while order:
            turn += 1
            for one in list(order):
                source = self._drawn(one, f"{self.seed}/{turn}/{one.technique}")
                if source:
                    yield _again(one, source, flawed=bool(one.flaw) and turn % FLAW_EVERY == 0)
                else:
                    order.remove(one)

    def _drawn(self, one: Recording, key: str) -> str:
        """The kernel with parameters that were not sent before; empty where none is found."""
        draw = random.Random(key)
        kernel = parse_kernel(one.sound)
        for _ in range(MOST_DRAWS):
            params = {**kernel.front.params}
            names = sorted(kernel.front.space)
            for name in draw.sample(names, draw.randint(1, len(names))):
                params[name] = draw.choice(list(kernel.front.space[name]))
            source = with_params(one.sound, params)
            if kernel_id(source) not in self._sent and self._fits(source):
                self._sent.add(kernel_id(source))
                return source
        return ""

    def _fits(self, source: str) -> bool:
        """Whether its constraints and the limits of launches hold on every shape."""
        try:
            kernel: KernelSource = parse_kernel(source)
            for suite in SUITES:
                for workload in self._task.workloads(suite, self.backend):
                    kernel.plan(self._task, workload, target_of(self.backend))
        except Rejected:
            return False
        return True

    # --- kernels ----------------------------------------------------------------------------

    def _wanted(self, prompt: str) -> Idea | None:
        """The idea whose description stands last in what the prompt asks for."""
        part = _flat(prompt[max(0, prompt.rfind(TO_MAKE)) :])
        places = [part.rfind(_flat(idea.said["description"])) for idea in self.ideas]
        last = max(places, default=-1)
        return self.ideas[places.index(last)] if last >= 0 else None

    def _failed(self, prompt: str) -> Idea | None:
        """The idea whose flawed kernel the prompt lists."""
        flat = _flat(prompt)
        return next((idea for idea in self.ideas if idea.failing and idea.failing in flat), None)

    def _union(self, prompt: str) -> str:
        """For a crossover: the second parent's kernel where it is recorded, with new parameters."""
        second = _flat(prompt.partition("# Second parent")[2].partition("# First parent")[0])
        for one in recordings(self.task):
            if _flat(one.code) in second:
                source = self._drawn(one, f"{self.seed}/crossover/{len(self._sent)}")
                if source:
                    return _fenced(source, f"{one.report} Its parameters lean to the first parent.")
        return ""

    def _beyond(self, messages: Messages, number: int) -> str:
        self.beyond += 1
        return answer(messages, number)


def with_params(source: str, params: dict[str, int]) -> str:
    flow = "{" + ", ".join(f"{name}: {value}" for name, value in params.items()) + "}"
    return re.sub(r"^params:.*$", f"params: {flow}", source, count=1, flags=re.MULTILINE)


def _first(one: Recording) -> Idea:
    said = {"technique": one.technique, **one.said, "new": one.said["description"]}
    sound = _fenced(one.sound, one.report)
    if not one.flaw:
        return Idea(recording=one, said=said, replies=(sound,))
    return Idea(recording=one, said=said, replies=(one.first, sound), failing=_code_of(one.first))


def _again(one: Recording, source: str, *, flawed: bool) -> Idea:
    kernel = parse_kernel(source)
    params = ", ".join(f"{name} = {value}" for name, value in kernel.front.params.items())
    draw = random.Random(params + one.technique)
    low = draw.randint(-10, 10)
    said = {
        "technique": f"{one.technique}-{'-'.join(map(str, kernel.front.params.values()))}",
        "avenue": "parameters",
        "description": f"Take {one.technique.replace('-', ' ')} to {params}: the point that was "
        "measured need not be the best of its space, and this one trades occupancy otherwise.",
        "rubric": f"1. Write the kernel of {one.technique.replace('-', ' ')}.\n2. Set {params}.",
        "new": f"Another point of its space ({params}): {draw.choice(TRADES)}.",
        "performance": [low, low + draw.randint(5, 40)],
        "innovation": draw.randint(5, 30),
    }
    sound = _fenced(source, f"{one.report} Here with {params}.")
    if not flawed or not _code_of(one.first):
        return Idea(recording=one, said=said, replies=(sound,))
    broken = with_params(one.first, dict(kernel.front.params))
    return Idea(recording=one, said=said, replies=(broken, sound), failing=_code_of(broken))


def _in_turn(found: Sequence[Recording]) -> list[Recording]:
    """Families one after another, so that a design's experiments are of several."""
    families: dict[str, list[Recording]] = {}
    for one in found:
        families.setdefault(one.family, []).append(one)
    longest = max(len(family) for family in families.values())
    return [family[i] for i in range(longest) for family in families.values() if i < len(family)]


def _code_of(reply: str) -> str:
    """The device code of a reply's kernel, blanks evened out; empty where there is none whole."""
    kernel = re.search(r"```hip\n(.*?)\n```", reply, re.DOTALL)
    return _flat(kernel[1].partition("---*/")[2]) if kernel else ""


def _fenced(source: str, report: str) -> str:
    return f"```hip\n{source}```\n\n## Report\n{report}\n"


def _flat(text: str) -> str:
    return " ".join(text.split())
