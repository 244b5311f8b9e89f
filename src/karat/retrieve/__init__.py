"""Engines: texts in, ranked rows out. One engine a file."""

from karat.retrieve._engine import ENGINES, STORES, Engine, Progress, Store

__all__ = ["ENGINES", "STORES", "Engine", "Progress", "Store"]
