"""What model calls took before: in earlier campaigns with the same models, and as shipped."""

import json
import math
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from engine.history.campaigns import stores_in
from engine.store.run_folder import STORE
from engine.store.store import StoreError, reading
from operators.llm.designer import MOST_PROBES
from operators.llm.question import Part, part_of

MOST_CAMPAIGNS = 8
"""The latest that are looked at."""

LEAST_CALLS = LEAST_EVALUATIONS = 10
"""Of a campaign that tells anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanSizes:
    """Mean tokens of a call: what was sent and what was written."""

    prompt: float
    completion: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """An earlier campaign. sizes: by part and model, as the endpoint names it. calls: by part, for
    an evaluation that the budget counts; evaluations: how many there were. probing: probes that
    designers asked for over those that they might; None where they might ask for none. operators:
    that section of its configuration."""

    name: str
    sizes: Mapping[tuple[Part, str], MeanSizes]
    calls: Mapping[Part, float]
    evaluations: int
    probing: float | None
    operators: Any

    @property
    def margin(self) -> float:
        """Times as many calls an evaluation as it had, or as few, as chance would have."""
        return math.exp(1 / math.sqrt(self.evaluations))


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How a campaign goes; recorded.yaml says what each figure means."""

    again: float
    redesigned: float
    judged: float
    mutated: float
    unselected: float


CourseName = Literal["few", "usual", "many"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipped:
    """recorded.yaml. courses: by how many calls they make; failed: share of kernels that are
    repaired; prompt_growth: of a part's mean prompt
    over its first; completion, terse: tokens of a reply without reasoning, and of the shortest
    replies."""

    courses: Mapping[CourseName, Course]
    failed: float
    prompt_growth: Mapping[Part, float]
    completion: Mapping[Part, float]
    terse: Mapping[Part, float]


@cache
def shipped() -> Shipped:
    values = yaml.safe_load((Path(__file__).parent / "recorded.yaml").read_text())
    courses = {name: Course(**course) for name, course in values.pop("courses").items()}
    return Shipped(courses=courses, **values)


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
SELECT part_of(json_extract(asked.body, '$.role'), asked.key), json_extract(asked.body, '$.model'),
       count(*), avg(json_extract(told.body, '$.reply.prompt_tokens')),
       avg(json_extract(told.body, '$.reply.completion_tokens'))
FROM events AS told JOIN events AS asked
  ON asked.kind = 'call_reserved' AND asked.key = told.key
WHERE told.kind = 'call_replied' GROUP BY 1, 2
"""
_CALLS = """
SELECT part_of(json_extract(body, '$.role'), key), count(*) FROM events
WHERE kind = 'call_reserved' GROUP BY 1
"""
_EVALUATIONS = """
SELECT count(*) FROM events
WHERE kind = 'evaluated' AND key LIKE '%/0' AND NOT coalesce(json_extract(body, '$.tuning'), 0)
"""
_PROBES = """
SELECT sum(kind = 'probe_claimed' AND json_extract(body, '$.became') = 'granted'),
       sum(CASE kind WHEN 'probes_told' THEN min(?, json_extract(body, '$.left')) ELSE 0 END)
FROM events WHERE kind IN ('probe_claimed', 'probes_told')
"""


def _record(name: str, connection: sqlite3.Connection) -> Record | None:
    query = "SELECT body FROM events WHERE kind = 'campaign_started'"
    row = connection.execute(query).fetchone()
    config = json.loads(row[0])["config"] if row else {}
    models = (config.get("llm") or {}).get("models") or {}
    (evaluations,) = connection.execute(_EVALUATIONS).fetchone()
    if not models or evaluations < LEAST_EVALUATIONS:
        return None
    connection.create_function("part_of", 2, part_of, deterministic=True)
    replies = connection.execute(_REPLIES).fetchall()
    if sum(count for _, _, count, _, _ in replies) < LEAST_CALLS:
        return None
    return Record(
        name=name,
        sizes={
            (part, models[model]["model"]): MeanSizes(prompt=prompt, completion=completion)
            for part, model, _, prompt, completion in replies
        },
        calls={part: count / evaluations for part, count in connection.execute(_CALLS)},
        evaluations=evaluations,
        probing=_probing(config, connection),
        operators=config.get("operators"),
    )


def _probing(config: Mapping[str, Any], connection: sqlite3.Connection) -> float | None:
    asked, offered = connection.execute(_PROBES, (MOST_PROBES,)).fetchone()
    might = min((config.get("probes") or {}).get("most", 0), offered or 0)
    return min(1.0, asked / might) if might else None
