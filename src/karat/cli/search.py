"""karat search: the chunks of an index that a query finds."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from karat.cli._options import (
    MOST_HITS,
    Debug,
    Json,
    Map,
    Pages,
    Quiet,
    Verbose,
    columns_of,
    system_of,
    with_hosts,
    with_system,
)


@with_hosts
@with_system
def command(
    index: Annotated[str, typer.Argument(help="A folder that `karat index` wrote; - with a store of another tool.")],
    query: Annotated[str | None, typer.Argument(help="What to search for.")] = None,
    k: Annotated[
        int | None,
        typer.Option("-k", max=MOST_HITS, help="How many chunks to find: 5 by default, 20 with --questions."),
    ] = None,
    questions: Annotated[
        str | None, typer.Option("--questions", help="Search every question of a test set instead; needs -o.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="Write what was found as results: .jsonl, .run, .tsv ...")
    ] = None,
    map_: Map = None,
    pages: Pages = "physical",
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
    **options: Any,
) -> None:
    """Search an index, or a FAISS or Chroma store, with one query or with all questions of a test set.

    A higher score is better, whatever the engine. With --questions and -o the hits become a results file that
    `karat score` reads. Exit codes: 0 done, 2 bad input, 5 done but a model failed on some questions.
    """
    from karat.cli.run import announced
    from karat.core.errors import UsageError
    from karat.experiment.search import search_all
    from karat.report import objects
    from karat.report.build.explanation import hits_document
    from karat.report.render import console
    from karat.systems.hits import search_one
    from karat.systems.retrieval import check_pages

    counted = check_pages(pages)
    if questions is not None:
        if query is not None or output is None:
            raise UsageError("--questions searches every question of a file: name -o FILE for the hits, and no query.")
        with system_of(index, announce=None if quiet else announced, **options) as system:
            said, failed = search_all(
                system, questions, output, k=20 if k is None else k, pages=counted, columns=columns_of(map_)
            )
        for line in said:
            typer.echo(line, err=True)
        if failed:
            raise typer.Exit(5)
        return
    if query is None or not query.strip():
        raise UsageError("no query. Write what to search for, or --questions FILE -o RESULTS.")
    if output is not None:
        raise UsageError("-o writes the hits of --questions FILE. For one query, use --json.")
    with system_of(index, **options) as system:
        hits = search_one(system, query, 5 if k is None else k)
    about = hits.about
    if as_json:
        typer.echo(objects.hits(about, hits))
    else:
        notes = [] if quiet else [f"{about['system']}, k={about['k']}", *about["changes"], *about["notes"]]
        console.show(hits_document(hits, notes, full=verbose), sys.stdout, verbose=verbose)
