"""Fields: the ONE table of what a field may be called in test sets, results, corpora and stores, and how it is read.

Names are compared in lower case with `_` for blanks and dashes (`field_name`). Of several names of one field the first
that a record fills counts, so that `expected_answer` beats `answer`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from karat.core.errors import UsageError, did_you_mean
from karat.io.cells import is_missing

DOC = ("doc", "doc_id", "docid", "document", "document_id", "corpus_id")
FILE = (
    "file", "filename", "file_name", "file_path", "path", "pdf", "source", "source_file", "source_doc",
    "source_document", "doc_name", "document_name", "doc_uri",
)  # fmt: skip
"""Names of a document, and of the file that holds it."""

URL = ("url", "source_url", "link", "uri")
NESTED = ("metadata", "meta")


TURNS = "turns"  # of the record of a whole conversation
ID = ("qid", "question_id", "query_id", "queryid", "questionid", "id", "_id")
QUESTION = ("question", "query", "user_input", "question_text", "query_text", "text", "prompt", "input")

TESTSET: dict[str, tuple[str, ...]] = {
    "id": ID,
    "question": QUESTION,
    "answers": (
        "answers", "reference", "references", "reference_answer", "reference_answers", "ground_truth", "ground_truths",
        "ground_truth_answer", "ground_truth_answers", "expected_answer", "expected_answers", "gold_answer",
        "gold_answers", "correct_answer", "answer",
    ),
    "gold": ("gold",),
    "gold_id": ("gold_id", "gold_ids", "reference_context_ids", "relevant_ids", "expected_ids", "ground_truth_ids"),
    "gold_doc": (
        "gold_doc", "gold_docs", "document_ids", "document_id", "gold_doc_ids", "gold_documents", "relevant_doc_ids",
        "relevant_documents", "expected_docs", "expected_doc_ids", "ground_truth_docs", "relevant_docs",
    ),
    "gold_page_number": ("gold_page_number", "gold_page_numbers"),
    "gold_page": ("gold_page", "gold_pages", "relevant_pages", "expected_pages", "ground_truth_pages"),
    "gold_page_label": ("gold_page_label", "gold_page_labels"),
    "gold_url": (
        "gold_url", "gold_urls", "source_url", "source_urls", "ground_truth_url", "ground_truth_urls", "expected_url",
        "expected_urls", "relevant_urls",
    ),
    "gold_chunk": (
        "gold_chunk", "gold_chunks", "relevant_chunk_ids", "relevant_chunks", "gold_chunk_ids", "expected_chunk_ids",
        "ground_truth_chunk_ids",
    ),
    "gold_quote": ("gold_quote", "gold_quotes", "reference_contexts", "evidence", "gold_contexts"),
    "gold_span": ("gold_span", "gold_spans"),
    "gold_grade": ("gold_grade", "gold_grades"),
    "kind": ("kind", "query_type", "question_type", "type", "category"),
    "tags": ("tags",),
    "answerable": ("answerable", "is_answerable"),
    "impossible": ("is_impossible", "unanswerable"),
    "nuggets": ("nuggets",),
    "excluded": ("excluded", "excluded_ids"),
    "history": (
        "history", "chat_history", "conversation_history", "dialog_history", "dialogue_history", "previous_turns",
        "messages",
    ),
    "conversation": ("conversation", "conversation_id", "session_id", "dialog_id", "dialogue_id", "thread_id"),
    "turn": ("turn", "turn_id", "turn_number"),
}  # fmt: skip

RESULTS: dict[str, tuple[str, ...]] = {
    "id": ID,
    "question": QUESTION,
    "retrieved": (
        "retrieved", "hits", "retrieved_documents", "search_results", "source_documents", "source_nodes", "nodes",
    ),
    "passages": ("passages",),
    "retrieved_id": (
        "retrieved_id", "retrieved_ids", "retrieved_context_ids", "doc_ids", "retrieved_doc_ids",
        "retrieved_doc_ids_for_eval", "ranked_ids", "ranked",
    ),
    "retrieved_doc": ("retrieved_doc", "retrieved_docs", "retrieved_file", "retrieved_files", "retrieved_sources"),
    "retrieved_chunk": ("retrieved_chunk", "retrieved_chunk_ids", "retrieved_chunks", "retrieved_doc_ids_ordered"),
    "retrieved_page": ("retrieved_page", "retrieved_pages", "retrieved_page_numbers"),
    "retrieved_url": ("retrieved_url", "retrieved_urls", "retrieved_top1_url"),
    "retrieved_text": ("retrieved_text", "retrieved_texts", "retrieved_contexts", "contexts", "context"),
    "retrieved_score": ("retrieved_score", "retrieved_scores", "scores"),
    "answer": (
        "answer", "response", "generated_answer", "predicted_answer", "prediction", "prediction_text", "final_answer",
        "model_answer",
    ),
    "answer_error": ("answer_error", "generation_error"),
    "confidence": ("confidence", "answer_confidence"),
    "context_ids": ("context_ids", "used_context_ids"),
    "system": ("system", "system_name", "method", "config_name"),
    "seconds": ("seconds",),
    "total_ms": ("total_time_ms", "latency_ms", "time_ms"),
    "retrieve_ms": ("retrieval_time_ms", "retrieve_time_ms"),
    "answer_ms": ("generation_time_ms", "answer_time_ms"),
    "total_seconds": ("total_time", "response_time", "latency_seconds", "total_seconds"),
    "tokens": ("tokens", "total_tokens", "usage", "token_usage"),
    "tokens_read": ("prompt_tokens", "input_tokens"),
    "tokens_written": ("completion_tokens", "output_tokens"),
    "cost_usd": ("cost_usd", "cost"),
    "model": ("model", "model_name", "answer_model"),
    "status": ("status",),
    "error": ("error", "error_message"),
    "steps": ("steps",),
    "alpha": ("alpha",),
    "k": ("k", "top_k"),
}  # fmt: skip

HIT: dict[str, tuple[str, ...]] = {
    "id": ("id", "_id"),
    "chunk": ("chunk", "chunk_id", "chunkid", "passage_id"),
    "doc": (*DOC, *FILE, "ref_doc_id"),
    "page_number": ("page_number",),
    "page": ("page",),
    "page_label": ("page_label",),
    "url": URL,
    "text": ("text", "content", "page_content", "passage", "body"),
    "quote": ("quote",),
    "span": ("span",),
    "start": ("start", "start_char", "start_char_idx"),
    "end": ("end", "end_char", "end_char_idx"),
    "tokens": ("tokens", "n_tokens", "token_count"),
    "score": ("score", "similarity", "relevance_score"),
    "grade": ("grade", "relevance", "rel"),
}
"""Fields of one hit or one gold entry."""

TABLE: dict[str, tuple[str, ...]] = {
    "question": ("qid", "query_id", "question_id", "queryid", "questionid", "query", "question", "topic", "id"),
    "doc": (
        "doc", "doc_id", "docid", "document", "document_id", "docno", "corpus_id", "chunk_id", "chunk", "passage_id",
        "hit", "doc_no",
    ),
    "score": ("score", "similarity", "sim", "relevance_score"),
    "rank": ("rank", "position"),
    "grade": ("grade", "relevance", "rel", "label", "judgment", "judgement", "score"),
    "system": ("system", "system_name", "method", "config_name", "run", "run_name", "tag"),
    "page_number": ("page_number",),
    "page": ("page",),
    "page_label": ("page_label",),
    "url": URL,
    "text": ("text", "content"),
    "tokens": ("tokens",),
}  # fmt: skip
"""Columns of a table with one row a hit, or one row a judgement."""

LABELS: dict[str, tuple[str, ...]] = {
    "id": ID,
    "system": (*RESULTS["system"], "run"),
    "measure": ("measure", "metric", "criterion", "dimension", "aspect"),
    "label": (
        "label", "human_label", "human_score", "human", "rating", "grade", "judgement", "judgment", "verdict", "score",
        "value",
    ),
    "rater": (
        "rater", "rater_id", "annotator", "annotator_id", "labeller", "labeler", "assessor", "person", "worker",
        "worker_id", "reviewer",
    ),
}  # fmt: skip
"""Columns of a table of what people say of answers."""
MARK = (
    "id", "kind", "question", "system", "hit", "claim", "grade", "value", "reasons", "note", "by", "at", "undoes",
    "testset", "digest",
)  # fmt: skip
MARKED_HIT = ("id", "doc", "page", "quote")
"""Fields of a line of labels.jsonl, which karat alone writes, and of the hit in it."""

SHOWN: dict[str, tuple[str, ...]] = {
    "length": ("length", "answer_length"),
    "answer": RESULTS["answer"],
    "position": ("position", "answer_position"),
}
"""Columns of such a table by which judges may be biased: how long an answer is, and in which place it was shown."""
CLAIMS: dict[str, tuple[str, ...]] = {
    "system": (*RESULTS["system"], "run"),
    "question": (*ID, "question", "query"),
    "side": ("side", "claims_of", "claim_side"),
    "claim": ("claim", "claim_number", "claim_id", "claim_no", "number"),
    "text": ("text", "claim_text"),
    "cites": ("cites", "citations", "cited"),
    "importance": ("importance", "vital"),
    "premise": ("premise", "premises", "by", "passage", "passages"),
    "verdict": ("verdict", "label", "entailment", "assignment", "judgement", "judgment"),
    "reason": ("reason", "explanation", "rationale"),
    "judge": ("judge", "judge_model"),
    "prompt": ("prompt", "prompt_digest"),
    "key": ("key",),
}
"""Columns of a claims table: one row a verdict on a claim by a premise."""

DOCUMENT: dict[str, tuple[str, ...]] = {
    "id": ("id", "_id"),
    "chunk": ("chunk_id", "chunkid", "passage_id"),
    "doc": ("doc", "doc_id", "docid", "document_id", "pid"),
    "text": ("text", "content", "contents", "body", "passage", "page_content", "chunk"),
    "title": ("title",),
    "url": URL,
    "page": ("page",),
    "page_number": ("page_number",),
    "page_label": ("page_label",),
    "source": (*FILE, "document"),
}
"""Fields of one record of a corpus."""

STORED: dict[str, tuple[str, ...]] = {
    "id": ("id", "_id", "chunk_id", "chunkid", "passage_id", "ids"),
    "doc": ("doc", "doc_id", "docid", "document_id", "corpus_id", "pid", *FILE),
    "text": (*DOCUMENT["text"], "document"),
    "title": ("title",),
    "url": URL,
    "page_number": ("page_number",),
    "page": ("page",),
    "page_label": ("page_label",),
}
"""Fields of one record of a store: always a chunk, and its text may be called a document, as Chroma does."""

FLAT_GOLD: dict[str, tuple[str, ...]] = {
    "gold_doc": ("doc", "doc_id", "docid", "document", *FILE),
    "gold_page_number": ("page_number",),
    "gold_page": ("page",),
    "gold_page_label": ("page_label",),
    "gold_url": ("url",),
    "gold_chunk": ("chunk", "chunk_id"),
    "gold_quote": ("quote",),
    "gold_span": ("span",),
}
"""Columns that name the gold of a question, or complete it, where no id of a chunk does."""

GOLD_FIELDS = ("gold", *(field for field in TESTSET if field.startswith("gold_") and field != "gold_grade"))
UNSCORED = frozenset({"history", "conversation", "turn", "citations"})
"""Fields of karat's own that are known, and not scored where nothing reads them (of a test set the first three are)."""

