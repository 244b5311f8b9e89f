"""karat index: documents in, a searchable folder out."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from karat.cli._options import Debug, Json, Map, Quiet, Verbose, columns_of, refuse, with_hosts, with_pool
from karat.cli._output import FAILED, counted_on_terminal, leave, show_document


@with_hosts
@with_pool
def command(
    sources: Annotated[
        list[str],
        typer.Argument(
            help="Folders or files: pdf, md, html, docx, txt, jsonl, csv, parquet, BEIR, FOLDER#SPLIT.", metavar="DOCS"
        ),
    ],
    output: Annotated[str, typer.Option("-o", "--output", help="The folder to write, for example handbook.index.")],
    chunk: Annotated[
        str,
        typer.Option("--chunk", help="tokens:SIZE:OVERLAP, sentences:SIZE:OVERLAP, section[:SIZE], page or whole."),
    ] = "tokens:200:40",
    titles: Annotated[
        bool, typer.Option("--titles/--no-titles", help="Search chunks by their titles as well as their texts.")
    ] = True,
    engine: Annotated[
        list[str] | None, typer.Option("--engine", help="What to build; bm25 and dense by default. Repeatable.")
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option(
            "--embedder",
            help="wordllama, sbert[:FOLDER], multilingual, onnx:FOLDER or openai:MODEL; by the language of the "
            "documents unless given.",
        ),
    ] = None,
    query_prefix: Annotated[str, typer.Option("--query-prefix", help="Put before each query that is embedded.")] = "",
    passage_prefix: Annotated[
        str, typer.Option("--passage-prefix", help="Put before each passage that is embedded.")
    ] = "",
    base_url: Annotated[
        str | None, typer.Option("--base-url", help="Of an OpenAI-compatible endpoint, for openai:MODEL.")
    ] = None,
    key_env: Annotated[
        str, typer.Option("--key-env", help="The environment variable that holds the endpoint's key.")
    ] = "OPENAI_API_KEY",
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="ENGINE.NAME=VALUE", help="A setting of an engine: bm25.k1=1.2. Repeatable."),
    ] = None,
    map_: Map = None,
    max_memory: Annotated[
        int | None, typer.Option("--max-memory", metavar="MB", help="Memory that reading one file may take; 1024.")
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option("--max-seconds", help="Seconds that reading one file may take; 120.")
    ] = None,
    max_pages: Annotated[int | None, typer.Option("--max-pages", help="Pages that one file may have; 20000.")] = None,
    max_text: Annotated[
        int | None, typer.Option("--max-text", metavar="MB", help="Text that one file may hold; 64.")
    ] = None,
    follow_links: Annotated[
        bool, typer.Option("--follow-links", help="Follow links that lead out of a folder of documents.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            "-j", "--jobs", metavar="N", help="Processes that work on a large corpus at a time; one for each processor."
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
    **options: Any,
) -> None:
    """Read documents, cut them into chunks and build search engines over them.

    A document that cannot be read is named and counted, and does not stop the rest. A large corpus is worked on in
    pieces: built again, or after it was stopped, only pieces that changed or are missing are built. Exit codes: 0
    done, 2 bad input, 5 done but some documents could not be read or an engine could not be built.
    """
    from karat.models import EmbedderSettings
    from karat.report import objects
    from karat.report.build.index import document
    from karat.systems.defaults import default_line
    from karat.systems.index import ENGINES_BUILT, index

    if embedder is None:
        asked = {"query_prefix": query_prefix, "passage_prefix": passage_prefix, "base_url": base_url}
        refuse({name: value or None for name, value in asked.items()},
               "is for an embedder that you name: add --embedder, or leave it out.")  # fmt: skip
    chosen = embedder and EmbedderSettings.parse(
        embedder, query_prefix=query_prefix, passage_prefix=passage_prefix, base_url=base_url, key_env=key_env
    )
    progress = counted_on_terminal(quiet or as_json)
    built = index(
        sources, output, chunk=chunk, titles=titles, engines=engine or ENGINES_BUILT, embedder=chosen,
        settings=_settings(set_), columns=columns_of(map_), progress=progress, follow_links=follow_links,
        limits={"memory_mb": max_memory, "seconds": max_seconds, "pages": max_pages, "text_mb": max_text}, jobs=jobs,
        **options,
    )  # fmt: skip
    progress("", 0, 0)
    if as_json:
        typer.echo(objects.index(built.about, str(output)))
    else:
        reused = None if built.reuse is None else built.reuse.line
        show_document(document(built.about, str(output), default_line(built), reused), quiet=quiet, verbose=verbose)
    if any(problem.fatal for problem in built.problems):
        leave(FAILED)


def _settings(pairs: list[str] | None) -> dict[str, dict[str, object]]:
    """`--set` values by engine; a value that reads as JSON is that, any other is text."""
    import json

    from karat.core.errors import UsageError

    settings: dict[str, dict[str, object]] = {}
    for pair in pairs or ():
        name, equals, text = pair.partition("=")
        engine, dot, setting = name.partition(".")
        if not (equals and dot and engine and setting):
            raise UsageError(f"--set {pair!r}: write ENGINE.NAME=VALUE, for example --set bm25.k1=1.2.")
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        settings.setdefault(engine, {})[setting] = value
    return settings
