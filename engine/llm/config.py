"""The configuration's section llm: endpoints, models, prices; which role asks which model."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from operators.llm.call import ApiKey, ModelOptions
from operators.llm.question import ModelUnavailable, Role


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


Temperature = Annotated[float, Field(ge=0)]
PromptTokens = Annotated[int, Field(ge=2000)]
_T = TypeVar("_T")


class LlmModel(_Section):
    """One model and how it is called; what is None is not sent."""

    model: str = Field(min_length=1)  # as the endpoint names it
    base_url: str | None = None  # None: the section's
    api_key_env: str | None = None  # None: the section's
    max_tokens: int = Field(default=8192, ge=16)  # of a reply, reasoning included
    temperature: Temperature | tuple[Temperature, ...] | None = None  # several: islands in turn
    top_p: float | None = Field(default=None, gt=0, le=1)
    reasoning_effort: str | None = None
    extra_body: Mapping[str, Any] = {}  # further fields of the request, as the endpoint wants them
    stream: bool = True
    structured: Literal["auto", "schema", "text"] = "auto"
    dollars_per_million_prompt: float = Field(default=0, ge=0)
    dollars_per_million_completion: float = Field(default=0, ge=0)

    def dollars(self, prompt_tokens: int, completion_tokens: int) -> float:
        return (
            prompt_tokens * self.dollars_per_million_prompt
            + completion_tokens * self.dollars_per_million_completion
        ) / 1e6

    @model_validator(mode="after")
    def _no_secrets(self) -> Self:
        _refuse_secrets(self.base_url, self.api_key_env)
        return self


class Llm(_Section):
    """Endpoints that speak the chat completions protocol."""

    base_url: str = "http://127.0.0.1:8000/v1"
    api_key_env: str | None = None  # the name of a variable, never the key
    models: Mapping[str, LlmModel] = Field(min_length=1)  # by a name of your own
    # role -> a name in models, or several for the islands in turn; the others ask the first.
    roles: Mapping[Role, str | tuple[str, ...]] = {}
    concurrency: int = Field(default=32, ge=1)  # calls in flight
    timeout_s: float = Field(default=1800, gt=0)  # one call, to its last token
    retries: int = Field(default=5, ge=0)  # of a call that failed
    outage_s: float = Field(default=900, ge=0)  # an endpoint that answered once may be away
    keep_prompts: bool = True  # in the store, beside their hash
    prompt_tokens: Mapping[Role, PromptTokens] = {}  # of a prompt at most, where not PROMPT_TOKENS
    # Similarity from which on a kernel is turned away; None: neither kernels nor ideas are.
    novelty: float | None = Field(default=0.995, gt=0, le=1)

    @model_validator(mode="after")
    def _known_models(self) -> Self:
        _refuse_secrets(self.base_url, self.api_key_env)
        known = ", ".join(self.models)
        for role, names in self.roles.items():
            if not names:
                raise ValueError(f"roles.{role} names no model; models has {known}")
            for name in (names,) if isinstance(names, str) else names:
                if name not in self.models:
                    raise ValueError(f"roles.{role} is {name!r}; models has {known}")
        return self

    def model_name(self, role: Role, asked: str = "", island: int = 0) -> str:
        return asked or _dealt(self.roles.get(role), island) or next(iter(self.models))

    def options(self, name: str, island: int = 0) -> ModelOptions:
        """How an island calls the model of that name."""
        model = self.models[name]
        return ModelOptions(
            model=model.model,
            max_tokens=model.max_tokens,
            stream=model.stream,
            timeout_s=self.timeout_s,
            use_schema={"auto": None, "schema": True, "text": False}[model.structured],
            temperature=_dealt(model.temperature, island),
            top_p=model.top_p,
            reasoning_effort=model.reasoning_effort,
            extra_body=model.extra_body,
        )

    def key_of(self, name: str, environment: Mapping[str, str]) -> ApiKey:
        """Read from the environment variable named. Raises ModelUnavailable."""
        variable = self.models[name].api_key_env or self.api_key_env
        if variable is None:
            return ApiKey()
        value = environment.get(variable, "").strip()
        if not value:
            raise ModelUnavailable(
                f"the environment variable {variable}, named by llm.api_key_env, is not set; "
                "export the key in it"
            )
        return ApiKey(value)

    @property
    def priced(self) -> bool:
        """Whether a budget in dollars can bind: every model has a price."""
        return all(
            model.dollars_per_million_prompt + model.dollars_per_million_completion > 0
            for model in self.models.values()
        )


def _dealt(values: _T | tuple[_T, ...] | None, island: int) -> _T | None:
    """The island's, where there are several; none of none."""
    if not isinstance(values, tuple):
        return values
    return values[island % len(values)] if values else None


def _refuse_secrets(base_url: str | None, api_key_env: str | None) -> None:
    if api_key_env is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", api_key_env):
        raise ValueError("api_key_env must be the name of an environment variable, not a key")
    if base_url is None:
        return
    if not re.match(r"https?://[^/]", base_url):
        raise ValueError("base_url must begin with http:// or https://")
    if "@" in base_url.partition("//")[2].partition("/")[0]:
        raise ValueError("base_url must hold no user name or password; use api_key_env")
