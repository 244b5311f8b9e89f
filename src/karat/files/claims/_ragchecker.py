"""RAGChecker's JSON as rows of a claims table: claims of a response and of its reference, and four lists of verdicts.

`answer2response` holds a verdict by the reference on each claim of the response, `response2answer` one by the response
on each claim of the reference. `retrieved2response` and `retrieved2answer` hold a list for each claim, a verdict by
each retrieved passage in it; where they hold one verdict a claim instead, that is the verdict of all passages together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from karat.core.text.words import plural
from karat.files.claims._records import records_frame
from karat.files.claims._words import MOST_PASSAGES, PASSAGES_SIDE
from karat.io.cells import CellError, Record, quoted
from karat.io.fields import ID, RESULTS
from karat.io.input import Input

if TYPE_CHECKING:
    import polars as pl

_CLAIMS = {"answer": "response_claims", "reference": "gt_answer_claims"}
_VERDICTS = {
    "answer2response": ("answer", "reference"),
    "response2answer": ("reference", "answer"),
    "retrieved2response": ("answer", "passage"),
    "retrieved2answer": ("reference", "passage"),
}
_TABLE = {"question": (*ID, "question", "query"), "system": RESULTS["system"]}
_FIELDS = ("side", "claim", "text", "premise", "verdict")


def is_ragchecker(input: Input) -> bool:
    """Whether the records hold claims as RAGChecker writes them."""
    return any(name in input.fields for name in _CLAIMS.values())


def ragchecker_frame(input: Input) -> tuple[pl.DataFrame, Sequence[int]]:
    """The records as a flat claims table, and the record of each row."""
    return records_frame(input, _TABLE, _FIELDS, _rows)


def _rows(record: Record) -> list[tuple[str, int | None, str | None, str | None, str | None]]:
    """A record's rows: side, claim, text, premise and verdict."""
    rows: list[tuple[str, int | None, str | None, str | None, str | None]] = []
    counts: dict[str, int | None] = {}
    for side, field in _CLAIMS.items():
        claims = _list(record.get(field), field)
        counts[side] = None if claims is None else len(claims)
        texts = [_claim_text(claim, place, field) for place, claim in enumerate(claims or (), 1)]
        rows += [(side, place, text, None, None) for place, text in enumerate(texts, 1)]
        if claims is not None and not claims:
            rows.append((side, None, None, None, None))
    contexts = _list(record.get("retrieved_context"), "retrieved_context")
    passages = None if contexts is None else len(contexts)
    for field, (side, premise) in _VERDICTS.items():
        verdicts = _list(record.get(field), field)
        if verdicts is None:
            continue
        if counts[side] is None:
            raise CellError(f"{field} stands without {_CLAIMS[side]}", "Add the claims that were checked.")
        if len(verdicts) != counts[side]:
            problem = f"{field} has {plural(len(verdicts), 'entry')} for {plural(counts[side] or 0, 'claim')}"
            raise CellError(problem, f"Give one for each claim of {_CLAIMS[side]}.")
        if premise == "passage" and any(isinstance(entry, list) for entry in verdicts):
            passages = _width(verdicts, passages, field)
            rows += [
                (side, claim, None, str(passage), _word(word, field))
                for claim, entry in enumerate(verdicts, 1)
                for passage, word in enumerate(entry, 1)
            ]
            continue
        if premise == "passage" and verdicts:
            if not passages:
                raise CellError(f"{field} has verdicts, and there are no passages", "Add retrieved_context.")
            premise = ",".join(map(str, range(1, passages + 1)))
        rows += [(side, claim, None, premise, _word(word, field)) for claim, word in enumerate(verdicts, 1)]
    if passages is not None:
        rows.append((PASSAGES_SIDE, passages, None, None, None))
    return rows


def _list(value: Any, field: str) -> list[Any] | None:
    if value is not None and not isinstance(value, list):
        raise CellError(f"{field} is {quoted(value)} where a list is meant", "Write a list, or leave it out.")
    return value


def _claim_text(claim: Any, place: int, field: str) -> str:
    """A claim as text: a triple is joined by blanks."""
    parts = claim if isinstance(claim, list) else [claim]
    text = " ".join(part.strip() for part in parts if isinstance(part, str)).strip()
    if not text or not all(isinstance(part, str) for part in parts):
        raise CellError(f"claim {place} of {field} is {quoted(claim)}, which has no text", "Give text, or three texts.")
    return text


def _width(verdicts: list[Any], passages: int | None, field: str) -> int:
    """How many passages all entries speak of: as many as were retrieved, where that is known."""
    for place, entry in enumerate(verdicts, 1):
        if not isinstance(entry, list):
            raise CellError(f"entry {place} of {field} is no list, as others are", "Give every claim a list.")
        if passages is None:
            passages = len(entry)
        if len(entry) != passages or passages > MOST_PASSAGES:
            problem = f"claim {place} of {field} has {plural(len(entry), 'verdict')} for {plural(passages, 'passage')}"
            raise CellError(problem, f"Give one for each passage, of which there may be {MOST_PASSAGES:,}.")
    return passages or 0


def _word(value: Any, field: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise CellError(f"{quoted(value)} in {field} is no verdict", "Write Entailment, Neutral or Contradiction.")
    return value
