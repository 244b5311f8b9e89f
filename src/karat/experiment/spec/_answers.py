"""The keys of karat.yaml about answers: who answers, the chat model, the judges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Discriminator, Field, Tag

from karat.core.errors import UsageError
from karat.experiment.spec._fields import Cut, Jobs, KeysModel, Seconds, Text, Texts
from karat.experiment.spec._systems import HttpKeys

if TYPE_CHECKING:
    from karat.models.chat import ChatSettings

Price = Annotated[float, Field(ge=0)]


class AnswerKeys(KeysModel):
    """Who answers the questions from what was retrieved, and how much of it is read."""

    by: Text = Field("extractive", description="extractive, reciter, chat, call:MODULE:FUNCTION or http.")
    contexts: Cut = Field(5, description="How many of the first hits are read.")
    context_tokens: Cut | None = Field(None, description="How many tokens of them are read; no limit unless given.")
    threshold: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None, description="The evidence below which extractive declines, as tuned unless given."
    )
    prompt: Text | None = Field(None, description="A file with a prompt for chat that holds {question} and {contexts}.")
    limit: Cut | None = Field(
        None, description="How many questions are answered, a sample over kinds and gold; all unless given."
    )
    systems: Texts | None = Field(
        None, description="Which systems answer: those listed unless given, or all of a sweep alone."
    )
    http: HttpKeys | None = Field(None, description="With by: http, how to ask the endpoint that answers.")
    timeout_seconds: Seconds | None = Field(None, description="Of a function or endpoint, for one question.")
    jobs: Jobs | None = Field(None, description="Of a function or endpoint: questions asked at once.")


class ModelKeys(KeysModel):
    """A chat model at an OpenAI-compatible endpoint. The key stays in the environment."""

    name: Text = Field(description="The model, as the endpoint calls it.")
    base_url: Text | None = Field(
        None, description="Its address, such as http://localhost:11434/v1; OpenAI's unless given."
    )
    key_env: Text = Field("OPENAI_API_KEY", description="The environment variable that holds the endpoint's key.")
    temperature: Annotated[float, Field(ge=0, le=2)] | None = Field(0.0, description="0 unless given; null: not sent.")
    max_tokens: Cut = Field(1024, description="The most tokens of a reply.")
    seed: int | None = Field(0, description="Sent with every call; null: not sent.")
    timeout_seconds: Seconds = Field(120.0, description="For one call.")
    retries: Annotated[int, Field(ge=0, le=20)] = Field(5, description="Attempts after a call that failed in passing.")
    jobs: Jobs = Field(8, description="Calls at once.")
    per_minute: Cut | None = Field(None, description="Calls in a minute; no limit unless given.")
    price_in_usd: Price | None = Field(
        None, description="Dollars for a million tokens of prompts; unknown unless given."
    )
    price_out_usd: Price | None = Field(None, description="Dollars for a million tokens of replies.")
    extra: dict[str, Any] = Field(default_factory=dict, description="Further parameters that are sent as they are.")


def _shape(value: Any) -> str:
    return "<mapping>" if isinstance(value, dict | KeysModel) else "<text>"


def _named(value: Any) -> Any:
    return {"by": value} if isinstance(value, str) else value


AnswerValue = Annotated[AnswerKeys, BeforeValidator(_named, json_schema_input_type=str | AnswerKeys)]
ModelValue = Annotated[Annotated[Text, Tag("<text>")] | Annotated[ModelKeys, Tag("<mapping>")], Discriminator(_shape)]


def model_keys(value: str | ModelKeys | Mapping[str, Any]) -> ModelKeys:
    """A model by its name alone, or with more."""
    if isinstance(value, ModelKeys):
        return value
    return ModelKeys.model_validate({"name": value} if isinstance(value, str) else dict(value))


def chat_settings(value: str | ModelKeys | Mapping[str, Any]) -> ChatSettings:
    """A model of karat.yaml as it is asked."""
    from karat.models.chat import ChatSettings

    keys = model_keys(value).model_dump()
    return ChatSettings(model=keys.pop("name"), **keys)


_AS_KEYS = {"model": "name", "price_in": "price_in_usd", "price_out": "price_out_usd"}


def option_values(
    written: Mapping[str, Any],
    *,
    answer: str | None = None,
    contexts: int | None = None,
    judge: str | None = None,
    repeat: int | None = None,
    columns: Mapping[str, str] | None = None,
    matching: Mapping[str, Any] | None = None,
    max_cost: float | None = None,
    max_calls: int | None = None,
    **model: Any,
) -> dict[str, Any]:
    """The keys that options of a command line change, each whole; what they leave open stays as written.

    `--answer none` takes the key out. `matching` are keys that say how hits and gold are matched.
    """
    values: dict[str, Any] = {"map": dict(columns)} if columns else {}
    values |= {key: value for key, value in (matching or {}).items() if value is not None}
    if answer is not None or contexts is not None:
        before = _mapping(written.get("answer"), "by")
        same = answer is None or before.get("by", "extractive") == answer
        merged = {**(before if same else {}), "by": answer or before.get("by", "extractive")}
        values["answer"] = (
            None if answer == "none" else merged | ({"contexts": contexts} if contexts is not None else {})
        )
    given = {_AS_KEYS.get(name, name): value for name, value in model.items() if value is not None}
    if given:
        if "name" not in given and written.get("model") is None:
            option = next(iter(model))
            raise UsageError(f"--{option.replace('_', '-')} is for a chat model, and none is named. Add --model.")
        before = _mapping(written.get("model"), "name")
        other = given.get("name") not in (None, before.get("name"))
        values["model"] = {**({} if other else before), **given}
    if judge is not None:
        values["judge"] = [judge]
    if repeat is not None:
        values["judge_repeat"] = repeat
    limits = {"max_cost_usd": max_cost, "max_calls": max_calls}
    if any(value is not None for value in limits.values()):
        kept = {name: value for name, value in limits.items() if value is not None}
        values["budgets"] = {**_mapping(written.get("budgets"), ""), **kept}
    return values


def _mapping(value: Any, name: str) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {} if value is None else {name: value}
