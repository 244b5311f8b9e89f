"""Support, figures, names, citations and refusals, by hand."""

import numpy as np
import pytest

from karat.core.answered import AnswerTable
from karat.core.language import parse
from karat.core.scores import MeasureResult

SUPPORT = (
    "SupportCoverage", "SupportDensity", "HallucinationRate", "UnsupportedTrigrams", "NumberSupport", "EntityCoverage",
    "CitationPrecision", "CitationRecall",
)  # fmt: skip


def answered(rows) -> AnswerTable:
    """Rows of (answer, contexts) or (answer, contexts, question)."""
    rows = [(*row, "")[:3] for row in rows]
    n = len(rows)
    contexts = [None if r[1] is None else tuple(r[1]) for r in rows]
    texts = [r[2] for r in rows]
    return AnswerTable(
        ("s",),
        tuple(map(str, range(n))),
        texts=texts,
        answers=[r[0] for r in rows],
        references=[()] * n,
        contexts=contexts,
        answerable=[True] * n,
    )


def outcome(measure: str, *rows) -> MeasureResult:
    result = parse(measure).of(answered(rows))
    assert isinstance(result, MeasureResult)
    assert {i for i, v in enumerate(result.values) if np.isnan(v)} == set(result.undefined)
    return result


def value(measure: str, answer, *contexts, question="") -> float:
    return float(outcome(measure, (answer, contexts, question)).values[0])


def test_support_by_hand():
    answer, contexts = "The Seine crosses Paris and Paris loves jazz", ("Paris lies on the Seine.", "Jazz and more")
    # content words: seine, crosses, paris, loves, jazz; three of five are held
    assert value("SupportCoverage", answer, *contexts) == pytest.approx(3 / 5)
    # tokens: seine crosses paris and paris loves jazz; five of seven are held
    assert value("SupportDensity", answer, *contexts) == pytest.approx(5 / 7)
    assert value("HallucinationRate", answer, *contexts) == pytest.approx(2 / 7)


def test_support_in_russian_and_hindi():
    assert value("SupportCoverage", "Волга впадает в Чёрное море", "Волга впадает в Каспийское море") == pytest.approx(
        3 / 4
    )
    assert value("SupportDensity", "Волга впадает в Чёрное море", "Волга впадает в Каспийское море") == pytest.approx(
        4 / 5
    )
    assert value("SupportCoverage", "गंगा भारत में है", "गंगा एक नदी है") == pytest.approx(1 / 2)


def test_numbers_are_content_and_citations_are_not():
    assert value("SupportCoverage", "it was 42 [1]", "41") == 0
    assert value("SupportDensity", "Paris [1][2, 3].", "Paris") == 1


def test_trigrams_stand_in_one_context():
    answer = "one two three four five"
    assert value("UnsupportedTrigrams", answer, "zero one two three", "three four five six") == pytest.approx(1 / 3)
    assert value("UnsupportedTrigrams", answer, "one two", "three four five") == pytest.approx(2 / 3)
    assert value("UnsupportedTrigrams", answer, "one two x three four five") == pytest.approx(2 / 3)
    assert value("UnsupportedTrigrams", "x x x x", "x x x") == 0
    assert outcome("UnsupportedTrigrams", ("one two", ["x"])).undefined == {0: "the answer has fewer than three tokens"}


def test_pairs_do_not_lend_each_other_their_contexts():
    rows = (("red blue green", ["red"]), ("red blue green", ["blue green"]), ("red blue green", ["red blue green"]))
    assert outcome("SupportDensity", *rows).values == pytest.approx([1 / 3, 2 / 3, 1])
    assert outcome("UnsupportedTrigrams", *rows).values.tolist() == [1, 1, 0]


@pytest.mark.parametrize("measure", SUPPORT)
def test_what_cannot_be_supported_is_undefined(measure):
    said = "Paris had 5 parks [1]."
    rows = ((None, ["x"]), ("", ["x"]), ("<think>Paris 5 [1]</think>", ["x"]), (said, None), (said, ["", " "]))
    assert outcome(measure, *rows).undefined == {
        0: "the answer is empty",
        1: "the answer is empty",
        2: "the answer is empty",
        3: "no context texts are known",
        4: "the contexts hold no text",
    }


def test_contexts_known_to_be_none_support_nothing():
    expected = {"HallucinationRate": 1, "UnsupportedTrigrams": 1}
    for measure in SUPPORT[:-1]:
        assert value(measure, "Paris had 5 parks [1].") == expected.get(measure, 0)
    assert "no sentence" in outcome("CitationRecall", ("Paris had 5 parks [1].", ())).undefined[0]


