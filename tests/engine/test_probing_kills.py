"""Campaigns that are killed amid their probes: none is paid for twice, no answer is lost."""

from collections import Counter
from pathlib import Path

import pytest

from engine.store.kinds.calls import CallReplied
from engine.store.kinds.probes import ProbeClaimed, Probed, ProbeHeard, ProbeWritten
from evaluators.cxx import CACHE_VARIABLE
from evaluators.probes.shipped import shipped
from scripts.bench_engine import INFO
from scripts.scripted_model.answers import asking
from tests.engine import test_scientist_campaign
from tests.engine.test_scientist_campaign import Run
from tests.engine.test_scientist_kills import check_kills, killed_and_resumed

key = test_scientist_campaign.key


def check_probes(run: Run) -> None:
    claims = run.of(ProbeClaimed)
    granted = [one.key for one in claims if one.became == "granted"]
    assert len({one.key for one in claims}) == len(claims)
    assert len(granted) == run.config.probes.most
    # Each is written once, by one reply that could be used, or by none.
    written = {one.key: one for one in run.of(ProbeWritten)}
    assert sorted(written) == sorted(granted) and len(run.of(ProbeWritten)) == len(granted)
    replies = Counter(one.request for one in run.of(CallReplied) if "/p" in one.request)
    assert set(replies.values()) == {1}
    assert {request.rsplit("/", 2)[0] for request in replies} <= set(granted)
    # Each file has one answer, and each island was told of each once.
    answers = run.of(Probed)
    own = {one.id for one in shipped(INFO)}
    assert own <= {one.key for one in answers}
    asked = {one.asked_by for one in answers if not one.shipped}
    assert asked == {one.key for one in written.values() if one.text}
    heard = Counter((one.island, one.probe_id) for one in run.of(ProbeHeard))
    assert set(heard) == {(island, one.key) for island in range(2) for one in answers}
    assert set(heard.values()) == {1}


@pytest.mark.soak
def test_kills_amid_probes_lose_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    run = killed_and_resumed(tmp_path, kills=3, evaluations=40, rule=asking, most=15)
    check_kills(run, 3)
    check_probes(run)
    # The kills came amid them: two sessions at least have written some.
    sessions = Counter(one.session for one in run.of(Probed))
    assert len(sessions) > 1
