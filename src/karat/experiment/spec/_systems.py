"""The entries of `systems` in karat.yaml: a preset, an engine, a results file, a function or an endpoint."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from karat.experiment.spec._fields import Body, Cut, EmbedderValue, Jobs, KeysModel, Seconds, Text, Texts, Weight
from karat.systems.outside import HttpSettings


class _Named(KeysModel):
    name: Text | None = Field(None, description="What tables and charts call the system.")
    description: str | None = Field(None, description="One sentence on what it is.")


class _Hybrid(_Named):
    normalise: Text | None = Field(None, description="Of a weighted fusion: max (default), minmax, zscore or none.")
    rrf_k: Annotated[float, Field(ge=0)] | None = Field(None, description="The constant of rrf, 60 unless given.")
    depth: Cut | None = Field(None, description="Candidates that each leg gives, 100 unless given.")
    legs: Texts | None = Field(None, description="What is fused, dense first, whose weight alpha is: [dense, bm25].")
    rewrite: Texts | None = Field(
        None, description="spell, expand:FILE, phrasings:FILE, rephrase, hyde, translate:LANGUAGE, in this order."
    )
    rerank: Text | None = Field(None, description="A folder with a cross-encoder, or chat: by the chat model.")
    rerank_depth: Cut | None = Field(None, description="How many of the first hits it reranks, 20 unless given.")


class PresetKeys(_Hybrid):
    """A preset, named or changed in what it leaves open."""

    preset: Text = Field(description="pure_dense, dense_heavy, balanced, sparse_heavy, pure_sparse or rrf.")


class EngineKeys(_Hybrid):
    """An engine of the index, a store of another tool, or a hybrid of engines."""

    engine: Text = Field(description="hybrid, an engine that is built (bm25, dense), faiss:PATH or chroma:PATH-or-URL.")
    alpha: Weight | None = Field(None, description="Weight of the dense leg in a weighted hybrid, .3 unless given.")
    fusion: Text | None = Field(None, description="weighted (default), rrf, combsum, combmnz or isr.")
    embedder: EmbedderValue | None = Field(None, description="Of a store: what its vectors were made with.")


class ResultsKeys(_Named):
    """Results that some system gave before."""

    results: Text = Field(description="A results file in any format that karat score reads.")


class _Asked(_Named):
    timeout_seconds: Seconds | None = Field(None, description="For one question, in place of that of budgets.")
    jobs: Jobs | None = Field(None, description="Questions asked at once, in place of that of budgets.")


class CallKeys(_Asked):
    """A function of yours."""

    call: Text = Field(
        description="module:function, importable or a file beside karat.yaml. Naming it means running it."
    )


class HttpKeys(KeysModel):
    """An endpoint: how to ask it, and where in its JSON the hits stand."""

    url: Text = Field(description="Its address; {question}, {id} and {k} are put in percent-encoded.")
    method: Literal["POST", "GET", "PUT"] = Field("POST", description="POST unless given.")
    headers: dict[str, Text] = Field(default_factory=dict, description="Headers; secrets as ${NAME}.")
    body: Body = Field(
        None, description='The JSON to send; {question}, {id} and {k} in texts are put in, "{k}" alone as a number.'
    )
    ids: Text | None = Field(None, description="JSON path to the ids of the hits, best first: $.hits[*].id.")
    docs: Text | None = Field(None, description="JSON path to their documents.")
    pages: Text | None = Field(None, description="JSON path to their pages.")
    urls: Text | None = Field(None, description="JSON path to their addresses.")
    texts: Text | None = Field(None, description="JSON path to their texts.")
    scores: Text | None = Field(None, description="JSON path to their scores.")
    answer: Text | None = Field(None, description="JSON path to the answer: $.answer.")
    retries: Annotated[int, Field(ge=0, le=20)] = Field(3, description="Attempts after 429 and 5xx replies.")

    def settings(self, *, body: Any, paths: dict[str, str], timeout_seconds: float, jobs: int) -> HttpSettings:
        """How the endpoint is asked."""
        return HttpSettings(
            self.url, method=self.method, headers=dict(self.headers), body=body, paths=paths,
            timeout_seconds=timeout_seconds, jobs=jobs, retries=self.retries,
        )  # fmt: skip


class EndpointKeys(_Asked):
    """A system behind HTTP."""

    http: HttpKeys = Field(description="How to ask the endpoint.")


KINDS = ("preset", "engine", "results", "call", "http")


def _kind(value: Any) -> str | None:
    if isinstance(value, dict):
        found = [kind for kind in KINDS if kind in value]
        return f"<{found[0]}>" if len(found) == 1 else None
    if isinstance(value, KeysModel):
        return next(f"<{kind}>" for kind in KINDS if kind in type(value).model_fields)
    return "<text>"


SystemEntry = Annotated[
    Annotated[Text, Tag("<text>")]
    | Annotated[PresetKeys, Tag("<preset>")]
    | Annotated[EngineKeys, Tag("<engine>")]
    | Annotated[ResultsKeys, Tag("<results>")]
    | Annotated[CallKeys, Tag("<call>")]
    | Annotated[EndpointKeys, Tag("<http>")],
    Discriminator(_kind),
]
