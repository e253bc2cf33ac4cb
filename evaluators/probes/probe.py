"""Probe: a kernel file whose launches are not scored; compiled, a BuiltProbe."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from evaluators.device import Compiled, Compiler
from evaluators.device_info import DeviceInfo, Target
from evaluators.evaluation import Rejected, Status
from evaluators.expression import Expression, ExpressionError
from evaluators.kernel.front_matter import find_front_matter, invalid, load_front_matter
from evaluators.kernel.plan import Plan
from evaluators.kernel.source import KernelSource, kernel_id, parse_kernel
from evaluators.lined_yaml import LinedDict, plain
from evaluators.probes.reader import (
    FILE_KEYS,
    ProbeBuffer,
    ProbeFrontMatter,
    read_probe,
    without_probe,
)
from evaluators.spelling import did_you_mean, printable, shortened
from evaluators.tasks.arguments import DTYPES, Argument, Distribution, Workload
from evaluators.tasks.task import Task

__all__ = ["Answer", "BuiltProbe", "Probe", "Run", "compile_probe", "parse_probe"]

LOG_LINES = 4
LOG_CHARACTERS = 240
"""Of what a compiler says, in an answer."""

MAX_HOST_BYTES = 256 << 20
"""Of a buffer that is not filled with zeros: the host makes its contents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A parsed probe file. kernel: the file without its key probe, line for line.

    id: of what it does and asks, as a kernel's is.
    """

    id: str
    text: str
    kernel: KernelSource
    front: ProbeFrontMatter

    @property
    def question(self) -> str:
        return self.front.question

    @property
    def buffers(self) -> Mapping[str, ProbeBuffer]:
        return self.front.buffers

    @property
    def cases(self) -> tuple[Mapping[str, int], ...]:
        return self.front.cases


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What became of a probe. reason: one sentence, empty when it PASSED.

    sentences: what it tells, for a prompt; of one that does not compile, what the compiler says.
    seconds: of its device. Plain values only: it is stored as JSON.
    """

    probe_id: str
    question: str
    status: Status
    reason: str = ""
    sentences: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        return self.status is Status.PASSED

    @classmethod
    def of_rejected(cls, text: str, rejected: Rejected, *, seconds: float = 0.0) -> "Answer":
        """Of a probe file that was refused at some stage, even if it can't be read."""
        try:
            probe = parse_probe(text)
            probe_id, question = probe.id, probe.question
        except Rejected:
            probe_id, question = kernel_id(text), ""
        return cls(
            probe_id=probe_id,
            question=question,
            status=rejected.status,
            reason=rejected.reason,
            sentences=_log_lines(rejected.log),
            seconds=seconds,
        )


def _log_lines(log: str) -> tuple[str, ...]:
    """The first that hold words; compilers draw others below them, as "| ^~~~"."""
    lines = [line.strip() for line in log.splitlines() if any(map(str.isalnum, line))]
    return tuple(shortened(printable(line), LOG_CHARACTERS) for line in lines[:LOG_LINES])


class Run(NamedTuple):
    """One launch plan and how many elements of each buffer it is given."""

    plan: Plan
    elements: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltCase:
    """A case of a probe. counted: operations, or bytes, of a run; 0 where the file says nothing."""

    values: Mapping[str, int]
    run: Run
    baseline: Run | None
    counted: int

    @property
    def runs(self) -> tuple[Run, ...]:
        return (self.run,) if self.baseline is None else (self.run, self.baseline)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltProbe:
    """A probe compiled for all its cases; picklable, goes from compile task to device."""

    probe: Probe
    compiled: Compiled
    cases: tuple[BuiltCase, ...]

    @property
    def nbytes(self) -> Mapping[str, int]:
        """The most that any case asks for, by buffer."""
        return _nbytes(self.probe, self.cases)


def parse_probe(text: str) -> Probe:
    """Read and validate a probe file. Raises Rejected(INVALID) with line and reason."""
    place = find_front_matter(text)
    tree = load_front_matter(text, place)
    if not isinstance(tree, LinedDict) or "probe" not in tree:
        raise invalid(
            "the front matter lacks the key 'probe', which makes a file a probe", place.line
        )
    for key, line in tree.lines.items():
        if key not in FILE_KEYS:
            guess = did_you_mean(key, FILE_KEYS)
            raise invalid(
                f"unknown key {key!r} in a probe{guess} (known: {', '.join(FILE_KEYS)})",
                line + place.line - 1,
            )
    kernel = parse_kernel(without_probe(text, place, tree))
    front = read_probe(tree, kernel.params, place.line)
    asked = json.dumps(plain(tree["probe"]), sort_keys=True)
    digest = hashlib.sha256(f"{kernel.id}\n{asked}".encode()).hexdigest()[:16]
    return Probe(id=digest, text=text, kernel=kernel, front=front)