PRINTED = re.compile(
    r"^(precision|recall|f1|mrr|map|ndcg|hit|answer_f1|exact_match|em|rouge|bleu|p@|r@)", re.IGNORECASE
)
"""Columns of measures that a rows file prints: they are checked against its rows."""

RETRIEVED_FIELDS = (
    "retrieved", "passages", "retrieved_id", "retrieved_doc", "retrieved_chunk", "retrieved_page", "retrieved_url",
    "retrieved_text",
)  # fmt: skip
STEP: dict[str, tuple[str, ...]] = {
    "query": ("query",),
    "tool": ("tool",),
    "seconds": RESULTS["seconds"],
    "tokens": ("tokens",),
    **{name: RESULTS[name] for name in (*RETRIEVED_FIELDS, "retrieved_score")},
}
"""Fields of one step of a row of results."""
TAG_NAME = re.compile(r"^(question|user)_|^difficulty$")
_OFTEN_MAPPED = (
    "id", "question", "answers", "gold", "gold_doc", "gold_page", "gold_url", "gold_chunk", "gold_quote", "kind",
    "retrieved", "retrieved_id", "retrieved_page", "retrieved_url", "answer", "system", "doc", "score", "grade",
)  # fmt: skip
ASIDE = "-"
"""`--map COLUMN=-` leaves a column aside that has the name of a field and is none."""
SPAN = "span"
"""`--map span=NAME` says what the spans of traces are called that retrieve, where NAME is no field."""
NO_TAG = frozenset({"question_length", "question_number", "user_input"})


