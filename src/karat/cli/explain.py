"""karat explain: how one question came to its hits and its scores."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from karat.cli._options import (
    MOST_HITS,
    Debug,
    Json,
    Map,
    Match,
    PageOffset,
    Pages,
    columns_of,
    system_of,
    with_hosts,
    with_system,
)


@with_hosts
@with_system
def command(
    testset: Annotated[str, typer.Argument(help="Questions with gold: any format of docs/formats.md.")],
    index: Annotated[str, typer.Argument(help="A folder that `karat index` wrote; - with a store of another tool.")],
    question: Annotated[str, typer.Option("--question", help="The id of the question.")],
    k: Annotated[int, typer.Option("-k", max=MOST_HITS, help="How many chunks the result has.")] = 5,
    measure: Annotated[
        list[str] | None, typer.Option("-m", "--measure", help="Which ranking measures to work out. Repeatable.")
    ] = None,
    match: Match = "auto",
    page_offset: PageOffset = 0,
    pages: Pages = "physical",
    map_: Map = None,
    as_json: Json = False,
    debug: Debug = False,
    **options: Any,
) -> None:
    """Show one question step by step: what engines found, how it was fused, what is gold, how it is scored."""
    from karat.experiment.explain import explain
    from karat.report import objects
    from karat.report.build.explanation import document
    from karat.report.render import console
    from karat.systems.index import check_order
    from karat.systems.retrieval import check_pages

    check_order(testset, index)
    with system_of(index, **options) as system:
        found = explain(
            testset, system, question, k=k, measures=measure or (), match=match, page_offset=page_offset,
            pages=check_pages(pages), columns=columns_of(map_),
        )  # fmt: skip
    if as_json:
        typer.echo(objects.explanation(found))
    else:
        console.show(document(found), sys.stdout)