def compile_probe(text: str, compiler: Compiler, info: DeviceInfo) -> BuiltProbe:
    """Parse a probe, plan every case, compile each set of defines once.

    Raises Rejected: INVALID, UNSUPPORTED, COMPILE_ERROR, LAUNCH_ERROR, TIMEOUT.
    """
    probe = parse_probe(text)
    planned: list[Run] = []
    cases = tuple(_built_case(probe, case, planned, info.target) for case in probe.cases)
    _check_room(probe, cases, info)
    compiled = compiler.compile(probe.kernel, [run.plan for run in planned])
    return BuiltProbe(probe=probe, compiled=compiled, cases=cases)


def _built_case(
    probe: Probe, case: Mapping[str, int], planned: list[Run], target: Target
) -> BuiltCase:
    """planned: every run so far, so that equal ones are one."""
    front = probe.front
    values = {**probe.kernel.params, **case}
    formula = front.per or front.bytes
    counted = _evaluated(formula, values, front, "per" if front.per else "bytes") if formula else 0
    if formula and counted < 1:
        key = "per" if front.per else "bytes"
        raise invalid(
            f"probe: {key} is {counted} for {dict(case)}: it must be 1 or more", front.lines[key]
        )
    run = _once(_run(probe, case, target), planned)
    other = {**case, **front.baseline}
    baseline = _once(_run(probe, other, target), planned) if front.baseline else None
    return BuiltCase(values=case, run=run, baseline=baseline, counted=counted)


def _once(run: Run, planned: list[Run]) -> Run:
    if run in planned:
        return planned[planned.index(run)]
    planned.append(run)
    return run


def _run(probe: Probe, case: Mapping[str, int], target: Target) -> Run:
    params = {name: value for name, value in case.items() if name in probe.kernel.params}
    dims = {name: value for name, value in case.items() if name not in params}
    values = {**probe.kernel.params, **case}
    elements = {}
    for name, buffer in probe.buffers.items():
        count = _evaluated(buffer.elements, values, probe.front, "buffers")
        if count < 1:
            raise invalid(
                f"probe: buffer {name} has {count} elements for {dict(case)}: it needs 1 or more",
                probe.front.lines["buffers"],
            )
        elements[name] = count
    workload, task = Workload(dims=dims, suite="benchmarks"), _as_task(probe, dims)
    plan = probe.kernel.with_params(params).plan(task, workload, target)
    return Run(plan, elements)


def _evaluated(
    formula: Expression, values: Mapping[str, int], front: ProbeFrontMatter, key: str
) -> int:
    try:
        return formula.integer(values)
    except ExpressionError as error:
        raise invalid(f"probe: {key}: {error}", front.lines[key]) from None


def _as_task(probe: Probe, dims: Mapping[str, int]) -> Task:
    """Buffers as a task's arguments, names of cases as its dimensions: what planning asks for."""
    arguments = tuple(
        Argument(
            name=name,
            dtype=buffer.dtype,
            role="inout",
            dimensions=(buffer.elements,),
            distribution=Distribution(kind="zeros"),
            relative=buffer.elements,
            absolute=buffer.elements,
        )
        for name, buffer in probe.buffers.items()
    )
    return Task(
        name="of this probe",
        hash="",
        folder=Path(),
        description="",
        dims=tuple(dims),
        arguments=arguments,
        flops=None,
        bytes=None,
        compute_dtype="",
        suites={},
        seeds={},
    )


def most_bytes(info: DeviceInfo) -> int:
    """That all buffers of a probe may take together."""
    return 2 * info.scratch_bytes


def _check_room(probe: Probe, cases: Sequence[BuiltCase], info: DeviceInfo) -> None:
    line = probe.front.lines.get("buffers")
    sizes = _nbytes(probe, cases)
    for name, nbytes in sizes.items():
        fill = probe.buffers[name].fill
        if fill != "zero" and nbytes > MAX_HOST_BYTES:
            raise invalid(
                f"probe: buffer {name} takes {nbytes:,} bytes; of what is filled with {fill}, at "
                f"most {MAX_HOST_BYTES:,} are allowed",
                line,
            )
    if (total := sum(sizes.values())) > most_bytes(info):
        raise invalid(
            f"probe: the buffers take {total:,} bytes, on this device at most "
            f"{most_bytes(info):,} are allowed",
            line,
        )


def _nbytes(probe: Probe, cases: Sequence[BuiltCase]) -> dict[str, int]:
    runs = [run for case in cases for run in case.runs]
    return {
        name: max(run.elements[name] for run in runs) * DTYPES[buffer.dtype].itemsize
        for name, buffer in probe.buffers.items()
    }
