"""What model calls took before: in earlier campaigns with the same models, and as shipped."""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from engine.history.campaigns import stores_in
from engine.store.run_folder import STORE
from engine.store.store import StoreError, reading
from operators.llm.question import Role

MOST_CAMPAIGNS = 8
"""The latest that are looked at."""

LEAST_CALLS = LEAST_EVALUATIONS = 10
"""Of a campaign that tells anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Mean tokens of a call: what was sent and what was written."""

    prompt: float
    completion: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """An earlier campaign. sizes: by role and model, as the endpoint names it. calls: by role, for
    an evaluation that the budget counts. operators: that section of its configuration."""

    name: str
    sizes: Mapping[tuple[Role, str], Sizes]
    calls: Mapping[Role, float]
    operators: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipped:
    """recorded.yaml. prompt_growth: of a role's mean prompt over its first; completion: tokens of
    a reply without reasoning; calls_a_question: those that go back among them; failed: share of
    kernels that are repaired; judged: share of written kernels that come to an evaluation."""

    prompt_growth: Mapping[Role, float]
    completion: Mapping[Role, float]
    calls_a_question: Mapping[Role, float]
    failed: float
    judged: float


@cache
def shipped() -> Shipped:
    values = yaml.safe_load((Path(__file__).parent / "recorded.yaml").read_text())
    return Shipped(**values)


def earlier_campaigns(runs_dir: Path, models: Iterable[str]) -> list[Record]:
    """Those in a folder of runs that asked one of these models, the latest first; what can't be
    read tells nothing."""
    wanted = set(models)
    stores = sorted(stores_in(runs_dir), key=lambda one: one.stat().st_mtime, reverse=True)
    records = (record_of(store) for store in stores)
    found = [one for one in records if one and wanted & {model for _, model in one.sizes}]
    return found[:MOST_CAMPAIGNS]


def record_of(store: Path) -> Record | None:
    """None where it tells too little."""
    try:
        with reading(store) as connection:
            return _record(store.parent.name, connection)
    # A log of a version to come, or one that was tampered with: any part may be missing.
    except (StoreError, ValueError, KeyError, TypeError):
        return None


def own_record(run_dir: Path) -> Record | None:
    """Of the campaign itself, when it is resumed."""
    return record_of(run_dir / STORE) if (run_dir / STORE).is_file() else None


_REPLIES = """
SELECT json_extract(asked.body, '$.role'), json_extract(asked.body, '$.model'),
       count(*), avg(json_extract(told.body, '$.reply.prompt_tokens')),
       avg(json_extract(told.body, '$.reply.completion_tokens'))
FROM events AS told JOIN events AS asked
  ON asked.kind = 'call_reserved' AND asked.key = told.key
WHERE told.kind = 'call_replied' GROUP BY 1, 2
"""
_CALLS = """
SELECT json_extract(body, '$.role'), count(*) FROM events WHERE kind = 'call_reserved' GROUP BY 1
"""
_EVALUATIONS = """
SELECT count(*) FROM events
WHERE kind = 'evaluated' AND key LIKE '%/0' AND NOT coalesce(json_extract(body, '$.tuning'), 0)
"""


def _record(name: str, connection: sqlite3.Connection) -> Record | None:
    query = "SELECT body FROM events WHERE kind = 'campaign_started'"
    row = connection.execute(query).fetchone()
    config = json.loads(row[0])["config"] if row else {}
    models = (config.get("llm") or {}).get("models") or {}
    (evaluations,) = connection.execute(_EVALUATIONS).fetchone()
    if not models or evaluations < LEAST_EVALUATIONS:
        return None
    replies = connection.execute(_REPLIES).fetchall()
    if sum(count for _, _, count, _, _ in replies) < LEAST_CALLS:
        return None
    return Record(
        name=name,
        sizes={
            (role, models[model]["model"]): Sizes(prompt=prompt, completion=completion)
            for role, model, _, prompt, completion in replies
        },
        calls={role: count / evaluations for role, count in connection.execute(_CALLS)},
        operators=config.get("operators"),
    )
