"""Who was the best when: claimed by the naive seed, then won in contests, lost with a verdict."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.store.kinds.contests import Contested, FinalMeasurement
from evaluators.evaluation import Evaluation
from evaluators.measuring.headline import headline
from evaluators.tasks.baselines import SEED


@dataclass(frozen=True, slots=True, kw_only=True)
class Best:
    """The fastest kernel that is also right on the held-out shapes; speedup over the seed.

    final: the figures are those of a final measurement, else those of contests. timed: False where
    nothing is timed: speedup is then the naive seed's cost over its own, and no figure of time.
    over: the fastest of the task's baselines, where that is not the naive seed, and the ratio.
    """

    kernel_id: str
    speedup: float
    ci95: tuple[float, float] | None
    ci99: tuple[float, float] | None = None
    sittings: int = 0
    final: bool = False
    timed: bool = True
    over: tuple[str, float] | None = None


class Titles:
    """A fold of the log, within one chain of anchors.

    contests: all so far, over all chains. places: ln(seed's time / kernel's time) by kernel id
    and label, of those that were the best. settled: kernels that lost to the present best or
    were wrong. lost: contests in a row that brought no new best.
    """

    def __init__(self, contests: int = 0) -> None:
        self.contests = contests
        self.places: dict[str, Mapping[str, float]] = {}
        self.settled: set[str] = set()
        self.lost = 0
        self.demotions: list[Contested] = []
        self.wrong: list[Contested] = []
        self.final: FinalMeasurement | None = None
        self._held: list[Best] = []

    @property
    def best(self) -> Best | None:
        return self._held[-1] if self._held else None

    @property
    def holders(self) -> list[str]:
        """Kernel ids, the present best last."""
        return [one.kernel_id for one in self._held]

    def claim(self, evaluation: Evaluation, gains: Mapping[str, float]) -> None:
        """Without a contest: the naive seed, what is not timed, and in stores of before every new
        best."""
        best = Best(
            kernel_id=evaluation.kernel_id,
            speedup=evaluation.over_seed or 0.0,
            ci95=evaluation.ci95,
            ci99=evaluation.ci99,
            timed=evaluation.timed,
        )
        place = next(
            (i for i, held in enumerate(self._held) if held.speedup > best.speedup),
            len(self._held),
        )
        self._held.insert(place, best)
        self.places[best.kernel_id] = gains

    def apply(self, event: Contested | FinalMeasurement) -> None:
        if isinstance(event, FinalMeasurement):
            self._measured(event)
            return
        self.contests = event.number + 1
        if event.outcome == "won" and event.speedup is not None:
            self._won(event, event.speedup)
            return
        self.lost += 1
        self.settled.add(event.kernel_id)
        if event.outcome == "wrong":
            self.wrong.append(event)

    def forget(self, kernel_id: str) -> None:
        """Its verdict is another one: the best before it is the best again."""
        self._held = [one for one in self._held if one.kernel_id != kernel_id]
        self.places.pop(kernel_id, None)
        if self.final is not None and self.final.kernel_id == kernel_id:
            self.final = None

    def _won(self, event: Contested, speedup: float) -> None:
        before = self.places.get(event.rival_id, {})
        self.places[event.kernel_id] = {
            label: before.get(label, 0.0) + gain for label, gain in event.gains.items()
        }
        self._held = [one for one in self._held if one.kernel_id != event.kernel_id]
        self._held.append(
            Best(
                kernel_id=event.kernel_id,
                speedup=speedup,
                ci95=event.ci95,
                ci99=event.ci99,
                sittings=event.sittings,
            )
        )
        self.lost = 0
        if event.demotes:
            self.demotions.append(event)

    def _measured(self, event: FinalMeasurement) -> None:
        self.final = event
        fastest = headline((event.speedup, *event.ci95), event.baselines)
        beside = fastest is not None and fastest.name != SEED
        self._held = [
            replace(
                one,
                speedup=event.speedup,
                ci95=event.ci95,
                ci99=event.ci99,
                sittings=event.sittings,
                final=True,
                over=(fastest.name, fastest.ratio[0]) if fastest and beside else None,
            )
            if one.kernel_id == event.kernel_id
            else one
            for one in self._held
        ]
