"""Model calls as MLflow traces: made from stored reservations and replies, never at the call."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.store.kinds.calls import CallFailed, CallReplied, CallReserved
from engine.store.store import Stored
from operators.llm.question import Reply

if TYPE_CHECKING:
    from mlflow import MlflowClient

AT_ONCE = 20
"""One takes 25 ms of CPU time, and measuring cores are near."""

MOST_WAITING = 2000
"""Replies that wait to be told; beyond that the oldest are left out. The store has them all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """One reply and what was asked. seq: of its event; at_s: seconds since 1970."""

    seq: int
    at_s: float
    reserved: CallReserved
    reply: Reply


class CallTraces:
    """Pairs replies with their reservations, in the order of the log."""

    def __init__(self) -> None:
        self._reserved: dict[str, CallReserved] = {}
        self._waiting: deque[Answered] = deque(maxlen=MOST_WAITING)

    def feed(self, stored: Stored) -> None:
        event = stored.event
        if isinstance(event, CallReserved):
            self._reserved[event.key] = event
        elif isinstance(event, CallFailed):
            self._reserved.pop(event.key, None)
        elif isinstance(event, CallReplied):
            reserved = self._reserved.pop(event.key, None)
            if reserved is not None:
                self._waiting.append(
                    Answered(seq=stored.seq, at_s=stored.at, reserved=reserved, reply=event.reply)
                )

    def tell(
        self,
        client: "MlflowClient",
        *,
        experiment_id: str,
        run_ids: Mapping[int | None, str],
        after: int,
    ) -> int:
        """Some of them, of events after that seq number; the seq number of the last one told.

        run_ids: by island; None: the campaign's. What can't be told waits on.
        """
        told = after
        for _ in range(min(AT_ONCE, len(self._waiting))):
            one = self._waiting[0]
            if one.seq > after:
                run_id = run_ids.get(one.reserved.island) or run_ids[None]
                _log_trace(client, one, experiment_id=experiment_id, run_id=run_id)
                told = one.seq
            self._waiting.popleft()
        return told


def _log_trace(client: "MlflowClient", one: Answered, *, experiment_id: str, run_id: str) -> None:
    """One trace with one span, in the run of the island that asked."""
    reserved, reply = one.reserved, one.reply
    usage = {
        "input_tokens": reply.prompt_tokens,
        "output_tokens": reply.completion_tokens,
        "total_tokens": reply.prompt_tokens + reply.completion_tokens,
    }
    messages = [{"role": said.role, "content": said.content} for said in reserved.prompt]
    span = client.start_trace(
        f"{reserved.role} {reserved.request}",
        span_type="CHAT_MODEL",
        inputs={"messages": messages} if messages else {"prompt_hash": reserved.prompt_hash},
        tags={"role": reserved.role, "island": str(reserved.island), "cycle": str(reserved.cycle)},
        experiment_id=experiment_id,
        run_id=run_id,
        start_time_ns=int((one.at_s - reply.latency_s) * 1e9),
    )
    client.end_trace(
        span.trace_id,
        outputs={"choices": [{"message": {"role": "assistant", "content": reply.text}}]},
        attributes={
            "mlflow.chat.tokenUsage": usage,
            "mlflow.llm.model": reply.model,
            "dollars": reply.dollars,
            "finish": reply.finish,
            "tokens_estimated": reply.estimated,
            "prompt_hash": reserved.prompt_hash,
            "template": reserved.template,
        },
        end_time_ns=int(one.at_s * 1e9),
    )
