"""The entries of `systems` in karat.yaml: a preset, an engine, a results file, a function or an endpoint."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Discriminator, Field, Tag

from karat.core.errors import KaratError, UsageError
from karat.experiment.spec._values import (
    IN_CLEAR,
    SECRET,
    Address,
    Body,
    Cut,
    EmbedderValue,
    Jobs,
    KeysModel,
    Mistake,
    Retries,
    Seconds,
    Share,
    Text,
    Texts,
    Use,
    host_use,
    read_by,
    rooted,
    short_for,
)
from karat.experiment.spec._yaml import Place
from karat.experiment.spec.presets import Preset, preset_named
from karat.results.study import Configuration
from karat.retrieve import check_store, host_asked, is_embedded
from karat.retrieve.rewrite import needs_of
from karat.systems.environment import has_variables, texts_of
from karat.systems.outside import CallSettings, HttpSettings, JsonPath
from karat.systems.settings import CHAT, HYBRID, OF_FUSION, SystemSettings, steps_of
from karat.systems.source import ResultsFile, RunSource

_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


class BudgetKeys(KeysModel):
    """What asking systems that are not karat's, and chat models, may cost."""

    timeout_seconds: Seconds = Field(60.0, description="For one question; past it the row fails and the rest goes on.")
    jobs: Jobs | None = Field(
        None, description="Questions asked at once: 4 for http, 1 for call, unless given. A function must bear it."
    )
    max_failures: Cut | None = Field(
        None, description="Ask a system no more after so many failed questions; the rest of its rows fail unasked."
    )
    max_calls: Cut | None = Field(
        None, description="Calls to chat models; what is known from before counts as none. The rest of the rows fail."
    )
    max_cost_usd: Annotated[float, Field(gt=0)] | None = Field(
        None, description="Dollars for calls to chat models, whose prices must be given."
    )


@dataclass(frozen=True)
class Listed:
    """A system of karat.yaml: how it is shown, and what retrieves: settings of karat's own, or another source."""

    source: SystemSettings | RunSource
    configuration: Configuration

    @property
    def name(self) -> str:
        return self.configuration.name

    @property
    def is_own(self) -> bool:
        """Whether karat itself retrieves."""
        return isinstance(self.source, SystemSettings)


class SystemKeys(KeysModel):
    """What every entry has."""

    name: Text | None = Field(None, description="What tables and charts call the system.")
    description: str | None = Field(None, description="One sentence on what it is.")

    @property
    def label(self) -> str:
        """What the system is called: its own name, or what its settings say as they are written."""
        return self.name or self._usual_name

    @property
    def _usual_name(self) -> str:
        raise NotImplementedError

    @property
    def is_template(self) -> bool:
        """Whether it waits for the environment."""
        return any(has_variables(text) for text in texts_of(self.model_dump()))

    @property
    def own(self) -> SystemSettings | None:
        """How karat itself retrieves, paths as they are written; None where something else does."""
        return None

    def listed(self, budgets: BudgetKeys, folder: Path) -> Listed:
        """The system with its paths made to open."""
        raise NotImplementedError

    def _listed(self, source: RunSource, **settings: Any) -> Listed:
        return Listed(source, Configuration(self.label, settings, self.description or ""))


