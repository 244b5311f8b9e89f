"""What a check of the audit is: it looks at one thing and yields what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from karat.core.registry import Registry
from karat.results.checkup import Finding

if TYPE_CHECKING:
    from karat.testset.audit._view import View


@dataclass(frozen=True)
class Check:
    """One check, called as its file is. `order` sorts its findings among those of the same severity.

    `corpus`: it looks at chunks, and is left out where there are none.
    """

    name: str
    summary: str
    find: Callable[[View], Iterable[Finding]]
    order: int = 50
    corpus: bool = False


def _find(source: Any) -> Check | None:
    found = getattr(source, "check", source)
    return found if isinstance(found, Check) else None


CHECKS: Registry[Check] = Registry("audit check", ("karat.testset.audit.checks",), "karat.audits", _find)
