"""Once: what several ask of one object is worked out when it is first asked for, and kept with the object."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

Owner = TypeVar("Owner")
Result = TypeVar("Result")
P = ParamSpec("P")


def once(compute: Callable[Concatenate[Owner, P], Result]) -> Callable[Concatenate[Owner, P], Result]:
    """A function or method whose result is kept with its first argument, for each of the other arguments."""

    @wraps(compute)
    def remembered(owner: Owner, /, *args: P.args, **kwargs: P.kwargs) -> Result:
        results: dict[Any, Result] = vars(owner).setdefault("_results", {})
        key = (compute, args, *kwargs.items())
        if key not in results:
            results[key] = compute(owner, *args, **kwargs)
        return results[key]

    return remembered
