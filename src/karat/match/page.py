"""page: the hit stands on the gold page of the gold file; page alone when there is only one file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from karat.core.errors import UsageError
from karat.core.run import Run
from karat.core.types import Gold
from karat.match._matcher import Context, Keys, Matcher, column, ids_of, share_matching

_LABEL = re.compile(r"(?:pages?|pp?\.?|с\.|стр\.?)\s*", re.I)
_RANGE = re.compile(r"(\d+)\s*[-–—]\s*(\d+)")
_NONE = {"", "n/a", "na", "none", "null", "nan", "-", "?", "unknown"}
MOST_PAGES = 1000


def page_of(text: object) -> str | None:
    """A page number in the one form that is compared: blanks, a label and leading zeros aside.

    >>> [page_of(t) for t in ("34", " 34", "034", "p. 34", 34.0, "iv", "N/A")]
    ['34', '34', '34', '34', '34', 'iv', None]
    """
    if isinstance(text, float) and text == int(text):
        text = int(text)
    label = str(text).strip().lower()
    if label in _NONE:
        return None
    named = _LABEL.match(label)
    rest = label[named.end() :] if named and label[named.end() :][:1].isdigit() else label
    whole = re.fullmatch(r"(\d+)(?:\.0+)?", rest)
    return str(int(whole[1])) if whole else rest


def pages_of(value: object) -> tuple[str, ...]:
    """All pages a hit stands on: one, a list, or a range such as "34-35"."""
    if value is None:
        return ()
    if isinstance(value, list | tuple):
        return tuple(dict.fromkeys(p for v in value for p in pages_of(v)))
    spread = _RANGE.fullmatch(str(value).strip().lower().removeprefix("pp.").strip())
    if spread and 0 <= int(spread[2]) - int(spread[1]) < MOST_PAGES:
        return tuple(str(p) for p in range(int(spread[1]), int(spread[2]) + 1))
    page = page_of(value)
    return () if page is None else (page,)


def _shift(page: str, offset: int) -> str:
    return str(int(page) + offset) if offset and page.isdigit() else page


def _base(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2].strip()


def _distinct(names: Iterable[object]) -> set[str]:
    return {str(n).strip() for n in names if n is not None}


def _tell_apart(paths: set[str]) -> bool:
    """Whether file names alone, without their folders, tell the paths apart."""
    return len({_base(p) for p in paths}) == len(paths)


def _prepare(context: Context) -> tuple[Callable[[Gold], str | None], Callable[[Run], Sequence[Keys]]]:
    paged = [g for g in context.golds if g.page is not None]
    golds_named = _distinct(g.doc for g in paged)
    hits_named: set[str] = set()
    for run in context.runs:
        hits_named |= _distinct(column(run, "doc") or ())
    by_file = bool(golds_named) and bool(hits_named)
    if not by_file:
        files = golds_named or hits_named
        if len(files) > 1:
            side, other = ("gold", "hits") if golds_named else ("hits", "gold")
            raise UsageError(
                f"page numbers alone are ambiguous: the {side} name {len(files)} files "
                f"({', '.join(sorted(files)[:3])}{', ...' if len(files) > 3 else ''}) and the {other} name none. "
                f'Give every {other.rstrip("s")} entry a "doc" beside its "page".'
            )
    elif any(g.doc is None for g in paged) and len(hits_named) > 1:
        raise UsageError('page numbers alone are ambiguous: some gold has a "page" but no "doc". Add the "doc".')
    name = _base if _tell_apart(golds_named) and _tell_apart(hits_named) else str.strip

    def key(doc: object, page: str) -> str:
        return f"{name(str(doc))}\x1f{page}" if by_file and doc is not None else page

    def gold_key(gold: Gold) -> str | None:
        page = page_of(gold.page if gold.page is not None else gold.id) if gold.page or gold.id else None
        return None if page is None else key(gold.doc, page)

    def hit_keys(run: Run) -> Sequence[Keys]:
        pages = column(run, "page")
        docs = column(run, "doc") or [None] * len(run)
        offset = context.options.page_offset
        return [
            tuple(key(doc, _shift(p, offset)) for p in pages_of(page)) or None
            for doc, page in zip(docs, pages if pages is not None else run.doc_list, strict=True)
        ]

    return gold_key, hit_keys


def _fits(context: Context) -> str | None:
    has_pages = any(column(run, "page") is not None for run in context.runs)
    if any(g.page is not None for g in context.golds):
        if has_pages:
            return "the gold names pages and the hits say which page they stand on"
        if max((share_matching(str.isdigit, run.docs) for run in context.runs), default=0.0) > 0.5:
            return "the gold names pages and the ids of the hits are numbers"
    elif has_pages and share_matching(str.isdigit, ids_of(context.golds)) > 0.9:
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
