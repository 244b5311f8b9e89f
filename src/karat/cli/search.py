"""karat search: the chunks of an index that a query finds."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from karat.cli._options import (
    Alpha,
    BaseUrl,
    Debug,
    Depth,
    Embedder,
    Engine,
    Fusion,
    Json,
    KeyEnv,
    Legs,
    Normalise,
    Pages,
    Quiet,
    Rerank,
    RerankDepth,
    Rewrite,
    RrfK,
    Verbose,
    system_of,
)


def command(
    index: Annotated[str, typer.Argument(help="A folder that `karat index` wrote; - with a store of another tool.")],
    query: Annotated[str | None, typer.Argument(help="What to search for.")] = None,
    k: Annotated[
        int | None, typer.Option("-k", help="How many chunks to find: 5 by default, 20 with --questions.")
    ] = None,
    engine: Engine = "hybrid",
    alpha: Alpha = 0.5,
    fusion: Fusion = "weighted",
    normalise: Normalise = "minmax",
    rrf_k: RrfK = 60,
    legs: Legs = "dense,bm25",
    depth: Depth = 100,
    rewrite: Rewrite = None,
    rerank: Rerank = None,
    rerank_depth: RerankDepth = 20,
    embedder: Embedder = None,
    base_url: BaseUrl = None,
    key_env: KeyEnv = "OPENAI_API_KEY",
    questions: Annotated[
        str | None, typer.Option("--questions", help="Search every question of a test set instead; needs -o.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="Write what was found as results: .jsonl, .run, .tsv ...")
    ] = None,
    pages: Pages = "physical",
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Search an index, or a FAISS or Chroma store, with one query or with all questions of a test set.

    A higher score is better, whatever the engine. With --questions and -o the hits become a results file that
    `karat score` reads.
    """
    from karat.core.errors import UsageError
    from karat.experiment.search import search_all, search_one
    from karat.experiment.system import check_pages
    from karat.report import found

    counted = check_pages(pages)
    system = system_of(
        index, engine=engine, alpha=alpha, fusion=fusion, normalise=normalise, rrf_k=rrf_k, legs=legs, depth=depth,
        rewrite=rewrite, rerank=rerank, rerank_depth=rerank_depth, embedder=embedder, base_url=base_url,
        key_env=key_env,
    )  # fmt: skip
    if questions is not None:
        if query is not None or output is None:
            raise UsageError("--questions searches every question of a file: name -o FILE for the hits, and no query.")
        for line in search_all(system, questions, output, k=20 if k is None else k, pages=counted):
            typer.echo(line, err=True)
        return
    if query is None or not query.strip():
        raise UsageError("no query. Write what to search for, or --questions FILE -o RESULTS.")
    if output is not None:
        raise UsageError("-o writes the hits of --questions FILE. For one query, use --json.")
    about, hits = search_one(system, query, 5 if k is None else k)
    if as_json:
        typer.echo(found.as_json(about, hits))
    else:
        notes = [] if quiet else [f"{about['system']}, k={about['k']}", *about["changes"], *about["notes"]]
        found.show(hits, notes, sys.stdout, full=verbose)
