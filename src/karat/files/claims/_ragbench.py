"""RAGBench's records as rows of a claims table: marked sentences of passages, and which of an answer are supported.

`documents_sentences` holds for each document its sentences with a key each; `all_relevant_sentence_keys` and
`all_utilized_sentence_keys` name those that bear on the question and those that the answer uses. `response_sentences`
are the sentences of the answer; one is supported unless `unsupported_response_sentence_keys` names it, or, where that
is not given, `sentence_support_information` says so. Where `adherence_score` says otherwise, the sentences count.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from karat.core.text.words import plural
from karat.files.claims._records import Row, records_frame
from karat.files.claims._words import PASSAGES_SIDE
from karat.io import cells
from karat.io.cells import CellError, Record, quoted
from karat.io.fields import ID, RESULTS

if TYPE_CHECKING:
    import polars as pl

    from karat.io.input import Input

_FIELDS: dict[str, tuple[str, ...]] = {
    "question": ID,
    "system": (*RESULTS["system"], "generation_model_name"),
}
_MARKED = {"question": "all_relevant_sentence_keys", "answer": "all_utilized_sentence_keys"}
_NAMES = ("side", "claim", "text", "cites", "premise", "verdict")


def is_ragbench(input: Input) -> bool:
    """Whether the records hold sentences of documents as RAGBench has them."""
    return "documents_sentences" in input.fields


def ragbench_frame(input: Input, systems: Sequence[str]) -> tuple[pl.DataFrame, list[int], list[str]]:
    """The records as a flat claims table, the record of each row, and what should be known of them.

    `generation_model_name` names the system; where there is one of each, they are the same.
    """
    differs: list[bool] = []

    def rows_of(record: Record) -> list[Row]:
        rows = _rows(record)
        differs.append(_contradicts(record.get("adherence_score"), rows))
        return rows

    frame, numbers = records_frame(input, _FIELDS, _NAMES, rows_of, systems)
    counted = "adherence_score says otherwise than their sentences, which count"
    return frame, numbers, [f"{plural(sum(differs), 'record')}: {counted}"] if any(differs) else []


def _rows(record: Record) -> list[Row]:
    """The rows of a record: side, claim, text, the passage it stands in, premise and verdict."""
    documents = [_sentences(one, "documents_sentences") for one in _list(record, "documents_sentences") or []]
    passages = dict(pair for document in documents for pair in document)
    if len(passages) < sum(map(len, documents)):
        raise CellError("a key of documents_sentences stands twice", "Give every sentence a key of its own.")
    rows = _claims("context", passages, [str(number) for number, held in enumerate(documents, 1) for _ in held])
    rows.append((PASSAGES_SIDE, len(documents), None, None, None, None))
    for premise, field in _MARKED.items():
        keys = _list(record, field)
        if keys is not None:
            rows += _verdicts("context", passages, premise, _known(keys, passages, field))
    answer = dict(_sentences(_list(record, "response_sentences") or [], "response_sentences"))
    rows += _claims("sentence", answer)
    supported = _supported(record, answer)
    if supported is not None and documents:
        rows += _verdicts("sentence", answer, ",".join(map(str, range(1, len(documents) + 1))), supported)
    return rows


def _supported(record: Record, answer: Mapping[str, str]) -> Collection[str] | None:
    """The keys of the supported sentences of the answer; None where nothing says so."""
    unsupported = _list(record, "unsupported_response_sentence_keys")
    if unsupported is not None:
        lost = _known(unsupported, answer, "unsupported_response_sentence_keys")
        return {key for key in answer if key not in lost}
    about = _list(record, "sentence_support_information")
    if about is None:
        return None
    known = {_key(str(one.get("response_sentence_key"))): one for one in about if isinstance(one, Mapping)}
    lacking = next((key for key in answer if key not in known), None)
    if lacking is not None:
        raise CellError(f"sentence_support_information lacks the sentence {quoted(lacking)}", "Add it.")
    return {key for key in answer if cells.truth_value(known[key].get("fully_supported"))}


def _contradicts(adherence: Any, rows: Sequence[Row]) -> bool:
    """Whether what is said of the whole answer is not what is said of its sentences."""
    verdicts = [verdict for side, _, _, _, _, verdict in rows if side == "sentence" and verdict is not None]
    if cells.is_missing(adherence) or not verdicts:
        return False
    return cells.truth_value(adherence) != all(verdict == "entailed" for verdict in verdicts)


def _list(record: Record, field: str) -> list[Any] | None:
    value = record.get(field)
    return None if value is None else cells.as_list(value)


def _sentences(value: Any, field: str) -> list[tuple[str, str]]:
    """Key and text of each sentence of a list of pairs."""
    pairs = cells.as_list(value) or []
    for place, pair in enumerate(pairs, 1):
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not all(isinstance(part, str) for part in pair):
            raise CellError(f"{field}: sentence {place} is {quoted(pair)}", 'Write a key and a text: ["0a", "..."].')
        if not pair[1].strip():
            raise CellError(f"{field}: the sentence {quoted(pair[0])} has no text", "Write it, or leave it out.")
    return [(_key(key), text) for key, text in pairs]


def _key(key: str) -> str:
    """A key as lists name it: some write "0a." and some "0a"."""
    return key.strip().rstrip(".")


def _known(keys: Sequence[Any], sentences: Mapping[str, str], field: str) -> set[str]:
    """Keys that a field names, each of a sentence that is there."""
    named = {_key(str(key)) for key in keys}
    strange = next((key for key in sorted(named) if key not in sentences), None)
    if strange is not None:
        raise CellError(f"{field} names the sentence {quoted(strange)}, which is not there", "Name one that is.")
    return named


def _claims(side: str, sentences: Mapping[str, str], within: Sequence[str | None] = ()) -> list[Row]:
    places = within or [None] * len(sentences)
    rows: list[Row] = [
        (side, number, text, place, None, None)
        for number, (text, place) in enumerate(zip(sentences.values(), places, strict=True), 1)
    ]
    return rows or [(side, None, None, None, None, None)]


def _verdicts(side: str, sentences: Mapping[str, str], premise: str, entailed: Collection[str]) -> list[Row]:
    return [
        (side, number, None, None, premise, "entailed" if key in entailed else "neither")
        for number, key in enumerate(sentences, 1)
    ]
