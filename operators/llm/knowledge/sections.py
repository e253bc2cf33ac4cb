"""Sections: what is known of one topic on one kind of device, a Markdown file each."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluators.device_info import DeviceInfo
from operators.llm.knowledge.traits import TRAITS, Trait

FOLDER = Path(__file__).parent / "sections"

Kind = Literal["cdna3", "hopper", "hip", "cpu"]
Topic = Literal[
    "matrix_cores",
    "memory",
    "lds",
    "reduction",
    "occupancy",
    "synchronisation",
    "precision",
    "small_shapes",
]
Reader = Literal["designer", "writer"]
KINDS: dict[Kind, str] = {
    "cdna3": "CDNA3 (MI300, gfx942)",
    "hopper": "NVIDIA Hopper (sm_90)",
    "hip": "any GPU",
    "cpu": "a processor's core that runs HIP kernels",
}
PORTABLE: Kind = "hip"
TITLES: dict[Topic, str] = {
    "matrix_cores": "Matrix cores",
    "memory": "Memory",
    "lds": "LDS",
    "reduction": "Reductions",
    "occupancy": "Threads and registers",
    "synchronisation": "Synchronisation",
    "precision": "Precision",
    "small_shapes": "Small shapes",
}
TOPICS: tuple[Topic, ...] = get_args(Topic)

_FILE = re.compile(r"---\n(.*?)\n---\n(.*)", re.DOTALL)
_PART = re.compile(r"^## (designer|writer)\n", re.MULTILINE)
_ONLY = re.compile(r"( *- )\{([\w ]+)\} ")


class Front(BaseModel):
    """The front matter. when: how much it is worth (9: most) to a task of each trait."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    roles: Annotated[tuple[Reader, ...], Field(min_length=1)]
    topic: Topic
    when: Annotated[dict[Trait, Annotated[int, Field(ge=1, le=9)]], Field(min_length=1)]
    sources: Annotated[tuple[str, ...], Field(min_length=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """kind: of device. parts: what everybody is told (""), and what one role is. A line that begins
    with "- {fp8 special} " is only told of tasks with one of these traits."""

    kind: Kind
    front: Front
    parts: dict[str, str]

    @property
    def title(self) -> str:
        return f"{TITLES[self.front.topic]}, {KINDS[self.kind]}"

    def worth(self, traits: frozenset[Trait]) -> int:
        """To a task with these traits; 0: nothing."""
        return max((worth for one, worth in self.front.when.items() if one in traits), default=0)

    def text(self, reader: Reader, traits: frozenset[Trait]) -> str:
        """As it stands in a prompt; empty where the reader is told nothing by it."""
        parts = ("", reader) if reader in self.front.roles else ()
        lines = [line for part in parts for line in self.parts.get(part, "").splitlines()]
        told = [_ONLY.sub(r"\1", line) for line in lines if _concerns(line, traits)]
        if not told:
            return ""
        sources = f"(Sources: {'; '.join(self.front.sources)}.)"
        return "\n".join([f"## {self.title}", *told, sources])


def _concerns(line: str, traits: frozenset[Trait]) -> bool:
    only = _ONLY.match(line)
    return only is None or not traits.isdisjoint(only[2].split())


def read_section(path: Path) -> Section:
    """Raises ValueError: one sentence with the file and what is wrong in it."""
    found = _FILE.fullmatch(path.read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"{path}: it must begin with front matter between two lines of ---")
    try:
        front = Front.model_validate(yaml.safe_load(found[1]))
    except (yaml.YAMLError, ValidationError) as error:
        raise ValueError(f"{path}: its front matter can't be used: {error}") from None
    if path.stem != front.topic or path.parent.name not in KINDS:
        raise ValueError(f"{path}: a section is kept as DEVICE/TOPIC.md, by its topic's name")
    if unknown := {w for only in _ONLY.findall(found[2]) for w in only[1].split()} - set(TRAITS):
        raise ValueError(f"{path}: no task has the trait {min(unknown)!r}")
    told, *parts = _PART.split(found[2])
    texts = {"": told.strip(), **dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))}
    kind = next(kind for kind in KINDS if kind == path.parent.name)
    return Section(kind=kind, front=front, parts=texts)


def sections_for(device: DeviceInfo) -> tuple[Section, ...]:
    """Of the device's own kind and architecture alone: what pays on a GPU costs on a CPU."""
    return tuple(section for kind in kinds_of(device) for section in _all(kind))


def kinds_of(device: DeviceInfo) -> tuple[Kind, ...]:
    if not device.judges_on_device:
        return ("cpu",)
    if device.arch.startswith("gfx94"):
        return (PORTABLE, "cdna3")
    if device.arch.startswith("sm_9"):
        return (PORTABLE, "hopper")
    return (PORTABLE,)


@cache
def _all(kind: Kind) -> tuple[Section, ...]:
    """By topic."""
    paths = (FOLDER / kind / f"{topic}.md" for topic in TOPICS)
    return tuple(read_section(path) for path in paths if path.exists())
