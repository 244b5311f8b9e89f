"""page: the hit stands on the gold page of the gold file; page alone when there is only one file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from karat.core.run import Run
from karat.core.text.words import excerpt
from karat.core.types import Gold
from karat.match._files import FileNames
from karat.match._matcher import (
    Keys,
    Matcher,
    MatchInputs,
    Reason,
    Rule,
    best_share,
    column,
    ids_of,
    share_matching,
)

if TYPE_CHECKING:
    from karat.match._resolve import IndexView


@lru_cache(maxsize=65536)
def _key(file: str | None, page: str) -> Gold:
    """A page of a file; of any file where none is compared."""
    return Gold(doc=file, page=page)


def _prepare(inputs: MatchInputs) -> Rule:
    options = inputs.options
    files = None if options.any_file else FileNames(inputs.golds, inputs.runs)

    def gold_keys(gold: Gold) -> Keys:
        if files is not None and files.is_ambiguous(gold):
            return None
        file = files.of_gold(gold) if files is not None else None
        return tuple(_key(file, p) for p in options.gold_pages(gold.page if gold.page is not None else gold.id))

    def hit_keys(run: Run) -> Sequence[Keys]:
        pages = column(run, "page") or run.doc_list
        of_hits = files.of_run(run) if files is not None else [None] * len(run)
        return [
            tuple(_key(file, number) for number in options.hit_pages(page))
            for file, page in zip(of_hits, pages, strict=True)
        ]

    return gold_keys, hit_keys


def _ambiguity(inputs: MatchInputs) -> str | None:
    if inputs.options.any_file:
        return None
    why = FileNames(inputs.golds, inputs.runs).ambiguity("page")
    return why and f"{why} --dialect healthcare counts a page number in any file."


def _lacks(run: Run) -> str | None:
    numbers = share_matching(str.isdecimal, run.docs) > 0.5
    return None if not len(run) or numbers or column(run, "page") is not None else "page"


def _fits(inputs: MatchInputs) -> str | None:
    has_pages = any(column(run, "page") is not None for run in inputs.runs)
    if any(g.page is not None for g in inputs.golds):
        if has_pages:
            return "the gold names pages and the hits say which page they stand on"
        if best_share(str.isdecimal, inputs.runs) > 0.5:
            return "the gold names pages and the ids of the hits are numbers"
    elif has_pages and share_matching(str.isdecimal, ids_of(inputs.golds)) > 0.9:
        return "the gold are numbers and the hits say which page they stand on"
    return None


def _why(gold: Gold, key: Gold, view: IndexView) -> tuple[Reason, str]:
    by_file, page, offset = view.pages_of_files, key.page or "", view.options.page_offset
    if key.doc not in by_file and not view.options.any_file:
        return "unknown file", f"no chunk comes from the file {excerpt(gold.doc)}"
    pages = by_file.get(key.doc) or set().union(*by_file.values())
    of_file = f" of {excerpt(gold.doc)}" if gold.doc else ""
    if not by_file.get(key.doc, pages):
        return "page without text", f"the chunks of {excerpt(gold.doc)} say no pages"
    if page.isdecimal() or page.startswith("-"):
        first, last = 1 + offset, max(pages)
        if int(page) < first:
            return "beyond the end", f"page {page}{of_file} stands before its first page, {first}"
        if int(page) > last and view.table.pages == "physical":
            return "beyond the end", f"page {page}{of_file} stands after its last page, {last}"
    return "page without text", f"no chunk stands on page {excerpt(page)}{of_file}"


matcher = Matcher(
    "page",
    unit="page",
    summary="the same page of the same file; page alone when there is only one file (--page-offset shifts the hits)",
    strictness=30,
    prepare=_prepare,
    fits=_fits,
    lacks=_lacks,
    ambiguity=_ambiguity,
    why=_why,
    within_file=lambda gold: f"page {excerpt(gold.page or gold.label)}",
    larger=True,
    must_fit=True,
)
