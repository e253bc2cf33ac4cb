"""The task of a campaign in its log: the files of a folder that others may not have."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskKept:
    """Written once, at the start of a campaign for a task by path. name: of its folder.

    texts: by path below the folder, what is UTF-8; others: the rest, in base64.
    """

    kind: ClassVar[str] = "task_kept"
    name: str
    texts: Mapping[str, str]
    others: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return "task"

    @classmethod
    def of(cls, name: str, files: Mapping[str, bytes]) -> Self:
        texts, others = {}, {}
        for path, content in files.items():
            try:
                texts[path] = content.decode()
            except UnicodeDecodeError:
                others[path] = base64.b64encode(content).decode("ascii")
        return cls(name=name, texts=texts, others=others)

    @property
    def files(self) -> dict[str, bytes]:
        return {
            **{path: text.encode() for path, text in self.texts.items()},
            **{path: base64.b64decode(text) for path, text in self.others.items()},
        }
