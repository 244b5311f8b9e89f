"""Entailment: who says whether a text entails a claim: a chat model, an NLI model or the lexical rule."""
