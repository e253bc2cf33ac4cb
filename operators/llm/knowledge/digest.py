"""What a role is told of the device at hand: the sections that matter for the task."""

from collections.abc import Mapping

from evaluators.device_info import DeviceInfo
from evaluators.tasks.task import Task
from operators.llm.knowledge.sections import (
    PORTABLE,
    TOPICS,
    Reader,
    Section,
    Topic,
    sections_for,
)
from operators.llm.knowledge.traits import Trait, traits_of
from operators.llm.question import Role

READERS: Mapping[Role, Reader] = {
    "designer": "designer",
    "writer": "writer",
    "crossover": "writer",
    "repair": "writer",
}


def knowledge_of(task: Task, device: DeviceInfo, role: Role, characters: int) -> str:
    """Whole sections, what is worth most first, in so many characters; a last line names the rest.

    Strategy for the Designer, rules and idioms for those who write; the Selector has numbers.
    It depends on nothing else: the same in all prompts of a campaign.
    """
    reader = READERS.get(role)
    if reader is None:
        return ""
    traits = traits_of(task, device.backend)
    told = [(one.title, one.text(reader, traits)) for one in chosen(device, traits)]
    ranked = [(title, text) for title, text in told if text]
    for count in range(len(ranked), -1, -1):
        shown = [text for _, text in ranked[:count]]
        if dropped := [title for title, _ in ranked[count:]]:
            shown.append(f"(Left out for want of room: {'; '.join(dropped)}.)")
        if len(whole := "\n\n".join(shown)) <= characters:
            return whole
    return ""


def chosen(device: DeviceInfo, traits: frozenset[Trait]) -> list[Section]:
    """Those that matter for a task on the device: the topic that is worth most first, and of a
    topic what holds for any GPU before the device's own."""
    fit = [section for section in sections_for(device) if section.worth(traits)]
    worth: dict[Topic, int] = {}
    for one in fit:
        worth[one.front.topic] = max(one.worth(traits), worth.get(one.front.topic, 0))
    return sorted(
        fit,
        key=lambda one: (
            -worth[one.front.topic],
            TOPICS.index(one.front.topic),
            one.kind != PORTABLE,
        ),
    )
