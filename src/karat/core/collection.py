"""Collection of garbage, put off while very many objects are made that hold no cycles.

Python looks through all objects again and again as their number grows: of documents and chunks that is a third of the
time, and nothing is ever found. Afterwards they count as old, or else the next look would go through all of them.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

MANY = 100_000  # new objects: as many are looked through within milliseconds


def without_collection(function: Callable[P, R]) -> Callable[P, R]:
    """The function, during which cycles are not looked for."""

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            return function(*args, **kwargs)
        finally:
            if was_enabled:
                _grow_old()
                gc.enable()

    return called


def _grow_old() -> None:
    """Count all objects as old, without a look at them; not where the program itself keeps some from collection.

    Those of a small file are looked at in no time; to ask what the program keeps takes a walk through all of it.
    """
    if gc.get_count()[0] >= MANY and not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()
