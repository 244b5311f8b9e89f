"""Claims tables as files: karat's flat form (CSV, TSV, JSON, JSONL, Parquet), and what RAGChecker writes."""

from __future__ import annotations

from karat.files.claims._read import read_claims
from karat.files.claims._write import claims_frame, write_claims

__all__ = ["claims_frame", "read_claims", "write_claims"]
