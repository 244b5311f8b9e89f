"""Loading: a test set or results from whatever a notebook has at hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karat.core.run import Run
    from karat.core.types import TestSet


def load_testset(source: Any, *, columns: Mapping[str, str] | None = None) -> TestSet:
    """The test set a path, dict, list of records or frame holds. `columns` maps column names to karat's fields."""
    from karat.files import as_testset

    return as_testset(source, columns=columns)[0]


def load_results(source: Any, *, columns: Mapping[str, str] | None = None) -> list[Run]:
    """The runs, one per system, that a path, dict, list or frame holds."""
    from karat.files import as_runs

    return as_runs(source, columns=columns)[0]
