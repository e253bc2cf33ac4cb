"""Individuals, contexts and models that tests of the operators share."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from evaluators.evaluation import Evaluation, Status
from evaluators.kernel.source import kernel_id
from operators.individual import Candidate, Individual
from operators.llm.call import ApiKey, ModelOptions, NoReply
from operators.llm.endpoint import Endpoint
from operators.llm.question import Failure, Reply, Request, Unanswered
from scripts.scripted_model.individuals import (
    DEVICE,
    EXPERIMENT,
    SEED,
    SGEMM,
    TILE,
    context,
    individual,
)
from scripts.scripted_model.server import MODEL, ScriptedServer

__all__ = ["DEVICE", "EXPERIMENT", "SEED", "SGEMM", "TILE", "context", "individual"]


def failure(source: str, status: Status, reason: str, *, log: str = "", parent: str) -> Individual:
    identity = kernel_id(source)
    return Individual(
        id=identity,
        candidate=Candidate.from_source(source),
        origin="experiment",
        parents=(parent,),
        experiment=EXPERIMENT,
        evaluation=Evaluation(
            kernel_id=identity,
            task_hash=SGEMM.hash,
            device_class=DEVICE.device_class,
            status=status,
            reason=reason,
            log=log,
        ),
    )


@dataclass(slots=True)
class DirectModel:
    """Asks an endpoint without a gateway, each question once; keeps what was asked and counted."""

    endpoint: Endpoint
    options: ModelOptions
    asked: list[Request] = field(default_factory=list)
    counted: list[tuple[str, Failure, str]] = field(default_factory=list)

    async def complete(self, request: Request) -> Reply | Unanswered:
        self.asked.append(request)
        try:
            return await self.endpoint.call(request, self.options)
        except NoReply as failed:
            return Unanswered(kind=failed.kind, reason=failed.reason)

    def turned_away(self, request: Request, kind: Failure, reason: str) -> None:
        self.counted.append((request.key, kind, reason))

    @property
    def keys(self) -> Sequence[str]:
        return [request.key for request in self.asked]


def direct(server: ScriptedServer, **changes: object) -> DirectModel:
    return DirectModel(Endpoint(server.base_url, ApiKey()), options(**changes))


def options(**changes: object) -> ModelOptions:
    values: dict[str, object] = {
        "model": MODEL,
        "max_tokens": 4000,
        "stream": False,
        "timeout_s": 10.0,
    }
    return ModelOptions(**{**values, **changes})  # type: ignore[arg-type]
