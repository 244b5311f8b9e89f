"""Kinds of values in karat.yaml, and the parts of it that are mappings of their own."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag

from karat.core.errors import KaratError
from karat.io.limits import ReadLimits
from karat.systems.environment import check_template


def _template(text: str) -> str:
    try:
        check_template(text)
    except KaratError as problem:
        raise ValueError(str(problem)) from None
    if not text.strip():
        raise ValueError("is empty. Write a value, or remove the key.")
    return text


def _listed(value: Any) -> Any:
    return [value] if value is not None and not isinstance(value, list) else value


def _mentioned(value: Any) -> Any:
    """Values of a filter as texts: 3 and "3" are the same."""
    if not isinstance(value, dict):
        return value
    return {name: [_plain(v) for v in _listed(values) or ()] for name, values in value.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


def _json(value: Any) -> Any:
    if isinstance(value, str):
        raise ValueError("is a text. Write it as keys and values, without quotes around the whole.")
    if not isinstance(value, dict | list):
        raise ValueError("is neither keys and values nor a list.")
    return value


Text = Annotated[str, AfterValidator(_template)]
Texts = Annotated[list[Text], BeforeValidator(_listed, json_schema_input_type=str | list[str]), Field(min_length=1)]
Slices = Annotated[list[Text], BeforeValidator(_listed, json_schema_input_type=str | list[str])]
Cut = Annotated[int, Field(ge=1)]
Cuts = Annotated[list[Cut], BeforeValidator(_listed, json_schema_input_type=Cut | list[Cut]), Field(min_length=1)]
Number = float | str
Range = Annotated[
    list[Number], BeforeValidator(_listed, json_schema_input_type=Number | list[Number]), Field(min_length=1)
]
Filter = Annotated[
    dict[str, Annotated[list[Text], Field(min_length=1)]],
    BeforeValidator(_mentioned, json_schema_input_type=dict[str, Any]),
]
Body = Annotated[Any, BeforeValidator(_json, json_schema_input_type=dict[str, Any] | list[Any])]
Weight = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
Jobs = Annotated[int, Field(ge=1, le=256)]
Output = Literal["html", "markdown", "text", "latex", "csv", "json", "png", "svg", "trec", "liverag"]


class KeysModel(BaseModel):
    """A mapping that knows its keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)


class EmbedderKeys(KeysModel):
    """An embedder with more than its name."""

    name: Text = Field(description="wordllama, sbert[:FOLDER], multilingual, onnx:FOLDER or openai:MODEL.")
    query_prefix: str = Field("", description="Put before each query that is embedded.")
    passage_prefix: str = Field("", description="Put before each passage that is embedded.")
    base_url: Text | None = Field(None, description="Address of an OpenAI-compatible endpoint, for openai:MODEL.")
    key_env: Text = Field("OPENAI_API_KEY", description="The environment variable that holds the endpoint's key.")
    timeout_seconds: Seconds = Field(60.0, description="For one request to an endpoint.")
    retries: Annotated[int, Field(ge=0, le=20)] = Field(5, description="Attempts after a request that failed.")


def _shape(value: Any) -> str:
    return "<mapping>" if isinstance(value, dict | KeysModel) else "<text>"


EmbedderValue = Annotated[
    Annotated[Text, Tag("<text>")] | Annotated[EmbedderKeys, Tag("<mapping>")], Discriminator(_shape)
]
Embedders = Annotated[
    list[EmbedderValue],
    BeforeValidator(_listed, json_schema_input_type=EmbedderValue | list[EmbedderValue]),
    Field(min_length=1),
]


class SweepKeys(KeysModel):
    """What a sweep varies; every combination is a system. Numbers as a list, or a range: start:end:step."""

    alpha: Range | None = Field(None, description="Weights of the dense leg, such as 0:1:0.1.")
    k: Range | None = Field(None, description="Cut-offs, beside those of the key k.")
    fusion: Texts | None = Field(None, description="weighted, rrf, combsum, combmnz, isr.")
    rrf_k: Range | None = Field(None, description="Constants of rrf.")
    normalise: Texts | None = Field(None, description="Of a weighted fusion: max, minmax, zscore, none.")
    depth: Range | None = Field(None, description="Candidates that each leg gives.")
    legs: Texts | None = Field(None, description="What is fused; dense first, whose weight alpha is.")


class BudgetKeys(KeysModel):
    """What asking systems that are not karat's, and chat models, may cost."""

    timeout_seconds: Seconds = Field(60.0, description="For one question; past it the row fails and the rest goes on.")
    jobs: Jobs | None = Field(
        None, description="Questions asked at once: 4 for http, 1 for call, unless given. A function must bear it."
    )
    max_failures: Annotated[int, Field(ge=1)] | None = Field(
        None, description="Ask a system no more after so many failed questions; the rest of its rows fail unasked."
    )
    max_calls: Annotated[int, Field(ge=1)] | None = Field(
        None, description="Calls to chat models; what is known from before counts as none. The rest of the rows fail."
    )
    max_cost_usd: Annotated[float, Field(gt=0)] | None = Field(
        None, description="Dollars for calls to chat models, whose prices must be given."
    )


class ReadingKeys(KeysModel):
    """What reading one document may take; one that takes more is named among those that could not be read."""

    memory_mb: Cut = Field(ReadLimits.memory_mb, description="Megabytes of memory, and 20 times the size of the file.")
    seconds: Seconds = Field(ReadLimits.seconds, description="Seconds.")
    pages: Cut = Field(ReadLimits.pages, description="Pages.")
    text_mb: Cut = Field(ReadLimits.text_mb, description="Megabytes of text, or 20 times the size of the file.")
    follow_links: bool = Field(False, description="Follow links that lead out of a folder of documents.")

    @property
    def limits(self) -> ReadLimits:
        return ReadLimits(memory_mb=self.memory_mb, seconds=self.seconds, pages=self.pages, text_mb=self.text_mb)