@lru_cache(maxsize=4096)
def field_name(name: str) -> str:
    """A column's name as aliases are spelled; half of a surrogate pair, which no file can hold, becomes a mark.

    >>> field_name(" Query-ID ")
    'query_id'
    """
    whole = name.encode("utf-8", "replace").decode("utf-8")
    return re.sub(r"[\s\-]+", "_", whole.replace("\ufeff", "").strip()).lower()


def with_metadata(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record by names as aliases are spelled; what its metadata holds stands in for what it lacks itself."""
    fields = {field_name(str(name)): value for name, value in record.items()}
    for nest in NESTED:
        inner = fields.get(nest)
        if isinstance(inner, Mapping):
            del fields[nest]
            for name, value in inner.items():
                fields.setdefault(field_name(str(name)), value)
    return fields


def known_names(*tables: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Every name of a field of these tables; without any, of test sets, results and tables of hits."""
    names: dict[str, None] = {}
    for table in tables or (TESTSET, RESULTS, TABLE):
        for field, aliases in table.items():
            names.update(dict.fromkeys((field, *aliases)))
    return list(names)


def looks_keyed(document: Mapping[str, Any]) -> bool:
    """Whether the keys of an object look like ids rather than field names: none of them is a known field."""
    known = set(known_names())
    return not any(field_name(key) in known for key in document)


def checked_map(columns: Mapping[str, str] | None, table: Mapping[str, Any] | None = None) -> dict[str, str]:
    """The user's column -> field, each known in a table; without one, in those of test sets, results and labels."""
    known = known_names(*((TESTSET, RESULTS, TABLE, FLAT_GOLD, LABELS, SHOWN, CLAIMS) if table is None else (table,)))
    fields = {}
    for column, field in (columns or {}).items():
        if column == SPAN and table is None and field_name(str(field)) not in known:
            continue
        if field == ASIDE and table is None:
            fields[str(column)] = ASIDE
            continue
        fields[str(column)] = field_name(str(field))
        if fields[str(column)] not in known:
            raise UsageError(
                f"--map {column}={field}: there is no field {field!r}.{did_you_mean(str(field), known)} "
                f"Fields: {', '.join(table or _OFTEN_MAPPED)}."
            )
    return fields


class Columns:
    """Which of an input's columns stand for which fields of one of the tables above; remembers what was read."""

    def __init__(self, table: Mapping[str, tuple[str, ...]], columns: Iterable[str]) -> None:
        present = dict.fromkeys(columns)
        self.table = table
        self.of = {field: tuple(alias for alias in aliases if alias in present) for field, aliases in table.items()}
        known = {alias for aliases in table.values() for alias in aliases}
        self.unknown = [name for name in present if name not in known]
        self.used: dict[str, None] = {}  # columns that some record was read by
        self.at: str | None = None  # the column being read, for errors

    def has(self, *fields: str) -> bool:
        """Whether the input has any of these."""
        return any(self.of[field] for field in fields)

    def first(self, record: Mapping[str, Any], field: str) -> tuple[str, Any]:
        """The first column of a field that a record fills, and its value; ("", None) when none does."""
        for alias in self.of[field]:
            value = record.get(alias)
            if not is_missing(value):
                self.at = alias
                self.used[alias] = None
                return alias, value
        return "", None

    def value(self, record: Mapping[str, Any], field: str) -> Any:
        """The value of a field, from the first of its columns that the record fills; None when none does."""
        return self.first(record, field)[1]

    def cell(self, record: Mapping[str, Any], field: str) -> Any:
        """What stands in the first column of a field, if only nothing."""
        self.at = self.of[field][0]
        self.used[self.at] = None
        return record.get(self.at)

    def nearest(self, fields: Iterable[str]) -> str:
        """A sentence on an unknown column that resembles a name of these fields, or nothing."""
        aliases = [alias for field in fields for alias in self.table[field]]
        for name in self.unknown:
            near = difflib.get_close_matches(name, aliases, n=1, cutoff=0.8)
            if near:
                return f'The field "{name}" is not known. Did you mean {near[0]}?'
        return ""
