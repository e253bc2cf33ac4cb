"""Faults: what was lost without a verdict, counted and stored."""

from engine.dispatch.setting import DispatchSetting
from engine.dispatch.workbench import Broken
from engine.store.events import Fault


class Faults:
    """count: so far in this session."""

    def __init__(self, setting: DispatchSetting) -> None:
        self._setting = setting
        self.count = 0

    def note(self, where: str, error: Broken, kernel_id: str) -> None:
        """where: a lane's name, or what else broke. kernel_id: of what met it, or empty."""
        self.count += 1
        self._setting.journal.post(
            Fault(
                session=self._setting.session,
                number=self.count,
                where=where,
                message=str(error),
                kernel_id=kernel_id,
            )
        )
