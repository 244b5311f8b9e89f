"""Redaction: what patterns find in texts is replaced by a mark, before anything is written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from karat.core.errors import UsageError, did_you_mean
from karat.core.run import Run
from karat.core.types import Answer, Question, TestSet, Turn
from karat.io.patterns import UserPattern

T = TypeVar("T")

OPTION = "--redact"
_IN_RUN = r"(?<!\b\d{4}[ -]\d{4}[ -])" + "".join(
    rf"(?<!\b[A-Z]{{2}}\d\d(?:[ -]\w{{4}}){{{count}}}[ -])" for count in range(8)
)  # not behind groups of an IBAN or of the number of a card
KNOWN = {
    "email": re.compile(r"(?<![\w.%+-])[\w.%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,63}"),
    "key": re.compile(
        r"(?<![\w-])(?:(?:sk|pk|rk)[-_]|gh[opsur]_|glpat-|xox[abprs]-|AKIA|ASIA|AIza|eyJ)[\w.-]{12,}+"
        r"|(?<!\w)(?i:bearer) [\w.~+/-]{12,}+=*+"
    ),
    "phone": re.compile(
        rf"(?=[+(\d]){_IN_RUN}"
        r"(?:(?<!\w)(?:\+|00)[1-9](?:[ ./()-]{0,2}\d){6,14}(?!\w)"
        r"|(?<![\w./-])\(?0\d{1,4}\)?(?:[ ./-]{1,2}\d{4,8}|(?:[ ./-]{1,2}\d{2,8}){2,4})(?!\w)"
        r"|(?<![\w.])\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?!\w))"
    ),
    "number": re.compile(r"(?<![\w.])(?!\d{4}-\d\d-\d\d(?!\d))(?:\d{6,32}|\d{2,6}(?:[ -]\d{2,6}){2,8})(?!\w)"),
}
"""Patterns by name: addresses of e-mail, keys of programs, telephone numbers, and numbers of six digits and more."""
_REDACTED = "[redacted]"
_KEPT = ("id", "doc", "url", "chunk")


class Redactor:
    """Replaces what some patterns find: those of KNOWN by name, `[email]`, and the user's own, `[redacted]`."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns: list[tuple[str, Callable[[str], tuple[str, int]]]] = []
        self.counts: Counter[str] = Counter()
        self._kept: Counter[str] = Counter()
        wanted = list(dict.fromkeys(patterns))
        for name in (*(name for name in KNOWN if name in wanted), *(text for text in wanted if text not in KNOWN)):
            self._patterns.append(_named(name) if name in KNOWN else _own(name))

    def text(self, text: str) -> str:
        """A text with a mark for all that is found in it."""
        return self._replaced(text, self.counts)

    def _replaced(self, text: str, counts: Counter[str], times: int = 1) -> str:
        for mark, replaced in self._patterns:
            text, count = replaced(text)
            if count:
                counts[mark] += count * times
        return text

    def _keep(self, values: Iterable[Any]) -> None:
        """Count what is found in texts that stay as they are, because others refer to them."""
        for text, times in Counter(value for value in values if isinstance(value, str)).items():
            self._replaced(text, self._kept, times)

    def values(self, value: Any) -> Any:
        """Every text in lists and mappings, names of entries aside."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {name: self.values(part) for name, part in value.items()}
        return [self.values(part) for part in value] if isinstance(value, list | tuple) else value

    def notes(self) -> list[str]:
        """What was replaced, and what stays, a sentence each."""
        if not self._patterns:
            return []
        notes = [f"redacted: {_counted(self.counts) or 'nothing was found'}"]
        if self._kept:
            verb = "stays" if self._kept.total() == 1 else "stay"
            notes.append(f"{_counted(self._kept)} {verb} in ids, documents and urls, which are not redacted")
        return notes

    def redacted_testset(self, testset: TestSet) -> TestSet:
        """A test set without what the patterns find; ids stay, unless they are the texts themselves."""
        if not self._patterns:
            return testset
        return testset.with_questions(map(self._question, testset.questions), testset.name)

    def redacted_runs(self, runs: Iterable[Run]) -> list[Run]:
        """The same of results."""
        return list(map(self._run, runs) if self._patterns else runs)

    def _turn(self, turn: Turn) -> Turn:
        return Turn(self.text(turn.question), None if turn.answer is None else self.text(turn.answer))

    def _question(self, question: Question) -> Question:
        gold = tuple(replace(one, quote=self.text(one.quote)) if one.quote else one for one in question.gold)
        is_text = question.id == question.text
        self._keep(getattr(one, name) for one in gold for name in _KEPT)
        self._keep([*question.excluded, *(() if is_text else [question.id]), question.conversation])
        text = self.text(question.text)
        return replace(
            question,
            id=text if is_text else question.id,
            text=text,
            answers=tuple(map(self.text, question.answers)),
            gold=gold,
            nuggets=tuple(replace(nugget, text=self.text(nugget.text)) for nugget in question.nuggets),
            history=tuple(self._turn(turn) for turn in question.history),
        )

    def _run(self, run: Run) -> Run:
        texts = {qid: self.text(text) for qid, text in run.texts.items()}
        names = {qid: texts[qid] for qid, text in run.texts.items() if qid == text}
        if len({names.get(qid, qid) for qid in run.asked}) < len(run.asked):
            raise UsageError(
                f"{run.name}: questions are their own ids, and two of them read alike once they are redacted. Give "
                "every question an id."
            )

        def by_name(rows: Mapping[str, T]) -> dict[str, T]:
            return {names.get(qid, qid): value for qid, value in rows.items()}

        hits, docs = run.fields.get("text"), run.doc_list
        fields = dict(run.fields)
        if hits is not None:
            fields["text"] = [None if text is None else self.text(text) for text in hits]
            docs = [new if doc == old else doc for doc, old, new in zip(docs, hits, fields["text"], strict=True)]
        self._keep(qid for qid in run.asked if qid not in names)
        self._keep(run.doc_list if hits is None else (d for d, old in zip(run.doc_list, hits, strict=True) if d != old))
        for name in _KEPT:
            self._keep(run.fields.get(name, ()))
        steps = {qid: self._steps(rows) for qid, rows in run.steps.items()}
        answers = {qid: self._answer(answer, names.get(qid, qid)) for qid, answer in run.answers.items()}
        failed = {qid: self.text(reason) for qid, reason in run.failed.items()}
        return replace(
            run, question_ids=[names.get(qid, qid) for qid in run.question_ids], _docs=docs, _scores=run.scores,
            by_question=None, fields=fields, answers=by_name(answers), failed=by_name(failed), texts=by_name(texts),
            steps=by_name(steps), unasked=by_name(run.unasked),
        )  # fmt: skip

    def _answer(self, answer: Answer, question: str) -> Answer:
        return replace(
            answer,
            question=question,
            text=None if answer.text is None else self.text(answer.text),
            contexts=None if answer.contexts is None else tuple(map(self.text, answer.contexts)),
            error=None if answer.error is None else self.text(answer.error),
        )

    def _steps(self, steps: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Queries and texts of steps; the ids of their hits stay."""
        return [
            {**step, **{name: self._hit_texts(step[name]) for name in ("query", "retrieved") if name in step}}
            for step in steps
        ]

    def _hit_texts(self, value: Any) -> Any:
        if not isinstance(value, list):
            return self.values(value)
        for hit in value:
            self._keep(map(hit.get, _KEPT) if isinstance(hit, Mapping) else [hit])
        return [
            {name: self.values(part) if name in ("text", "quote", "metadata") else part for name, part in hit.items()}
            if isinstance(hit, Mapping)
            else hit
            for hit in value
        ]


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {mark}" for mark, count in counts.items())


def _named(name: str) -> tuple[str, Callable[[str], tuple[str, int]]]:
    pattern, mark = KNOWN[name], f"[{name}]"
    return mark, lambda text: pattern.subn(mark, text)


def _own(text: str) -> tuple[str, Callable[[str], tuple[str, int]]]:
    near = did_you_mean(text, KNOWN) if text.isalpha() else ""
    if near:
        raise UsageError(f"{OPTION} {text}: there is no pattern of that name.{near} Names: {', '.join(KNOWN)}.")
    pattern = UserPattern(text, OPTION)
    if pattern.search("") is not None:
        raise UsageError(f"{OPTION} {text!r} finds nothing at all everywhere. Write a pattern that needs a character.")
    return _REDACTED, lambda match: pattern.replace(match, _REDACTED)
