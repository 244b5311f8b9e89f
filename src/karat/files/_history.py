"""History: the earlier turns of a question's conversation, in the forms that files have them in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from karat.core.text.words import plural
from karat.core.types import Question, Turn
from karat.io import cells
from karat.io.cells import CellError, Record, quoted
from karat.io.fields import ASIDE, QUESTION, TESTSET, Columns
from karat.io.input import Input

MOST_TURNS = 500
"""Turns that a conversation may have: a longer one is another thing, and its histories grow with its square."""
FORM = (
    'Write a list of earlier turns: {"question": "...", "answer": "..."}, [question, answer], questions alone, or '
    'messages {"role": "user", "content": "..."} and {"role": "assistant", ...}.'
)
_ROLE, _CONTENT = ("role", "from", "speaker", "type"), ("content", "value", "text")
_ASKS, _REPLIES = frozenset({"user", "human"}), frozenset({"assistant", "ai", "bot", "gpt", "model", "agent"})
_NO_TURN = frozenset({"system", "developer", "tool", "function"})


class HistoryReader:
    """Reads what records say of conversations; remembers what the notes must say."""

    def __init__(self, input: Input, columns: Columns, float_ids: bool = False) -> None:
        self.input, self.columns, self._float_ids = input, columns, float_ids
        self._aside = {name: why for name in columns.of["turn"] if name != "turn" and (why := self._no_turns(name))}
        columns.of["turn"] = tuple(name for name in columns.of["turn"] if name not in self._aside)
        self.present = columns.has("history", "conversation", "turn")
        self._rows: dict[tuple[str, int], int] = {}
        self._stated: set[str] = set()  # conversations whose records say what came before
        self._skipped = self._derived = 0

    def read(self, record: Record, question: str) -> dict[str, Any]:
        """The fields of a question that say where in a conversation it stands."""
        if not self.present:
            return {}
        conversation, turn = (self.columns.value(record, name) for name in ("conversation", "turn"))
        fields: dict[str, Any] = {}
        if turn is not None:
            self.columns.first(record, "turn")
            fields["turn"] = _turn_number(turn)
        if conversation is not None:
            self.columns.first(record, "conversation")
            fields["conversation"] = self._conversation(conversation)
        value = self.columns.value(record, "history")
        if value is not None:
            fields["history"] = self._turns(value, question)
            if conversation is not None:
                self._stated.add(fields["conversation"])
        return fields

    def _conversation(self, value: Any) -> str:
        text = cells.id_text(value)
        return text.removesuffix(".0") if self._float_ids else text

    def _no_turns(self, name: str) -> str:
        """Why a column whose name may mean turns holds none; empty: it holds them."""
        asked: dict[tuple[str, int], tuple[Any, ...]] = {}
        try:
            for _, record in self.input.records():
                if cells.is_missing(record.get(name)):
                    continue
                number, conversation = _turn_number(record[name]), self.columns.value(record, "conversation")
                if conversation is None:
                    continue
                place = self._conversation(conversation), number
                question = tuple(record.get(one) for field in ("id", "question") for one in self.columns.of[field])
                if asked.setdefault(place, question) != question:
                    return f"turn {number} of conversation {quoted(place[0])} stands twice"
        except CellError as error:
            return error.problem
        return ""

    def refuse_double(self, question: Question, row: int) -> None:
        """A second question at the same place of a conversation is an error that names both rows."""
        if question.conversation is None or question.turn is None:
            return
        what = f"turn {question.turn} of conversation {quoted(question.conversation)}"
        remedy = "Give every turn of a conversation its own number."
        self.input.refuse_repeat(self._rows, (question.conversation, question.turn), row, what, remedy)

    def _turns(self, value: Any, question: str) -> tuple[Turn, ...]:
        items = cells.as_list(cells.as_object(value)) or []
        if isinstance(value, Mapping) or (len(items) == 1 and isinstance(value, str) and items[0] is value):
            raise CellError(f"the history {quoted(value)} is no list", FORM)
        _refuse_long(len(items) // 2 if any(map(_role, items)) else len(items), "the history")
        if any(map(_role, items)):
            return self._messages(items, question)
        turns = [_turn(item, number) for number, item in enumerate(items, 1)]
        return tuple(turns[:-1] if turns and turns[-1] == Turn(question) else turns)

    def _messages(self, items: Sequence[Any], question: str) -> tuple[Turn, ...]:
        """Turns of messages: a question, and what was said until the next."""
        turns: list[Turn] = []
        for number, item in enumerate(items, 1):
            role = (_role(item) or "").strip().lower()
            if role in _NO_TURN or (role in _REPLIES and _says_nothing(item)):
                self._skipped += 1
                continue
            text = _content(item, number)
            if role in _ASKS:
                turns.append(Turn(text))
            elif role not in _REPLIES:
                raise CellError(f"message {number} is by {quoted(_role(item))}", "Write user or assistant as its role.")
            elif not turns:
                turns.append(Turn("", text))
            else:
                earlier = turns[-1].answer
                turns[-1] = replace(turns[-1], answer=text if earlier is None else f"{earlier}\n{text}")
        if not turns or turns[-1].question.strip() != question:
            return tuple(turns)
        if turns[-1].answer is not None:
            raise CellError(
                "the messages end with the question itself and a reply to it", "Leave out the reply: history is past."
            )
        return tuple(turns[:-1])

    def with_derived(self, questions: Sequence[Question]) -> list[Question]:
        """The questions, those of conversations that state no history with that of the turns before them."""
        turns: dict[str, list[Question]] = {}
        for question in questions:
            if question.conversation is not None and question.turn is not None:
                turns.setdefault(question.conversation, []).append(question)
        history: dict[str, tuple[Turn, ...]] = {}
        for conversation, asked in turns.items():
            if conversation in self._stated or len(asked) < 2:
                continue
            if len(asked) > MOST_TURNS:
                _refuse_many(self.input, conversation, len(asked))
            asked.sort(key=lambda question: question.turn or 0)
            before = [Turn(question.text, next(iter(question.answers), None)) for question in asked]
            history |= {question.id: tuple(before[:place]) for place, question in enumerate(asked) if place}
        self._derived = len(history)
        return [replace(q, history=history[q.id]) if q.id in history else q for q in questions]

    def notes(self, questions: Iterable[Question]) -> list[str]:
        """How many questions have a history, where it is from and what it counts for."""
        if not self.present and not self._aside:
            return []
        asked = list(questions)
        notes = [
            f'"{name}" is left aside: {why}. For a number of the turn, call it "turn"'
            for name, why in self._aside.items()
        ]
        if len(asked) > 1 and len({q.conversation for q in asked}) == 1 and asked[0].conversation is not None:
            column = next((name for name in self.columns.of["conversation"] if name in self.columns.used), "")
            shown = self.input.named([column])
            notes.append(
                f'all {len(asked):,} questions in one conversation ("{shown}"): no intervals. '
                f"If it is none: --map {shown}={ASIDE}"
            )
        if past := sum(bool(question.history) for question in asked):
            verb = "has" if past == 1 else "have"
            notes.append(
                f"{past:,} of {plural(len(asked), 'question')} {verb} a history: systems that take one are given it, "
                "and it counts as evidence for answers"
            )
        if self._derived:
            notes.append(
                f"history of {plural(self._derived, 'question')} taken from the earlier turns of their conversation: "
                "questions and first reference answers"
            )
        if self._skipped:
            notes.append(
                f"{plural(self._skipped, 'message')} without text, or by a system or a tool, left out of histories"
            )
        if single := sum(q.conversation is None and (bool(q.history) or q.turn is not None) for q in asked):
            what = (
                "names no conversation: intervals take it"
                if single == 1
                else "name no conversation: intervals take them"
            )
            notes.append(f"{plural(single, 'turn')} {what} as independent of the others")
        unordered = {q.conversation for q in asked if q.conversation is not None and q.turn is None and not q.history}
        if unordered - self._stated:
            notes.append(
                f"{plural(len(unordered - self._stated), 'conversation')} without turn numbers: no history is taken "
                'from the order of the rows. Add "turn" for that'
            )
        return notes


def _turn_number(value: Any) -> int:
    number = cells.whole_number(value, "turn")
    if number < 0:
        raise CellError(f"turn {quoted(value)} is below 0", "Count the turns of a conversation from 1.")
    return number


def _refuse_long(turns: int, what: str) -> None:
    if turns > MOST_TURNS:
        raise CellError(f"{what} has {turns:,} turns", f"Keep the last {MOST_TURNS} at most.")


def _refuse_many(input: Input, conversation: str, turns: int) -> None:
    raise input.error(
        f"conversation {quoted(conversation)} has {turns:,} turns",
        remedy=f"karat takes conversations of up to {MOST_TURNS} turns; or give each question its own history.",
    )


def _role(item: Any) -> str | None:
    """Who says a message; None for what is none."""
    if not isinstance(item, Mapping) or any(name in item for name in ("question", "answer")):
        return None
    named = (item[name] for name in _ROLE if isinstance(item.get(name), str))
    return next(named, None) if any(name in item for name in _CONTENT) else None


def _says_nothing(item: Mapping[str, Any]) -> bool:
    """Whether a message has no text, as where a model calls tools."""
    return all(item.get(name) in (None, "", []) for name in _CONTENT)


def _content(item: Any, number: int) -> str:
    """What a message says: a text, or texts in parts."""
    if _role(item) is None:
        raise CellError(f"message {number} names nobody who says it, or nothing that is said", FORM)
    content = next(item[name] for name in _CONTENT if name in item)
    parts = content if isinstance(content, list | tuple) else [content]
    texts = [part.get("text") if isinstance(part, Mapping) else part for part in parts]
    if not all(isinstance(text, str) for text in texts):
        raise CellError(f"message {number} says {quoted(content)}, which is no text", FORM)
    return "\n".join(map(str, texts))


def _turn(item: Any, number: int) -> Turn:
    """A turn given as an object, as a pair, or as a question alone."""
    asked, answer = item, None
    if isinstance(item, Mapping):
        names = ("answer", *(name for name in TESTSET["answers"] if name != "answer"), "response")
        asked = next((item[name] for name in QUESTION if not cells.is_missing(item.get(name))), None)
        answer = next((item[name] for name in names if not cells.is_missing(item.get(name))), None)
        answer = answer[0] if isinstance(answer, list) and answer else answer
    elif isinstance(item, list | tuple) and len(item) == 2:
        asked, answer = item
    asked, answer = ("" if cells.is_missing(asked) else asked), (None if cells.is_missing(answer) else answer)
    if not isinstance(asked, str) or not (answer is None or isinstance(answer, str)) or not (asked.strip() or answer):
        raise CellError(f"turn {number} of the history is {quoted(item)}", FORM)
    return Turn(asked.strip(), answer)
