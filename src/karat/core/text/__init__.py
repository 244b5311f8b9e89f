"""Normalisers, tokenisers, stop words and sentences: the one place where text becomes tokens."""
