"""KernelSource: one .hip file with its front matter, its content id and its launch plans."""

import hashlib
import json
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from evaluators.device_info import Target
from evaluators.evaluation import Rejected
from evaluators.expression import Expression
from evaluators.kernel.front_matter import (
    CLOSING,
    FrontMatter,
    Launch,
    Memset,
    Variant,
    find_front_matter,
    invalid,
    load_front_matter,
)
from evaluators.kernel.grid import Grid, shared_grid
from evaluators.kernel.normalise import count_lines, normalised
from evaluators.kernel.plan import Plan
from evaluators.kernel.planner import Planner, env_for, holds, params_for
from evaluators.kernel.reader import read_front_matter
from evaluators.lined_yaml import Span, spans
from evaluators.spelling import storable
from evaluators.tasks.task import Task
from evaluators.tasks.workload import Workload

_K = TypeVar("_K")


def kernel_id(text: str) -> str:
    """16 hex digits: of the kernel's meaning where it parses, else of its text."""
    text = storable(text)
    try:
        return parse_kernel(text).id
    except Rejected:
        return _digest(_normalised(text))


def parse_kernel(text: str) -> "KernelSource":
    """Read and validate a kernel file. Raises Rejected(INVALID) with line and reason."""
    known = _REMEMBERED.get(text)
    return known or _as_a_point(text) or _remembered(_parse(text))


def code_id(text: str) -> str:
    """Of the normalised code alone, which kernels of one structure share; a file is not read for
    it, so it takes little time. Raises Rejected(INVALID) where there is no front matter."""
    _, end, _ = find_front_matter(text)
    return _digest(_normalised(text[end + len(CLOSING) :]))


_REMEMBERED: OrderedDict[str, "KernelSource"] = OrderedDict()
"""By text: one file is parsed where it is written, named, planned and compiled."""

_SPACES: OrderedDict[tuple[str, str], "KernelSource"] = OrderedDict()
"""By all of the text but the values of params: one kernel of those that differ in nothing else."""

MOST_REMEMBERED = 64

_PARAMS = re.compile(r"^params:\s+(\{[^{}\n]*\})", re.MULTILINE)
_PARAM = re.compile(r"(\w+): (-?\d{1,18})")


def _remembered(kernel: "KernelSource") -> "KernelSource":
    _keep(_REMEMBERED, kernel.text, kernel)
    if params := _PARAMS.search(kernel.text):
        # The first stays: where its values stand is known.
        _keep(_SPACES, _around(params), _SPACES.get(_around(params), kernel))
    return kernel


def _keep(kept: "OrderedDict[_K, KernelSource]", key: _K, kernel: "KernelSource") -> None:
    kept[key] = kernel
    kept.move_to_end(key)
    if len(kept) > MOST_REMEMBERED:
        kept.popitem(last=False)


def _around(params: re.Match[str]) -> tuple[str, str]:
    return params.string[: params.start(1)], params.string[params.end(1) :]


def _as_a_point(text: str) -> "KernelSource | None":
    """As another point of a kernel that is remembered, which takes a tenth of the time; None where
    it is none, or is not right: then it is read whole, for what is wrong."""
    params = _PARAMS.search(text)
    other = _SPACES.get(_around(params)) if params else None
    if params is None or other is None:
        return None
    values = {name: int(value) for name, value in _PARAM.findall(params[1])}
    try:
        found = other.with_params(values)
    except Rejected:
        return None
    return found if found.text == text else None


def _parse(text: str) -> "KernelSource":
    start, end, first_line = place = find_front_matter(text)
    tree = load_front_matter(text, place)
    front = read_front_matter(tree, first_line)
    meaning = {key: tree[key] for key in tree if key not in ("space", "constraints", "backends")}
    if not front.variants:
        meaning.pop("variants", None)
    source = KernelSource(
        text=text,
        front=front,
        id=_id(meaning, text[end + len(CLOSING) :]),
        structure=_id({**meaning, "params": sorted(front.params)}, text[end + len(CLOSING) :]),
        meaning=meaning,
        grid=_grid(front),
        yaml_start=start,
        yaml_end=end,
    )
    _check_constraints(source)
    return source


