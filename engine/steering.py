"""Steering: what a person asks of a running campaign, looked for in its folder and done."""

import time
from collections.abc import Sequence
from pathlib import Path

from engine.actors.campaign_actors import CampaignActors
from engine.config import CampaignConfig
from engine.inbox import INBOX, REFUSED, Entry, is_to_pause, set_aside, waiting
from engine.store.kinds.steering import Injected, Paused, WentOn
from engine.store.replay import Replay, replay
from engine.store.run_folder import STORE
from evaluators.spelling import printable
from operators.individual import Individual


class Steering:
    """Of one session. What is brought in is stored, given to an island, then taken out of the
    inbox: a kill between any two of these loses nothing, and stores nothing twice."""

    def __init__(
        self,
        config: CampaignConfig,
        run_dir: Path,
        before: Replay | None,
        *,
        carried: Sequence[Injected],
    ) -> None:
        """before: of earlier sessions, whose own the islands bring back themselves. carried: of
        another campaign, stored with a new campaign's first event."""
        self._config, self._run_dir = config, run_dir
        self._session = len(before.sessions) if before else 0
        known = before.injected if before else carried
        self._carried = () if before else carried
        self._known = {one.entry for one in known if one.entry}
        self._count = len(known)
        self._pauses = 0
        self._paused_at = 0.0  # monotonic seconds
        self._rested_s = 0.0
        self.paused_since: float | None = None
        """In seconds since 1970; None while the campaign is at work."""
        self.trouble = ""

    @property
    def rested_s(self) -> float:
        """So far, of this session: no time that a budget counts."""
        resting_s = 0.0 if self.paused_since is None else time.monotonic() - self._paused_at
        return self._rested_s + resting_s

    def begin(self, actors: CampaignActors) -> None:
        """Before the islands run."""
        for event in self._carried:
            actors.inject(event, None)
        self.look(actors)

    def look(self, actors: CampaignActors) -> None:
        """Pause or go on, and take in what lies in the inbox."""
        if is_to_pause(self._run_dir) is (self.paused_since is None):
            self._turn(actors)
        try:
            for name, entry in waiting(self._run_dir):
                self._take(actors, name, entry)
        except OSError as error:  # what is stored is under way all the same
            self.trouble = f"{self._run_dir / INBOX} can't be used ({error.strerror})"

    def end(self, actors: CampaignActors) -> None:
        """The campaign stops: who waits for a pause to end is told so. It was stopped before."""
        if self.paused_since is not None:
            self._turn(actors)

    def _turn(self, actors: CampaignActors) -> None:
        if self.paused_since is None:
            actors.pause(True)
            self.paused_since, self._paused_at = time.time(), time.monotonic()
            actors.append(Paused(session=self._session, number=self._pauses))
            return
        self._rested_s = self.rested_s
        self.paused_since = None
        actors.append(WentOn(session=self._session, number=self._pauses))
        self._pauses += 1
        actors.pause(False)

    def _take(self, actors: CampaignActors, name: str, entry: Entry | None) -> None:
        if name in self._known:  # a kill came before it was out of the inbox
            set_aside(self._run_dir, name)
            return
        found = None if entry is None else self._injected(name, entry)
        if found is None:
            set_aside(self._run_dir, name, where=REFUSED)
            self.trouble = (
                f"{self._run_dir}: {printable(name)} in the inbox can't be used, and lies in "
                f"{REFUSED}/ now; put it in again with 'kernel-scientist inject'"
            )
            return
        event, base = found
        actors.append(event)
        self._count += 1
        self._known.add(name)
        actors.inject(event, base)
        set_aside(self._run_dir, name)

    def _injected(self, name: str, entry: Entry) -> tuple[Injected, Individual | None] | None:
        """What is stored of it, and an idea's Base; None where no island can take it."""
        takers = self._config.takers(entry.what)
        number = self._count + 1
        island = takers[number % len(takers)] if entry.island is None and takers else entry.island
        if island not in takers:
            return None
        base = self._base(entry.base_id) if entry.what == "idea" else None
        if entry.what == "idea" and base is None:
            return None
        event = Injected(
            number=number,
            island=island,
            what=entry.what,
            name=printable(entry.name),
            text=entry.text,
            base_id=base.id if base else "",
            entry=name,
        )
        return event, base

    def _base(self, kernel_id: str) -> Individual | None:
        """That kernel, or the best, or the seed; None: there is no such kernel."""
        whole = replay(self._run_dir / STORE)
        best = whole.scores.best
        wanted = kernel_id or (best.kernel_id if best else whole.campaign.baseline_id)
        if wanted not in whole.first_drafts or wanted not in whole.scores.evaluations:
            return None
        return whole.individual(wanted)
