"""Restoring: a campaign's folder made of a copy of its store, where its node is lost."""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from engine.commands import command, resume_command, shown
from engine.config import CampaignConfig
from engine.config_errors import ConfigError
from engine.preparation import places_of
from engine.store.copies import PARTIAL, back_up, require_whole
from engine.store.events import to_row
from engine.store.kinds.sessions import Restored
from engine.store.replay import Replay, replay
from engine.store.run_folder import STORE
from engine.store.store import Store, Stored, StoreError, is_driven, read_events, reading

GAP = 10**9
"""Numbers of events that are left out, as the lost node may have given some of them away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restoration:
    """run_dir: made, and ready to be resumed. says: what of it is lost, in one sentence. places:
    keys that have to change here, as resume_campaign() takes them."""

    run_dir: Path
    says: str
    places: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def restore(copy: Path, run_dir: Path | None) -> Restoration:
    """Make the campaign's folder of a copy of its store. run_dir: None for the one that it had.

    Raises ConfigError, StoreError: it is no whole copy, or the folder holds a campaign.
    """
    _require_copy(copy)
    if run_dir is None:
        config = _read(copy).campaign.config
        run_dir = Path(str(config["runs_dir"]), str(config["name"]))
    run_dir = run_dir.resolve()
    store = run_dir / STORE
    if os.path.lexists(store):
        raise ConfigError(_held(copy, store))
    partial = store.with_name(STORE + PARTIAL)
    try:
        run_dir.mkdir(parents=True, exist_ok=True)
        whole = _copied(copy, partial)
        partial.rename(store)
    except OSError as error:
        raise ConfigError(
            f"{run_dir} can't be made of {copy} ({error.strerror or error}); name a folder of a "
            f"local disk: {command('kernel-scientist', 'resume', '--from', str(copy), 'RUN')}"
        ) from None
    finally:
        _leave_nothing(partial)
    last = _mark(store, copy)
    return Restoration(run_dir=run_dir, says=_lost(copy, whole, last), places=_moved(copy, whole))


def begun(config: CampaignConfig) -> Restoration | None:
    """The campaign of that name, if there is one: in its folder, else as a copy of its store in
    snapshots.folder, of which the folder is made. It goes on with the places of config.

    Raises ConfigError, StoreError, also where both are there and the copy has more.
    """
    if not config.name:
        raise ConfigError("--or-resume: set name, so that the campaign can be found again")
    run_dir = config.runs_dir.resolve() / config.name
    folder = config.snapshots.folder
    copy = folder.resolve() / f"{config.name}.sqlite" if folder else None
    places = places_of(config, given=True)
    if not os.path.lexists(run_dir / STORE):
        if copy is None or not copy.is_file():
            return None
        made = restore(copy, run_dir)
        return Restoration(run_dir=run_dir, says=made.says, places=places)
    if copy is not None and copy.is_file() and _ahead(copy, run_dir / STORE):
        raise ConfigError(_held(copy, run_dir / STORE))
    return Restoration(run_dir=run_dir, says="", places=places)


def _ahead(copy: Path, store: Path) -> bool:
    """Whether the copy has what the store has not."""
    ours, theirs = _rows(store), _rows(copy)
    return any(ours.get(seq) != row for seq, row in theirs.items())


def _require_copy(copy: Path) -> None:
    if copy.name.endswith(PARTIAL):
        raise ConfigError(
            f"{copy}: this is a copy that was not finished; name the whole one, "
            f"{copy.with_name(copy.name.removesuffix(PARTIAL))}"
        )
    if copy.is_dir():
        found = ", ".join(path.name for path in sorted(copy.glob("*.sqlite"))) or "none is there"
        raise ConfigError(f"{copy} is a folder; name the copy of a store in it ({found})")
    if not copy.is_file():
        raise ConfigError(
            f"{copy}: no such file; name the copy of a store that a campaign keeps in its "
            "snapshots.folder, such as /shared/NAME.sqlite"
        )
    if is_driven(copy):
        raise ConfigError(
            f"{copy}: this is the store of a campaign that runs here, not a copy of one; look on "
            f"with {command('kernel-scientist', 'watch', shown(copy.parent))}"
        )


def _read(copy: Path) -> Replay:
    with _naming(copy):
        require_whole(copy)
        return replay(copy)


def _copied(copy: Path, partial: Path) -> Replay:
    with _naming(copy):
        back_up(copy, partial)
        require_whole(partial)
        return replay(partial)


@contextmanager
def _naming(copy: Path) -> Iterator[None]:
    """Raises ConfigError in the place of StoreError, which may name a file that is gone then."""
    try:
        yield
    except StoreError as error:
        _, _, why = str(error).partition(": ")
        raise ConfigError(
            f"{copy} can't be taken up: {why}; name another copy of the store"
        ) from None


def _leave_nothing(partial: Path) -> None:
    """Of what was not finished; after a success there is nothing."""
    if partial.parent.is_dir():
        partial.unlink(missing_ok=True)
        with suppress(OSError):
            partial.parent.rmdir()  # only where it is empty


def _mark(store: Path, copy: Path) -> Stored:
    """Returns the last event of the copy. The mark bears its time, so that no session becomes
    longer by it."""
    *_, last = read_events(store)
    now = time.time()
    event = Restored(source=str(copy.resolve()), seq=last.seq, last_at=last.at, at=now)
    with Store(store) as opened:
        opened.place(to_row(event), seq=last.seq + GAP, at=last.at)
    return last


def _lost(copy: Path, whole: Replay, last: Stored) -> str:
    """What a person has to know before it goes on."""
    when = datetime.fromtimestamp(last.at).astimezone()
    age = f"{copy} was last written to by the campaign at {when:%Y-%m-%d %H:%M:%S %Z}"
    if whole.sessions and whole.sessions[-1].finished:
        return f"{age}, at the end of its session: nothing is lost"
    every_s = float(whole.places["snapshots"].get("every_s", 60.0))
    return (
        f"{age}, {_span(time.time() - last.at)} ago; what it did after that is lost, and done "
        f"again: where copies were made to the end, what it did in {every_s:.0f} s "
        "(snapshots.every_s) and while one was made"
    )


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 60:.0f} min"


def _moved(copy: Path, whole: Replay) -> dict[str, dict[str, Any]]:
    """Copies go on where this one is, unless their folder is here too."""
    folder = whole.places["snapshots"].get("folder")
    if folder is None or os.path.isdir(str(folder)):
        return {}
    return {"snapshots": {"folder": str(copy.resolve().parent)}}


def _held(copy: Path, store: Path) -> str:
    """Why a folder that holds a store is left alone, and what to type."""
    run_dir = store.parent
    if is_driven(store):
        return (
            f"{run_dir}: this campaign runs here; look on with "
            f"{command('kernel-scientist', 'watch', shown(run_dir))}, or stop it first"
        )
    elsewhere = command("kernel-scientist", "resume", "--from", str(copy), f"{shown(run_dir)}-2")
    ours, theirs = _rows(store), _rows(copy)
    together = ours.keys() & theirs.keys()
    if not together or ours[min(ours)] != theirs[min(theirs)]:
        return f"{run_dir} holds another campaign; name another folder: {elsewhere}"
    if ours[max(together)] != theirs[max(together)]:
        return (
            f"{run_dir} holds this campaign, and went on apart from the copy, with {len(ours)} "
            f"events beside {len(theirs)}; go on with it by {resume_command(run_dir)}, or with the "
            f"copy by {elsewhere}"
        )
    if max(theirs) > max(ours):
        return (
            f"{run_dir} holds this campaign as it was earlier, with {len(ours)} events, and the "
            f"copy has {len(theirs)}; move that folder away, or go on in another one: {elsewhere}"
        )
    return (
        f"{run_dir} holds this campaign with all that the copy has ({len(ours)} events beside "
        f"{len(theirs)}); go on with it: {resume_command(run_dir)}"
    )


def _rows(store: Path) -> dict[int, tuple[float, str, str]]:
    """By number; a mark that it was restored is no event of its own."""
    query = "SELECT seq, at, kind, key FROM events WHERE kind <> ?"
    with reading(store) as connection:
        return {seq: row for seq, *row in connection.execute(query, (Restored.kind,))}
