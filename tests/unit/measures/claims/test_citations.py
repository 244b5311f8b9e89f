"""Citations by ALCE's rule and by TREC's: by hand, and against the published definitions written a second time."""

from __future__ import annotations

import math
import random
from itertools import chain, combinations

import pytest

from karat.core.answered import AnswerTable
from karat.core.claims import CONTRADICTED, ENTAILED, NEITHER, PARTIAL, ClaimRows, cited_sets
from karat.core.errors import UsageError
from karat.core.language import parse
from karat.core.scores import MeasureResult
from karat.measures.dialects import dialect_named

Sets = dict[tuple[int, ...], int]
Said = list[tuple[tuple[int, ...], Sets]]  # what each sentence cites, and what sets of passages say of it
PASSAGES = 5


def table(*answers: Said, passages: int = PASSAGES) -> AnswerTable:
    """Answers of one system with the verdicts on their sentences."""
    rows = ClaimRows(["a"], [f"q{i}" for i in range(len(answers))])
    for pair, said in enumerate(answers):
        rows.passages(pair, passages)
        rows.claims(pair, "sentence", [f"s{i}" for i in range(len(said))], cites=[cites for cites, _ in said])
        for number, (_, sets) in enumerate(said, 1):
            for members, verdict in sets.items():
                rows.verdict(pair, "sentence", number, "passages", verdict, passages=members)
    n = len(answers)
    return AnswerTable(
        rows.systems, rows.questions, texts=["?"] * n, answers=["said"] * n, references=[()] * n,
        contexts=[("p",) * passages] * n, answerable=[True] * n, claims=rows.table(),
    )  # fmt: skip


def outcome(measure: str, *answers: Said, dialect: str = "karat") -> MeasureResult:
    result = dialect_named(dialect).meant(parse(measure)).of(table(*answers))
    assert isinstance(result, MeasureResult)
    return result


def value(measure: str, said: Said, dialect: str = "karat") -> float:
    result = outcome(measure, said, dialect=dialect)
    assert (result.undefined, result.failed) == ({}, {})
    return float(result.values[0])


SINGLE: Said = [((2,), {(2,): ENTAILED})]
NOT_TOGETHER: Said = [((1, 2), {(1, 2): NEITHER, (1,): NEITHER, (2,): NEITHER})]
ONE_ALONE: Said = [((1, 2), {(1, 2): ENTAILED, (1,): ENTAILED, (2,): CONTRADICTED})]
BOTH_NEEDED: Said = [((1, 2), {(1, 2): ENTAILED, (1,): NEITHER, (2,): NEITHER})]
PARTLY: Said = [((3,), {(3,): PARTIAL})]


@pytest.mark.parametrize(
    ("said", "recall", "precision"),
    [
        (SINGLE, 1, 1),
        (NOT_TOGETHER, 0, 0),
        (ONE_ALONE, 1, 1 / 2),  # 2 does not entail it alone, and 1 does without it
        (BOTH_NEEDED, 1, 1),
        (PARTLY, 0, 0),  # partial support entails nothing
        ([*SINGLE, ((), {})], 1 / 2, 1),  # a sentence without a citation counts for recall alone
        ([*SINGLE, *NOT_TOGETHER, *ONE_ALONE, *BOTH_NEEDED], 3 / 4, (1 + 0 + 1 + 2) / 7),
    ],
)
@pytest.mark.parametrize("dialect", ["karat", "alce"])
def test_alce_by_hand(said: Said, recall: float, precision: float, dialect: str) -> None:
    assert value("CitationRecall(by=alce)", said, dialect) == recall
    assert value("CitationPrecision(by=alce)", said, dialect) == pytest.approx(precision)


