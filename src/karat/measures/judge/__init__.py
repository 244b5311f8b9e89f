"""Measures by a language model: one a file."""
