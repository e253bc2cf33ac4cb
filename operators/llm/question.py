"""A question to a model and what may come of it: Request, Reply, Unanswered, Failure."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Literal, Protocol

Role = Literal["selector", "designer", "writer", "crossover", "repair", "distiller"]
ROLES: tuple[Role, ...] = (
    *("selector", "designer", "writer"),
    *("crossover", "repair", "distiller"),
)

Part = Role | Literal["prober"]
PARTS: tuple[Part, ...] = (*ROLES, "prober")
"""Whom a prompt speaks to: the writer of probes is the writer, asked for something else."""


class Failure(StrEnum):
    """Everything that can go wrong with a question; each kind is counted under its name."""

    # Of a call; the gateway tries again.
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    DROPPED = "dropped"  # the connection ended before the reply did
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"  # nothing listens, or the name is unknown
    BROKEN_BODY = "broken_body"  # status 200, and no chat completion in it
    UNSUPPORTED_OPTION = "unsupported_option"  # left out from then on, and asked again
    # Of a call; no use trying again.
    CONTEXT_TOO_LONG = "context_too_long"  # the operator asks once more with a shorter prompt
    BAD_REQUEST = "bad_request"
    UNAUTHORISED = "unauthorised"  # ends the campaign
    NO_CREDIT = "no_credit"  # ends the campaign
    UNKNOWN_MODEL = "unknown_model"  # ends the campaign
    CANCELLED = "cancelled"  # the campaign ended first
    # Of a reply; the operator asks once more, quoting what was wrong.
    EMPTY = "empty"
    ONLY_REASONING = "only_reasoning"
    REFUSAL = "refusal"
    TRUNCATED = "truncated"
    PROSE_ONLY = "prose_only"
    MALFORMED_JSON = "malformed_json"
    MISSING_FIELDS = "missing_fields"
    UNKNOWN_IDS = "unknown_ids"
    BAD_EDIT = "bad_edit"  # a SEARCH text that is not in the Base, or is there twice
    INVALID_KERNEL = "invalid_kernel"  # front matter that can't be read or planned
    NEAR_DUPLICATE = "near_duplicate"


RETRIED = frozenset(
    {
        Failure.RATE_LIMITED,
        Failure.SERVER_ERROR,
        Failure.DROPPED,
        Failure.TIMEOUT,
        Failure.UNREACHABLE,
        Failure.BROKEN_BODY,
        Failure.UNSUPPORTED_OPTION,
    }
)
FATAL = frozenset({Failure.UNAUTHORISED, Failure.NO_CREDIT, Failure.UNKNOWN_MODEL})
UNBILLED = frozenset(
    {
        Failure.RATE_LIMITED,
        Failure.SERVER_ERROR,
        Failure.UNREACHABLE,
        Failure.UNSUPPORTED_OPTION,
        Failure.CONTEXT_TOO_LONG,
        Failure.BAD_REQUEST,
        *FATAL,
    }
)
"""After these the endpoint has generated nothing; after the others it may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Rendered messages. template: hash of the texts they were rendered from."""

    messages: tuple[Message, ...]
    template: str

    @property
    def characters(self) -> int:
        return sum(len(message.content) for message in self.messages)


CAMPAIGN = -1
"""In the place of an island, where a question is the whole campaign's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question. The same key always means the same question.

    model: a name from the configuration's models; empty: the role's own.
    schema: JSON schema of the reply, for endpoints that take one.
    shortened: a longer prompt for the same was too long; there is no shorter one than this.
    """

    key: str
    role: Role
    island: int
    cycle: int
    prompt: Prompt
    schema: Mapping[str, Any] | None = None
    model: str = ""
    shortened: bool = False

    @property
    def part(self) -> Part:
        return part_of(self.role, self.key)

    @property
    def prompt_hash(self) -> str:
        """16 hex digits of everything the model is shown."""
        shown = [[asdict(message) for message in self.prompt.messages], self.schema]
        return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()[:16]


def part_of(role: Role, key: str) -> Part:
    """key: of a request."""
    return "prober" if re.search(r"/p\d+/", key) else role


@dataclass(frozen=True, slots=True, kw_only=True)
class Vain:
    """What calls took that brought no reply."""

    seconds: float = 0.0
    dollars: float = 0.0

    def __add__(self, other: "Vain") -> "Vain":
        return Vain(seconds=self.seconds + other.seconds, dollars=self.dollars + other.dollars)


NOTHING_VAIN = Vain()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model said, reasoning taken out. finish: "stop", "length", "content_filter", ...

    estimated: the endpoint named no token counts; they come from the characters.
    vain: the same question's calls before.
    """

    text: str
    finish: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    latency_s: float
    estimated: bool = False
    refusal: str = ""
    reasoning_characters: int = 0
    dollars: float = 0.0
    vain: Vain = NOTHING_VAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """The question was given up. reason: one sentence; vain: all its calls."""

    kind: Failure
    reason: str
    vain: Vain = NOTHING_VAIN


class ModelUnavailable(Exception):
    """No question can be answered: one sentence on what is wrong and what to do."""


class Malformed(Exception):
    """A reply that can't be used: its kind, and one sentence that is shown to the model."""

    def __init__(self, kind: Failure, reason: str) -> None:
        super().__init__(kind, reason)
        self.kind = kind
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}"


class Model(Protocol):
    """What operators ask. In a campaign it stands for the gateway."""

    async def complete(self, request: Request) -> Reply | Unanswered:
        """Raises ModelUnavailable, and whatever ends the campaign."""

    def turned_away(self, request: Request, kind: Failure, reason: str) -> None:
        """Count a reply that could not be used."""
