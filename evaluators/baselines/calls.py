"""A call of a library as a baseline: a function of the task's own, trusted Python file."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from evaluators.baselines.arguments import Places, given
from evaluators.baselines.batch import Plain, telling
from evaluators.tasks.arguments import Workload
from evaluators.tasks.baselines import Baseline
from evaluators.tasks.task import Task, read_text

Prepare = Callable[..., Callable[[], object]]
"""Called by name with the arguments' places, the sizes and the stream, once for each binding;
returns what enqueues one application."""


class CallBatch(Plain):
    """See Batch. A call writes the outputs itself."""

    def __init__(
        self,
        baseline: Baseline,
        task: Task,
        workload: Workload,
        bindings: Sequence[Places],
        stream: int | None,
    ) -> None:
        self._baseline = baseline
        function = load_function(baseline)
        names = [{"stream": stream or 0, **given(task, workload, one)} for one in bindings]
        self._calls = [function(**_taken(function, one)) for one in names]
        if not all(map(callable, self._calls)):
            raise TypeError(f"{baseline.text} must return what makes one call, such as a lambda")

    def warm(self) -> None:
        with telling(self._baseline):
            self._calls[0]()

    def enqueue(self) -> None:
        with telling(self._baseline):
            for call in self._calls:
                call()

    def finish(self) -> None:
        """Everything is in its place."""


def load_function(baseline: Baseline) -> Prepare:
    """Raises what its file raises, and AttributeError."""
    module = _module(baseline.file, read_text(baseline.file))
    function: Prepare = getattr(module, baseline.function)
    return function


@lru_cache(maxsize=16)
def _module(path: Path, text: str) -> ModuleType:
    """Once for each content: it may keep a library's handle."""
    module = ModuleType(f"baselines_of_{path.parent.name}")
    module.__file__ = str(path)
    exec(compile(text, str(path), "exec", dont_inherit=True), vars(module))
    return module


def _taken(function: Prepare, names: Mapping[str, Any]) -> dict[str, Any]:
    """What the function takes of it, or all where it takes anything."""
    parameters = inspect.signature(function).parameters
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return dict(names)
    return {name: value for name, value in names.items() if name in parameters}
