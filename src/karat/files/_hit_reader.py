"""Hits of a record: every way in which a row of results, or a step of one, says what was retrieved, best first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karat.core.ranked import trec_key
from karat.files._entries import HitColumns, are_hits, hit_columns, side_by_side, text_of
from karat.io import cells
from karat.io.cells import CellError, Record, quoted
from karat.io.fields import Columns
from karat.io.pages import PageReader, page_text
from karat.io.shapes import record_of

_LISTS = ("id", "chunk", "doc", "page", "url")
_PASSAGE = 'Write {"passage": ..., "doc_IDs": [...]}.'


class HitReader:
    """Reads the hits of records by their columns, and remembers what should be known of them."""

    def __init__(self, columns: Columns, pages: PageReader) -> None:
        self.columns, self.pages = columns, pages
        self.shared_passages = self.uneven_texts = self.uneven_scores = 0

    def notes(self) -> list[str]:
        """What to say of all hits so far, a sentence each."""
        notes = {
            f"{self.shared_passages} passages name several documents: each counts as a hit of its own": (
                self.shared_passages
            ),
            f"in {self.uneven_texts} rows there are not as many contexts as ids: texts of hits are unknown there": (
                self.uneven_texts
            ),
            f"in {self.uneven_scores} rows there are not as many scores as ids: left aside there": self.uneven_scores,
        }
        return [note for note, count in notes.items() if count]

    def lists_nothing(self, record: Record) -> bool:
        """Whether a record has a field for the list of its hits, and nothing in it: it retrieved no documents."""
        return any(alias in record for unit in _LISTS for alias in self.columns.of[f"retrieved_{unit}"])

    def read(self, record: Record) -> tuple[HitColumns | None, tuple[str, ...] | None]:
        """The ranked hits and the contexts; None where the record gives none."""
        value = cells.as_object(self.columns.value(record, "retrieved"))
        if value is not None:
            return self._entries(value), self._texts(record)
        value = self.columns.value(record, "passages")
        if value is not None:
            return self._passages(value)
        columns = {unit: items for unit in _LISTS if (items := self._column(record, unit)) is not None}
        texts = self._texts(record)
        if not columns:
            contexts = self.columns.value(record, "retrieved_text")
            if are_hits(contexts, named=True):
                return self._entries(contexts), texts
            return (None if texts is None else HitColumns(len(texts), {"text": list(texts)})), texts
        hits = [
            {unit: item for unit, item in hit.items() if item is not None or unit == "page"}
            for hit in side_by_side(columns, "lists of hits")
        ]
        if not all(hits):
            raise CellError("a hit without an id", "Give every hit an id, or leave it out of the list.")
        for hit in hits:
            self._set_page(hit)
        self._add_texts(record, hits, texts)
        scores = self.columns.value(record, "retrieved_score")
        scores = None if isinstance(scores, Mapping) else cells.as_list(scores)
        if scores is not None and len(scores) == len(hits):
            for hit, score in zip(hits, scores, strict=True):
                hit["score"] = cells.finite_number(score)
        elif scores:
            self.uneven_scores += 1
        return HitColumns.of(hits), texts

    def _column(self, record: Record, unit: str) -> list[Any] | None:
        value = self.columns.value(record, f"retrieved_{unit}")
        if value is None or isinstance(value, Mapping):
            return None
        return cells.page_items(value) if unit == "page" else cells.ids_of(value)

    def _set_page(self, hit: dict[str, Any]) -> None:
        """A page that is missing ("N/A") keeps its slot and matches nothing."""
        if "page" not in hit:
            return
        cell = hit.pop("page")
        page, _ = self.pages.read(page=page_text(cell))
        if page is not None:
            hit["page"] = page
        if hit.keys() <= {"page"}:
            hit["id"] = page or ("N/A" if cells.is_missing(cell) else str(cell).strip())

    def _add_texts(self, record: Record, hits: list[dict[str, Any]], texts: tuple[str, ...] | None) -> None:
        """Texts in the order of the hits, or under their ids, as momento writes them."""
        by_id = self.columns.value(record, "retrieved_doc")
        if isinstance(by_id, Mapping):
            text_of = {cells.id_text(name): cells.plain_text(text) for name, text in by_id.items() if text is not None}
            for hit in hits:
                text = text_of.get(hit.get("chunk", ""), text_of.get(hit.get("id", "")))
                if text is not None:
                    hit["text"] = text
        if texts is not None and len(texts) == len(hits):
            for hit, text in zip(hits, texts, strict=True):
                hit["text"] = text
        elif texts is not None:
            self.uneven_texts += 1

    def _texts(self, record: Record) -> tuple[str, ...] | None:
        value = self.columns.value(record, "retrieved_text")
        if value is None:
            return None
        items = [value] if isinstance(value, str) and not value.strip().startswith("[") else cells.as_list(value)
        texts = []
        for item in items or []:
            if isinstance(item, Mapping):
                item = text_of(item)
            texts.append("" if item is None else cells.plain_text(item))
        return tuple(texts)

    def _entries(self, value: Any) -> HitColumns:
        if isinstance(value, Mapping) and isinstance(hits := (record_of(value) or {}).get("retrieved"), list):
            value = hits
        if isinstance(value, Mapping):
            scored = [(cells.id_text(doc), cells.finite_number(score)) for doc, score in value.items()]
            return HitColumns.of(
                [{"id": doc, "score": score} for doc, score in sorted(scored, key=trec_key, reverse=True)]
            )
        return hit_columns(cells.as_list(value) or [], self.pages)

    def _passages(self, value: Any) -> tuple[HitColumns, tuple[str, ...]]:
        hits: list[dict[str, Any]] = []
        texts = []
        for entry in cells.as_list(value) or []:
            if isinstance(entry, str):
                entry = {"passage": entry}
            if not isinstance(entry, Mapping):
                raise CellError(f"passage {quoted(entry)} is no object", _PASSAGE)
            lower = {str(k).lower(): v for k, v in entry.items()}
            text = "" if cells.is_missing(lower.get("passage")) else cells.plain_text(lower["passage"])
            ids = [cells.id_text(item) for item in cells.as_list(lower.get("doc_ids")) or []]
            if not ids and not text:
                raise CellError("a passage with neither text nor doc_IDs", _PASSAGE)
            self.shared_passages += len(ids) > 1
            texts.append(text)
            hits += [{"id": doc, "text": text} for doc in ids] or [{"text": text}]
        return HitColumns.of(hits), tuple(texts)
