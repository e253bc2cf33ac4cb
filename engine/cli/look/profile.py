"""The command that profiles one kernel: what it prints, and what it keeps."""

import json
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from engine.cli.look.profile_report import Report, report_of
from engine.cli.look.subject import SHORT, Home, Subject
from engine.cli.usage import UsageError
from engine.commands import shown
from engine.history.campaigns import state_of
from engine.store.run_folder import STORE
from evaluators.evaluation import Evaluation
from evaluators.profile.profiler import TOOLS
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task

PROFILES = "profiles"
COUNTED = (
    ("launches", "{} launches"),
    ("time_us", "{:,.4g} µs"),
    ("memory", "{:.1f}% of memory bandwidth"),
    ("compute", "{:.1f}% of the busiest unit"),
    ("issue", "{:.1f}% of cycles issue"),
    ("occupancy", "occupancy {:.0f}%"),
    ("occupancy_limit", "{:.0f}% would fit"),
    ("cache_hits", "{:.0f}% of accesses hit the L2"),
    ("lds_conflicts", "{:.0f}% of LDS cycles lost to conflicts"),
    ("sectors", "{:.1f} sectors a load"),
    ("memory_stalled", "memory unit stalled {:.0f}%"),
    ("registers", "{} registers a thread"),
)
"""What of a KernelProfile a person reads, with its unit."""


def profile_subject(
    subject: Subject, stream: IO[str], *, shape: str, out: Path | None, as_json: bool
) -> bool:
    """Print what there is to say, and keep it; whether there is a profile.

    out: a folder for it, by default one of the campaign's. Raises UsageError, TaskError,
    BackendMissing.
    """
    task = load_task(subject.task)
    _warn(subject, task)
    report = report_of(subject, task, shape)
    found = bool(report.advice or report.kernels)
    folder = (out or _folder(subject)) if found or report.raw else None
    if folder is not None:
        _keep(folder, subject, report)
    if as_json:
        values = {**_json(subject, report), "folder": str(folder) if folder else None}
        print(json.dumps(values, indent=2), file=stream)
    else:
        for line in _lines(subject, report) if found else ():
            print(line, file=stream)
        if folder is not None:
            print(f"kept in {shown(folder)}/", file=stream)
    if report.reason:
        print(f"kernel-scientist: {report.reason}", file=sys.stderr)
    if folder is not None and subject.home is not None:
        _tell_mlflow(folder, subject, subject.home)
    return found


def _warn(subject: Subject, task: Task) -> None:
    """Of what makes a profile another one than of that kernel in that campaign."""
    home = subject.home
    if home is None:
        return
    if task.hash != home.whole.campaign.task_hash:
        print(f"note: the task {task.name} has changed since this campaign", file=sys.stderr)
    running = state_of(home.whole, home.run_dir / STORE) in ("running", "starting")
    if running and subject.backend in TOOLS:
        print(
            "note: the campaign is running, and what either measures meanwhile shares a device",
            file=sys.stderr,
        )


def _folder(subject: Subject) -> Path | None:
    """Below the campaign's folder; None for a file that is in no campaign."""
    if subject.home is None:
        return None
    tool = TOOLS.get(subject.backend, "compiler")
    name = f"{datetime.now():%Y%m%d-%H%M%S}-{tool}"
    return subject.home.run_dir / PROFILES / subject.kernel_id[:SHORT] / name


def _keep(folder: Path, subject: Subject, report: Report) -> None:
    """Raises UsageError."""
    files = {
        "kernel.hip": subject.source,
        "profile.json": json.dumps(_json(subject, report), indent=2) + "\n",
        "advice.txt": "\n".join(_lines(subject, report)) + "\n",
        **{f"raw/{path}": text for path, text in report.raw.items()},
    }
    try:
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{error.filename or folder} can't be written ({error.strerror}): name a folder that "
            "can by --out"
        ) from None


def _json(subject: Subject, report: Report) -> dict[str, Any]:
    values = {name: value for name, value in asdict(report).items() if name != "raw"}
    evaluation = subject.evaluation
    return {
        "kernel_id": subject.kernel_id,
        "task": Path(subject.task).name,
        "backend": subject.backend,
        **values,
        "times_us": dict(evaluation.times_us) if evaluation else {},
        "speed_of_light": dict(evaluation.speed_of_light) if evaluation else {},
    }


def _lines(subject: Subject, report: Report) -> Iterator[str]:
    """For a person."""
    of_shape = f" on {report.shape}" if report.shape else ""
    yield f"{subject.name}{of_shape}, by {report.tool} in {report.seconds:.1f} s"
    if subject.backend in TOOLS:
        for kernel in report.kernels:
            yield f"  {kernel['kernel']}: {', '.join(_counted(kernel))}"
    yield from (f"  {sentence}" for sentence in report.advice)
    if subject.evaluation is not None:
        yield from _times(subject.evaluation)


def _counted(kernel: Mapping[str, Any]) -> Iterator[str]:
    """A KernelProfile's values; what was not counted is left out."""
    return (text.format(kernel[name]) for name, text in COUNTED if kernel[name] is not None)


def _times(evaluation: Evaluation) -> Iterator[str]:
    """Where its time went when it was measured, by shape."""
    if not evaluation.passed:
        reason = evaluation.reason.partition("\n")[0]
        yield f"  in the campaign it was {evaluation.status}: {reason}"
        return
    yield "  measured in the campaign's search, for one application:"
    width = max(map(len, evaluation.times_us))
    for label, time_us in evaluation.times_us.items():
        light, gain = evaluation.speed_of_light.get(label), evaluation.gains.get(label)
        of_light = f"  {100 * light:.0f}% of the speed of light" if light is not None else ""
        of_seed = f"  {math.exp(gain):.2f}x the seed" if gain is not None else ""
        yield f"  {label:{width}}  {time_us:11.1f} µs{of_light}{of_seed}"


def _tell_mlflow(folder: Path, subject: Subject, home: Home) -> None:
    """A server that is away costs a sentence."""
    uri = home.config.tracking_uri
    if uri is None:
        return
    from engine.tracking.upload import upload

    trouble = upload(
        folder,
        uri=uri,
        experiment=home.config.experiment,
        campaign=home.tag,
        under=f"{PROFILES}/{subject.kernel_id[:SHORT]}/{folder.name}",
    )
    if trouble:
        print(f"note: MLflow was not told: {trouble}", file=sys.stderr)