def test_a_citation_past_the_last_passage() -> None:
    past: Said = [((1, 9), {(1,): ENTAILED}), *SINGLE]
    assert value("CitationRecall(by=alce)", past) == 1  # passage 1 is there, and entails it
    assert value("CitationPrecision(by=alce)", past) == 2 / 3
    assert value("CitationRecall", past, "alce") == 1 / 2
    assert value("CitationPrecision", past, "alce") == 1  # of the one citation that is left
    assert value("CitationPrecision(by=trec)", past) == 2 / 3
    only: Said = [((9, 0), {})]
    assert value("CitationRecall(by=alce)", only) == value("CitationPrecision(by=alce)", only) == 0
    assert value("CitationPrecision", only, "alce") == 0


def test_an_answer_that_cites_nothing_or_says_nothing() -> None:
    nothing: Said = [((), {}), ((), {})]
    assert value("CitationRecall(by=alce)", nothing) == value("CitationRecall(by=trec)", nothing) == 0
    assert outcome("CitationPrecision(by=alce)", nothing).undefined == {0: "the answer cites nothing"}
    assert value("CitationPrecision", nothing, "alce") == 0
    for measure in ("CitationRecall(by=alce)", "CitationPrecision(by=trec)"):
        for dialect in ("karat", "alce"):
            assert outcome(measure, [], dialect=dialect).undefined == {0: "the answer has no sentence"}


def test_alce_counts_the_first_three_citations() -> None:
    sets: Sets = dict.fromkeys(cited_sets((4, 3, 2, 1), PASSAGES), NEITHER)
    sets[1, 2, 3, 4] = sets[1, 2, 3] = ENTAILED  # all together, and all but 4
    said: Said = [((4, 3, 2, 1), sets)]
    assert value("CitationRecall(by=alce)", said) == 1
    assert value("CitationPrecision(by=alce)", said) == 3 / 4  # 4 is not needed
    assert value("CitationRecall", said, "alce") == value("CitationPrecision", said, "alce") == 0  # 4, 3, 2 do not


def test_trec_by_hand() -> None:
    both: Said = [((2, 1), {(2,): PARTIAL, (1,): ENTAILED, (1, 2): ENTAILED})]
    said: Said = [*SINGLE, *PARTLY, *both, ((), {})]
    assert value("CitationPrecision(by=trec)", said) == (1 + 0.5 + 0.5 + 1) / 4
    assert value("CitationRecall(by=trec)", said) == (1 + 0.5 + 1 + 0) / 4
    assert value("CitationPrecision", said, "trec-rag") == (1 + 0.5 + 0.5) / 3  # the first citation of a sentence
    assert value("CitationRecall", said, "trec-rag") == (1 + 0.5 + 0.5 + 0) / 4


def test_verdicts_that_are_missing_fail_the_row() -> None:
    half: Said = [((1, 2), {(1, 2): ENTAILED, (1,): NEITHER})]
    result = outcome("CitationPrecision(by=alce)", half, SINGLE)
    assert result.failed == {0: "2 verdicts are missing (sentence by cited)"}
    assert result.values[1] == 1
    assert outcome("CitationRecall(by=alce)", half).failed == {}
    with pytest.raises(UsageError, match="CitationRecall needs claims"):
        parse("CitationRecall(by=alce)").of(
            AnswerTable(("a",), ("q",), texts=[""], answers=[""], references=[()], contexts=[()], answerable=[True])
        )


def test_without_contexts_and_verdicts_nothing_is_measured() -> None:
    rows = ClaimRows(["a"], ["q"])
    rows.claims(0, "sentence", ["One.", "Two."], cites=[(1,), ()])
    answered = AnswerTable(
        ("a",), ("q",), texts=["?"], answers=["One [1]. Two."], references=[()], contexts=[None], answerable=[True],
        claims=rows.table(),
    )  # fmt: skip
    for measure in ("CitationRecall(by=alce)", "CitationPrecision(by=trec)"):
        result = parse(measure).of(answered)
        assert isinstance(result, MeasureResult)
        assert (result.undefined, result.failed) == ({0: "no context texts are known"}, {})


