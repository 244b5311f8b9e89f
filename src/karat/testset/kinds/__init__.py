"""Kinds of questions, one a file: what a chat model is asked to write."""
