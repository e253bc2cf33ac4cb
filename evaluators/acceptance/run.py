"""Runs the sections, each in a process of its own, and gathers what came of every trial."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from evaluators.acceptance.child import DEVICE_LOST
from evaluators.acceptance.sections import BUDGET_S, sections
from evaluators.acceptance.trial import Result, Section
from evaluators.device import backend, times
from evaluators.device_info import BackendMissing

CHILD = (sys.executable, "-m", "evaluators.acceptance.child")
ROOT = Path(__file__).parents[2]
PREFERRED: tuple[str, ...] = ("hip", "cuda", "cpu")
_POLL_S = 0.1
PROCESSOR_PATIENCE = 4.0
"""How much longer sections may take where the processor does the work, emulated or as cpu: others
may keep it busy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """What one machine's devices were put through. seconds: in all; timed: whether devices of the
    backend are, or are emulated."""

    backend: str
    results: tuple[Result, ...]
    seconds: float
    timed: bool = True

    @property
    def accepted(self) -> bool:
        """Something passed and nothing failed."""
        states = {result.state for result in self.results}
        return "PASS" in states and "FAIL" not in states


def default_backend() -> str:
    """The first with a device here: GPUs before the cpu."""
    return next(name for name in PREFERRED if name == "cpu" or backend(name).device_count())


def accept(
    backend_name: str,
    *,
    only: Sequence[str] = (),
    budget_s: float = BUDGET_S,
    child: Sequence[str] = CHILD,
    tell: Callable[[Result], None] = lambda result: None,
) -> Acceptance:
    """Every section, or those named; trials that no time is left for are SKIPPED.

    tell: called with each result as it comes. Raises BackendMissing when there is no device,
    ValueError for an unknown section.
    """
    if backend(backend_name).device_count() == 0:
        backend(backend_name).open_device(0)  # says why
        raise BackendMissing(f"no {backend_name} device here")
    chosen = [one for one in sections() if not only or one.name in only]
    if unknown := set(only) - {one.name for one in chosen}:
        raise ValueError(f"no section {', '.join(sorted(unknown))}")
    timed = times(backend_name)
    patience = 1.0 if timed and backend_name != "cpu" else PROCESSOR_PATIENCE
    started = time.monotonic()
    results: list[Result] = []
    for one in chosen:
        section = replace(one, deadline_s=one.deadline_s * patience)
        left_s = started + budget_s * patience - time.monotonic()
        run = _SectionRun(section, backend_name, child, tell)
        results += run.results(min(section.deadline_s, left_s))
    seconds = time.monotonic() - started
    return Acceptance(
        backend=backend_name,
        results=tuple(results),
        seconds=seconds,
        timed=timed,
    )


class _SectionRun:
    """One section, in as many processes as its faults need."""

    def __init__(
        self,
        section: Section,
        backend_name: str,
        child: Sequence[str],
        tell: Callable[[Result], None],
    ) -> None:
        self._section = section
        self._backend_name = backend_name
        self._child = child
        self._tell = tell
        self._found: list[Result] = []

    def results(self, deadline_s: float) -> list[Result]:
        until = time.monotonic() + deadline_s
        with tempfile.TemporaryDirectory() as folder:
            while len(self._found) < len(self._section.trials) and time.monotonic() < until:
                self._process(Path(folder), until)
        said = f"no time was left: the section may take {self._section.deadline_s:g} s"
        while len(self._found) < len(self._section.trials):
            self._add("SKIPPED", said)
        return self._found

    def _process(self, folder: Path, until: float) -> None:
        first = len(self._found)
        file, log = folder / f"from{first}.jsonl", folder / f"from{first}.log"
        file.touch()
        arguments = (self._section.name, self._backend_name, str(first), str(file))
        started = time.monotonic()
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*self._child, *arguments],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                while process.poll() is None and time.monotonic() < until:
                    time.sleep(_POLL_S)
                    self._read(file, first)
            finally:
                late = process.poll() is None
                _end(process)
        self._read(file, first)
        if len(self._found) == len(self._section.trials):
            return
        seconds = time.monotonic() - started
        if late:
            self._add("FAIL", "it had not ended when its section's time was up", seconds)
        elif process.returncode != DEVICE_LOST:
            self._add("FAIL", _death(process.returncode, log), seconds)

    def _read(self, file: Path, first: int) -> None:
        rows = file.read_text(encoding="utf-8").split("\n")[:-1]  # the last may be half written
        for row in rows[len(self._found) - first :]:
            result = Result(**json.loads(row))
            self._found.append(result)
            self._tell(result)

    def _add(self, state: str, found: str, seconds: float = 0.0) -> None:
        trial = self._section.trials[len(self._found)]
        failed = state == "FAIL"
        result = Result(
            section=self._section.name,
            name=trial.name,
            state="FAIL" if failed else "SKIPPED",
            found=found,
            todo=trial.todo if failed else "",
            seconds=seconds,
        )
        self._found.append(result)
        self._tell(result)


def _death(returncode: int, log: Path) -> str:
    """One sentence on a process that ended before its trial did."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
    last = next((line for line in reversed(lines) if line), "it said nothing")
    how = signal.Signals(-returncode).name if returncode < 0 else f"status {returncode}"
    return f"its process ended with {how}: {last[:300]}"


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Its children too."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
