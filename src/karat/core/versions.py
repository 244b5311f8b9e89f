"""Versions of what may change what karat writes: a run states them, and workers of a cluster must have the same."""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

PACKAGES = (
    *("karat", "numpy", "polars", "faiss-cpu", "PyStemmer", "wordllama", "tokenizers"),
    *("pypdfium2", "selectolax", "markdown-it-py", "python-docx", "regex"),
)


def versions() -> dict[str, str]:
    """The versions of those packages that are installed here."""
    found = {}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
