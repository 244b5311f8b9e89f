"""Contexts in, an answer out: one answerer a file."""

from karat.answer._answerer import ANSWERERS, Answerer, AnswererSettings, answerer_named

__all__ = ["ANSWERERS", "Answerer", "AnswererSettings", "answerer_named"]
