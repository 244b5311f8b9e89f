"""The keys of karat.yaml about answers: who answers, and the chat model that is asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from karat.answer import ANSWERERS
from karat.core.errors import KaratError, UsageError, did_you_mean
from karat.experiment.spec._systems import HttpKeys
from karat.experiment.spec._values import (
    IN_CLEAR,
    SECRET,
    Address,
    Cut,
    Jobs,
    KeysModel,
    Mistake,
    Price,
    Retries,
    Seconds,
    Share,
    Text,
    Texts,
    Use,
    host_use,
    read_by,
    short_for,
)
from karat.models.chat import ChatSettings
from karat.models.hosts import OPENAI

CALL, HTTP, CHAT = "call", "http", "chat"


def _answerer(by: str) -> str:
    kind, _, target = by.partition(":")
    known = [*ANSWERERS.keys(), "call:MODULE:FUNCTION", HTTP]
    if kind == CALL and not all(target.partition(":")):
        raise UsageError("names no function. Write call:MODULE:FUNCTION.")
    if kind not in (CALL, HTTP) and by not in ANSWERERS:
        raise UsageError(f"no answerer is called {by!r}.{did_you_mean(by, known)} There are {', '.join(known)}.")
    return by


class AnswerKeys(KeysModel):
    """Who answers the questions from what was retrieved, and how much of it is read."""

    by: Annotated[Text, read_by(_answerer)] = Field(
        "extractive", description="extractive, reciter, chat, call:MODULE:FUNCTION or http."
    )
    contexts: Cut = Field(5, description="How many of the first hits are read.")
    context_tokens: Cut | None = Field(None, description="How many tokens of them are read; no limit unless given.")
    threshold: Share | None = Field(
        None, description="The evidence below which extractive declines, as tuned unless given."
    )
    prompt: Text | None = Field(
        None, description="A file with a prompt for chat that holds {question} and {contexts}, and may hold {history}."
    )
    limit: Cut | None = Field(
        None, description="How many questions are answered, a sample over kinds and gold; all unless given."
    )
    systems: Texts | None = Field(
        None, description="Which systems answer: those listed unless given, or all of a sweep alone."
    )
    http: HttpKeys | None = Field(None, description="With by: http, how to ask the endpoint that answers.")
    timeout_seconds: Seconds | None = Field(None, description="Of a function or endpoint, for one question.")
    jobs: Jobs | None = Field(None, description="Of a function or endpoint: questions asked at once.")

    def misfits(self) -> Iterator[Mistake]:
        kind, _, target = self.by.partition(":")
        idle = {
            "threshold": kind != "extractive",
            "prompt": kind != CHAT,
            "http": kind != HTTP,
            "timeout_seconds": kind not in (CALL, HTTP),
            "jobs": kind not in (CALL, HTTP),
        }
        for name, idles in idle.items():
            if idles and getattr(self, name) is not None:
                yield (name,), f"has no effect with {kind}. Remove it."
        if kind == HTTP and self.http is None and not target:
            yield ("by",), "names no endpoint. Add http: with its url, body and answer."
        if kind == HTTP and self.http is not None:
            for name in self.http.paths:
                if name != "answer":
                    yield ("http", name), "has no effect: of an endpoint only the answer is read here. Remove it."
            usual = self.http.body is None and self.http.method != "GET"
            if not usual and not self.http.sends_question:
                yield ("http",), "sends no question. Put {question} into body, or into url."

    def uses(self) -> Iterator[Use]:
        kind, _, target = self.by.partition(":")
        if kind == CALL:
            yield Use(("by",), "code", target)
        elif self.http is None and kind in (HTTP, "https"):
            yield host_use(("by",), self.by if target.startswith("//") else target)
        yield from super().uses()


class ModelKeys(KeysModel):
    """A chat model at an OpenAI-compatible endpoint. The key stays in the environment."""

    name: Text = Field(description="The model, as the endpoint calls it.")
    base_url: Address | None = Field(
        None, description="Its address, such as http://localhost:11434/v1; OpenAI's unless given."
    )
    key_env: Text = Field("OPENAI_API_KEY", description="The environment variable that holds the endpoint's key.")
    temperature: Annotated[float, Field(ge=0, le=2)] | None = Field(0.0, description="0 unless given; null: not sent.")
    max_tokens: Cut = Field(1024, description="The most tokens of a reply.")
    seed: int | None = Field(0, description="Sent with every call; null: not sent.")
    timeout_seconds: Seconds = Field(120.0, description="For one call.")
    retries: Retries = Field(5, description="Attempts after a call that failed in passing.")
    jobs: Jobs = Field(8, description="Calls at once.")
    per_minute: Cut | None = Field(None, description="Calls in a minute; no limit unless given.")
    price_in_usd: Price | None = Field(
        None, description="Dollars for a million tokens of prompts; unknown unless given."
    )
    price_out_usd: Price | None = Field(None, description="Dollars for a million tokens of replies.")
    batch: bool | None = Field(None, description="Ask by the endpoint's batches: cheaper, within a day.")
    price_batch: Share | None = Field(
        None, description="What a batch costs, as a share of the prices; all of them unless given."
    )
    extra: dict[str, Any] = Field(default_factory=dict, description="Further parameters that are sent as they are.")

    def settings(self, **other: Any) -> ChatSettings:
        """The model as it is asked, with `other` values in place of its own."""
        return ChatSettings(**{"model" if key == "name" else key: value for key, value in self} | other)

    def misfits(self) -> Iterator[Mistake]:
        secret = [name for name, value in self.extra.items() if SECRET.search(name) and isinstance(value, str)]
        for name in secret:
            yield ("extra", name), IN_CLEAR
        try:
            if not secret:
                self.settings(base_url=None)  # of an address its kind has said what is wrong
        except KaratError as problem:
            yield (), str(problem)

    def uses(self) -> Iterator[Use]:
        yield host_use((), self.base_url or OPENAI)


AnswerValue = Annotated[AnswerKeys, BeforeValidator(short_for("by"), json_schema_input_type=str | AnswerKeys)]
ModelValue = Annotated[ModelKeys, BeforeValidator(short_for("name"), json_schema_input_type=str | ModelKeys)]
