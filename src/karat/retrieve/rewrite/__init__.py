"""Rewriters: a query in, one or several queries out, with what was changed. One rewriter a file."""

from karat.retrieve.rewrite._rewrite import REWRITERS, Change, Rewriter, Rewritten, rewrite, rewriter_named

__all__ = ["REWRITERS", "Change", "Rewriter", "Rewritten", "rewrite", "rewriter_named"]
