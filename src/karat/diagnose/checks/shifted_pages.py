"""shifted_pages: page numbers of the gold that count otherwise than the index does."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from karat.core.text.words import plural
from karat.diagnose._shift import Evidence, by_quotes, by_words, chance
from karat.diagnose._words import counted, percent
from karat.diagnose.check import Case, Check
from karat.results.checkup import Finding

Clear = Callable[[Evidence, float, int | None], bool]

_LEAST = 3  # quotes from which a shift is believed
_SURE = 0.001
_RATIO = 1.2


def _find(case: Case) -> Iterator[Finding]:
    if not any(gold.page is not None for gold in case.golds) or not any(chunk.pages for chunk in case.chunks):
        return
    found = list(_by_evidence(case))
    yield from found
    zero = tuple(q.id for q in case.questions if any(g.grade >= 1 and g.page and g.page.strip() == "0" for g in q.gold))
    if zero and not found and case.page_offset == 0 and case.pages == "physical":
        said = f"{counted(len(zero), 'question', 'names', 'name')} it. Pages of an index count from 1, these from 0."
        numbers = {"questions": len(zero), "offset": -1}
        yield Finding(
            "shifted_pages", "broken", "the gold has a page 0", said, numbers, zero, (), "Add --page-offset -1."
        )  # fmt: skip


def _by_evidence(case: Case) -> Iterator[Finding]:
    quotes = by_quotes(case) if any(gold.quote is not None and gold.page is not None for gold in case.golds) else None
    if quotes is not None and quotes.n >= _LEAST:
        yield from _judged(case, quotes, _clear_by_quotes)
        return
    words = by_words(case)
    if words is not None:
        yield from _judged(case, words, _clear_by_words)


def _now(case: Case, evidence: Evidence) -> float:
    if case.pages == "printed":
        return evidence.printed or 0.0
    return evidence.shifted.get(case.page_offset, 0.0)


def _clear_by_quotes(evidence: Evidence, now: float, shift: int | None) -> bool:
    """Most quotes stand there, and few where the pages point now."""
    share = evidence.printed if shift is None else evidence.shifted[shift]
    return share is not None and share >= 0.5 and now < share / 2


def _clear_by_words(evidence: Evidence, now: float, shift: int | None) -> bool:
    """The words stand there much more, on nearly every page that tells a difference."""
    mean = evidence.printed if shift is None else evidence.shifted[shift]
    wins, losses = (evidence.wins or {}).get(shift, (0, 0))
    return mean is not None and mean >= _RATIO * now and wins > losses and chance(wins, losses) < _SURE


def _judged(case: Case, evidence: Evidence, clear: Clear) -> Iterator[Finding]:
    now = _now(case, evidence)
    best = max(evidence.shifted, key=lambda d: (evidence.shifted[d], -abs(d)), default=0)
    printed = evidence.printed if case.pages != "printed" else None
    if printed is not None and printed >= evidence.shifted.get(best, 0.0) and clear(evidence, now, None):
        said = "the page numbers of the gold are those printed on the pages, not those of the file"
        yield _finding(case, evidence, now, printed, said, "printed numbers", "Add --pages printed.")
        return
    if best != case.page_offset and evidence.shifted and clear(evidence, now, best):
        then = evidence.shifted[best]
        if best == 0:
            said = f"--page-offset {case.page_offset} moves pages that are right as they stand"
            yield _finding(case, evidence, now, then, said, "no shift", f"Drop --page-offset {case.page_offset}.", best)
        else:
            said = f"the page numbers of the gold look shifted by {best:+d}"
            yield _finding(case, evidence, now, then, said, f"a shift of {best:+d}", f"Add --page-offset {best}.", best)


def _finding(
    case: Case, evidence: Evidence, now: float, then: float, title: str, way: str, remedy: str, shift: int | None = None
) -> Finding:
    named = "the gold names" + ("" if case.page_offset == 0 else f" under --page-offset {case.page_offset}")
    if evidence.kind == "quotes":
        text = (
            f"Of {plural(evidence.n, 'quote')} whose page is known, {percent(now)} stand on the page that {named}, and "
            f"{percent(then)} with {way}."
        )
    else:
        wins, losses = (evidence.wins or {}).get(shift, (0, 0))
        text = (
            f"Of what questions and answers say, rare words weighing more, {percent(now)} stands on the "
            f"{plural(evidence.n, 'page')} that {named}, and {percent(then)} with {way} (better for {wins:,}, worse "
            f"for {losses:,})."
        )
    pages = [q.id for q in case.questions if any(g.grade >= 1 and g.page is not None for g in q.gold)]
    numbers: dict[str, int | float | str | None] = {
        "evidence": evidence.kind, "pages": evidence.n, "now": now, "then": then, "offset": shift,
    }  # fmt: skip
    return Finding("shifted_pages", "broken", title, text, numbers, tuple(pages), (), remedy)


check = Check("shifted_pages", "page numbers that count otherwise than the index does", _find, 5)
