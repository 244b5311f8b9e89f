"""missing_pages: pages that a document does not have, that hold no text, or that name no file."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.text.words import plural
from karat.diagnose._words import counted
from karat.diagnose.check import Case, Check
from karat.results.checkup import Finding

_TITLES = {
    "beyond the end": (
        "outside the pages of the document",
        "Correct the page numbers. If all are shifted alike, see --page-offset and --pages.",
    ),
    "page without text": (
        "on pages of which the index holds no text",
        "Pictures need a text layer (OCR); index again.",
    ),
    "ambiguous": ("without the document that the page is of", 'Give every gold entry with a page its "doc".'),
    "span outside": ("at characters that no chunk covers", "Take spans from the text that was indexed."),
}


def _find(case: Case) -> Iterator[Finding]:
    for reason, (title, remedy) in _TITLES.items():
        missing = [u for u in case.resolution.unresolved if u.reason == reason and u.gold.grade >= 1]
        if missing:
            questions = tuple(dict.fromkeys(u.question for u in missing))
            yield Finding(
                "missing_pages",
                "broken",
                f"{plural(len(missing), 'gold unit')} {title}",
                f"{counted(len(questions), 'question', 'is', 'are')} concerned.",
                {"units": len(missing), "questions": len(questions)},
                questions,
                tuple(f"{u.question}: {u.why}" for u in missing[:5]),
                remedy,
            )


check = Check("missing_pages", "pages that a document does not have or that hold no text", _find, 12)
