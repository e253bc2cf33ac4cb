"""Front matter that an edit changes: launches, parameters with their spaces, options."""

import copy
import json
from collections.abc import Callable, Sequence
from typing import Any

from evaluators.evaluation import Rejected
from evaluators.kernel.source import KernelSource, parse_kernel
from operators.catalog.generic.analysis.reading import Unsure


class Front:
    """Changes to one kernel's front matter; what no edit touches stays as written."""

    def __init__(self, kernel: KernelSource) -> None:
        self._kernel = kernel
        self.launches: list[dict[str, Any]] = copy.deepcopy(_plain(kernel.meaning["launches"]))
        self._launches = copy.deepcopy(self.launches)
        self.params = dict(kernel.params)
        self.space = {name: list(values) for name, values in kernel.space.items()}
        self.constraints = [one.text for one in kernel.constraints]
        self.specialize = list(kernel.specialize)
        self.options = list(kernel.options)
        self.scratch = {name: one.text for name, one in kernel.scratch.items()}

    def of(self, kernel: str) -> list[dict[str, Any]]:
        """Launches of a kernel, whatever its template arguments."""
        return [
            one
            for one in self.launches
            if str(one.get("kernel", "")).partition("<")[0].strip() == kernel
        ]

    def change(self, kernel: str, key: str, axis: int, change: Callable[[str], str | int]) -> None:
        """One axis of "grid" or "block" in all launches of a kernel."""
        for launch in self.of(kernel):
            sizes = launch[key] if isinstance(launch[key], list) else [launch[key]]
            sizes += [1] * (axis + 1 - len(sizes))
            sizes[axis] = change(str(sizes[axis]))
            launch[key] = sizes

    def add(self, name: str, value: int, values: Sequence[int]) -> None:
        """A parameter with its space."""
        self.params[name] = value
        self.space[name] = sorted({value, *values})

    def written(self, code: str) -> str:
        """The file with this front matter and this code. Raises Unsure: it would be no kernel."""
        kernel = self._kernel
        values = {}
        if self.launches != self._launches:
            values["launches"] = _flow(self.launches)
        for key, now, before in (
            ("params", self.params, dict(kernel.params)),
            ("space", self.space, {name: [*some] for name, some in kernel.space.items()}),
            ("constraints", self.constraints, [one.text for one in kernel.constraints]),
            ("specialize", self.specialize, [*kernel.specialize]),
            ("options", self.options, [*kernel.options]),
            ("scratch", self.scratch, {name: one.text for name, one in kernel.scratch.items()}),
        ):
            if now != before:
                values[key] = _flow(now)
        try:
            return parse_kernel(kernel.with_values(values, code)).text
        except Rejected:
            raise Unsure from None


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """Without the lines that YAML's reader keeps."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value
