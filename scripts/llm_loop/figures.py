"""What a run of the LLM loop comes to: figures from its store, its endpoint's log, its samples."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from engine.store.events import CycleFinished, Designed, Drafted, Evaluated, Selected
from engine.store.kinds.calls import CallReplied, CallReserved, TurnedAway
from engine.store.kinds.profiles import Profiled
from evaluators.kernel.source import kernel_id
from operators.llm.kernel_reply import read_kernel
from operators.llm.question import Malformed
from scripts.llm_loop.log import Log, held, origins_of, overlap
from scripts.llm_loop.paid import calls

QUOTED = 60
"""Characters by which a profiler's sentence is found in a prompt."""

IDLE = re.compile(r"(\bidle\b[^;,]*|\bwaiting (for|until)\b[^;,]*|\baway\b[^;,]*|\w+-bound)")


def figures(log: Log) -> dict[str, Any]:
    """Everything, as JSON takes it."""
    judged = replies(log)
    return {
        "replies": judged,
        "reply_to_verdict_s": reply_to_verdict(log),
        "profiles": profiles(log),
        "device": device(log),
        "waits": waits(log),
        "idle": idle(log),
        "calls": calls(log),
        "verdicts": verdicts(log),
        "prompt_tokens_by_role": tokens(log),
    }


# --- every reply judged -----------------------------------------------------------------------


def replies(log: Log) -> dict[str, Any]:
    """What became of each reply that was stored; unjudged: those of which nothing is known."""
    away = {event.request for _, event in log.of(TurnedAway)}
    decided = {("selector", e.island, e.cycle) for _, e in log.of(Selected)}
    decided |= {("designer", e.island, e.cycle) for _, e in log.of(Designed)}
    finished = {(e.island, e.cycle) for _, e in log.of(CycleFinished)}
    outcomes: Counter[str] = Counter()
    unjudged: list[str] = []
    for _, event in log.of(CallReplied):
        role = event.request.split("/")[-2]
        if event.request in away:
            outcome = "turned away"
        elif (role, event.island, event.cycle) in decided:
            outcome = "decided a cycle"
        elif verdict_of(log, event) is not None:
            outcome = "verdict"
        elif (event.island, event.cycle) not in finished:
            outcome = "cut off at the end"
        else:
            outcome = "unjudged"
            unjudged.append(event.request)
        outcomes[outcome] += 1
    received = sum(outcomes.values())
    judged = received - outcomes["cut off at the end"] - outcomes["unjudged"]
    return {
        "received": received,
        **{outcome: count for outcome, count in outcomes.items() if count},
        "share_judged": share(judged, received),
        "unjudged_requests": unjudged[:20],
        "every_reply_judged": not unjudged,
    }


def verdict_of(log: Log, replied: CallReplied) -> tuple[float, Evaluated] | None:
    """The first verdict on the kernel that a writer's reply led to: its draft's, or, where that
    kernel was known already, that kernel's."""
    drafted = log.drafted.get(replied.request.rsplit("/", 2)[0])
    if drafted is not None:
        return log.evaluated.get(drafted[1].kernel_id)
    try:
        source = read_kernel(replied.reply, "").source
    except Malformed:
        return None
    return log.evaluated.get(kernel_id(source))


def reply_to_verdict(log: Log) -> dict[str, Any]:
    """Seconds from a stored reply to the stored verdict on its draft, within one session."""
    spans = [(a, b) for a, b in log.searching]
    taken: list[float] = []
    across = 0
    for at, event in log.of(CallReplied):
        drafted = log.drafted.get(event.request.rsplit("/", 2)[0])
        verdict = log.evaluated.get(drafted[1].kernel_id) if drafted else None
        if drafted is None or verdict is None or not at <= drafted[0] <= verdict[0]:
            continue  # turned away and asked again, or known already
        if any(a <= at and verdict[0] <= b + 5.0 for a, b in spans):
            taken.append(verdict[0] - at)
        else:
            across += 1
    return {"count": len(taken), **quantiles(taken), "across_the_kill_or_the_end": across}


def quantiles(values: Sequence[float]) -> dict[str, float]:
    if not values:
        return {}
    ordered = sorted(values)
    return {
        "median": round(median(ordered), 3),
        "p90": round(ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))], 3),
        "most": round(ordered[-1], 3),
    }


# --- prompts ----------------------------------------------------------------------------------


def profiles(log: Log) -> dict[str, Any]:
    """Shares of prompts that show a profile, by role; where there is none, the reasons."""
    made = log.of(Profiled)
    first = min((at for at, event in made if event.advice), default=math.inf)
    sentences = {_flat(one)[:QUOTED] for _, event in made for one in event.advice}
    shown: Counter[str] = Counter()
    all_: Counter[str] = Counter()
    late: list[bool] = []  # whether one is shown, in prompts after the first profile
    for at, event in log.of(CallReserved):
        asked = _flat(" ".join(message.content for message in event.prompt))
        holds = any(sentence in asked for sentence in sentences)
        all_[event.role] += 1
        shown[event.role] += holds
        if at > first:
            late.append(holds)
    return {
        "made": sum(bool(event.advice) for _, event in made),
        "device_s": round(sum(event.device_s for _, event in made), 2),
        "share_of_prompts": share(sum(shown.values()), sum(all_.values())),
        "share_after_the_first_profile": share(sum(late), len(late)),
        "share_by_role": {role: share(shown[role], count) for role, count in all_.items()},
        "reasons": sorted({event.reason for _, event in made if event.reason}),
        "example": next((event.advice[:3] for _, event in made if event.advice), ()),
    }


