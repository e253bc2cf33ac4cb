"""Tokens of prompts a role: of those that a campaign sent, and as today's templates put them.

python -m scripts.prompt_tokens record FOLDER [--task softmax] [--evaluations 40]
python -m scripts.prompt_tokens count RUN [--replay]

record runs a campaign on cpu whose mind is scripted, and keeps its prompts. count prints those of
a campaign; with --replay the same questions are asked anew by the code that is here, from the
campaign's log. Tokens are estimated from characters, as everywhere. cached_share is the part of
all characters that an earlier prompt of the campaign begins with too: what an endpoint with a
cache of beginnings need not read again.
"""

import argparse
import json
import statistics
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from engine.campaign import run_campaign
from engine.cli.look.prompts import distillers_request, rehearsal_of
from engine.config import parse_config
from engine.store.kinds.calls import CallReserved
from engine.store.run_folder import STORE
from engine.store.store import read_events
from evaluators.tasks.task_file import load_task
from operators.llm.call import estimated_tokens
from operators.llm.question import ROLES, Message, Role
from scripts.scripted_model.catalogue_mind import catalogue_mind
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import Script

Sent = tuple[Role, Sequence[Message]]


def record(folder: Path, task: str, evaluations: int) -> None:
    """Two islands, one mind."""
    rule = catalogue_mind(load_task(task))
    with serving(Script(rule=rule, latency_s=0.1)) as server:
        values = {
            "task": task,
            "name": task,
            "runs_dir": str(folder),
            "tracking": "none",
            "budgets": {"evaluations": evaluations},
            "operators": [{"kind": "llm", "mutation": 0}],
            "islands": {"count": 2},
            "final": {"seconds": 0},
            "llm": {"base_url": server.base_url, "models": {"main": {"model": "scripted"}}},
        }
        run_campaign(parse_config(values, where="scripts/prompt_tokens.py"))


def stored(run: Path) -> Iterator[Sent]:
    """What was sent, in order."""
    for one in read_events(run / STORE):
        if isinstance(one.event, CallReserved):
            yield one.event.role, one.event.prompt


def replayed(run: Path) -> Iterator[Sent]:
    """The same questions in the same order, as they are asked today."""
    asked: dict[tuple[int, int], dict[str, Sequence[Message]]] = {}
    for one in read_events(run / STORE):
        event = one.event
        if not isinstance(event, CallReserved):
            continue
        if event.role == "distiller":
            yield event.role, distillers_request(run, event).prompt.messages
            continue
        place = event.island, event.cycle
        if place not in asked:
            requests = rehearsal_of(run, island=event.island).cycle(event.cycle)
            asked[place] = {request.key: request.prompt.messages for request in requests}
        if event.request in asked[place]:
            yield event.role, asked[place][event.request]


def figures(sent: Iterable[Sent]) -> dict[str, dict[str, float]]:
    """By role, and of all together."""
    tokens: dict[str, list[int]] = {}
    characters: dict[str, list[tuple[int, int]]] = {}  # (all, begun by an earlier prompt)
    before: list[str] = []
    for role, messages in sent:
        text = "\0".join(message.content for message in messages)
        common = max((beginning(text, other) for other in before), default=0)
        before.append(text)
        for name in (role, "all"):
            tokens.setdefault(name, []).append(estimated_tokens(tuple(messages)))
            characters.setdefault(name, []).append((len(text), common))
    return {
        name: {
            "calls": len(tokens[name]),
            "median": round(statistics.median(tokens[name])),
            "max": max(tokens[name]),
            "total": sum(tokens[name]),
            "cached_share": round(
                sum(common for _, common in characters[name])
                / sum(size for size, _ in characters[name]),
                3,
            ),
        }
        for name in (*ROLES, "all")
        if name in tokens
    }


def beginning(first: str, second: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("folder", type=Path)
    recording.add_argument("--task", default="softmax")
    recording.add_argument("--evaluations", type=int, default=40)
    counting = commands.add_parser("count")
    counting.add_argument("run", type=Path)
    counting.add_argument("--replay", action="store_true", help="as today's code asks")
    given = parser.parse_args()
    if given.command == "record":
        record(given.folder, given.task, given.evaluations)
        return
    sent = replayed(given.run) if given.replay else stored(given.run)
    print(json.dumps(figures(sent), indent=2))


if __name__ == "__main__":
    main()
