"""What a check and a filter are, where they are found, and how checks are run.

A file of this folder is about one fault. It holds the checks that look for it in a test set and the filter that looks
for it in a draft of generation.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from karat.core.registry import Registry, instance_of, key_of
from karat.core.text.words import excerpt, percent, plural
from karat.core.types import Question
from karat.results.drafts import Draft, Fragment
from karat.results.testset_check import SEVERITIES, Finding, Severity
from karat.testset.check._context import SEMANTIC, CheckContext
from karat.testset.check._surroundings import Surroundings

__all__ = [
    "CHECKS",
    "FILTERS",
    "SEMANTIC",
    "SHOWN",
    "Check",
    "CheckContext",
    "Draft",
    "Filter",
    "Finding",
    "Fragment",
    "Severity",
    "Surroundings",
    "about_questions",
    "check",
    "counted",
    "draft_filter",
    "run",
]
"""All that a file of this folder needs to look for its fault."""

SHOWN = 5  # examples of a finding
Find = Callable[[CheckContext], Iterable[Finding]]
FindInDraft = Callable[[Draft, Surroundings, Sequence[Draft]], str | Draft | None]


@dataclass(frozen=True)
class Check:
    """One check; `order` sorts its findings among those of the same severity, after karat's own unless given.

    One that `needs_index` is not run where there is none.
    """

    name: str
    summary: str
    find: Find
    order: int = 90
    needs_index: bool = False


@dataclass(frozen=True)
class Filter:
    """One filter; its name is the reason under which rejections are counted.

    `find` is given the draft, the surroundings and the drafts accepted before it, and returns why the draft is
    rejected, in a sentence; or the draft with more gold; or None where nothing is wrong with it. Filters run by
    `order`, what costs least first, and the first that finds a fault ends it.
    """

    name: str
    summary: str
    find: FindInDraft
    order: int = 50


def check(order: int, name: str = "", *, needs_index: bool = True) -> Callable[[Find], Check]:
    """A check, made of the function that finds the fault: its name, and its docstring as summary."""
    return lambda find: Check(name or find.__name__, _summary(find), find, order, needs_index)


def draft_filter(order: int) -> Callable[[FindInDraft], Filter]:
    """A filter of generation, made in the same way."""
    return lambda find: Filter(find.__name__, _summary(find), find, order)


def _summary(find: Callable[..., Any]) -> str:
    line = (find.__doc__ or "").strip().rstrip(".")
    return line[:1].lower() + line[1:]


Entry = TypeVar("Entry", bound=Check | Filter)


class FaultRegistry(Registry[Entry]):
    """The checks or filters in the files of this folder, which may hold several, plus those of a plug-in group."""

    _entries: dict[str, str] | None = None

    def _built_in(self) -> dict[str, str]:
        if self._entries is None:
            modules = [importlib.import_module(name) for name in super()._built_in().values()]
            entries = [entry for module in modules for value in vars(module).values() if (entry := self.find(value))]
            for entry in entries:
                self._loaded.setdefault(key_of(entry.name), entry)
            self._entries = {key_of(entry.name): entry.name for entry in entries}
        return self._entries

    def get(self, name: str) -> Entry:
        """The entry of this name; an unknown name gets a did-you-mean."""
        self._built_in()
        return super().get(name)


_FILES = ("karat.testset.check",)
CHECKS = FaultRegistry("check", _FILES, "karat.checks", instance_of(Check, "check"))
FILTERS = FaultRegistry("filter", _FILES, "karat.filters", instance_of(Filter, "filter"))


def run(
    checks: Iterable[Check], context: CheckContext, progress: Callable[[str], None] | None = None
) -> tuple[Finding, ...]:
    """What some checks find, gravest first. A check that fails is itself a finding, and the others go on."""
    findings: list[tuple[int, int, Finding]] = []
    for one in sorted(checks, key=lambda one: (one.order, one.name)):
        if progress is not None:
            progress(one.name.replace("_", " "))
        findings += [(SEVERITIES.index(finding.severity), one.order, finding) for finding in _findings(one, context)]
    return tuple(finding for *_, finding in sorted(findings, key=lambda entry: entry[:2]))


def _findings(one: Check, context: CheckContext) -> list[Finding]:
    try:
        return list(one.find(context))
    except MemoryError:
        raise
    except Exception as error:
        text = (
            f"{type(error).__name__}: {error}. This is a mistake in the check, not in your data; nothing is known of "
            "what it looks for."
        )
        remedy = "Report it with --debug's traceback." if one.find.__module__.startswith("karat.") else ""
        return [
            Finding(check=one.name, severity="broken", title=f"the check {one.name} failed", text=text, remedy=remedy)
        ]


def counted(count: int, noun: str, one: str, many: str) -> str:
    """A count with the verb that suits it.

    >>> counted(1, "quote", "is", "are"), counted(2, "quote", "is", "are")
    ('1 quote is', '2 quotes are')
    """
    return f"{plural(count, noun)} {one if count == 1 else many}"


def about_questions(
    check: str,
    severity: Severity,
    faulty: Sequence[tuple[Question, str]],
    total: int,
    verbs: tuple[str, str],
    text: str,
    remedy: str,
    noun: str = "question",
) -> Iterable[Finding]:
    """A finding about single questions, each with what was seen in it; none where there are none.

    `verbs` follow the count: of one question, and of several.
    """
    if not faulty:
        return
    yield Finding(
        check=check,
        severity=severity,
        title=counted(len(faulty), noun, *verbs),
        text=f"{percent(len(faulty) / total, 0)} of the {total:,} looked at. {text}" if total else text,
        numbers={"questions": len(faulty), "looked_at": total, "share": len(faulty) / total if total else None},
        questions=tuple(question.id for question, _ in faulty),
        examples=tuple(
            f'{q.id}: "{excerpt(q.text, 90)}"' + (f" ({seen})" if seen else "") for q, seen in faulty[:SHOWN]
        ),
        remedy=remedy,
    )