class _OwnKeys(SystemKeys):
    """A system of karat's own."""

    normalise: Text | None = Field(None, description="Of a weighted fusion: max (default), minmax, zscore or none.")
    rrf_k: Annotated[float, Field(ge=0)] | None = Field(None, description="The constant of rrf, 60 unless given.")
    depth: Cut | None = Field(None, description="Candidates that each engine gives, 100 unless given.")
    legs: Texts | None = Field(None, description="What is fused, dense first, whose weight alpha is: [dense, bm25].")
    rewrite: Texts | None = Field(
        None, description="spell, expand:FILE, phrasings:FILE, rephrase, hyde, translate:LANGUAGE, in this order."
    )
    rerank: Text | None = Field(None, description="A folder with a cross-encoder, or chat: by the chat model.")
    rerank_depth: Cut | None = Field(None, description="How many of the first hits it reranks, 20 unless given.")

    @property
    def _preset(self) -> Preset | None:
        return None

    @property
    def own(self) -> SystemSettings:
        given: dict[str, Any] = dict(self._preset.settings) if self._preset is not None else {}
        for name in {field.name for field in fields(SystemSettings)} & set(type(self).model_fields):
            value = getattr(self, name)
            if value is not None:
                given[name] = tuple(value) if isinstance(value, list) else value
        if "embedder" in given:
            given["embedder"] = given["embedder"].settings()
        return SystemSettings(**given)

    def misfits(self) -> Iterator[Mistake]:
        if self.is_template:
            return
        settings = self.own
        hybrid = settings.engine == HYBRID
        idle: dict[str, bool] = {
            **{name: not hybrid or settings.fusion != fusion for name, fusion in OF_FUSION.items()},
            "fusion": not hybrid,
            "legs": not hybrid,
            "rerank_depth": settings.rerank is None,
            "embedder": not any(map(is_embedded, (settings.engine, *settings.legs))),
        }
        what = f"{settings.fusion} fusion" if hybrid else f"engine {settings.engine}"
        for name, idles in idle.items():
            if idles and getattr(self, name, None) is not None:
                yield (name,), f"has no effect with {what}. Remove it."
                return
        place: Place = ("engine",)
        try:
            check_store(settings.engine)
            place = ("legs",)
            for leg in settings.legs:
                check_store(leg)
            place = ()
            settings.check()
        except KaratError as problem:
            yield place, str(problem)

    def listed(self, budgets: BudgetKeys, folder: Path) -> Listed:
        settings, preset = self.own, self._preset
        about = self.description or (preset.description if preset is not None else "")
        shown = Configuration(self.label, settings.described, about, preset.use_case if preset is not None else "")

        def path(text: str) -> str:
            return str(rooted(folder, text))

        def opening(text: str) -> str:
            kind, colon, target = text.partition(":")
            return f"{kind}:{path(target)}" if colon else text

        def stored(text: str) -> str:
            return text if ":" not in text or host_asked(text) is not None else opening(text)

        opened = replace(
            settings,
            engine=stored(settings.engine),
            legs=tuple(map(stored, settings.legs)),
            rewrite=tuple(text if needs_of(text) else opening(text) for text in settings.rewrite),
            rerank=path(settings.rerank) if settings.rerank and settings.rerank != CHAT else settings.rerank,
        )
        embedder: EmbedderValue | None = getattr(self, "embedder", None)
        return Listed(replace(opened, embedder=embedder.settings(path)) if embedder is not None else opened, shown)

    def uses(self) -> Iterator[Use]:
        for key in ("engine", "legs"):
            named = getattr(self, key, None) or ()
            for text in (named,) if isinstance(named, str) else named:
                if has_variables(text) and ":" in text:
                    yield Use((key,), "host", text)  # which is not known before the environment is
                elif ":" in text and (host := host_asked(text)) is not None:
                    yield Use((key,), "host", host)
        if self.rerank is not None and self.rerank != CHAT:
            yield Use(("rerank",), "model", self.rerank)
        yield from super().uses()


class PresetKeys(_OwnKeys):
    """A preset, named or changed in what it leaves open."""

    short = "preset"
    preset: Annotated[Text, read_by(preset_named)] = Field(
        description="pure_dense, dense_heavy, balanced, sparse_heavy, pure_sparse or rrf."
    )

    @property
    def _preset(self) -> Preset | None:
        return None if has_variables(self.preset) else preset_named(self.preset)

    @property
    def _usual_name(self) -> str:
        base = self.preset if self._preset is None else self._preset.name
        return "+".join((base, *steps_of(self.rewrite or (), self.rerank)))


class EngineKeys(_OwnKeys):
    """An engine of the index, a store of another tool, or a hybrid of engines."""

    engine: Text = Field(
        description="hybrid, an engine that is built (bm25, dense), or a store of another tool, such as faiss:PATH."
    )
    alpha: Share | None = Field(None, description="Weight of the dense engine in a weighted hybrid, .3 unless given.")
    fusion: Text | None = Field(None, description="weighted (default), rrf, combsum, combmnz or isr.")
    embedder: EmbedderValue | None = Field(None, description="Of a store: what its vectors were made with.")

    @property
    def _usual_name(self) -> str:
        return self.own.name


class ResultsKeys(SystemKeys):
    """Results that some system gave before."""

    results: Text = Field(description="A results file in any format that karat score reads.")

    @property
    def _usual_name(self) -> str:
        return Path(self.results).name.split(".")[0] or self.results

    def listed(self, budgets: BudgetKeys, folder: Path) -> Listed:
        return self._listed(ResultsFile(rooted(folder, self.results)), results=self.results)


class _AskedKeys(SystemKeys):
    timeout_seconds: Seconds | None = Field(None, description="For one question, in place of that of budgets.")
    jobs: Jobs | None = Field(None, description="Questions asked at once, in place of that of budgets.")


def check_function(text: str) -> None:
    """Refuse what is not `module:name`."""
    module, _, name = text.partition(":")
    if not (module and all(part.isidentifier() for part in name.split("."))):
        raise UsageError(f"{text!r} names no function. Write module:function, for example my_search:search.")


class CallKeys(_AskedKeys):
    """A function of yours, or an object: a retriever, chain, query engine, pipeline or module of a framework."""

    call: Annotated[Text, read_by(check_function)] = Field(
        description="module:name, importable or a file beside karat.yaml. Naming it means running it."
    )

    @property
    def _usual_name(self) -> str:
        return self.call

    def listed(self, budgets: BudgetKeys, folder: Path) -> Listed:
        seconds, jobs = self.timeout_seconds or budgets.timeout_seconds, self.jobs or budgets.jobs or 1
        return self._listed(CallSettings(self.call, folder, seconds, jobs), call=self.call)

    def uses(self) -> Iterator[Use]:
        yield Use(("call",), "code", self.call)


