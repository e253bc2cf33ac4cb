"""The configuration's section stop: what ends a campaign before its budgets do."""

from pydantic import Field

from engine.config_errors import Keys


class Stop(Keys):
    """What ends a campaign before its budgets do; the first that is reached does. It counts over
    all sessions, and `resume` can change it. null: nothing is waited for."""

    speedup: float | None = Field(default=None, gt=1)
    """Times as fast as the naive seed that the best must be. It counts once contests have shown
    it, never after one race."""
    speed_of_light: float | None = Field(default=None, gt=0, le=1)
    """Part of the speed of light that the best must reach, 0.9 for 90%: the geometric mean over
    the benchmark shapes, with their weights."""
    plateau: int | None = Field(default=None, ge=1)
    """Evaluations in a row without a new best. Those of idle device time are not counted, as in
    `budgets.evaluations`."""
    expected: float | None = Field(default=None, gt=0)
    """Percent that what is left of the budgets must still be expected to bring. What is expected
    follows from the steps of the best so far and from what designers predict, as far as it held.
    Nothing is expected of fewer than 50 evaluations."""

    @property
    def ends_early(self) -> bool:
        """Whether anything is set."""
        return any(value is not None for value in dict(self).values())
