"""Completion: a chat completion put together from streamed lines, or read whole."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluators.spelling import storable
from operators.llm.call import CHARACTERS_A_TOKEN

THINK_OPEN = "<think>"
THINK_CLOSE = "</think>"

_decode = json.JSONDecoder().raw_decode  # a stream's lines are many; json.loads takes twice as long


@dataclass(slots=True)
class Completion:
    """The first choice of a completion. Token counts are None until the endpoint names them.

    written: characters so far, of content, reasoning and refusal.
    """

    finish: str = ""
    model: str = ""
    error: str = ""  # said in mid-stream
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    written: int = 0
    _counted: int = 0  # of these, those that completion_tokens speaks of
    _content: list[str] = field(default_factory=list)
    _reasoning: list[str] = field(default_factory=list)
    _refusal: list[str] = field(default_factory=list)

    @property
    def content(self) -> str:
        return storable("".join(self._content))

    @property
    def reasoning(self) -> str:
        return storable("".join(self._reasoning))

    @property
    def refusal(self) -> str:
        return storable("".join(self._refusal))

    @property
    def generated_tokens(self) -> int:
        """So far: as the endpoint counted them, and by the characters that came after."""
        later = round((self.written - self._counted) / CHARACTERS_A_TOKEN)
        return (self.completion_tokens or 0) + later

    def take_line(self, line: str) -> bool:
        """One line of a server-sent event stream; True when it says that all is said.

        Lines that are no JSON object are left out, as the event stream's format wants it.
        """
        if not line.startswith("data:"):
            return False
        data = line[5:].strip()
        if data == "[DONE]":
            return True
        try:
            chunk, _ = _decode(data)
        except (ValueError, RecursionError):
            return False
        if isinstance(chunk, dict):
            self.take(chunk, part="delta")
        return False

    def take(self, chunk: Mapping[str, Any], *, part: str) -> None:
        """part: "delta" in a stream, "message" in a whole completion."""
        self.model = str(chunk.get("model") or self.model)
        if chunk.get("error"):
            self.error = str(chunk["error"])
        self._take_choice(chunk.get("choices"), part)
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            self.prompt_tokens = _count(usage.get("prompt_tokens"), self.prompt_tokens)
            counted = _count(usage.get("completion_tokens"), None)
            if counted is not None:
                self.completion_tokens, self._counted = counted, self.written

    def _take_choice(self, choices: Any, part: str) -> None:
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            return
        self.finish = str(choices[0].get("finish_reason") or self.finish)
        said = choices[0].get(part)
        if isinstance(said, dict):
            self._add(self._content, said.get("content"))
            self._add(self._refusal, said.get("refusal"))
            # vLLM, SGLang and DeepSeek say reasoning_content; some proxies say reasoning.
            self._add(self._reasoning, said.get("reasoning_content") or said.get("reasoning"))

    def _add(self, parts: list[str], value: Any) -> None:
        if isinstance(value, list):  # content parts
            value = "".join(p["text"] for p in value if isinstance(p, dict) and _is_text(p))
        if isinstance(value, str):
            parts.append(value)
            self.written += len(value)

    def text_and_reasoning(self) -> tuple[str, int]:
        """The answer without <think> blocks, and how many characters of reasoning there were.

        Some chat templates open the block themselves, so that only its end is in the text.
        """
        content = self.content
        thought, closed, answer = content.rpartition(THINK_CLOSE)
        if closed:
            return answer.strip(), len(self.reasoning) + len(thought)
        if content.lstrip().startswith(THINK_OPEN):
            return "", len(self.reasoning) + len(content)
        return content.strip(), len(self.reasoning)


def completion_of(body: Mapping[str, Any]) -> Completion:
    """A whole completion. Raises LookupError when the body holds no choice with a message."""
    if not isinstance(body["choices"][0]["message"], dict):
        raise LookupError("message")
    completion = Completion()
    completion.take(body, part="message")
    return completion


def _is_text(part: Mapping[str, Any]) -> bool:
    return isinstance(part.get("text"), str)


def _count(value: Any, otherwise: int | None) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise
