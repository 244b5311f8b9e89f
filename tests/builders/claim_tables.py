"""Claims tables for any answers: claims and verdicts of no sense, which follow from the texts of a pair alone."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from karat.core.answered import AnswerTable
from karat.core.claims import CONTRADICTED, ENTAILED, NEITHER, PARTIAL, ClaimRows, ClaimTable, Side
from karat.core.text import drop_blocks

_ANY = (ENTAILED, NEITHER, CONTRADICTED, ENTAILED)
_SUPPORT = (ENTAILED, PARTIAL, NEITHER)


def claims_of_texts(answered: AnswerTable) -> ClaimTable:
    """Claims of every side for every pair, each relation judged in full."""
    rows = ClaimRows(answered.systems, answered.questions)
    for pair, contexts in enumerate(answered.contexts):
        _fill(
            rows, pair, answered.texts[pair], drop_blocks(answered.answers[pair] or "").strip(),
            "\0".join(sorted(text for text in answered.references[pair] if text.strip())), contexts,
        )  # fmt: skip
    return rows.table()


def _fill(
    rows: ClaimRows, pair: int, question: str, answer: str, reference: str, contexts: Sequence[str] | None
) -> None:
    passages = len(contexts or ())
    rows.passages(pair, -1 if contexts is None else passages)
    sides: dict[Side, str] = {"answer": answer, "reference": reference, "sentence": answer, "nugget": reference}
    counts = {side: _number(side, text) % 4 if text else 0 for side, text in sides.items()}
    for side, text in sides.items():
        texts = [f"{side} {number}" for number in range(counts[side])]
        cites = [tuple(range(1, 1 + _number(text, name) % (passages + 1))) for name in texts]
        vital = [bool(_number(text, name) % 2) for name in texts]
        rows.claims(pair, side, texts, vital=vital, cites=cites if side == "sentence" else None)
        for number in range(1, counts[side] + 1):
            at = _number(question, answer, reference, side, str(number))
            if side in ("answer", "reference"):
                rows.verdict(pair, side, number, "reference" if side == "answer" else "answer", _ANY[at % 4])
                for passage in range(1, passages + 1):
                    rows.verdict(pair, side, number, "passage", _ANY[at >> 2 * passage & 3], passages=[passage])
            elif side == "nugget":
                rows.verdict(pair, side, number, "answer", _SUPPORT[at % 3] if answer else NEITHER)
            else:
                _cited(rows, pair, number, cites[number - 1], passages, at)
    if contexts is not None:
        rows.claims(pair, "context", [f"context {number}" for number in range(passages)])
        for number in range(1, passages + 1):
            at = _number(question, answer, str(number))
            rows.verdict(pair, "context", number, "question", _ANY[at & 3])
            rows.verdict(pair, "context", number, "answer", _ANY[at >> 2 & 3] if answer else NEITHER)


def _cited(rows: ClaimRows, pair: int, number: int, cited: Sequence[int], passages: int, at: int) -> None:
    """All sets that a sentence may be held against: the cited, each of them, all but each; and all passages."""
    whole = range(1, passages + 1)
    groups = [[*some] for some in (cited, cited[:3], whole)] + [[one] for one in cited]
    groups += [[other for other in some if other != one] for some in (cited[:3], cited) for one in cited]
    for group in groups:
        if group:
            rows.verdict(pair, "sentence", number, "passages", _SUPPORT[(at >> len(group)) % 3], passages=group)


def _number(*texts: str) -> int:
    return crc32("\0".join(texts).encode("utf-8", "surrogatepass"))
