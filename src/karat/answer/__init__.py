"""Contexts in, an answer out: one answerer a file."""

from karat.answer._answerer import ANSWERERS, Answerer, AnswererSettings, answerer_named
from karat.answer._contexts import within

__all__ = ["ANSWERERS", "Answerer", "AnswererSettings", "answerer_named", "within"]
