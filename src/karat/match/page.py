"""page: the hit stands on the gold page of the gold file; page alone when there is only one file."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from karat.core.run import Run
from karat.core.types import Gold
from karat.io.pages import pages_of, shift
from karat.match._files import FileNames, file_keys
from karat.match._matcher import Context, Keys, Matcher, column, ids_of, share_matching


def _prepare(context: Context) -> tuple[Callable[[Gold], Keys], Callable[[Run], Sequence[Keys]]]:
    files = FileNames([g for g in context.golds if g.page is not None], context.runs, "page numbers")
    labels = context.options.labels

    def key(file: str | None, page: str) -> str:
        return page if file is None else f"{file}\x1f{page}"

    def gold_keys(gold: Gold) -> Keys:
        file = files.of_gold(gold)
        return tuple(key(file, p) for p in pages_of(gold.page if gold.page is not None else gold.id, labels)) or None

    def hit_keys(run: Run) -> Sequence[Keys]:
        pages = column(run, "page")
        offset = context.options.page_offset
        return [
            tuple(key(file, shift(p, offset)) for p in pages_of(page, labels)) or None
            for file, page in zip(file_keys(files, run), pages if pages is not None else run.doc_list, strict=True)
        ]

    return gold_keys, hit_keys


def _fits(context: Context) -> str | None:
    has_pages = any(column(run, "page") is not None for run in context.runs)
    if any(g.page is not None for g in context.golds):
        if has_pages:
            return "the gold names pages and the hits say which page they stand on"
        if max((share_matching(str.isdecimal, run.docs) for run in context.runs), default=0.0) > 0.5:
            return "the gold names pages and the ids of the hits are numbers"
    elif has_pages and share_matching(str.isdecimal, ids_of(context.golds)) > 0.9:
        return "the gold are numbers and the hits say which page they stand on"
    return None


matcher = Matcher(
    "page",
    unit="page",
    summary="the same page of the same file; page alone when there is only one file (--page-offset shifts the hits)",
    strictness=30,
    prepare=_prepare,
    fits=_fits,
)
