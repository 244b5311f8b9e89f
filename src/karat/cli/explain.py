"""karat explain: how one question came to its hits and its scores."""

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
    Match,
    Normalise,
    PageOffset,
    Pages,
    Rerank,
    RerankDepth,
    Rewrite,
    RrfK,
    system_of,
)


def command(
    testset: Annotated[str, typer.Argument(help="Questions with gold: any format of docs/formats.md.")],
    index: Annotated[str, typer.Argument(help="A folder that `karat index` wrote; - with a store of another tool.")],
    question: Annotated[str, typer.Option("--question", help="The id of the question.")],
    k: Annotated[int, typer.Option("-k", help="How many chunks the result has.")] = 5,
    measure: Annotated[
        list[str] | None, typer.Option("-m", "--measure", help="Which ranking measures to work out. Repeatable.")
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
    match: Match = "auto",
    page_offset: PageOffset = 0,
    pages: Pages = "physical",
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Show one question step by step: what each engine found, how it was fused, what is gold, how it is scored."""
    from karat.experiment.explain import explain
    from karat.experiment.system import check_pages
    from karat.report import explained

    system = system_of(
        index, engine=engine, alpha=alpha, fusion=fusion, normalise=normalise, rrf_k=rrf_k, legs=legs, depth=depth,
        rewrite=rewrite, rerank=rerank, rerank_depth=rerank_depth, embedder=embedder, base_url=base_url,
        key_env=key_env,
    )  # fmt: skip
    found = explain(
        testset, system, question, k=k, measures=measure or (), match=match, page_offset=page_offset,
        pages=check_pages(pages),
    )  # fmt: skip
    if as_json:
        typer.echo(explained.as_json(found))
    else:
        explained.show(found, sys.stdout)
