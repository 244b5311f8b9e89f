"""Entailment: who says whether a text entails a claim: a chat model, an NLI model or the lexical rule."""

MODEL, LEXICAL, NLI = "model", "lexical", "nli"
"""The judges of claims; a folder stands behind the last: nli:FOLDER."""