def _grid(front: FrontMatter) -> Grid:
    varied = tuple((name, values) for name, values in front.space.items() if len(values) > 1)
    names = dict(varied)
    rest = tuple((name, value) for name, value in front.params.items() if name not in names)
    return shared_grid(varied, front.constraints, rest)


def _check_constraints(source: "KernelSource") -> None:
    front = source.front
    if source.grid.holds(front.params):
        return
    for constraint in front.constraints:
        if not holds(constraint, front.params, None):
            raise invalid(
                f"constraint {constraint.text!r} does not hold for params {dict(front.params)}",
                front.lines["constraints"],
            )


def _id(meaning: Mapping[str, Any], code: str) -> str:
    return _digest(f"{json.dumps(meaning, sort_keys=True)}\n{_normalised(code)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelSource:
    """A parsed kernel file.

    id: of the normalised code and of all front matter that changes what runs (meaning); two files
    with the same id do the same thing. structure: the same without the values of params, so
    that kernels of one structure are points of one space.
    """

    text: str
    front: FrontMatter
    id: str
    structure: str
    meaning: Mapping[str, Any] = field(repr=False)
    grid: Grid = field(repr=False, compare=False)
    yaml_start: int  # the YAML stands at text[yaml_start:yaml_end]
    yaml_end: int

    @property
    def code(self) -> str:
        """What follows the front matter."""
        return self.text[self.yaml_end + len(CLOSING) :]

    @property
    def code_line(self) -> int:
        """The file's line on which code begins."""
        return count_lines(self.text[: self.yaml_end]) + 1

    @property
    def normalised(self) -> str:
        """What every compiler is given: the code, from code_line on. Raises Rejected(INVALID)."""
        return normalised(self.code, self.code_line)

    @property
    def kernel_names(self) -> frozenset[str]:
        """Of the functions that it launches, without template arguments."""
        steps = (*self.front.launches, *self.front.prepare)
        return frozenset(s.kernel.partition("<")[0] for s in steps if isinstance(s, Launch))

    @property
    def params(self) -> Mapping[str, int]:
        return self.front.params

    @property
    def space(self) -> Mapping[str, tuple[int, ...]]:
        return self.front.space

    @property
    def constraints(self) -> tuple[Expression, ...]:
        return self.front.constraints

    @property
    def variants(self) -> tuple[Variant, ...]:
        return self.front.variants

    @property
    def specialize(self) -> tuple[str, ...]:
        return self.front.specialize

    @property
    def backends(self) -> tuple[str, ...]:
        return self.front.backends

    @property
    def options(self) -> tuple[str, ...]:
        return self.front.options

    @property
    def launches(self) -> tuple[Launch | Memset, ...]:
        return self.front.launches

    @property
    def prepare(self) -> tuple[Launch | Memset, ...]:
        return self.front.prepare

    @property
    def scratch(self) -> Mapping[str, Expression]:
        return self.front.scratch

    def feasible(self, params: Mapping[str, int]) -> bool:
        """Whether every constraint holds for the file's params changed by these."""
        return self.grid.holds({**self.params, **params})

    def with_params(self, changed: Mapping[str, int]) -> "KernelSource":
        """The same file with other parameter values; everything else stays as written.

        Raises Rejected(INVALID): an unknown name, or a constraint that fails.
        """
        for name in changed:
            if name not in self.params:
                raise invalid(f"{name!r} is not in params", self.front.lines.get("params"))
        if not changed:
            return self
        values = {**self.params, **{name: int(value) for name, value in changed.items()}}
        flow = "{" + ", ".join(f"{name}: {value}" for name, value in values.items()) + "}"
        made = self._with_value("params", flow)
        known = _REMEMBERED.get(made.text)
        if known is not None:
            return known
        lines_change = made.block or "\n" in made.before
        if lines_change or any(abs(value) >= 2**31 for value in values.values()):
            return _remembered(_parse(made.text))
        front = replace(self.front, params=values)
        meaning = {**self.meaning, "params": values}
        source = replace(
            self,
            text=made.text,
            front=front,
            id=_id(meaning, self.code),
            meaning=meaning,
            grid=self.grid if changed.keys() <= set(self.grid.names) else _grid(front),
            yaml_end=self.yaml_end + len(made.text) - len(self.text),
        )
        _check_constraints(source)
        return _remembered(source)

    def with_variants(self, variants: Sequence[tuple[str, Mapping[str, int]]]) -> "KernelSource":
        """The same file with these variants, (when, params) each, in place of its own.

        Raises Rejected(INVALID): an unknown name, or a condition that is none.
        """
        if not variants and not self.variants:
            return self
        lines = [
            f"{{when: {json.dumps(when)}, params: "
            f"{{{', '.join(f'{name}: {value}' for name, value in params.items())}}}}}"
            for when, params in variants
        ]
        flow = "[" + ",\n           ".join(lines) + "]"
        return parse_kernel(self._with_value("variants", flow).text)

    def with_param(self, name: str, value: int) -> "KernelSource":
        """The same file with one more parameter, that has one value."""
        flow = ", ".join(f"{key}: {one}" for key, one in {**self.params, name: value}.items())
        return parse_kernel(self._with_value("params", f"{{{flow}}}").text)

    def with_space(self, space: Mapping[str, Sequence[int]]) -> "KernelSource":
        """The same file with another space. Raises Rejected(INVALID): an unknown name."""
        lists = (f"{name}: {list(values)}" for name, values in space.items())
        return parse_kernel(self._with_value("space", f"{{{', '.join(lists)}}}").text)

    def with_values(self, flows: Mapping[str, str], code: str) -> str:
        """A file's text with other values of top-level keys, each as YAML in braces, and this code.
        It is not read again."""
        text = self.text[: self.yaml_end + len(CLOSING)] + code
        made = replace(self, text=text)
        for key, flow in flows.items():
            text = made._with_value(key, flow).text
            made = replace(made, text=text, yaml_end=made.yaml_end + len(text) - len(made.text))
        return made.text

    def _with_value(self, key: str, flow: str) -> "_Edited":
        """The text with another value of a top-level key, which is added where it is missing."""
        yaml_text = self.text[self.yaml_start : self.yaml_end]
        span = spans(yaml_text).get(key)
        if span is None:
            end = len(yaml_text.rstrip())
            span = Span(end, end, block=False)
            flow = f"\n{key}: {flow}"
        before = yaml_text[span.start : span.end]
        yaml_text = (
            yaml_text[: span.start] + flow + ("\n" if span.block else "") + yaml_text[span.end :]
        )
        text = self.text[: self.yaml_start] + yaml_text + self.text[self.yaml_end :]
        return _Edited(text=text, before=before, block=span.block)

    def params_for(self, workload: Workload, target: Target) -> dict[str, int]:
        """See planner.params_for."""
        return params_for(self.front, env_for(workload, target))

    def plan(self, task: Task, workload: Workload, target: Target) -> Plan:
        """What runs on a workload. Raises Rejected: INVALID, and UNSUPPORTED for a backend that the
        file is not for."""
        return Planner(self.front, task, workload, target).plan()


class _Edited(NamedTuple):
    """A file's text with one value changed. before: the value; block: over lines of its own."""

    text: str
    before: str
    block: bool


@lru_cache(maxsize=64)
def _normalised(text: str) -> str:
    """Without trailing blanks and empty lines, so that formatting noise is no new kernel."""
    return "\n".join(line for line in map(str.rstrip, text.splitlines()) if line)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
