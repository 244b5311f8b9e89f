"""The parts: whatever has a registry, with what each entry says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from docs.generator.markdown import code, first_line, listed, page, sentence, table

_SECTIONS = (  # title, what it is for, module, registry, columns
    ("Matchers", "`--match`", "karat.match._matcher", "MATCHERS", ("unit", "summary")),
    ("Formats", "Test sets and results", "karat.files._format", "formats", ("about", "reads", "writes")),
    ("Readers", "What `karat index` reads", "karat.corpus._reader", "READERS", ("about", "endings")),
    ("Chunkers", "`--chunk NAME:SIZE:OVERLAP`", "karat.corpus._chunk", "CHUNKERS", ("summary", "unit", "size")),
    ("Engines", "`--engine`", "karat.retrieve._engine", "ENGINES", ("docstring",)),
    ("Stores", "`--engine NAME:TARGET`, searched as it is", "karat.retrieve._engine", "STORES", ("docstring",)),
    ("Embedders", "`--embedder`", "karat.models._embedder", "EMBEDDERS", ("module",)),
    ("Fusions", "`--fusion`", "karat.fuse._fusion", "FUSIONS", ("summary", "settings")),
    ("Rewriters", "`--rewrite`", "karat.retrieve.rewrite", "REWRITERS", ("module",)),
    ("Answerers", "`--answer`", "karat.answer._answerer", "ANSWERERS", ("module",)),
    ("Question kinds", "`--kinds`", "karat.testset._kind", "KINDS", ("summary", "pieces", "adversarial")),
    ("Checks", "`karat testset check`", "karat.testset.check._check", "CHECKS", ("summary", "needs_index")),
    ("Filters", "What a generated question must pass", "karat.testset.check._check", "FILTERS", ("summary",)),
    ("Charts", "In `charts/` of a run and in its report", "karat.report.charts._chart", "CHARTS", ("title", "about")),
    ("Reports", "`-o FILE`, and what `-o FOLDER` gets", "karat.report._output", "OUTPUTS", ("ending", "files")),
    ("Trackers", "`karat show RUN --to NAME`", "karat.report._tracker", "TRACKERS", ("about",)),
)
_HEADS = {
    "summary": "what it does",
    "about": "what it is",
    "docstring": "what it is",
    "module": "what it is",
    "pieces": "chunks",
    "needs_index": "needs an index",
}
_FIELDS = {
    "TESTSET": "A test set",
    "RESULTS": "Results",
    "HIT": "One hit or gold entry",
    "TABLE": "A table with one row per hit or judgement",
    "LABELS": "Labels by people",
}


def parts() -> str:
    """Every registry, the dialects and the field names."""
    sections = [text for section in _SECTIONS for text in _section(*section)]
    about = "What is built in. Packages add entries by entry points: [Extend karat](../extend/README.md)."
    return page("Parts", about, [*sections, *_dialects(), *_fields()])


def _section(title: str, about: str, module: str, name: str, columns: Sequence[str]) -> Iterator[str]:
    registry = getattr(import_module(module), name)
    registry = registry() if callable(registry) else registry
    entries = [(n, registry.get(n)) for n in registry.names() if not registry.is_plugin(n)]
    entries.sort(key=lambda entry: getattr(entry[1], "order", 0))
    rows = ((code(getattr(e, "name", n)), *(_column(e, column) for column in columns)) for n, e in entries)
    yield f"## {title}"
    yield sentence(about)
    yield table(("name", *(_HEADS.get(column, column) for column in columns)), rows)


def _column(entry: Any, column: str) -> str:
    """What an entry says of itself."""
    if column == "docstring":
        return first_line(entry)
    if column == "module":
        return sentence(first_line(import_module(entry.__module__)).partition(": ")[2]) or first_line(entry)
    if column in ("reads", "writes"):
        kinds = {"testset": "test sets", "results": "results"}
        return ", ".join(text for kind, text in kinds.items() if getattr(entry, f"{column[:-1]}_{kind}"))
    value = getattr(entry, column)
    if isinstance(value, bool):
        return "yes" if value else ""
    if column == "settings":
        return listed(f"{name}={default}" for name, default in value.items())
    if isinstance(value, tuple | dict):
        return listed(value)
    return code(value) if column == "ending" else "" if value is None else str(value)


def _dialects() -> Iterator[str]:
    from karat.measures.dialects import DIALECTS

    yield "## Dialects"
    yield "`--dialect`: how another tool counts. What differs, and what that can hide, is printed with the scores."
    head = ("dialect", "what it is", "match", "repeats", "default measures", "question without gold", "missing answer")
    yield table(head, (_dialect(dialect) for dialect in DIALECTS.values()))
    meanings = ((d.name, name, meaning) for d in DIALECTS.values() for name, meaning in d.meanings.items())
    yield table(("under", "you write", "computed and printed"), ([code(text) for text in row] for row in meanings))
    for dialect in DIALECTS.values():
        if dialect.differs:
            yield f"**`{dialect.name}`.** {' '.join(dialect.differs)}"


def _dialect(dialect: Any) -> Sequence[str]:
    ranking = [name.replace("{K}", dialect.cuts) for name in dialect.ranking]
    return (
        code(dialect.name),
        dialect.about,
        code(dialect.match),
        code(dialect.repeats),
        listed([*ranking, *dialect.answers, *dialect.by_model]),
        "0" if dialect.no_gold_is_zero else "undefined",
        "0" if dialect.missing == "zero" else "left out",
    )


def _fields() -> Iterator[str]:
    fields = import_module("karat.io.fields")
    yield "## Field names"
    yield "Case, `-`, `_` and blanks do not matter. `--map COLUMN=FIELD` reads any other column as a field."
    for name, title in _FIELDS.items():
        rows = ((code(f), listed(n for n in names if n != f)) for f, names in getattr(fields, name).items())
        yield f"### {title}"
        yield table(("field", "also read as"), rows)
