"""Model calls in MLflow: one trace a reply, made from the log."""

from pathlib import Path
from typing import Any

from mlflow import MlflowClient

from engine.store.kinds.calls import CallFailed, CallReplied, CallReserved
from engine.store.store import read_events
from engine.tracking.tracker import Tracker
from operators.llm.question import Failure, Message, Reply
from tests.engine import campaign_log as log

WHERE = {"island": 1, "cycle": 3}


def reserved(request: str, number: int = 0) -> CallReserved:
    return CallReserved(
        **WHERE,
        request=request,
        number=number,
        role="writer",
        model="main",
        prompt_hash="0123456789abcdef",
        template="fedcba9876543210",
        tokens=9000,
        dollars=0.5,
        prompt=(Message(role="user", content="Write a kernel."),),
    )


def replied(request: str, number: int = 0) -> CallReplied:
    reply = Reply(
        text="A kernel.",
        finish="stop",
        model="large",
        prompt_tokens=700,
        completion_tokens=80,
        latency_s=1.5,
        dollars=0.02,
    )
    return CallReplied(**WHERE, request=request, number=number, reply=reply)


def failed(request: str) -> CallFailed:
    return CallFailed(
        **WHERE,
        request=request,
        number=0,
        failure=Failure.DROPPED,
        reason="dropped",
        tokens=9000,
        dollars=0.5,
    )


def traces(uri: str) -> list[Any]:
    client = MlflowClient(uri)
    experiment = client.get_experiment_by_name("kernel-scientist")
    assert experiment is not None
    return list(client.search_traces(locations=[experiment.experiment_id]))


def test_one_trace_a_reply_told_once(tmp_path: Path) -> None:
    run_dir, uri = tmp_path / "runs" / "short", f"sqlite:///{tmp_path / 'mlflow.db'}"
    store = run_dir / "store.sqlite"
    calls = (reserved("a"), failed("a"), reserved("a", 1), replied("a", 1), reserved("b"))
    log.write(store, [*log.opening(log.config(run_dir.parent)), *calls])

    def track() -> None:
        tracker = Tracker(uri=uri, experiment="kernel-scientist", run_dir=run_dir)
        tracker.record(list(read_events(store)))
        tracker.finish()
        assert tracker.trouble == ""

    track()
    [trace] = traces(uri)
    assert trace.info.token_usage["total_tokens"] == 780
    assert trace.info.tags["role"] == "writer"
    assert trace.info.execution_duration == 1500
    [span] = trace.data.spans
    assert span.inputs["messages"] == [{"role": "user", "content": "Write a kernel."}]
    assert span.outputs["choices"][0]["message"]["content"] == "A kernel."
    assert span.attributes["dollars"] == 0.02

    log.write(store, [replied("b")])
    track()
    assert len(traces(uri)) == 2
    track()
    assert len(traces(uri)) == 2
