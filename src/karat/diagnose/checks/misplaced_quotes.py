"""misplaced_quotes: quotes that stand elsewhere than the gold says, nearly as it says, or nowhere."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.text import normalise
from karat.diagnose._words import counted
from karat.diagnose.check import Case, Check
from karat.match import Unresolved
from karat.results.checkup import Finding

_NEAR = 90
_LOOKED_AT = 200  # quotes of which a near place is looked for


def _difference(quote: str, text: str) -> str:
    """The words in which two texts differ, as 'gold "a b", index "a c"'."""
    import difflib

    ours, theirs = normalise(quote, "words").split(), normalise(text, "words").split()
    parts = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if kind != "equal":
            parts.append(f'gold "{" ".join(ours[a:b])}", index "{" ".join(theirs[c:d])}"')
    return "; ".join(parts[:3])


def _find(case: Case) -> Iterator[Finding]:
    missing = [u for u in case.resolution.unresolved if u.gold.grade >= 1]
    elsewhere = [u for u in missing if u.reason == "quote elsewhere"]
    if elsewhere:
        yield _finding(
            elsewhere,
            f"{counted(len(elsewhere), 'quote', 'stands', 'stand')} elsewhere than the gold says",
            tuple(f"{u.question}: {u.why}" for u in elsewhere[:5]),
            "Correct the document or page of these entries. If all are shifted alike, see --page-offset and --pages.",
        )
    lost = [u for u in missing if u.reason == "quote not found"]
    if not lost:
        return
    from rapidfuzz import fuzz

    near: list[tuple[Unresolved, str]] = []
    for u in lost[:_LOOKED_AT]:
        text = case.resolution.quote_places.nearest(u.gold)
        if text is not None:
            quote = normalise(u.gold.quote or "", "words")
            likeness = fuzz.partial_ratio(quote, normalise(text, "words"))
            if likeness >= _NEAR:
                near.append((u, f"{u.question}: {likeness:.0f}% alike: {_difference(u.gold.quote or '', text)}"))
    if near:
        yield _finding(
            [u for u, _ in near],
            f"{counted(len(near), 'quote', 'stands', 'stand')} in the corpus nearly, but not quite, as the gold has it",
            tuple(said for _, said in near[:5]),
            "Copy the quotes from the text that was indexed.",
        )
    rest = [u for u in lost if all(u is not other for other, _ in near)]
    if rest:
        yield _finding(
            rest,
            f"{counted(len(rest), 'quote', 'is', 'are')} not found",
            tuple(f"{u.question}: {u.why}" for u in rest[:5]),
            "Copy the quotes from the text that was indexed, or let pages decide with --match page.",
        )


def _finding(missing: list[Unresolved], title: str, examples: tuple[str, ...], remedy: str) -> Finding:
    questions = tuple(dict.fromkeys(u.question for u in missing))
    numbers = {"quotes": len(missing), "questions": len(questions)}
    return Finding("misplaced_quotes", "broken", title, "", numbers, questions, examples, remedy)


check = Check("misplaced_quotes", "quotes that stand elsewhere than the gold says, or nowhere", _find, 13)
