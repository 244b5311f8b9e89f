"""Fields: how names of columns are spelled, what names a document goes by, and what lies nested in a record."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

DOC = ("doc", "doc_id", "docid", "document", "document_id", "corpus_id")
FILE = ("file", "filename", "file_name", "file_path", "path", "pdf", "source")
"""Names of a document, and of the file that holds it."""

URL = ("url", "source_url", "link", "uri")
NESTED = ("metadata", "meta")


@lru_cache(maxsize=4096)
def field_name(name: str) -> str:
    """A column's name as aliases are spelled; half of a surrogate pair, which no file can hold, becomes a mark.

    >>> field_name(" Query-ID ")
    'query_id'
    """
    whole = name.encode("utf-8", "replace").decode("utf-8")
    return re.sub(r"[\s\-]+", "_", whole.replace("\ufeff", "").strip()).lower()


def flattened(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record by names as aliases are spelled; what its metadata holds stands in for what it lacks itself."""
    fields = {field_name(str(name)): value for name, value in record.items()}
    for nest in NESTED:
        inner = fields.get(nest)
        if isinstance(inner, Mapping):
            del fields[nest]
            for name, value in inner.items():
                fields.setdefault(field_name(str(name)), value)
    return fields


def nested(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The metadata of a record, by names as aliases are spelled; empty where it has none."""
    for name, inner in record.items():
        if field_name(str(name)) in NESTED and isinstance(inner, Mapping):
            return {field_name(str(key)): value for key, value in inner.items()}
    return {}
