"""The keys of karat.yaml: their names, shapes and descriptions, from which the JSON Schema is made."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from karat.experiment.spec._answers import AnswerValue, ModelValue
from karat.experiment.spec._fields import (
    BudgetKeys,
    Cut,
    Cuts,
    Embedders,
    Filter,
    KeysModel,
    Output,
    ReadingKeys,
    Slices,
    SweepKeys,
    Text,
    Texts,
)
from karat.experiment.spec._systems import SystemEntry

SCHEMA_ID = "karat.schema.json"


class SpecKeys(KeysModel):
    """An experiment: documents, questions, systems, and how they are compared."""

    name: Text = Field("experiment", description="Part of the name of a run's folder.")
    corpus: Texts | None = Field(None, description="Documents: a folder or file, or a list of them.")
    reading: ReadingKeys | None = Field(
        None, description="What reading one document of the corpus may take, and whether links are followed."
    )
    index: Text | None = Field(None, description="An index that stands already, in place of corpus.")
    testset: Text = Field(description="Questions with gold, in any format that karat score reads.")
    map: dict[Text, Text] | None = Field(
        None, description="Columns of the test set and of results files, and the fields they are."
    )
    where: Filter = Field(
        default_factory=dict, description="Only questions of which kind, a tag or answerable has this value."
    )
    chunk: Texts = Field(["tokens:200:40"], description="How documents are cut; several are swept.")
    titles: bool = Field(True, description="Search chunks by their titles as well as their texts.")
    engines: Texts = Field(["bm25", "dense"], description="What is built over the chunks.")
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
    judge: Texts | None = Field(
        None, description="What a language model measures: Faithfulness, Correctness and others; nothing unless given."
    )
    judge_model: ModelValue | None = Field(None, description="The chat model that judges; `model` unless given.")
    judge_repeat: Cut = Field(1, description="How often it is asked the same.")
    cross_encoder: Text | None = Field(None, description="A folder with a model, for the measure CrossEncoder.")
    k: Cuts | None = Field(None, description="Cut-offs, those of the dialect unless given.")
    measures: Texts | None = Field(
        None, description="What is computed, the dialect's set unless given; @k stands for each cut-off."
    )
    main: Text | None = Field(None, description="The measure systems are ranked by: Recall@5, or the dialect's first.")
    by: Slices = Field(default_factory=list, description="Slices: kind, any tag, answerable.")
    dialect: Text = Field("karat", description="Whose meaning of the measures: see dialects.")
    match: Text | None = Field(None, description="How hits and gold are matched; the dialect's way unless given.")
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
    gate: Texts | None = Field(
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


def json_schema() -> dict[str, Any]:
    """The JSON Schema of karat.yaml."""
    made = SpecKeys.model_json_schema(mode="validation")
    _untitle(made)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_ID, "title": "karat.yaml"}
    return {**head, **made}


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
