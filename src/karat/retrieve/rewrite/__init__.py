"""Rewriters: a query in, one or several queries out, with what was changed. One rewriter a file."""

from karat.retrieve.rewrite._rewrite import (
    REWRITERS,
    Change,
    Prepares,
    Rewriter,
    Rewritten,
    check_named,
    needs_of,
    rewrite,
    rewrite_all,
    rewriter_named,
)

__all__ = [
    "REWRITERS",
    "Change",
    "Prepares",
    "Rewriter",
    "Rewritten",
    "check_named",
    "needs_of",
    "rewrite",
    "rewrite_all",
    "rewriter_named",
]
