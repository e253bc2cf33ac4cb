"""The writers' bench: which part of a campaign it counts."""

from engine.store.kinds.calls import CallEvent, CallFailed, CallReplied, CallReserved
from engine.store.store import Stored
from operators.llm.question import Failure, Reply, Role
from scripts.bench_writers import full_moments


def reserved(request: str, role: Role = "writer") -> CallReserved:
    return CallReserved(
        island=0,
        cycle=0,
        request=request,
        number=0,
        role=role,
        model="main",
        prompt_hash="",
        template="",
        tokens=1,
        dollars=0.0,
    )


def replied(request: str) -> CallReplied:
    reply = Reply(
        text="",
        finish="stop",
        model="scripted",
        prompt_tokens=1,
        completion_tokens=1,
        latency_s=2.0,
    )
    return CallReplied(island=0, cycle=0, request=request, number=0, reply=reply)


def failed(request: str) -> CallFailed:
    return CallFailed(
        island=0,
        cycle=0,
        request=request,
        number=0,
        failure=Failure.CANCELLED,
        reason="",
        tokens=0,
        dollars=0.0,
    )


def log(*events: CallEvent) -> list[Stored]:
    """Events a second apart."""
    return [Stored(seq, 100.0 + seq, event) for seq, event in enumerate(events)]


def test_from_the_first_to_the_last_moment_at_which_all_are_asking_for_a_kernel() -> None:
    stored = log(
        reserved("d", "designer"),
        reserved("a"),  # two in flight, but one is for a design
        replied("d"),
        reserved("b", "crossover"),  # 103: the first moment
        replied("a"),
        reserved("c"),  # 105: the last
        failed("b"),
        replied("c"),
    )
    assert full_moments(stored, 2) == (103.0, 105.0)
    assert full_moments(stored, 3) == (0.0, 0.0)
