"""Readers of documents: one kind of file an entry."""
