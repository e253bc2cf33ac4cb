"""Where findings are read from: a file of them, or a campaign's folder, whose store is enough."""

from pathlib import Path

from engine.findings.book import distilled
from engine.findings.distillation import condition_of, record_of
from engine.findings.reader import FindingsError, FindingsFile, read_findings
from engine.store.kept_task import find_task
from engine.store.replay import replay
from engine.store.run_folder import FINDINGS, STORE
from engine.store.store import StoreError
from evaluators.device_info import BackendMissing
from evaluators.tasks.task import TaskError
from evaluators.tasks.task_file import load_task


def findings_of(source: Path) -> FindingsFile:
    """A campaign without a file, as one of before there were any, is distilled from its store.

    Raises FindingsError.
    """
    if not source.is_dir():
        return read_findings(source)
    if (source / FINDINGS).is_file():
        return read_findings(source / FINDINGS)
    if not (source / STORE).is_file():
        raise FindingsError(
            f"{source} holds neither {FINDINGS} nor {STORE}: name a campaign's folder, or a file"
        )
    try:
        whole = replay(source / STORE)
        task = load_task(find_task(whole, source))
        record = record_of(whole, task)
    except (StoreError, TaskError, BackendMissing) as error:
        raise FindingsError(f"{source} can't be distilled: {error}") from None
    return FindingsFile(
        campaign=source.resolve().name,
        distillation=-1,
        evaluations=record.evaluations,
        condition=condition_of(whole, task),
        findings=distilled(record),
    )
