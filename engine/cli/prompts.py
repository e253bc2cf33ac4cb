"""What a model would be sent in a role, for a person to read."""

from pathlib import Path

from engine.store.replay import Replay, replay
from engine.store.run_folder import STORE
from evaluators.device import backend
from evaluators.tasks.task_file import load_task
from operators.individual import Individual
from operators.llm.preview import preview
from operators.llm.question import Role


def prompt_text(task: str, role: Role, backend_name: str, run_dir: Path | None) -> str:
    """The messages one after the other, each under its speaker's name.

    run_dir: of the campaign whose kernels are shown; None: the naive seed alone. Raises
    TaskError, BackendMissing, StoreError.
    """
    loaded = load_task(task)
    device = backend(backend_name).open_device(0)
    try:
        whole = replay(run_dir / STORE) if run_dir is not None else None
        shown = _individuals(whole) if whole else []
        prompt = preview(role, loaded, device.info, shown, profiles=_profiles(whole))
    finally:
        device.close()
    return "\n\n".join(f"[{one.role}]\n{one.content}" for one in prompt.messages)


def _profiles(whole: Replay | None) -> dict[str, tuple[str, ...]]:
    found = whole.scores.profiles.values() if whole else ()
    return {profiled.kernel_id: profiled.advice for profiled in found}


def _individuals(whole: Replay) -> list[Individual]:
    """Everything that was evaluated, the fastest first, failures last."""
    known = whole.scores.evaluations
    drafts = [draft for draft in whole.first_drafts.values() if draft.kernel_id in known]
    individuals = [draft.individual(known[draft.kernel_id]) for draft in drafts]
    return sorted(individuals, key=lambda one: -(one.evaluation.speedup or 0.0))
