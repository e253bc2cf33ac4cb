"""Baselines: what a task names beside its naive seed for kernels to be measured against."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from evaluators.device_info import known_backends
from evaluators.lined_yaml import LinedDict, Reader

Kind = Literal["kernel", "torch", "call", "numpy"]
KINDS: Mapping[Kind, tuple[str, ...]] = {
    "kernel": (),
    "torch": ("cpu", "cuda", "hip"),
    "call": (),
    "numpy": ("cpu",),
}
"""The backends that each kind knows at all; (): every one."""

SEED = "naive"
"""The naive seed's name among baselines."""

_NAME = re.compile(r"[\w.+-]+", re.ASCII)
_KEYS = ("name", *KINDS, "backends")


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """text: of a kernel the file in the task's folder, of a call "file.py:function" there, else an
    expression. It is trusted, as reference.py is, but for a kernel, which is checked as any is."""

    name: str
    kind: Kind
    text: str
    backends: tuple[str, ...]
    folder: Path

    @property
    def id(self) -> str:
        """In the place of a kernel's."""
        return f"baseline {self.name}"

    @property
    def file(self) -> Path:
        """Of a kernel or a call."""
        return self.folder / self.text.rpartition(":")[0 if self.kind == "call" else 2]

    @property
    def function(self) -> str:
        """Of a call."""
        return self.text.rpartition(":")[2]


def read_baselines(reader: Reader, tree: LinedDict, folder: Path) -> tuple[Baseline, ...]:
    """The list under `baselines` of a task.yaml. Raises what reader.fail() makes."""
    sequence = reader.sequence(tree, "baselines")
    found = tuple(_read(reader, one, folder, line) for one, line in sequence.numbered())
    names = [one.name for one in found]
    for name, (_, line) in zip(names, sequence.numbered(), strict=True):
        if names.count(name) > 1:
            raise reader.fail(f"baselines: the name {name!r} stands twice", line)
    return found


def _read(reader: Reader, tree: Any, folder: Path, line: int) -> Baseline:
    if not isinstance(tree, LinedDict):
        raise reader.fail('a baseline is a mapping, such as {name: torch, torch: "x.sum()"}', line)
    reader.known_keys(tree, _KEYS, where="of a baseline", required=("name",))
    name = tree["name"]
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name == SEED:
        raise reader.fail(
            f"baselines: {name!r} is no name for one: letters, digits and ._+-, and not {SEED}",
            line,
        )
    kinds = [kind for kind in KINDS if kind in tree]
    if len(kinds) != 1:
        raise reader.fail(f"baseline {name}: it has one of the keys {', '.join(KINDS)}", line)
    kind, text = kinds[0], tree[kinds[0]]
    if not isinstance(text, str) or not text.strip():
        raise reader.fail(f"baseline {name}: {kind} must be text", tree.lines[kind])
    made = Baseline(
        name=name,
        kind=kind,
        text=text.strip(),
        backends=_backends(reader, tree, kind, name),
        folder=folder,
    )
    if why := _mistake(made):
        raise reader.fail(f"baseline {name}: {why}", tree.lines[kind])
    return made


def _backends(reader: Reader, tree: LinedDict, kind: Kind, name: str) -> tuple[str, ...]:
    known = KINDS[kind] or known_backends()
    if "backends" not in tree:
        return known
    sequence = reader.sequence(tree, "backends", least=1)
    what = f"baseline {name}: a backend of {kind}"
    return tuple(reader.one_of(one, known, what, line) for one, line in sequence.numbered())


def _mistake(baseline: Baseline) -> str:
    """What can be told without running it; else empty."""
    if baseline.kind in ("torch", "numpy"):
        try:
            compile(baseline.text, "<baseline>", "eval")
        except (SyntaxError, ValueError) as error:
            said = error.msg if isinstance(error, SyntaxError) else str(error)
            return f"{baseline.kind} is no Python expression: {said}"
        return ""
    if baseline.kind == "call" and not re.fullmatch(r"[^:]+\.py:[^\W\d]\w*", baseline.text):
        return 'call names a function of a file of the task\'s folder: "baselines.py:cublas"'
    if not baseline.file.is_file():
        return f"there is no file {baseline.file}"
    return ""


def baselines_on(baselines: tuple[Baseline, ...], backend: str) -> tuple[Baseline, ...]:
    return tuple(one for one in baselines if backend in one.backends)
