"""What users need to test with karat: a chat server that misbehaves on command, and a pytest fixture (`plugin`)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karat.testing._batches import BatchScript, FakeBatch
    from karat.testing._faults import Fault
    from karat.testing.fake_llm import FakeLLM, Request

__all__ = ["BatchScript", "FakeBatch", "FakeLLM", "Fault", "Request"]

_HOME = {
    "BatchScript": "_batches",
    "FakeBatch": "_batches",
    "FakeLLM": "fake_llm",
    "Fault": "_faults",
    "Request": "fake_llm",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'karat.testing' has no attribute {name!r}")
    return getattr(import_module(f"karat.testing.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
