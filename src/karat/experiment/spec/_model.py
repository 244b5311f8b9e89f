"""The keys of karat.yaml: their names, shapes, checks and descriptions, from which the JSON Schema is made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator

from karat.core.errors import KaratError, UsageError
from karat.core.language import parse, parse_all
from karat.experiment.rules import parse_rule
from karat.experiment.spec._answers import CHAT, AnswerValue, ModelValue
from karat.experiment.spec._systems import BudgetKeys, SystemEntry, leaves
from karat.experiment.spec._values import (
    OR_ONE_TEXT,
    Chunkings,
    Cut,
    Cuts,
    Embedders,
    Engines,
    Filter,
    Jobs,
    KeysModel,
    Measures,
    Mistake,
    Name,
    Range,
    Seconds,
    Slices,
    Text,
    Texts,
    Use,
    embedder_uses,
    read_by,
)
from karat.experiment.spec._yaml import Place
from karat.experiment.sweep.grid import Grid
from karat.io.limits import ReadLimits
from karat.match import MATCHERS
from karat.measures.dialects import dialect_named
from karat.measures.entailment import MODEL, NLI
from karat.models import EmbedderSettings
from karat.pool import PoolSettings
from karat.systems.environment import has_variables, texts_of
from karat.systems.settings import OF_FUSION

SCHEMA_ID = "karat.schema.json"
_MODEL_NEEDED = "and none is named. Add `model: NAME`, with base_url where it is not OpenAI's, or give --model."
_NO_DOCUMENTS = "searches documents, and none are named. Add corpus: FOLDER, or index: FOLDER."
_LONGEST_NAME = 80  # characters that a table has room for
_BUILT = ("chunk", "titles", "engines", "settings", "embedder")
Output = Literal["html", "markdown", "text", "latex", "csv", "json", "png", "svg", "trec", "liverag"]


class SweepKeys(KeysModel):
    """What a sweep varies; every combination is a system. Numbers as a list, or a range: start:end:step."""

    alpha: Range | None = Field(None, description="Weights of the dense engine, such as 0:1:0.1.")
    k: Range | None = Field(None, description="Cut-offs, beside those of the key k.")
    fusion: Texts | None = Field(None, description="weighted, rrf, combsum, combmnz, isr.")
    rrf_k: Range | None = Field(None, description="Constants of rrf.")
    normalise: Texts | None = Field(None, description="Of a weighted fusion: max, minmax, zscore, none.")
    depth: Range | None = Field(None, description="Candidates that each engine gives.")
    legs: Texts | None = Field(None, description="What is fused; dense first, whose weight alpha is.")

    @field_validator("*")
    @classmethod
    def _swept(cls, values: list[Any], info: ValidationInfo) -> list[Any]:
        if values is not None and (problem := _grid_problem({str(info.field_name): values})) is not None:
            raise ValueError(problem)
        return values

    def misfits(self) -> Iterator[Mistake]:
        values = self.model_dump(exclude_none=True)
        if not values:
            yield (), "names nothing to vary. Write for example alpha: 0:1:0.1."
        for name, fusion in OF_FUSION.items():
            if name in values and fusion not in values.get("fusion", [fusion]):
                yield (name,), f"has no effect without the fusion {fusion}. Add it, or remove this."
        for name in values.get("legs", ()):
            if ":" in name:
                yield ("legs",), f"{name}: a sweep is over engines of one index. List it in systems."
        if (problem := _grid_problem(values)) is not None:
            yield (), problem

    @property
    def cutoffs(self) -> tuple[int, ...]:
        """The cut-offs that it names."""
        return () if self.k is None else _grid_of(k=self.k).k

    def grid(self, cutoffs: tuple[int, ...]) -> Grid:
        """The grid, at these cut-offs."""
        return _grid_of(**{**self.model_dump(exclude_none=True), "k": list(cutoffs)})


def _grid_of(**values: Any) -> Grid:
    """The grid of a sweep, from its values as they are written.

    Without fusions named, what only one of them takes says which: alpha the weighted one, rrf_k rrf, both both.
    """
    values = {name: v[0] if isinstance(v, list) and len(v) == 1 else v for name, v in values.items()}
    if "fusion" not in values:
        weighted = "alpha" in values or "normalise" in values or "rrf_k" not in values
        values["fusion"] = [*(["weighted"] if weighted else []), *(["rrf"] if "rrf_k" in values else [])]
    return Grid.of(**values)


def _grid_problem(values: Mapping[str, Any]) -> str | None:
    """Why there is no grid of these values; None where there is one, or where the environment is awaited."""
    if any(has_variables(text) for text in texts_of(values)):
        return None
    try:
        _grid_of(**values)
    except KaratError as problem:
        return str(problem)
    return None


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


class PoolKeys(KeysModel):
    """Who does the work on a large corpus or many questions; what comes of it is the same."""

    by: Literal["local", "ray"] = Field("local", description="Processes of this machine, or a cluster of Ray.")
    jobs: Jobs | None = Field(
        None, description="Shards at a time; as many as there are processors, here or in the cluster, by default."
    )
    address: Text | None = Field(
        None,
        description="Of a cluster of Ray, HOST:PORT; auto, the default: the one that this machine is part of.",
    )
    resources: dict[str, dict[str, float]] = Field(
        default_factory=dict, description="What a shard of a kind of work takes of the cluster: {embed: {gpu: 1}}."
    )

    @property
    def settings(self) -> PoolSettings:
        return PoolSettings(by=self.by, jobs=self.jobs, address=self.address, resources=self.resources)

    def misfits(self) -> Iterator[Mistake]:
        try:
            _ = self.settings
        except UsageError as problem:
            yield (), str(problem)

    def uses(self) -> Iterator[Use]:
        if self.address is not None:
            yield Use(("address",), "host", self.address)


def _matcher(text: str) -> None:
    if text != "auto":
        MATCHERS.get(text.partition(":")[0])


def _main_measure(text: str) -> None:
    if ":" not in text:  # else it is code of the user's, which is loaded by the run
        parse(text)


Rules = Annotated[list[Annotated[Text, read_by(parse_rule)]], OR_ONE_TEXT, Field(min_length=1)]


class SpecKeys(KeysModel):
    """An experiment: documents, questions, systems, and how they are compared."""

    name: Name = Field("experiment", description="Part of the name of a run's folder.")
    corpus: Texts | None = Field(None, description="Documents: a folder or file, or a list of them.")
    reading: ReadingKeys | None = Field(
        None, description="What reading one document of the corpus may take, and whether links are followed."
    )
    pool: PoolKeys | None = Field(None, description="Who does the work on a large corpus or many questions.")
    index: Text | None = Field(None, description="An index that stands already, in place of corpus.")
    testset: Text = Field(description="Questions with gold, in any format that karat score reads.")
    map: dict[Text, Text] | None = Field(
        None, description="Columns of the test set and of results files, and the fields they are."
    )
    where: Filter = Field(
        default_factory=dict, description="Only questions of which kind, a tag or answerable has this value."
    )
    chunk: Chunkings = Field(["tokens:200:40"], description="How documents are cut; several are swept.")
    titles: bool = Field(True, description="Search chunks by their titles as well as their texts.")
    engines: Engines = Field(["bm25", "dense"], description="What is built over the chunks.")
    settings: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="Settings of engines by their names: {bm25: {k1: 1.2}}."
    )
    embedder: Embedders | None = Field(
        None, description="Of the dense engine, by the language of the documents unless given; several are swept."
    )
    systems: list[SystemEntry] = Field(
        default_factory=list, description="What is compared: names of presets, or mappings."
    )
    sweep: SweepKeys | None = Field(None, description="Systems by the grid: every combination of these values.")
    answer: AnswerValue | None = Field(
        None,
        description="Who answers: extractive, reciter, chat, call:MODULE:FUNCTION, or a mapping; nobody unless given.",
    )
    model: ModelValue | None = Field(None, description="The chat model, by its name or as a mapping with base_url.")
    judge: Measures | None = Field(
        None, description="What a language model measures: Faithfulness, Correctness and others; nothing unless given."
    )
    judge_model: ModelValue | None = Field(None, description="The chat model that judges; `model` unless given.")
    judge_repeat: Cut = Field(1, description="How often it is asked the same.")
    claims: Texts | None = Field(
        None,
        description="Who judges claims: model (unless given), lexical or nli:FOLDER; or a file of claims; or both.",
    )
    cross_encoder: Text | None = Field(None, description="A folder with a model, for the measure CrossEncoder.")
    k: Cuts | None = Field(None, description="Cut-offs, those of the dialect unless given.")
    measures: Measures | None = Field(
        None, description="What is computed, the dialect's set unless given; @k stands for each cut-off."
    )
    main: Annotated[Text, read_by(_main_measure)] | None = Field(
        None, description="The measure systems are ranked by: Recall@5, or the dialect's first."
    )
    by: Slices = Field(default_factory=list, description="Slices: kind, any tag, answerable.")
    dialect: Annotated[Text, read_by(dialect_named)] = Field(
        "karat", description="Whose meaning of the measures: see dialects."
    )
    match: Annotated[Text, read_by(_matcher)] | None = Field(
        None, description="How hits and gold are matched; the dialect's way unless given."
    )
    pages: Literal["physical", "printed"] = Field("physical", description="Which page numbers the gold means.")
    page_offset: int = Field(0, description="Added to the page numbers of chunks.")
    rel: Cut = Field(1, description="The lowest grade that is relevant.")
    repeats: Literal["once", "collapse", "count"] | None = Field(
        None, description="What a second hit of the same gold counts; the dialect's way unless given."
    )
    missing: Literal["zero", "skip"] | None = Field(
        None, description="What a question without an answer in a results file counts; the dialect's way unless given."
    )
    bands: bool = Field(False, description="Show the bands, targets and error classes of all dialects.")
    allow_zero_overlap: bool = Field(
        False, description="Score a system that finds no gold at all, which is an error otherwise."
    )
    gate: Rules | None = Field(
        None, description='Rules that `karat gate` holds the run to: ["Recall@5 >= 0.6", "failed == 0"].'
    )
    seed: int = Field(0, ge=0, description="Of everything drawn at random.")
    budgets: BudgetKeys = Field(
        default_factory=lambda: BudgetKeys.model_validate({}),
        description="Limits for systems that are not karat's, and for chat models.",
    )
    runs_dir: Text = Field("runs", description="The folder in which runs are kept.")
    outputs: list[Output] = Field(
        ["html", "markdown", "text", "csv", "json", "png", "svg"],
        description="What a run writes beside its rows; png and svg are charts.",
    )

    def misfits(self) -> Iterator[Mistake]:
        yield from self._documents()
        yield from self._systems()
        yield from self._models()

    def _documents(self) -> Iterator[Mistake]:
        if self.corpus is not None and self.index is not None:
            yield ("index",), "stands beside corpus. Keep corpus to build an index, or index to use one that stands."
        for name in _BUILT:
            if self.index is not None and name in self.model_fields_set:
                remedy = "Remove it, or give corpus in place of index."
                yield (name,), f"has no effect on an index that stands already. {remedy}"
        for name in self.settings:
            if name not in self.engines:
                yield ("settings", name), f"is no engine that is built. These are: {', '.join(self.engines)}."
        if self.corpus is None and self.index is None:
            own = [i for i, system in enumerate(self.systems) if system.own and ":" not in system.own.engine]
            if own or self.sweep is not None:
                yield ("systems", own[0]) if own else ("sweep",), _NO_DOCUMENTS
        if not self.systems and self.sweep is None:
            yield ("systems",), "names nothing to compare. List presets, such as [pure_dense, balanced, pure_sparse]."

    def _systems(self) -> Iterator[Mistake]:
        first: dict[str, int] = {}
        for i, system in enumerate(self.systems):
            place: Place = ("systems", i, *(("name",) if system.name else ()))
            label, own = system.label, system.own
            if not label.isprintable() or len(label) > _LONGEST_NAME:
                yield place, f"must be at most {_LONGEST_NAME} printable characters. Shorten it."
            if first.setdefault(label, i) != i:
                other = f"the other is systems[{first[label]}]"
                yield place, f"two systems are called {label!r} ({other}). Give each a name of its own."
            if own is None or system.is_template:
                continue
            if own.needs_chat and self.model is None:
                yield ("systems", i), f"asks a chat model to rewrite or rerank, {_MODEL_NEEDED}"
            unbuilt = [name for name in own.consulted if ":" not in name and name not in self.engines]
            if unbuilt and self.index is None:
                built = ", ".join(self.engines)
                yield (
                    ("systems", i),
                    f"searches {unbuilt[0]!r}, which is not built. Add it to engines, which are {built}.",
                )
        names = list(first)
        for i, name in enumerate(self.answer.systems or () if self.answer is not None else ()):
            if self.sweep is None and name not in names:
                yield ("answer", "systems", i), f"no system is called {name!r}. There are {', '.join(names)}."

    def _models(self) -> Iterator[Mistake]:
        """What asks a model that is not named, or pays prices that are not."""
        if self.answer is not None and self.answer.by == CHAT and self.model is None:
            yield ("answer", "by"), f"chat asks a model, {_MODEL_NEEDED}"
        for key, value in (("model", self.model), ("judge_model", self.judge_model)):
            priced = value is None or None not in (value.price_in_usd, value.price_out_usd)
            if self.budgets.max_cost_usd is not None and not priced:
                yield (key,), "has no prices, so max_cost_usd could not be kept. Add price_in_usd and price_out_usd."
        if MODEL in (self.claims or ()) and self.model is None and self.judge_model is None:
            yield ("claims",), f"model asks a chat model, {_MODEL_NEEDED}"
        for key in ("judge", "measures"):
            for i, text in enumerate(getattr(self, key) or ()):
                if ":" in text or has_variables(text):
                    continue
                measures = parse_all(text, k=1)
                asking = [m for m in measures if "chat" in m.needs]
                claiming = [m for m in measures if m.relations]
                if claiming and not (self.claims or self.model or self.judge_model):
                    yield (
                        (key, i),
                        f"{claiming[0].name} needs claims. Add claims: lexical, a claims file, or a model.",
                    )
                if key == "judge" and not claiming and not any("chat" in m.spec.needs for m in measures):
                    yield (key, i), f"{text} asks no language model. List it under measures."
                elif asking and self.model is None and self.judge_model is None:
                    remedy = f"Or write {asking[0].without_chat}, which asks none and is labelled so."
                    yield (key, i), f"{asking[0].name} asks a language model, {_MODEL_NEEDED} {remedy}"
                if any("cross_encoder" in m.needs for m in measures) and self.cross_encoder is None:
                    yield (key, i), "needs a model. Add cross_encoder: FOLDER."

    def uses(self) -> Iterator[Use]:
        named = {key: getattr(self, key) for key in ("measures", "judge", "main")}
        for place, text in leaves(named):
            if text is not None and ":" in text.partition("(")[0]:
                yield Use(place, "code", text)
        own = self.settings.get("dense", {}).get("embedder")
        if isinstance(own, Mapping):
            yield from embedder_uses(("settings", "dense", "embedder"), EmbedderSettings.of(own))
        if self.cross_encoder is not None:
            yield Use(("cross_encoder",), "model", self.cross_encoder)
        for i, text in enumerate(self.claims or ()):
            if text.startswith(f"{NLI}:"):
                yield Use(("claims", i), "model", text)
        yield from super().uses()


def json_schema() -> dict[str, Any]:
    """The JSON Schema of karat.yaml."""
    schema = SpecKeys.model_json_schema(mode="validation")
    _untitle(schema)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_ID, "title": "karat.yaml"}
    return {**head, **schema}


def _untitle(schema: Any) -> None:
    """Take out the titles that only repeat the names of keys."""
    if isinstance(schema, dict):
        if isinstance(schema.get("title"), str):
            del schema["title"]
        for inner in schema.values():
            _untitle(inner)
    elif isinstance(schema, list):
        for inner in schema:
            _untitle(inner)
