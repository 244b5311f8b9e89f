"""karat testset check: what is wrong with a test set."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from karat.cli._options import (
    Debug,
    Json,
    Map,
    Match,
    Only,
    PageOffset,
    Pages,
    Quiet,
    Seed,
    Testset,
    Verbose,
    columns_of,
)
from karat.cli._output import BROKEN, leave, print_json, progress_on_terminal, show_document
from karat.core.errors import UsageError, did_you_mean


def command(
    testset: Testset,
    index: Annotated[
        str, typer.Argument(help="A folder that `karat index` wrote; - for only what needs no documents.")
    ] = "-",
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="A file to write it to as well: .md, .json or .txt.")
    ] = None,
    results: Annotated[
        list[str] | None, typer.Option("--results", help="Results over this index to look at as well. Repeatable.")
    ] = None,
    only: Only = None,
    match: Match = "auto",
    page_offset: PageOffset = 0,
    pages: Pages = "physical",
    seed: Seed = 0,
    map_: Map = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Find faults of a test set: gold that cannot be found, bad questions, gaps.

    Exit codes: 0 nothing is broken, 2 bad input, 4 something is broken.
    """
    from pathlib import Path

    from karat.experiment.audit import audit
    from karat.experiment.check import check
    from karat.io.writing import write_whole
    from karat.report.build.findings import audit_document, checkup_document
    from karat.report.render import written
    from karat.systems.index import check_order
    from karat.systems.retrieval import check_pages

    ending = Path(output).suffix.lower() if output is not None else ".md"
    if ending not in (".md", ".json", ".txt"):
        raise UsageError(f"-o {output}: what is found is written as .md, .json or .txt. Choose one of these endings.")
    progress = progress_on_terminal(quiet or as_json)
    options: dict[str, Any] = {
        "match": match, "page_offset": page_offset, "pages": check_pages(pages), "columns": columns_of(map_),
        "progress": progress,
    }  # fmt: skip
    checked, audited = _split(only or ())
    checkup = questions = None
    if index != "-":
        check_order(testset, index)
    if index != "-" and (checked or not audited):
        checkup = check(testset, index, results=results or None, only=checked, audit=False, **options)
    if audited or not checked:
        questions = audit(testset, index, only=audited, seed=seed, **options)
    progress("")
    documents = [checkup_document(checkup)] if checkup is not None else []
    documents += [audit_document(questions)] if questions is not None else []
    plain = questions.plain() if questions is not None else None
    plain = plain if checkup is None else {**checkup.plain(), "audit": plain}
    if output is not None:
        text = json.dumps(plain, indent=2) + "\n"
        write_whole(output, text if ending == ".json" else "\n".join(written(one, ending) for one in documents))
    if as_json:
        print_json(plain)
    else:
        for document in documents:
            show_document(document, quiet=quiet, verbose=verbose)
    if (checkup is not None and checkup.broken) or (questions is not None and questions.broken):
        leave(BROKEN)


def _split(only: Sequence[str]) -> tuple[list[str], list[str]]:
    """The checks of --only that look for gold, and those that look at questions."""
    from karat.testset.check import AUDIT_CHECKS, CHECKS

    gold, questions = [check.name for check in CHECKS], [check.name for check in AUDIT_CHECKS]
    for name in only:
        if name not in (*gold, *questions):
            near = did_you_mean(name, [*gold, *questions])
            raise UsageError(f"there is no check {name!r}.{near} There are {', '.join([*gold, *questions])}.")
    return [name for name in only if name in gold], [name for name in only if name in questions]