def _flat(text: str) -> str:
    return " ".join(text.split())


def tokens(log: Log) -> dict[str, Any]:
    found: dict[str, list[int]] = {}
    roles = {event.key: event.role for _, event in log.of(CallReserved)}
    for _, event in log.of(CallReplied):
        found.setdefault(roles[event.key], []).append(event.reply.prompt_tokens)
    return {role: {"median": median(n), "most": max(n)} for role, n in found.items()}


def share(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None


# --- devices ----------------------------------------------------------------------------------


def device(log: Log) -> dict[str, Any]:
    """Seconds that devices were held over the seconds of searching, from the seed's verdict on."""
    spans = log.searching
    wall = sum(end - begin for begin, end in spans)
    by_use: dict[str, float] = {}
    for use, interval in held(log):
        inside = sum(overlap(interval, span) for span in spans)
        by_use[use] = by_use.get(use, 0.0) + inside
    return {
        "searched_s": round(wall, 1),
        "busy_share": round(sum(by_use.values()) / (wall * log.devices), 3) if wall else None,
        "share_by_use": {use: round(s / (wall * log.devices), 3) for use, s in by_use.items()},
        "busy_share_by_its_own_account": _own_account(log),
    }


def _own_account(log: Log) -> list[float]:
    """By session: the dispatcher's busy seconds over the time since it was first seen running."""
    sessions: list[list[tuple[float, float]]] = []
    for one in log.samples:
        snapshot = one.get("snapshot")
        if snapshot and snapshot["phase"] == "running" and snapshot["dispatcher"]["evaluated"]:
            busy = snapshot["dispatcher"]["device_busy_s"]
            if not sessions or busy < sessions[-1][-1][1]:
                sessions.append([])
            sessions[-1].append((one["at"], busy))
    spans = [(one[0], one[-1]) for one in sessions if len(one) > 1]
    return [
        round((last[1] - first[1]) / ((last[0] - first[0]) * log.devices), 3)
        for first, last in spans
    ]


def waits(log: Log) -> dict[str, Any]:
    """How long a model's candidates, compiled, waited for a device; how long of it a mutation
    that had begun before held one."""
    origins = origins_of(log)
    mutations = [interval for use, interval in held(log) if use == "mutations"]
    waited: list[float] = []
    behind: list[float] = []
    for at, drafted in log.of(Drafted):
        verdict = log.evaluated.get(drafted.kernel_id)
        if (
            drafted.origin not in ("experiment", "crossover", "repair")
            or verdict is None
            or verdict[0] < at
        ):
            continue
        seconds = verdict[1].evaluation.seconds
        queued = at + seconds.get("compile", 0.0), verdict[0] - seconds.get("device", 0.0)
        if seconds.get("device") and origins[drafted.kernel_id] == drafted.origin:
            waited.append(max(0.0, queued[1] - queued[0]))
            behind.append(sum(overlap(one, queued) for one in mutations))
    return {
        "candidates_of_models": len(waited),
        "compiled_and_waiting_s": quantiles(waited),
        "behind_mutations_s": quantiles(behind),
        "mutations_measured": len(mutations),
    }


def idle(log: Log) -> dict[str, Any]:
    """What the campaign itself said of idle devices, and what it was bound by, by seconds."""
    lines = [one["line"] for one in log.samples if "line" in one]
    said = Counter(found[0].strip() for line in lines for found in IDLE.findall(line))
    told: Counter[str] = Counter()
    for one in log.samples:
        snapshot = one.get("snapshot")
        if snapshot and snapshot["phase"] == "running":
            told.update(_reasons(snapshot["dispatcher"]))
    return {"lines": dict(said.most_common(12)), "snapshots": dict(told.most_common(12))}


def _reasons(dispatcher: Mapping[str, Any]) -> Iterable[str]:
    """Texts of the state, and names in it, that speak of what is waited for."""
    for name, value in dispatcher.items():
        if not value or not re.search("bound|idle|wait", name):
            continue
        if isinstance(value, str):
            yield f"{name}: {value}"
        elif isinstance(value, Mapping):
            yield from (f"{name}: {key}" for key in value)
        elif isinstance(value, list):
            yield from (f"{name}: {one}" for one in value)


def verdicts(log: Log) -> dict[str, Any]:
    origins = origins_of(log)
    by: dict[str, Counter[str]] = {}
    best = 0.0
    for kernel, (_, event) in log.evaluated.items():
        origin = origins.get(kernel, "seed")
        by.setdefault(origin, Counter())[str(event.evaluation.status)] += 1
        best = max(best, event.evaluation.speedup or 0.0)
    device_s = [e.evaluation.seconds.get("device", 0.0) for _, e in log.evaluated.values()]
    compile_s = [e.evaluation.seconds.get("compile", 0.0) for _, e in log.evaluated.values()]
    return {
        "by_origin": {origin: dict(statuses) for origin, statuses in by.items()},
        "best_in_the_search": round(best, 3),
        "device_s": quantiles([s for s in device_s if s]),
        "compile_s": quantiles([s for s in compile_s if s]),
    }
