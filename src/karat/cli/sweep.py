"""karat sweep: many configurations of retrieval, scored from one search."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from karat.cli._options import (
    Debug,
    Dialect,
    Json,
    Map,
    Match,
    PageOffset,
    Pages,
    Quiet,
    Rewrite,
    Verbose,
    columns_of,
    with_hosts,
    with_pool,
)
from karat.cli._output import counted_on_terminal, show


@with_hosts
@with_pool
def command(
    testset: Annotated[
        str | None,
        typer.Argument(
            help="Questions with gold: CSV, TSV, JSON, JSONL, Parquet, qrels, SQuAD, BEIR, FOLDER#SPLIT ..."
        ),
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Argument(metavar="INDEX", help="An index; with --chunk or --embedder the documents to index."),
    ] = None,
    alpha: Annotated[
        str, typer.Option("--alpha", help="Weights of the dense engine: a range 0:1:0.1, a list 0.3,0.5 or both.")
    ] = "0:1:0.1",
    k: Annotated[str, typer.Option("-k", help="Cut-offs: 3,5,7 or a range 5:20:5.")] = "3,5,7,10,15",
    fusion: Annotated[str, typer.Option("--fusion", help="Of weighted, rrf, combsum, combmnz, isr.")] = "weighted",
    normalise: Annotated[
        str, typer.Option("--normalise", help="Of a weighted fusion: max, minmax, zscore, none.")
    ] = "max",
    rrf_k: Annotated[str, typer.Option("--rrf-k", help="Constants of rrf.")] = "60",
    depth: Annotated[str, typer.Option("--depth", help="Candidates that each engine returns.")] = "100",
    legs: Annotated[
        str, typer.Option("--legs", help="Engines that are fused, dense first for --alpha.")
    ] = "dense,bm25",
    engines: Annotated[
        str, typer.Option("--engines", help="Engines of the index to score alone, beside the fusions.")
    ] = "",
    rewrite: Rewrite = None,
    chunk: Annotated[
        str, typer.Option("--chunk", help="Chunkings to sweep, as in `karat index`: tokens:100:20,tokens:200:40.")
    ] = "",
    embedder: Annotated[
        str, typer.Option("--embedder", help="Embedders to sweep, as in `karat index`: wordllama,multilingual.")
    ] = "",
    work: Annotated[
        str | None,
        typer.Option("--work", help="A folder that keeps the indexes of --chunk and --embedder for the next sweep."),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option("-m", "--measure", help="Measures to score beside the main one. Repeatable."),
    ] = None,
    main: Annotated[
        str | None,
        typer.Option("--main", help="The measure that decides: Recall (at every -k), Recall@5, Recall@800t ..."),
    ] = None,
    by: Annotated[str, typer.Option("--by", help="Choose for each value of this slice too: kind or a tag.")] = "kind",
    dialect: Dialect = "karat",
    match: Match = "auto",
    page_offset: PageOffset = 0,
    pages: Pages = "physical",
    map_: Map = None,
    allow_zero_overlap: Annotated[
        bool, typer.Option("--allow-zero-overlap", help="Accept that no configuration finds any gold.")
    ] = False,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help="A folder for the grid and every row, or a file: .json .csv .txt."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of tests and folds.")] = 0,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
    **options: Any,
) -> None:
    """Score every combination of fusion, alpha, depth and cut-off, and choose one.

    Without arguments karat.yaml says what to sweep. Each engine is searched once. The best
    configuration at a cut-off is printed with its interval and with those that do not differ significantly from it.
    """
    from karat.core.errors import UsageError
    from karat.experiment.run import sweep_of
    from karat.experiment.spec import load_spec
    from karat.experiment.sweep import sweep
    from karat.experiment.sweep.grid import Grid
    from karat.report import objects
    from karat.report.build.sweep import document
    from karat.systems.index import check_order

    grid = Grid.of(
        alpha=alpha, k=k, fusion=fusion, normalise=normalise, rrf_k=rrf_k, depth=depth, legs=legs, engines=engines,
        rewrite=rewrite or (), chunk=chunk, embedder=embedder,
    )  # fmt: skip
    progress = counted_on_terminal(quiet or as_json)
    if testset is None:
        swept = sweep_of(load_spec(), say=progress, **options)
    else:
        if not source:
            raise UsageError("name an index beside the test set: `karat sweep TESTSET INDEX`.")
        if len(source) > 1 and not chunk and not embedder:
            raise UsageError(f"one index is swept at a time, and {len(source)} are named.")
        check_order(testset, source[0])
        swept = sweep(
            testset, source[0] if len(source) == 1 else source, grid, measures=measure, main=main, dialect=dialect,
            matching={
                "match": None if match == "auto" else match, "page_offset": page_offset, "pages": pages,
                "allow_zero_overlap": allow_zero_overlap,
            },
            columns=columns_of(map_), work=work, progress=progress, **options,
        )  # fmt: skip
    progress("choosing", 0, 1)
    view = swept.view(by=by, seed=seed)
    progress("", 0, 0)
    written = swept.save(output, view) if output else []
    show(view, document, objects.sweep, as_json=as_json, quiet=quiet, verbose=verbose)
    for path in () if as_json else written:
        typer.echo(f"wrote {path}", err=True)
