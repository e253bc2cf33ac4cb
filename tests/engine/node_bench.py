"""A workbench that judges at once, whose devices and compiler are those of a pretended node."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, fields, replace

from engine.dispatch.workbench import Built
from evaluators.device import Compiled
from evaluators.device_info import BackendMissing, DeviceInfo
from evaluators.evaluation import Evaluation
from evaluators.kernel.source import KernelSource
from evaluators.measuring.policy import Anchor
from evaluators.processes.child_evaluator import RemoteDevice
from scripts.bench_engine import INFO, InstantEvaluator, InstantWorkbench
from tests.engine.local_ray import local_ray
from tests.engine.nodes_of_this import LocalNodes
from tests.engine.quick_bench import quick_workbench

_current: list[LocalNodes] = []
"""Of the campaign that runs: workbenches are copied on their way."""


@contextmanager
def local_cluster(nodes: LocalNodes) -> Iterator[None]:
    _current.append(nodes)
    try:
        with local_ray(nodes):
            yield
    finally:
        _current.remove(nodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeWorkbench(InstantWorkbench):
    def compile(self, source: str, info: DeviceInfo) -> Built | Evaluation:
        node = _current[-1].node
        node.compiled += 1
        made = InstantWorkbench.compile(self, source, replace(info, compiler=node.compiler))
        assert isinstance(made, Built)
        return made

    def open(self, device: int) -> AbstractContextManager[InstantEvaluator]:
        node = _current[-1].node
        if node.lacks:
            raise BackendMissing(node.lacks)
        info = replace(INFO, backend="hip", name=node.device, compiler=node.compiler)
        return nullcontext(NodeEvaluator(workbench=self, device=RemoteDevice(info)))


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeEvaluator(InstantEvaluator):
    def measure(
        self,
        kernel: KernelSource,
        compiled: Compiled,
        anchor: Anchor | None,
        best: Mapping[str, float] | None = None,
    ) -> Evaluation:
        _current[-1].node.measured += 1
        return InstantEvaluator.measure(self, kernel, compiled, anchor, best)


def node_workbench() -> NodeWorkbench:
    quick = quick_workbench()
    return NodeWorkbench(**{one.name: getattr(quick, one.name) for one in fields(quick)})
