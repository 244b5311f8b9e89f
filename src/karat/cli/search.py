"""karat search: the chunks of an index that a query finds."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat.cli._options import (
    MOST_HITS,
    Debug,
    Json,
    Map,
    Match,
    PageOffset,
    Pages,
    Quiet,
    Verbose,
    columns_of,
    refuse,
    system_of,
    with_hosts,
    with_system,
)
from karat.cli._output import FAILED, announcer, leave, show
from karat.core.errors import UsageError

if TYPE_CHECKING:
    from karat.report.document import Document
    from karat.systems.hits import Hits

K, K_OF_QUESTIONS = 5, 20


@with_hosts
@with_system
def command(
    index: Annotated[str, typer.Argument(help="A folder that `karat index` wrote; - with a store of another tool.")],
    query: Annotated[str | None, typer.Argument(help="What to search for.")] = None,
    k: Annotated[
        int | None,
        typer.Option("-k", max=MOST_HITS, help="How many chunks to find: 5, and 20 for a file of --questions."),
    ] = None,
    questions: Annotated[
        str | None, typer.Option("--questions", help="Search every question of a test set instead; needs -o.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="Write what was found as results: .jsonl, .run, .tsv ...")
    ] = None,
    explained: Annotated[
        str | None,
        typer.Option("--explain", metavar="ID", help="Show this question of --questions step by step, with its gold."),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option("-m", "--measure", help="With --explain: ranking measures to work out. Repeatable."),
    ] = None,
    match: Match = "auto",
    page_offset: PageOffset = 0,
    pages: Pages = "physical",
    map_: Map = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
    **options: Any,
) -> None:
    """Search an index or a store of another tool: one query, or a whole test set.

    A higher score is better, whatever the engine. With --questions and -o the hits become a results file that
    `karat score` reads. --explain shows one question: what each engine found, how it was fused, what is gold, how it
    is scored. Exit codes: 0 done, 2 bad input, 5 done but a model or a store failed on some questions.
    """
    from karat.experiment.explain import explain
    from karat.experiment.search import search_all
    from karat.report import objects
    from karat.report.build.explanation import document
    from karat.systems.chunk_columns import check_pages
    from karat.systems.hits import search_one
    from karat.systems.index_folder import is_index

    reading: dict[str, Any] = {"pages": check_pages(pages), "columns": columns_of(map_)}
    printing = {"as_json": as_json, "verbose": verbose}
    if explained is None:
        refuse({"measure": measure or None}, "is for --explain: `karat score` measures a file of results.")
        matched = {"match": match if match != "auto" else None, "page_offset": page_offset or None}
        refuse(matched, "is for --explain: `karat score` matches the hits of a file with the gold.")
    if questions is not None and explained is not None:
        refuse({"output": output}, "is for the hits of all questions. Leave --explain or -o out.")
        if query is not None:
            raise UsageError(f"--explain shows question {explained!r} of {questions}: leave the query out.")
        if is_index(questions) and not is_index(index):
            raise UsageError(f"the index comes first: karat search {questions} --questions {index} ...")
        with system_of(index, **options) as system:
            steps = explain(
                questions, system, explained, k=K if k is None else k, measures=measure or (), match=match,
                page_offset=page_offset, **reading,
            )  # fmt: skip
        show(steps, document, objects.explanation, **printing)
        return
    if questions is not None:
        if query is not None or output is None:
            raise UsageError("--questions searches every question of a file: name -o FILE for the hits, and no query.")
        with system_of(index, announce=announcer(quiet), **options) as system:
            lines, failed = search_all(system, questions, output, k=K_OF_QUESTIONS if k is None else k, **reading)
        for line in lines:
            typer.echo(line, err=True)
        if failed:
            leave(FAILED)
        return
    refuse({"explain": explained}, "shows a question of a test set: name that with --questions FILE.")
    if query is None or not query.strip():
        raise UsageError("no query. Write what to search for, or --questions FILE -o RESULTS.")
    refuse({"output": output}, "writes the hits of --questions FILE. For one query, use --json.")
    with system_of(index, **options) as system:
        hits = search_one(system, query, K if k is None else k)
    show(hits, partial(_document, quiet=quiet, full=verbose), lambda hits: objects.hits(hits.about, hits), **printing)


def _document(hits: Hits, *, quiet: bool, full: bool) -> Document:
    from karat.report.build.explanation import hits_document

    about = hits.about
    notes = [] if quiet else [f"{about['system']}, k={about['k']}", *about["changes"], *about["notes"]]
    return hits_document(hits, notes, full=full)
