"""Designer without a model: the techniques that fit the Base, as predicted experiments."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from evaluators.device_info import DeviceInfo
from evaluators.kernel.source import KernelSource
from evaluators.tasks.task import Task
from operators.catalog.brought import expected_of, lost_steps, trapped_families
from operators.catalog.families import Params, families, random_params
from operators.catalog.generic.proposals import GenericEdits, Proposal, known_ids
from operators.catalog.landscape import Gains, Key, Landscape, key_of, known_points, parsed
from operators.catalog.structure import Techniques
from operators.catalog.technique import Range, Technique, changes, step
from operators.catalog.techniques.block_scaled import BLOCK_SCALED
from operators.catalog.techniques.formula import FORMULA
from operators.catalog.techniques.gemm import GEMM
from operators.catalog.techniques.gemm_starts import GEMM_STARTS
from operators.catalog.techniques.lds import LDS
from operators.catalog.techniques.rows import SOFTMAX, SUM
from operators.catalog.techniques.transpose import TRANSPOSE
from operators.finding import Finding
from operators.individual import Experiment, Individual
from operators.operator import Context, Declined, Design

TECHNIQUES: tuple[Technique, ...] = (
    *GEMM_STARTS,
    *GEMM,
    *SOFTMAX,
    *SUM,
    *TRANSPOSE,
    *LDS,
    *BLOCK_SCALED,
    *FORMULA,
)

AVENUES = 10
EXPERIMENTS = 5
NEWCOMERS = 2  # of the avenues
DRAWN = 64  # points that a newcomer is chosen from

NEWCOMER = Technique(
    name="newcomer",
    sources=frozenset(),
    avenue="Leave the Base for a point anywhere in the families, by what was measured near it.",
    rubric="Write this family's kernel with these parameters; keep nothing of the Base.",
    cpu=(-50, 400),
    gpu=(-50, 200),
    innovation=75,
)
"""A random immigrant (Grefenstette, PPSN 2, 1992): single steps alone stay near the seed."""

TUNING = (-10.0, 15.0)  # percent: a neighbouring value rarely changes much
ADOPTING = (-20.0, 40.0)  # percent
BASIC_WEIGHT = 10.0  # percent: what is expected to lose has the chance of so small a gain


@dataclass(frozen=True, slots=True, kw_only=True)
class _Proposal:
    """A technique with one point that it leads to. family None: the Base's own file."""

    technique: Technique
    family: str | None
    params: Params
    leads_to: Key


_Avenue = Callable[[], list[_Proposal]]