_Path = Annotated[Text, read_by(JsonPath.parse)]


class HttpKeys(KeysModel):
    """An endpoint: how to ask it, and where in its JSON the hits stand; without paths they are told by their shape."""

    url: Address = Field(description="Its address; {question}, {id}, {k} and {history} are put in percent-encoded.")
    method: Literal["POST", "GET", "PUT"] = Field("POST", description="POST unless given.")
    headers: dict[str, Text] = Field(default_factory=dict, description="Headers; secrets as ${NAME}.")
    body: Body = Field(
        None,
        description='The JSON to send; {question}, {id}, {k} and {history} in texts are put in, "{k}" alone as a '
        'number and "{history}" alone as messages.',
    )
    ids: _Path | None = Field(None, description="JSON path to the ids of the hits, best first: $.hits[*].id.")
    docs: _Path | None = Field(None, description="JSON path to their documents.")
    pages: _Path | None = Field(None, description="JSON path to their pages.")
    urls: _Path | None = Field(None, description="JSON path to their addresses.")
    texts: _Path | None = Field(None, description="JSON path to their texts.")
    scores: _Path | None = Field(None, description="JSON path to their scores.")
    answer: _Path | None = Field(None, description="JSON path to the answer: $.answer.")
    retries: Retries = Field(3, description="Attempts after 429 and 5xx replies.")

    @property
    def paths(self) -> dict[str, str]:
        """The JSON paths by what they lead to."""
        named = ("ids", "docs", "pages", "urls", "texts", "scores", "answer")
        return {name: path for name in named if (path := getattr(self, name)) is not None}

    def settings(self, **more: Any) -> HttpSettings:
        """How the endpoint is asked."""
        plain = {"method": self.method, "headers": dict(self.headers), "body": self.body, "paths": self.paths}
        return HttpSettings(self.url, **{**plain, "retries": self.retries, **more})

    @property
    def sends_question(self) -> bool:
        """Whether the question stands in what is sent."""
        return any("{question}" in text for text in (self.url, *texts_of(self.body)))

    def misfits(self) -> Iterator[Mistake]:
        if self.method == "GET" and self.body is not None:
            yield ("body",), "is not sent with GET. Put {question} into url, or use method: POST."
        for name, value in self.headers.items():
            if not _HEADER.fullmatch(name):
                yield ("headers",), f"{name!r} is no name of a header. Use letters, digits and -."
            elif SECRET.search(name) and not has_variables(value):
                yield ("headers", name), IN_CLEAR
        for place, value in leaves(self.body, ("body",)):
            if SECRET.search(str(place[-1])) and isinstance(value, str) and not has_variables(value):
                yield place, IN_CLEAR

    def uses(self) -> Iterator[Use]:
        yield host_use(("url",), self.url)


def leaves(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every value that holds no others, with its place."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        yield place, value
    else:
        for name, inner in items:
            yield from leaves(inner, (*place, name))


class EndpointKeys(_AskedKeys):
    """A system behind HTTP."""

    http: HttpKeys = Field(description="How to ask the endpoint.")

    def misfits(self) -> Iterator[Mistake]:
        if list(self.http.paths) == ["scores"]:
            yield ("http",), "says where scores stand, and not of what. Add ids: $.hits[*].id, or leave out all paths."
        if not self.http.sends_question:
            yield ("http",), "sends no question. Put {question} into body, or into url."

    @property
    def _usual_name(self) -> str:
        return "http" if has_variables(self.http.url) else urlsplit(self.http.url).hostname or "http"

    def listed(self, budgets: BudgetKeys, folder: Path) -> Listed:
        seconds, jobs = self.timeout_seconds or budgets.timeout_seconds, self.jobs or budgets.jobs or 4
        return self._listed(self.http.settings(timeout_seconds=seconds, jobs=jobs), http=self.http.url)


KINDS: dict[str, type[SystemKeys]] = {
    "preset": PresetKeys,
    "engine": EngineKeys,
    "results": ResultsKeys,
    "call": CallKeys,
    "http": EndpointKeys,
}


def _kind(value: Any) -> str | None:
    given = [kind for kind in KINDS if (kind in value if isinstance(value, dict) else isinstance(value, KINDS[kind]))]
    return f"<{given[0]}>" if len(given) == 1 else None


_AnyEntry = Annotated[
    Annotated[PresetKeys, Tag("<preset>")]
    | Annotated[EngineKeys, Tag("<engine>")]
    | Annotated[ResultsKeys, Tag("<results>")]
    | Annotated[CallKeys, Tag("<call>")]
    | Annotated[EndpointKeys, Tag("<http>")],
    Discriminator(_kind),
]
SystemEntry = Annotated[_AnyEntry, BeforeValidator(short_for("preset"), json_schema_input_type=str | _AnyEntry)]
