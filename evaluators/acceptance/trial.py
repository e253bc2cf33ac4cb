"""Trial: one thing that a device must show; Result: what became of it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from evaluators.device import BackendName, Compiler, Device, backend

State = Literal["PASS", "FAIL", "SKIPPED"]


class Setup:
    """The backend under trial; its device and compiler are opened when first asked for."""

    def __init__(self, backend_name: BackendName) -> None:
        self.backend_name: BackendName = backend_name

    @cached_property
    def device(self) -> Device:
        return backend(self.backend_name).open_device(0)

    @cached_property
    def compiler(self) -> Compiler:
        return backend(self.backend_name).compiler()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """run returns what was found, in a sentence, or raises Broken, Skipped, or what it met.

    todo: what to do when it fails, in a sentence.
    """

    name: str
    run: Callable[[Setup], str]
    todo: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Trials that share a process, until one of them kills it. deadline_s: for all of them."""

    name: str
    title: str
    trials: tuple[Trial, ...]
    deadline_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """found: one sentence, with numbers. todo: only of a failure."""

    section: str
    name: str
    state: State
    found: str
    todo: str = ""
    seconds: float = 0.0