class CatalogDesigner:
    """Proposes single techniques applied to the Base's own parameters."""

    def __init__(self, task: Task, device: DeviceInfo, techniques: Techniques = "all") -> None:
        self._families = families(task, techniques)
        self._generic = GenericEdits(task, device) if techniques != "families" else None
        self._on_cpu = not device.judges_on_device

    async def design(self, base: Individual, reference: Individual, context: Context) -> Design:
        """Ten avenues and five experiments, drawn from what fits and was not yet tried.

        Predictions are the techniques' own, corrected by what the island has measured.
        Raises Declined when nothing is left.
        """
        kernel = parsed(base.candidate.source)
        before = self._point(kernel)
        individuals = context.individuals.values()
        tried = known_points(individuals) | {key_of(kernel)}
        drawn: list[list[_Proposal]] = []
        steps = self._avenues(kernel, reference)
        avenues = [partial(self._newcomers, context.rng)] * NEWCOMERS
        avenues += [steps[i] for i in context.rng.permutation(len(steps))]
        brought = context.knowledge.brought
        for avenue in avenues:
            fresh = [proposal for proposal in avenue() if proposal.leads_to not in tried]
            fresh = self._not_trapped(kernel, fresh, brought)
            if fresh:
                drawn.append(fresh)
            if len(drawn) == AVENUES:
                break
        edits = self._edits(kernel, base, context)
        if not drawn and not edits:
            raise Declined(f"every technique that fits {base.id} was tried, or none fits")
        together = [proposal for fresh in drawn for proposal in fresh]
        gains = Landscape(individuals).gains(before, [one.leads_to for one in together])
        found = []
        start = 0
        for fresh in drawn:
            at = start + gains.sample(context.rng, start, start + len(fresh))
            experiment = self._experiment(kernel, together[at], gains, at, brought)
            found.append(Proposal(experiment=experiment, success=1.0))
            start += len(fresh)
        found += edits
        return Design(
            avenues=tuple(one.experiment.avenue for one in found),
            experiments=tuple(_draw(found, context)),
        )

    def _edits(self, kernel: KernelSource, base: Individual, context: Context) -> list[Proposal]:
        """Generic ones, of a kernel that is no family's: families have them in their templates."""
        if self._generic is None or self._families.of(kernel) is not None:
            return []
        individuals = context.individuals.values()
        return self._generic.proposals(base, individuals, known_ids(context), context.rng)

    def _not_trapped(
        self, kernel: KernelSource, fresh: list[_Proposal], brought: Sequence[Finding]
    ) -> list[_Proposal]:
        """Without what made kernels slower in other campaigns, as long as it is believed."""
        if not brought or not fresh:
            return fresh
        trapped, lost = trapped_families(brought), lost_steps(brought)

        def is_lost(one: _Proposal) -> bool:
            family = one.family or self._families.of(kernel) or ""
            changed = [
                (family, name, kernel.params[name], value)
                for name, value in one.params.items()
                if name in kernel.params and kernel.params[name] != value
            ]
            return one.family in trapped or (len(changed) == 1 and changed[0] in lost)

        return [one for one in fresh if not is_lost(one)]

    def _point(self, kernel: KernelSource) -> Key:
        """Where the Base stands; a naive kernel stands where the textbook's does."""
        home = self._families.home
        if not kernel.params and home is not None:
            return key_of(self._families.sources[home])
        return key_of(kernel)

    def _avenues(self, kernel: KernelSource, reference: Individual) -> list[_Avenue]:
        """For each technique that may fit, how to find its points."""
        family = self._families.of(kernel)
        techniques = TECHNIQUES
        avenues: list[_Avenue] = []
        if family is not None:
            params = kernel.params
            techniques += tuple(self._adoptions(family, params, reference))
        else:
            avenues += [partial(list, [proposal]) for proposal in _tuning(kernel)]
            family = self._families.home
            if family is None:
                return avenues
            params = self._families.sources[family].params
        return avenues + [
            partial(self._proposals, technique, family, params)
            for technique in techniques
            if family in technique.sources
        ]

    def _proposals(self, technique: Technique, family: str, params: Params) -> list[_Proposal]:
        return [
            _Proposal(
                technique=technique,
                family=target,
                params=after,
                leads_to=key_of(self._families.sources[target], after),
            )
            for target, after in technique.points(self._families, family, params)
        ]

    def _newcomers(self, rng: np.random.Generator) -> list[_Proposal]:
        """Points drawn as random search draws them; none without families."""
        sources = list(self._families.sources.items())
        found = []
        for _ in range(DRAWN if sources else 0):
            family, source = sources[int(rng.integers(len(sources)))]
            params = random_params(source, rng)
            found.append(
                _Proposal(
                    technique=NEWCOMER,
                    family=family,
                    params=params,
                    leads_to=key_of(source, params),
                )
            )
        return found

    def _adoptions(self, family: str, params: Params, reference: Individual) -> Iterator[Technique]:
        """Take over single parameters in which the Reference differs."""
        other = parsed(reference.candidate.source)
        if self._families.of(other) is None:
            return
        for name in params:
            value = other.params.get(name, params[name])
            if value != params[name] and value in self._families.sources[family].space[name]:
                yield _single(
                    f"adopt {name}",
                    family,
                    {name: value},
                    avenue=f"Take over {name} = {value} from the Reference.",
                    expected=ADOPTING,
                )

    def _experiment(
        self,
        kernel: KernelSource,
        proposal: _Proposal,
        gains: Gains,
        at: int,
        brought: Sequence[Finding],
    ) -> Experiment:
        technique = proposal.technique
        usual = technique.cpu if self._on_cpu else technique.gpu
        what = changes(kernel.params, proposal.params) or "parameters kept"
        where = f"{proposal.family}: " if proposal.family else ""
        return Experiment(
            technique=technique.name,
            description=f"{technique.avenue} ({where}{what})",
            rubric=technique.rubric,
            performance=_corrected(
                expected_of(brought).get(technique.name, usual),
                mean=float(gains.mean[at]),
                deviation=float(gains.deviation[at]),
                prior=float(gains.prior[at]),
            ),
            innovation=technique.innovation,
            avenue=technique.avenue,
            params={"family": proposal.family, "params": dict(proposal.params)},
        )


def _single(name: str, family: str, sets: Params, *, avenue: str, expected: Range) -> Technique:
    """A technique made for the occasion: these values, and nothing else changed."""
    return Technique(
        name=name,
        sources=frozenset({family}),
        sets=sets,
        avenue=avenue,
        rubric=f"Change {changes({}, sets)}; leave the rest.",
        cpu=expected,
        gpu=expected,
        innovation=15,
    )


def _tuning(kernel: KernelSource) -> Iterator[_Proposal]:
    """Neighbouring values of each parameter in the kernel's own space."""
    for name, values in kernel.space.items():
        for places in (-1, 1):
            value = step(values, kernel.params[name], places)
            if value is None or not kernel.feasible({name: value}):
                continue
            params = {**kernel.params, name: value}
            avenue = f"Tune {name}: {kernel.params[name]} -> {value}."
            technique = _single(f"tune {name}", "", {name: value}, avenue=avenue, expected=TUNING)
            yield _Proposal(
                technique=technique, family=None, params=params, leads_to=key_of(kernel, params)
            )


def _corrected(expected: Range, *, mean: float, deviation: float, prior: float) -> Range:
    """The expected uplift in percent, after what was measured near the point.

    ln(gain) is normal: the table is its prior, and a measurement counts by the precision
    that it added to the landscape's own prior.
    """
    low, high = (math.log1p(percent / 100) for percent in expected)
    centre, half = (low + high) / 2, (high - low) / 2
    added = max(0.0, deviation**-2 - prior**-2)
    precision = half**-2 + added
    centre = (centre * half**-2 + mean * deviation**-2 * (added > 0)) / precision
    half = precision**-0.5
    return (
        round(100 * math.expm1(centre - half), 1),
        round(100 * math.expm1(centre + half), 1),
    )


def _draw(proposals: list[Proposal], context: Context) -> list[Experiment]:
    """Without replacement, promising ones more often; in the order of the avenues."""
    experiments = [one.experiment for one in proposals]
    weights = [
        (BASIC_WEIGHT + max(0.0, sum(one.experiment.performance) / 2)) * one.success
        for one in proposals
    ]
    total = sum(weights)
    chosen = context.rng.choice(
        len(experiments),
        size=min(EXPERIMENTS, len(experiments)),
        replace=False,
        p=[weight / total for weight in weights],
    )
    return [experiments[i] for i in sorted(int(i) for i in chosen)]
