"""Room: what is left of a prompt's budget, taken by its parts in the order of their worth."""

from collections.abc import Mapping, Sequence

from operators.llm.call import CHARACTERS_A_TOKEN
from operators.llm.prompts.tables import clip
from operators.llm.question import Role

PROMPT_TOKENS: Mapping[Role, int] = {
    "selector": 8_000,
    "designer": 16_000,
    "writer": 24_000,
    "crossover": 24_000,
    "repair": 24_000,
    "distiller": 16_000,
}
"""Of a prompt at most, where nobody says otherwise."""

LEAST_CHARACTERS = 1_200
"""That a part gets which a prompt is useless without, whatever is left."""

DROPPED_TOGETHER = 8
"""Older lines are left out so many at once: between, what is shown of them begins the same, and
endpoints that cache the beginnings of prompts have it."""


class Room:
    """Counts characters. Parts that take from it say themselves what they leave out."""

    def __init__(self, tokens: int, taken: int) -> None:
        """tokens: the budget; taken: characters that stand already."""
        self.characters = max(0, int(tokens * CHARACTERS_A_TOKEN) - taken)

    def text(self, text: str, share: float = 1.0, *, least: int = 0) -> str:
        """The text, clipped to a share of what is left, and to no less than least."""
        kept = clip(text, max(least, int(self.characters * share)))
        self.take(kept)
        return kept

    def lines(self, lines: Sequence[str], most: int) -> tuple[list[str], int]:
        """The last lines that fit into so many characters; and how many do not."""
        limit = min(most, self.characters)
        dropped, size = 0, sum(len(line) + 1 for line in lines)
        while size > limit and dropped < len(lines):
            leaving = lines[dropped : dropped + DROPPED_TOGETHER]
            size -= sum(len(line) + 1 for line in leaving)
            dropped += len(leaving)
        kept = list(lines[dropped:])
        self.take("\n".join(kept))
        return kept, dropped

    def first_lines(self, lines: Sequence[str], share: float = 1.0) -> tuple[list[str], int]:
        """The first lines that fit, one at least; and how many do not."""
        limit = int(self.characters * share)
        kept: list[str] = []
        for line in lines:
            limit -= len(line) + 1
            if limit < 0 and kept:
                break
            kept.append(line)
        self.take("\n".join(kept))
        return kept, len(lines) - len(kept)

    def take(self, *texts: str) -> None:
        self.characters = max(0, self.characters - sum(len(text) + 1 for text in texts))