def test_contexts_keep_their_source_blocks_and_answers_do_not():
    assert value("SupportDensity", "Paris <source>Lyon</source>", "<source>Paris</source>") == 1


def test_no_content_words():
    assert outcome("SupportCoverage", ("it is", ["it is"])).undefined == {0: "the answer has no content words"}


def test_number_support():
    contexts = ("It cost 1,250.00 on 5 May 2020.", "Over 3.5 km")
    assert value("NumberSupport", "It cost 1250 on 2020-05-05 [7], about 3,5 km or 4.", *contexts) == pytest.approx(
        3 / 4
    )
    assert value("NumberSupport", "2020 में", *contexts) == 1
    assert value("NumberSupport", "२०२१ में", *contexts) == 0
    assert outcome("NumberSupport", ("many", ["5"])).undefined == {0: "the answer has no numbers or dates"}


def test_entity_coverage():
    contexts = ("Ada Lovelace's notes were printed in London. The trees there are old.",)
    assert value("EntityCoverage", "Ada Lovelace met Babbage in London.", *contexts) == pytest.approx(2 / 3)
    assert value("EntityCoverage", "Trees stand in London.", *contexts) == 1
    assert value("EntityCoverage", "Lovelace Ada", *contexts) == 0  # same words, another order
    assert value("EntityCoverage", "Родился в Москве и жил в Туле", "Он жил в Туле") == pytest.approx(1 / 3)
    assert outcome("EntityCoverage", ("दिल्ली में", ["दिल्ली"])).undefined == {0: "the answer has no named terms"}


def test_citations_by_hand():
    contexts = ("Paris is the capital of France.", "The Seine crosses Paris.", "Bread is made of flour.")
    answer = "Paris is the capital of France [1][3]. The Seine crosses Paris. Cheese smells [9]."
    # three citations: 1 supports, 3 does not, 9 is not there
    assert value("CitationPrecision", answer, *contexts) == pytest.approx(1 / 3)
    # two supported sentences, one of which cites
    assert value("CitationRecall", answer, *contexts) == pytest.approx(1 / 2)
    assert value("CitationPrecision", "The Seine crosses Paris.[2]", *contexts) == 1
    assert outcome("CitationPrecision", ("Paris.", contexts)).undefined == {0: "the answer cites nothing"}
    assert outcome("CitationRecall", ("Paris.", contexts)).undefined == {0: "the answer cites nothing"}


def test_citations_may_name_the_ids_of_contexts():
    table = AnswerTable(
        ("a",), ("q1", "q2"), texts=["?"] * 2, answers=["The bridge is old [geo-2].", "[geo-2][1]"],
        references=[()] * 2, contexts=[("It rains.", "An old bridge.")] * 2, context_ids=[("geo-1", "geo-2")] * 2,
        answerable=[True] * 2,
    )  # fmt: skip
    result = parse("CitationPrecision").of(table)
    assert result.values[0] == 1
    assert result.undefined == {1: "the answer has no sentence beside its citations"}


def test_how_much_of_a_sentence_its_context_must_hold():
    rows = ("Red birds sing songs [1].", ["birds sing"])  # half of the content words
    assert outcome("CitationPrecision", rows).values[0] == 1
    assert outcome("CitationPrecision(support=0.6)", rows).values[0] == 0


def test_refusal():
    answers = ["I don't know.", "Paris", "", None, "Я не знаю.", "मुझे नहीं पता।", "<think>I don't know"]
    for answerable, expected in ((True, [0, 1, 0, 0, 0, 0, 0]), (False, [1, 0, 0, 0, 1, 1, 0])):
        n = len(answers)
        rows = AnswerTable(
            ("s",),
            ("q",) * n,
            texts=[""] * n,
            answers=answers,
            references=[()] * n,
            contexts=[None] * n,
            answerable=[answerable] * n,
        )
        assert parse("Refusal").of(rows).tolist() == expected


def test_directions_and_needs():
    for name in SUPPORT:
        spec = parse(name).spec
        lower = name in ("HallucinationRate", "UnsupportedTrigrams")
        assert (spec.stage, spec.needs_contexts, spec.needs_gold) == ("answer", True, False)
        assert spec.direction == ("lower" if lower else "higher")
        assert spec.best_for
        assert spec.prefer
