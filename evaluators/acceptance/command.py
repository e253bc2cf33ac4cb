"""What `kernel-scientist doctor --device` does: accept, tell each result, write the report."""

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from evaluators.acceptance.report import line, markdown
from evaluators.acceptance.run import CHILD, accept, default_backend
from evaluators.acceptance.trial import Result
from evaluators.acceptance.versions import found_versions, version_findings
from evaluators.device import BackendName


def accept_device(
    backend_name: BackendName | None,
    out: Path,
    stream: IO[str],
    *,
    only: Sequence[str] = (),
    child: Sequence[str] = CHILD,
) -> int:
    """The exit code: 0 when everything passed that applies. backend_name: None finds a GPU.

    Raises BackendMissing; OSError when the report can't be written, before anything runs.
    """
    name = backend_name or default_backend()
    out.parent.mkdir(parents=True, exist_ok=True)
    out.touch()

    def tell(result: Result) -> None:
        print(line(result), file=stream, flush=True)

    acceptance = accept(name, only=only, child=child, tell=tell)
    versions = {"Python": platform.python_version(), "system": platform.platform()}
    versions |= found_versions().shown()
    versions |= {one.level: one.sentence for one in version_findings()}
    out.write_text(markdown(acceptance, versions, when=datetime.now(UTC)), encoding="utf-8")
    failed = sum(result.state == "FAIL" for result in acceptance.results)
    verdict = "accepted" if acceptance.accepted else f"not accepted: {failed} failed"
    print(f"\n{name}: {verdict}; the report is {out}", file=stream)
    return 0 if acceptance.accepted else 1
