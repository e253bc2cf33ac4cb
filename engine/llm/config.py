"""The configuration's section llm: endpoints, models, prices; which role asks which model."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import Field, model_validator

from engine.config_errors import Keys, OneOrList
from operators.llm.call import ApiKey, ModelOptions
from operators.llm.question import ModelUnavailable, Role

Temperature = Annotated[float, Field(ge=0)]
PromptTokens = Annotated[int, Field(ge=2000)]
_T = TypeVar("_T")


class LlmModel(Keys):
    """One model and how it is called; what is null is not sent."""

    model: str = Field(min_length=1)
    """Its name at the endpoint."""
    base_url: str | None = None
    """Its endpoint. null: the section's."""
    api_key_env: str | None = None
    """The name of the variable that holds its key, never the key. null: the section's."""
    max_tokens: int = Field(default=8192, ge=16)
    """Tokens of a reply at most, reasoning among them."""
    temperature: OneOrList[Temperature] | None = None
    """The sampling temperature; a list is dealt to the islands in turn."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    """The part of the probability that is sampled from."""
    reasoning_effort: str | None = None
    """A word that the endpoint knows, such as `low` or `high`."""
    extra_body: Mapping[str, Any] = {}
    """Further fields of the request, as the endpoint wants them."""
    stream: bool = True
    """Whether replies are streamed. Of one that breaks off budgets then count what came, not what
    was reserved for it."""
    structured: Literal["auto", "schema", "text"] = "auto"
    """How JSON is asked for: by a schema, by the prompt alone (`text`), or by a schema as long as
    the endpoint takes one (`auto`)."""
    dollars_per_million_prompt: float = Field(default=0, ge=0)
    """Price of a million tokens that are sent."""
    dollars_per_million_completion: float = Field(default=0, ge=0)
    """Price of a million tokens that are written."""

    def dollars(self, prompt_tokens: int, completion_tokens: int) -> float:
        return (
            prompt_tokens * self.dollars_per_million_prompt
            + completion_tokens * self.dollars_per_million_completion
        ) / 1e6

    @model_validator(mode="after")
    def _one_reply_of_known_size(self) -> Self:
        for key in ("max_tokens", "max_completion_tokens", "n"):
            if key in self.extra_body:
                raise ValueError(
                    f"extra_body may not hold {key}, as budgets could not reckon with it: one "
                    "reply is asked for, of max_tokens at most, which is a key beside extra_body"
                )
        return self

    @model_validator(mode="after")
    def _no_secrets(self) -> Self:
        _refuse_secrets(self.base_url, self.api_key_env)
        return self


class Llm(Keys):
    """Endpoints that speak the chat completions protocol, and who asks which model. Islands of
    kind `llm` need this section."""

    base_url: str = "http://127.0.0.1:8000/v1"
    """The endpoint of models that name none."""
    api_key_env: str | None = None
    """The name of the variable that holds the key, never the key. null: the endpoint wants none."""
    models: Mapping[str, LlmModel] = Field(min_length=1)
    """Models, by names of your own."""
    roles: Mapping[Role, OneOrList[str]] = {}
    """A role -> a name in `models`, or a list of names, which credit chooses from; with
    `credit: off` they are dealt to the islands in turn. Roles that are not named ask the first
    model."""
    concurrency: int = Field(default=32, ge=1)
    """Calls in flight at most. Raise it to what the endpoint serves at once."""
    timeout_s: float = Field(default=1800, gt=0)
    """Seconds that one call may take, to its last token."""
    retries: int = Field(default=5, ge=0)
    """Further tries of a call that failed."""
    outage_s: float = Field(default=900, ge=0)
    """Seconds that an endpoint which has answered may be away; then the campaign ends."""
    keep_prompts: bool = True
    """Whether the store keeps prompts whole; their hash it keeps always."""
    prompt_tokens: Mapping[Role, PromptTokens] = {}
    """A role -> tokens of its prompt at most. Selectors have 8000 otherwise, designers and the
    distiller 16000, the others 24000."""
    novelty: float | None = Field(default=0.995, gt=0, le=1)
    """Similarity, 0 to 1, from which on a written kernel is turned away as one that was measured.
    null: no kernel is, and experiments are not compared with those of before."""

    @model_validator(mode="after")
    def _known_models(self) -> Self:
        _refuse_secrets(self.base_url, self.api_key_env)
        known = ", ".join(self.models)
        for role, names in self.roles.items():
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
    """The island's, where there are several."""
    if not isinstance(values, tuple):
        return values
    return values[island % len(values)]


def _refuse_secrets(base_url: str | None, api_key_env: str | None) -> None:
    if api_key_env is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", api_key_env):
        raise ValueError("api_key_env must be the name of an environment variable, not a key")
    if base_url is None:
        return
    if not re.match(r"https?://[^/]", base_url):
        raise ValueError("base_url must begin with http:// or https://")
    if "@" in base_url.partition("//")[2].partition("/")[0]:
        raise ValueError("base_url must hold no user name or password; use api_key_env")