def _alce(said: Said, most: int | None, void: bool) -> tuple[float, float]:
    """ALCE's recall and precision of one answer, sentence by sentence, as its evaluation walks them."""
    supported, right, counted = 0, 0, 0
    for cites, sets in said:
        if void and any(number > PASSAGES for number in cites):
            continue
        kept = list(cites)[:most]
        there = [number for number in kept if number <= PASSAGES]
        counted += len(kept)
        if not there or sets[tuple(sorted(there))] != ENTAILED:
            continue
        supported += 1
        for number in there:
            rest = tuple(sorted(set(there) - {number}))
            needed = not rest or sets[rest] != ENTAILED
            right += 1 if sets[number,] == ENTAILED or needed else 0
    return supported / len(said), right / counted if counted else math.nan


def _trec(said: Said, most: int | None) -> tuple[float, float]:
    """TREC's weighted recall and precision: support of each citation, over sentences and over citations."""
    worth = {ENTAILED: 1.0, PARTIAL: 0.5, NEITHER: 0.0, CONTRADICTED: 0.0}
    grades = [[worth[sets[n,]] if n <= PASSAGES else 0.0 for n in cites[:most]] for cites, sets in said]
    flat = list(chain.from_iterable(grades))
    return sum(max([0.0, *some]) for some in grades) / len(said), sum(flat) / len(flat) if flat else math.nan


def test_published_definitions_written_a_second_time() -> None:
    chance = random.Random(7)
    verdicts = [ENTAILED, ENTAILED, PARTIAL, NEITHER, CONTRADICTED]
    every = [c for size in range(1, PASSAGES + 1) for c in combinations(range(1, PASSAGES + 1), size)]
    answers: list[Said] = []
    for _ in range(300):
        sentences = range(chance.randint(1, 5))
        cites = [tuple(chance.sample(range(1, PASSAGES + 2), chance.randint(0, 5))) for _ in sentences]
        answers.append([(some, {members: chance.choice(verdicts) for members in every}) for some in cites])
    judged = [[(cites, {m: sets[m] for m in cited_sets(cites, PASSAGES)}) for cites, sets in said] for said in answers]

    def scored(measure: str, dialect: str) -> list[float]:
        result = outcome(measure, *judged, dialect=dialect)
        assert result.failed == {}
        return [math.nan if i in result.undefined else float(v) for i, v in enumerate(result.values)]

    for dialect, most, void in (("karat", None, False), ("alce", 3, True)):
        second = [_alce(said, most, void) for said in answers]
        zero = 0.0 if dialect == "alce" else math.nan
        precisions = [zero if math.isnan(precision) else precision for _, precision in second]
        assert scored("CitationRecall(by=alce)", dialect) == pytest.approx([recall for recall, _ in second])
        assert scored("CitationPrecision(by=alce)", dialect) == pytest.approx(precisions, nan_ok=True)
    for dialect, most in (("karat", None), ("trec-rag", 1)):
        recalls, precisions = zip(*(_trec(said, most) for said in answers), strict=True)
        assert scored("CitationRecall(by=trec)", dialect) == pytest.approx(list(recalls))
        assert scored("CitationPrecision(by=trec)", dialect) == pytest.approx(list(precisions), nan_ok=True)


def test_the_sets_a_sentence_is_held_against() -> None:
    assert cited_sets((2,), 3) == [(2,)]
    assert cited_sets((2, 2, 0, 4), 3) == [(2,)]
    assert cited_sets((2, 1), -1) == [(1, 2), (2,), (1,)]
    assert set(cited_sets((4, 3, 2, 1), 9)) == {
        (1, 2, 3, 4), (1,), (2,), (3,), (4,), (1, 2, 3), (1, 2, 4), (1, 3, 4), (2, 3, 4), (3, 4), (2, 4), (2, 3),
    }  # fmt: skip
    assert cited_sets((), 3) == []
