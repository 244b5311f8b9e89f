"""page: the hit stands on the gold page of the gold file; page alone when there is only one file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from karat.core.run import Run
from karat.core.types import Gold
from karat.match._files import FileNames, file_keys
from karat.match._matcher import Context, Keys, Matcher, column, ids_of, share_matching

_LABEL = re.compile(r"(?:pages?|pp?\.?|с\.|стр\.?)\s*", re.I)
_RANGE = re.compile(r"(\d+)-(\d+)")
_DASH = re.compile(r"\s*[-–—]\s*")
_NONE = {"", "n/a", "na", "none", "null", "nan", "-", "?", "unknown"}
MOST_PAGES = 1000


def page_of(text: object) -> str | None:
    """A page number in the one form that is compared: blanks, a label and leading zeros aside.

    >>> [page_of(t) for t in ("34", " 34", "034", "p. 34", 34.0, "iv", "A–3", "N/A")]
    ['34', '34', '34', '34', '34', 'iv', 'a-3', None]
    """
    if isinstance(text, float) and text.is_integer():
        text = int(text)
    label = str(text).strip().lower()
    if label in _NONE:
        return None
    named = _LABEL.match(label)
    rest = label[named.end() :] if named and label[named.end() :][:1].isdigit() else label
    whole = re.fullmatch(r"(\d+)(?:\.0+)?", rest)
    return str(int(whole[1])) if whole else _DASH.sub("-", rest)


def pages_of(value: object, labels: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """All pages a hit stands on: one, a list, or a range such as "34-35".

    One of the `labels` is a single page: manuals print "3-12" on the twelfth page of chapter 3.
    """
    if value is None:
        return ()
    if isinstance(value, list | tuple):
        return tuple(dict.fromkeys(p for v in value for p in pages_of(v, labels)))
    page = page_of(value)
    spread = _RANGE.fullmatch(page) if page is not None and page not in labels else None
    if spread and 0 <= int(spread[2]) - int(spread[1]) < MOST_PAGES:
        return tuple(str(p) for p in range(int(spread[1]), int(spread[2]) + 1))
    return () if page is None else (page,)


def shift(page: str, offset: int) -> str:
    """A page number moved by an offset; what is no number stays."""
    return str(int(page) + offset) if offset and page.isdecimal() else page


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
