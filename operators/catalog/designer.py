"""Designer without a model: the techniques that fit the Base, as predicted experiments."""

import math
from dataclasses import dataclass, replace

from evaluators.device import DeviceInfo
from evaluators.kernel import KernelSource
from evaluators.task import Task
from operators.catalog.families import Params, families
from operators.catalog.gemm import GEMM
from operators.catalog.gemm_starts import GEMM_STARTS
from operators.catalog.landscape import Key, Landscape, key_of, known_points, parsed
from operators.catalog.lds import LDS
from operators.catalog.rows import SOFTMAX, SUM
from operators.catalog.technique import Technique, changes, step
from operators.catalog.transpose import TRANSPOSE
from operators.individual import Experiment, Individual
from operators.operator import Context, Declined, Design

TECHNIQUES = (*GEMM_STARTS, *GEMM, *SOFTMAX, *SUM, *TRANSPOSE, *LDS)

AVENUES = 10
EXPERIMENTS = 5

TUNING = (-10.0, 15.0)  # percent: a neighbouring value rarely changes much
ADOPTING = (-20.0, 40.0)  # percent
BASIC_WEIGHT = 10.0  # percent: what is expected to lose has the chance of so small a gain


@dataclass(frozen=True, slots=True, kw_only=True)
class _Proposal:
    experiment: Experiment
    leads_to: Key


class CatalogDesigner:
    """Proposes single techniques applied to the Base's own parameters."""

    def __init__(self, task: Task, device: DeviceInfo) -> None:
        self._families = families(task, device)
        self._on_cpu = device.backend == "cpu"

    async def design(self, base: Individual, reference: Individual, context: Context) -> Design:
        """Ten avenues and five experiments, drawn from what fits and was not yet tried.

        Raises Declined when nothing is left.
        """
        kernel = parsed(base.candidate.source)
        individuals = context.individuals.values()
        tried = known_points(individuals) | {key_of(kernel)}
        proposals = [p for p in self._proposals(kernel, reference) if p.leads_to not in tried]
        if not proposals:
            raise Declined(f"every technique that fits {base.id} was tried, or none fits")
        order = context.rng.permutation(len(proposals))[:AVENUES]
        drawn = [proposals[int(i)] for i in order]
        experiments = _calibrated(self._point(kernel), drawn, Landscape(individuals))
        return Design(
            avenues=tuple(experiment.avenue for experiment in experiments),
            experiments=tuple(_draw(experiments, context)),
        )

    def _point(self, kernel: KernelSource) -> Key:
        """Where the Base stands; a kernel of nobody's stands for the textbook's."""
        home = self._families.home
        if self._families.of(kernel) is None and not kernel.space and home is not None:
            return key_of(self._families.sources[home])
        return key_of(kernel)

    def _proposals(self, kernel: KernelSource, reference: Individual) -> list[_Proposal]:
        family = self._families.of(kernel)
        if family is not None:
            return [
                *self._techniques(family, kernel.params),
                *self._adoptions(family, kernel.params, reference),
            ]
        home = self._families.home
        tuning = _tuning(kernel)
        if home is None:
            return tuning
        return [*tuning, *self._techniques(home, self._families.sources[home].params)]

    def _techniques(self, family: str, params: Params) -> list[_Proposal]:
        found = []
        for technique in TECHNIQUES:
            point = technique.apply(self._families, family, params)
            if point is not None:
                found.append(self._proposal(technique, params, *point))
        return found

    def _proposal(
        self, technique: Technique, before: Params, target: str, after: Params
    ) -> _Proposal:
        what = changes(before, after)
        return _Proposal(
            experiment=Experiment(
                technique=technique.name,
                description=f"{technique.avenue} ({target}: {what or 'same parameters'})",
                rubric=technique.rubric,
                performance=technique.cpu if self._on_cpu else technique.gpu,
                innovation=technique.innovation,
                avenue=technique.avenue,
                params={"family": target, "params": dict(after)},
            ),
            leads_to=key_of(self._families.sources[target], after),
        )

    def _adoptions(self, family: str, params: Params, reference: Individual) -> list[_Proposal]:
        """Take over single parameters in which the Reference differs."""
        other = parsed(reference.candidate.source)
        if self._families.of(other) is None:
            return []
        source = self._families.sources[family]
        found = []
        for name in params:
            value = other.params.get(name, params[name])
            after = {**params, name: value}
            allowed = value in source.space.get(name, ())
            if value == params[name] or not allowed or not source.feasible(after):
                continue
            technique = Technique(
                name=f"adopt {name}",
                sources=frozenset({family}),
                sets={name: value},
                avenue=f"Take over {name} = {value} from the Reference.",
                rubric=f"Change {name} from {params[name]} to {value}; leave the rest.",
                cpu=ADOPTING,
                gpu=ADOPTING,
                innovation=20,
            )
            found.append(self._proposal(technique, params, family, after))
        return found


def _tuning(kernel: KernelSource) -> list[_Proposal]:
    """Neighbouring values of each parameter in the kernel's own space."""
    found = []
    for name, values in kernel.space.items():
        for places in (-1, 1):
            value = step(values, kernel.params[name], places)
            if value is None or not kernel.feasible({name: value}):
                continue
            avenue = f"Tune {name}: {kernel.params[name]} -> {value}."
            experiment = Experiment(
                technique=f"tune {name}",
                description=avenue,
                rubric=f"Set {name} to {value}; leave the rest.",
                performance=TUNING,
                innovation=5,
                avenue=avenue,
                params={"params": {name: value}},
            )
            after = key_of(kernel, {**kernel.params, name: value})
            found.append(_Proposal(experiment=experiment, leads_to=after))
    return found


def _calibrated(before: Key, drawn: list[_Proposal], landscape: Landscape) -> list[Experiment]:
    """The table's predictions, corrected by what the island has measured near each point.

    Both are taken as normal distributions of ln(gain) and weighted by their precision.
    """
    means, deviations = landscape.gains(before, [proposal.leads_to for proposal in drawn])
    found = []
    for proposal, mean, deviation in zip(drawn, means, deviations, strict=True):
        low, high = (math.log1p(p / 100) for p in proposal.experiment.performance)
        centre, half = (low + high) / 2, (high - low) / 2
        trust, doubt = half**-2, float(deviation) ** -2
        centre = (centre * trust + float(mean) * doubt) / (trust + doubt)
        half = (trust + doubt) ** -0.5
        low, high = (round(100 * math.expm1(v), 1) for v in (centre - half, centre + half))
        found.append(replace(proposal.experiment, performance=(low, high)))
    return found


def _draw(experiments: list[Experiment], context: Context) -> list[Experiment]:
    """Without replacement, promising ones more often; in the order of the avenues."""
    weights = [BASIC_WEIGHT + max(0.0, sum(e.performance) / 2) for e in experiments]
    total = sum(weights)
    chosen = context.rng.choice(
        len(experiments),
        size=min(EXPERIMENTS, len(experiments)),
        replace=False,
        p=[weight / total for weight in weights],
    )
    return [experiments[i] for i in sorted(int(i) for i in chosen)]
