"""The C++ compiler run on one file, confined; what it last made is known again."""

import tempfile
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluators.cpu.failures import compile_failure
from evaluators.cpu.toolchain import INCLUDE, WATCH_SCRIPT, WATCH_SCRIPT_TEXT, Toolchain
from evaluators.evaluation import Rejected, Status
from evaluators.sandbox.log_lines import shown
from evaluators.sandbox.run import Finished, run_confined

LOG_CHARACTERS = 8000
KNOWN, KNOWN_BYTES = 64, 1 << 20
"""Runs that are known again, and the most that one of them may have made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """stdout: its first OUTPUT_LIMIT bytes. files: those of the outputs that are there, by name."""

    stdout: bytes
    files: Mapping[str, bytes]

    @property
    def nbytes(self) -> int:
        return len(self.stdout) + sum(map(len, self.files.values()))


_known: OrderedDict[tuple[object, ...], Made] = OrderedDict()


def compile_file(
    tools: Toolchain,
    command: Sequence[str],
    source: str,
    text: str,
    *,
    outputs: Sequence[str] = (),
    kernels: Sequence[str],
    deadline_s: float,
) -> Made:
    """Run the command in a folder where the source file holds the text.

    An evaluator and an oracle compile the same seed and preprocess the same candidate: a run like
    an earlier one of this process gives what that one made.
    kernels: what is launched, for messages. Raises Rejected.
    """
    key = (tools, *command, source, text, *outputs)
    if key in _known:
        _known.move_to_end(key)
        return _known[key]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / source).write_text(text)
        (folder / WATCH_SCRIPT).write_text(WATCH_SCRIPT_TEXT)
        done = _run(tools, command, folder, kernels, deadline_s)
        found = [folder / output for output in outputs]
        files = {path.name: path.read_bytes() for path in found if path.exists()}
    made = Made(stdout=done.stdout, files=files)
    if made.nbytes <= KNOWN_BYTES:
        _known[key] = made
        if len(_known) > KNOWN:
            _known.popitem(last=False)
    return made


def _run(
    tools: Toolchain,
    command: Sequence[str],
    folder: Path,
    kernels: Sequence[str],
    deadline_s: float,
) -> Finished:
    done = run_confined(
        command,
        cwd=folder,
        env=tools.environment(folder),
        deadline_s=deadline_s,
        memory_bytes=tools.memory_bytes,
        reads=tools.reads,
        writes=tools.writes,
    )
    told = done.stderr.decode(errors="replace")
    log = shown(told, [INCLUDE / "cpu", INCLUDE])[:LOG_CHARACTERS]
    if done.timed_out:
        raise Rejected(Status.TIMEOUT, f"compiling took more than {deadline_s:g} s", log=log)
    if done.returncode != 0:
        raise compile_failure(done, log, tools.name, kernels)
    return done
