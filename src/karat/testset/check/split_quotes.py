"""Split quotes: quotes that no chunk holds whole."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.text.words import excerpt, percent
from karat.match import Passages
from karat.testset.check._check import CheckContext, Finding, check, counted


def _is_whole(context: CheckContext, unit: int) -> bool:
    """Whether a chunk that holds a quote has all of it."""
    resolution = context.resolution
    texts = [context.chunks.texts[row] for row in resolution.holders[unit].tolist()]
    return bool(Passages(texts).find(resolution.units.gold[unit].quote or ""))


@check(34)
def split_quotes(context: CheckContext) -> Iterator[Finding]:
    """Quotes that no chunk holds whole."""
    resolution = context.resolution
    quotes = [
        u
        for u, kind in enumerate(resolution.kinds)
        if kind == "quote" and resolution.relevant[u] and resolution.reached[u]
    ]
    split = [u for u in quotes if not _is_whole(context, u)]
    if not split:
        return
    ids = context.testset.ids
    questions = tuple(dict.fromkeys(ids[int(resolution.units.question[u])] for u in split))
    examples = [
        f'{ids[int(resolution.units.question[u])]}: "{excerpt(resolution.units.gold[u].quote)}" lies over '
        f"{', '.join(context.chunks.ids[row] for row in resolution.holders[u].tolist()[:3])} and its neighbours"
        for u in split[:5]
    ]
    yield Finding(
        check="split_quotes",
        severity="warning",
        title=f"{counted(len(split), 'quote', 'is', 'are')} cut apart by the chunks",
        text=f"No chunk holds {percent(len(split) / len(quotes), 0)} of the {len(quotes):,} quotes found whole; a "
        "chunk "
        "counts as holding one when it has at least half of it. An answer that needs all of it needs two chunks.",
        numbers={"split": len(split), "found": len(quotes), "share": len(split) / len(quotes)},
        questions=questions,
        examples=tuple(examples),
        remedy="Index with larger chunks, more overlap, or chunks that follow sentences or sections.",
    )
