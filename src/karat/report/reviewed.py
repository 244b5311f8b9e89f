"""Reviewed: one question of a review on the screen, and how far the review is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from karat.report._escape import clean
from karat.report._grid import listing, texts, title
from karat.report._screen import put

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from karat.core.docs import Chunk
    from karat.core.types import Gold, Question

LONGEST = 1200  # characters of a chunk around its quote
MARKS = ("[[", "]]")
_STATE = {None: "undecided", "keep": "kept", "drop": "dropped"}


def show(
    stream: TextIO,
    *,
    number: int,
    of: int,
    question: Question,
    stood: Question,
    verdict: str | None,
    chunks: Sequence[Chunk] = (),
    remarks: Sequence[str] = (),
    has_index: bool = False,
) -> None:
    """Write a question, its answer, its gold and the chunks that hold it, with the quotes marked."""

    def blocks(width: int) -> Iterator[RenderableType]:
        yield title(f"{number:,} of {of:,}  {clean(question.id)}  {clean(question.kind or 'no kind')}")
        yield listing(*_facts(question, stood, verdict, remarks))
        for gold in question.gold:
            yield listing(("gold", _gold(gold)))
        quotes = [gold.quote for gold in question.gold if gold.quote]
        for chunk in chunks:
            pages = f", page {', '.join(map(str, chunk.pages))}" if chunk.pages else ""
            yield from texts([f"\n{clean(chunk.id)} ({clean(chunk.doc)}{pages})"])
            yield marked(chunk.text, quotes)
        if has_index and question.gold and not chunks:
            yield from texts(["no chunk of the index holds the gold."])

    put(blocks, stream)


def _facts(
    question: Question, stood: Question, verdict: str | None, remarks: Sequence[str]
) -> Iterator[tuple[str, str]]:
    yield "question", clean(question.text)
    if question.text != stood.text:
        yield "was", clean(stood.text)
    if not question.answerable:
        yield "answer", "(unanswerable)"
    for answer in question.answers:
        yield "answer", clean(answer)
    if question.answers != stood.answers:
        yield "was", clean(" / ".join(stood.answers)) or "(none)"
    edited = ", edited" if question != stood else ""
    yield "state", f"{_STATE[verdict]}{edited}"
    if remarks:
        yield "audit", clean(", ".join(remarks))


def _gold(gold: Gold) -> str:
    place = [
        text for text in (gold.doc or gold.url or gold.id or gold.chunk, gold.page and f"page {gold.page}") if text
    ]
    quote = f': "{clean(gold.quote)}"' if gold.quote else ""
    return clean(", ".join(place)) + quote


def marked(text: str, quotes: Sequence[str]) -> Text:
    """A chunk's text with each quote that stands in it between marks, and bold; long text is cut around the first.

    >>> marked("One. The tank  holds oil. Two.", ["The tank holds oil."]).plain
    'One. [[The tank holds oil.]] Two.'
    """
    from rich.text import Text

    line = " ".join(clean(text.replace("\n", " ")).split())
    spans = []
    for quote in quotes:
        words = " ".join(clean(quote.replace("\n", " ")).split())
        at = line.find(words) if words else -1
        if at < 0 and words:
            found = re.search(re.escape(words), line, re.I)
            at = found.start() if found else -1
        if at >= 0:
            spans.append((at, at + len(words)))
    begin = max(0, (min(spans)[0] if spans else 0) - LONGEST // 3)
    end = min(len(line), max(begin + LONGEST, max(spans)[1] if spans else 0))
    made, last = Text("..." if begin else ""), begin
    for start, stop in sorted(spans):
        if start < last:
            continue
        made.append(line[last:start])
        made.append(f"{MARKS[0]}{line[start:stop]}{MARKS[1]}", style="bold")
        last = stop
    made.append(line[last:end])
    made.append("..." if end < len(line) else "")
    return made


def progress(counts: Any, seconds_each: float | None) -> str:
    """One line: what is decided, and how long the rest takes at this pace."""
    line = (
        f"{counts.kept:,} kept ({counts.edited:,} edited), {counts.dropped:,} dropped, {counts.undecided:,} undecided"
    )
    if seconds_each is None or not counts.undecided:
        return line
    left = counts.undecided * seconds_each
    return f"{line}; {seconds_each:.0f} s each, " + (
        f"{left:.0f} s left" if left < 120 else f"{left / 60:.0f} min left"
    )


def editable(text: str) -> str:
    """A text as it may stand in a terminal to be edited: one line without control characters."""
    return clean(text)


def keys(named: Mapping[str, str]) -> str:
    """The keys and what they do, on one line."""
    return "  ".join(f"[{key}] {what}" for key, what in named.items())
