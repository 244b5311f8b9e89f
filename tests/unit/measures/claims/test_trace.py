"""TRACe by hand, and against the published formulas written a second time."""

from __future__ import annotations

import math
import random

import pytest

from karat.core.answered import AnswerTable
from karat.core.claims import ENTAILED, NEITHER, PARTIAL, ClaimRows
from karat.core.language import parse
from karat.core.scores import MeasureResult

Sentence = tuple[str, int, int]  # text, what the question says of it, what the answer says of it


def outcome(measure: str, rows: ClaimRows, contexts: tuple[str, ...] | None = None) -> MeasureResult:
    n = len(rows.questions)
    answered = AnswerTable(
        rows.systems, rows.questions, texts=["?"] * n, answers=["said"] * n, references=[()] * n,
        contexts=[contexts] * n, answerable=[True] * n, claims=rows.table(),
    )  # fmt: skip
    result = parse(measure).of(answered)
    assert isinstance(result, MeasureResult)
    return result


def marked(*questions: list[Sentence]) -> ClaimRows:
    rows = ClaimRows(["a"], [f"q{i}" for i in range(len(questions))])
    for pair, sentences in enumerate(questions):
        rows.claims(pair, "context", [text for text, _, _ in sentences])
        for number, (_, relevant, used) in enumerate(sentences, 1):
            rows.verdict(pair, "context", number, "question", relevant)
            rows.verdict(pair, "context", number, "answer", used)
    return rows


WORKED: list[Sentence] = [
    ("one two three four", ENTAILED, ENTAILED),
    ("one two", ENTAILED, NEITHER),
    ("one", NEITHER, ENTAILED),
    ("one two three", PARTIAL, NEITHER),  # partly relevant is not relevant
]


@pytest.mark.parametrize(
    ("measure", "words", "sentences"),
    [("TraceRelevance", 6 / 10, 2 / 4), ("TraceUtilisation", 5 / 10, 2 / 4), ("TraceCompleteness", 4 / 6, 1 / 2)],
)
def test_shares_of_the_passages_by_hand(measure: str, words: float, sentences: float) -> None:
    assert outcome(measure, marked(WORKED)).values[0] == pytest.approx(words)
    assert outcome(f"{measure}(length=sentences)", marked(WORKED)).values[0] == pytest.approx(sentences)


def test_nothing_to_take_a_share_of() -> None:
    rows = marked([("one", NEITHER, ENTAILED)], [], [("...", ENTAILED, ENTAILED)])
    assert outcome("TraceCompleteness", rows).undefined == {
        0: "no sentence of the passages is relevant",
        1: "there are no passages",
        2: "no sentence of the passages is relevant",
    }
    assert outcome("TraceRelevance", rows).undefined == {1: "there are no passages", 2: "the passages hold no words"}
    assert outcome("TraceCompleteness(empty=zero)", rows).values.tolist() == [0, 0, 0]


def test_published_formulas_written_a_second_time() -> None:
    chance = random.Random(11)

    def sentence() -> Sentence:
        words = " ".join(chance.choices(["stone", "old", "the", "bridge"], k=chance.randint(1, 9)))
        return words, chance.choice([ENTAILED, NEITHER]), chance.choice([ENTAILED, NEITHER])

    questions = [[sentence() for _ in range(chance.randint(1, 12))] for _ in range(150)]

    def second(name: str, sentences: list[Sentence], whole: bool) -> float:
        def length(chosen: list[Sentence]) -> int:
            return sum(1 if whole else len(text.split()) for text, _, _ in chosen)

        relevant = [one for one in sentences if one[1] == ENTAILED]
        used = [one for one in sentences if one[2] == ENTAILED]
        if name == "TraceRelevance":
            return length(relevant) / length(sentences)
        if name == "TraceUtilisation":
            return length(used) / length(sentences)
        both = [one for one in relevant if one[2] == ENTAILED]
        return length(both) / length(relevant) if relevant else math.nan

    for name in ("TraceRelevance", "TraceUtilisation", "TraceCompleteness"):
        for by in ("tokens", "sentences"):
            values = outcome(f"{name}(length={by})", marked(*questions)).values
            wanted = [second(name, sentences, by == "sentences") for sentences in questions]
            assert values == pytest.approx(wanted, nan_ok=True)


def test_adherence_asks_every_sentence_against_all_passages() -> None:
    rows = ClaimRows(["a"], ["all", "some", "none", "missing", "bare"])
    for pair in range(5):
        rows.claims(pair, "sentence", [] if pair == 2 else ["x", "y"])
        rows.passages(pair, 0 if pair == 4 else 2)
    for pair, second in ((0, ENTAILED), (1, PARTIAL)):
        rows.verdict(pair, "sentence", 1, "passages", ENTAILED, passages=(1, 2))
        rows.verdict(pair, "sentence", 2, "passages", second, passages=(1, 2))
    rows.verdict(3, "sentence", 2, "passages", NEITHER, passages=(1, 2))
    result = outcome("TraceAdherence", rows, ("p", "q"))
    assert result.values[[0, 1, 4]].tolist() == [1, 0, 0]  # no passages support nothing
    assert result.undefined == {2: "the answer has no sentence"}
    assert result.failed == {3: "1 verdict is missing (sentence by passages)"}


def test_adherence_where_nobody_says_how_many_passages_there_are() -> None:
    rows = ClaimRows(["a"], ["q", "r"])
    for pair in range(2):
        rows.claims(pair, "sentence", ["x"])
    rows.verdict(0, "sentence", 1, "passages", ENTAILED, passages=(1, 2, 3))
    result = outcome("TraceAdherence", rows)
    assert result.values[0] == 1
    assert result.undefined == {1: "no context texts are known"}
