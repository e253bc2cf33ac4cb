"""What a profiler, or on cpu the compiler, says of a kernel: a Report."""

import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from engine.cli.look.subject import Subject
from engine.cli.usage import UsageError
from evaluators.device import backend
from evaluators.evaluate import compile_shown
from evaluators.evaluation import Rejected, Status
from evaluators.profile.profiler import TOOLS, profile
from evaluators.profile.target import shape_of
from evaluators.tasks.task import Task
from operators.llm.prompts.diagnosis import diagnosis

NEVER_RAN = (Status.INVALID, Status.UNSUPPORTED, Status.COMPILE_ERROR, Status.LAUNCH_ERROR)
"""Kernels that no profiler can watch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """reason: why there is no profile, or what it lacks. kernels: a profiler's counters, or a
    compiler's resources. raw: the tool's own files, by path. shape: "" for all of them."""

    tool: str
    shape: str = ""
    advice: tuple[str, ...] = ()
    kernels: tuple[Mapping[str, Any], ...] = ()
    reason: str = ""
    seconds: float = 0.0
    raw: Mapping[str, str] = field(default_factory=dict)


def report_of(subject: Subject, task: Task, shape: str) -> Report:
    """shape: a benchmark's label; "": the largest. Raises UsageError, BackendMissing."""
    try:
        label = shape_of(task, subject.backend, shape).label
    except ValueError as error:
        raise UsageError(str(error)) from None
    tool = TOOLS.get(subject.backend)
    known = subject.evaluation
    if tool is not None and known is not None and known.status in NEVER_RAN:
        return Report(tool=tool, shape=label, reason=f"{known.status}: {known.reason}")
    return _compiled(subject, task, shape) if tool is None else _profiled(subject, tool, label)


def _profiled(subject: Subject, tool: str, label: str) -> Report:
    with tempfile.TemporaryDirectory() as folder:
        file, raw = Path(folder) / "kernel.hip", Path(folder) / "raw"
        file.write_text(subject.source, encoding="utf-8")
        found = profile(file, subject.task, subject.backend, shape=label, keep=raw)
        texts = {
            str(path.relative_to(raw)): path.read_text(encoding="utf-8", errors="replace")
            for path in sorted(raw.glob("**/*"))
            if path.is_file()
        }
    return Report(
        tool=tool,
        shape=label,
        advice=found.advice,
        kernels=tuple(asdict(kernel) for kernel in found.kernels),
        reason=found.reason,
        seconds=found.seconds,
        raw=texts if found.kernels or not found.hopeless else {},
    )


def _compiled(subject: Subject, task: Task, shape: str) -> Report:
    """What the compiler tells of it, for all shapes that a kernel's author may know."""
    if shape:
        raise UsageError(
            f"--shape is for a profiler: on {subject.backend} the compiler speaks of all shapes"
        )
    compiler = backend(subject.backend).compiler()
    try:
        _, compiled = compile_shown(subject.source, task, compiler, subject.backend)
    except Rejected as rejected:
        return Report(tool="compiler", reason=str(rejected), raw=_log(rejected.log))
    return Report(
        tool=compiled.compiler,
        advice=diagnosis(compiled),
        kernels=tuple(dict(one) for one in compiled.resources),
        seconds=compiled.seconds,
        raw=_log(compiled.log),
    )


def _log(text: str) -> dict[str, str]:
    return {"compiler.log": text} if text else {}
