"""Families: parameterised kernel files for a known problem, rendered in a task's own names."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from evaluators.device_info import target_of
from evaluators.evaluation import Rejected
from evaluators.kernel.front_matter import FrontMatter
from evaluators.kernel.source import KernelSource, parse_kernel
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import SHIPPED
from operators.catalog.generated import written_for
from operators.catalog.structure import Kind, Techniques, structure

Params = Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One template with its structural choices made; what is left is in its params.

    template: of the package's templates/; or a seed of the task that is the problem's own, as
    "fp8_gemm/mfma", whose arguments and dims have the problem's names.
    """

    kind: Kind
    name: str
    template: str
    choices: Mapping[str, bool] = field(default_factory=dict)


FAMILIES = (
    # The first of a kind is its home: at its default parameters it is the textbook kernel.
    Family(kind="gemm", name="gemm_naive", template="gemm_naive"),
    Family(
        kind="gemm",
        name="gemm_tile",
        template="gemm_tile",
        choices={"pack": False, "split": False},
    ),
    Family(
        kind="gemm",
        name="gemm_pack",
        template="gemm_tile",
        choices={"pack": True, "split": False},
    ),
    Family(
        kind="gemm",
        name="gemm_split",
        template="gemm_tile",
        choices={"pack": False, "split": True},
    ),
    Family(kind="gemm", name="gemm_lds", template="gemm_lds"),
    Family(kind="softmax", name="softmax_rows", template="softmax_rows"),
    Family(kind="softmax", name="softmax_block", template="softmax_block"),
    Family(kind="sum", name="sum_atomic", template="sum_threads", choices={"atomic": True}),
    Family(kind="sum", name="sum_two_pass", template="sum_threads", choices={"atomic": False}),
    Family(
        kind="sum",
        name="sum_block",
        template="sum_block",
        choices={"atomic": True},
    ),
    Family(
        kind="sum",
        name="sum_block_two_pass",
        template="sum_block",
        choices={"atomic": False},
    ),
    Family(kind="transpose", name="transpose_tile", template="transpose_tile"),
    Family(kind="transpose", name="transpose_lds", template="transpose_lds"),
    Family(kind="block_scaled_gemm", name="fp8_tile", template="fp8_gemm/tiled"),
    Family(kind="block_scaled_gemm", name="fp8_mfma", template="fp8_gemm/mfma"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Families:
    """The families that a task can use, rendered at their default parameters."""

    kind: str | None
    sources: Mapping[str, KernelSource]

    @property
    def home(self) -> str | None:
        """The family whose default is the textbook kernel; None without families."""
        return next(iter(self.sources), None)

    def render(self, family: str, params: Params) -> KernelSource:
        """One point of a family. Raises Rejected when a constraint fails."""
        return self.sources[family].with_params(params)

    def of(self, kernel: KernelSource) -> str | None:
        """The family whose point a kernel is, whoever wrote it; None when it is nobody's."""
        for name, source in self.sources.items():
            if (
                set(source.params) == set(kernel.params)
                and source.code == kernel.code
                and source.feasible(kernel.params)
                and _same_front(source.front, kernel.front)
            ):
                return name
        return None


def _same_front(one: FrontMatter, two: FrontMatter) -> bool:
    """Whether two front matters differ in parameter values only."""
    return replace(one, params={}, lines={}) == replace(two, params={}, lines={})


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("operators.catalog"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )


_CACHE: dict[tuple[str, str], Families] = {}  # by the task's hash and backend


def families(task: Task, techniques: Techniques = "all") -> Families:
    """The families of the problem that the task is, for its backend; none when it is no known
    problem, or where generic techniques alone are used."""
    if techniques == "generic":
        return Families(kind=None, sources={})
    key = task.hash, task.backend
    if key not in _CACHE:
        found = structure(task)
        sources = {}
        for family in FAMILIES if found else ():
            if found is None or family.kind != found.kind:
                continue
            source = parse_kernel(_written(family, found.names))
            if source.backends and task.backend not in ("", *source.backends):
                continue
            if _fits(source, task):
                # Written as with_params writes, so that every point has the same lines.
                sources[family.name] = source.with_params(source.params)
        kind: str | None = found.kind if found else None
        if not sources:
            kind, sources = _generated(task)
        _CACHE[key] = Families(kind=kind, sources=sources)
    return _CACHE[key]


def _written(family: Family, names: Mapping[str, str]) -> str:
    """The kernel file in the task's names."""
    task, _, seed = family.template.partition("/")
    if not seed:
        template = _environment().get_template(f"{family.template}.hip.j2")
        return str(template.render(**names, **family.choices))
    text = (SHIPPED / task / "seeds" / f"{seed}.hip").read_text()
    front, end, code = text.partition("---*/")
    return re.sub(r"\w+", lambda word: names.get(word[0], word[0]), front) + end + code


def _generated(task: Task) -> tuple[str | None, dict[str, KernelSource]]:
    """Families written from what the reference computes."""
    kind, written = written_for(task)
    sources = {}
    for name, (template, given) in written.items():
        text = _environment().get_template(f"{template}.hip.j2").render(**given)
        source = parse_kernel(text)
        if _fits(source, task):
            sources[name] = source.with_params(source.params)
    return (kind if sources else None), sources


def remember(task: Task, known: Families) -> None:
    """From now on these are the task's, as for searches in what was recorded of some of them."""
    _CACHE[task.hash, task.backend] = known


def _fits(source: KernelSource, task: Task) -> bool:
    """Whether the file's own names leave the task's alone."""
    try:
        for backend, workloads in task.suites["tests"].items():
            target = target_of(source.backends[0] if source.backends else backend)
            for workload in workloads:
                source.plan(task, workload, target)
    except Rejected:
        return False
    return True


def random_params(source: KernelSource, rng: np.random.Generator, tries: int = 1000) -> Params:
    """Uniform over the feasible points of a kernel's space, by rejection.

    Falls back on the file's own parameters when no feasible point turns up.
    """
    sizes = [len(values) for values in source.space.values()]
    for _ in range(tries):
        places = rng.integers(sizes).tolist() if sizes else []
        params = {
            name: values[place]
            for (name, values), place in zip(source.space.items(), places, strict=True)
        }
        if source.feasible(params):
            return params
    return dict(source.params)
