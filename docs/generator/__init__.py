"""Writes the pages of docs/reference from what the code declares: `python -m docs.generator`.

Nothing here describes karat: help texts, docstrings, summaries and the JSON Schema do. A test compares the pages with
what this package gives.
"""
