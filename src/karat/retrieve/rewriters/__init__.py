"""Rewriters of queries: one an entry."""
