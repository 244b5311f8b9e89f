"""Measures of the steps of a question, its calls one after the other: one a file."""
