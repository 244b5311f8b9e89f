"""Each judge measure with a scripted model: its value by hand, and what it takes for none."""

import pytest

from karat.core.language import parse


def test_faithfulness_counts_supported_claims(scripted, judge, verdicts):
    chat = scripted(
        claims={"claims": ["It is in Paris.", "It is old.", "it is OLD", "It is red."]},
        verdicts=verdicts("supported", "contradicted", "not_found", contexts=[2, 1]),
    )
    outcome = judge("Faithfulness", {"contexts": ("c one", "c two")}, chat=chat)
    assert outcome.values[0] == pytest.approx(1 / 3)
    claims = outcome.details[0]["claims"]
    assert [c["claim"] for c in claims] == ["It is in Paris.", "It is old.", "It is red."]
    assert [c["contexts"] for c in claims] == [[2, 1], [2, 1], []]
    assert outcome.details[0]["reason"].startswith("3 claims: 1 contradicted, 1 not found, 1 supported. why 2")
    split, verify = chat.asked
    assert "c one" not in split.user
    assert "Where is it?" in split.user
    assert "1. It is in Paris.\n2. It is old.\n3. It is red." in verify.user
    assert "Where is it?" not in verify.user


def test_one_claim_is_one_claim(scripted, judge, verdicts):
    chat = scripted(claims={"claims": ["It is old."]}, verdicts=verdicts("supported"))
    assert judge("Faithfulness", {"contexts": ("c",)}, chat=chat).details[0]["reason"] == "1 claim: 1 supported."


@pytest.mark.parametrize(
    ("words", "unit", "liverag"),
    [(["supported"] * 2, 1, 1), (["supported", "not_found"], 0.5, 0), (["contradicted", "not_found"], 0, -1)],
)
def test_liverags_scale_is_made_of_the_same_verdicts(words, unit, liverag, scripted, answered, verdicts):
    chat = scripted(claims={"claims": ["a b", "c d"]}, verdicts=verdicts(*words))
    rows = answered({}, chat=chat)
    assert parse("Faithfulness").of(rows).values[0] == unit
    assert parse("Faithfulness(scale=liverag)").of(rows).values[0] == liverag
    assert len(chat.asked) == 2
    assert parse("Faithfulness(scale=liverag)").bounds == (-1.0, 1.0)


@pytest.mark.parametrize(
    ("words", "contexts", "times", "problem"),
    [
        (["supported"], [1], 1, "each of 1 to 2 needs exactly one"),
        (["supported"] * 3, [1], 1, "each of 1 to 2 needs exactly one"),
        (["supported"], [1], 2, "each of 1 to 2 needs exactly one"),
        (["supported"] * 2, [3], 1, "cites context 3, and there are 1"),
        (["supported", "contradicted"], [], 1, "claim 1 is supported and cites no context"),
        (["supported"] * 2, [0], 1, "greater than or equal to 1"),
        (["supported", "perfect"], [1], 1, "Input should be 'supported'"),
    ],
    ids=range(7),
)
def test_verdicts_have_to_be_complete_and_cite_what_is_there(
    words, contexts, times, problem, scripted, judge, verdicts
):
    reply = {"verdicts": verdicts(*words, contexts=contexts)["verdicts"] * times}
    chat = scripted(claims={"claims": ["a b", "c d"]}, verdicts=[reply, verdicts("supported", "not_found")])
    assert judge("Faithfulness", chat=chat).values[0] == 0.5
    assert problem in chat.asked[-1].turns[1]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"answer": None}, "the answer is empty"),
        ({"answer": " <think>In Paris.</think> "}, "the answer is empty"),
        ({"answer": "I don't know."}, "the answer declines, so it claims nothing"),
        ({"contexts": None}, "no context texts are known"),
        ({"contexts": (" ", "")}, "the contexts hold no text"),
    ],
)
def test_faithfulness_of_nothing_is_undefined_and_asks_nothing(row, reason, scripted, judge):
    chat = scripted()
    outcome = judge("Faithfulness", row, chat=chat)
    assert outcome.undefined == {0: reason}
    assert (outcome.failed, chat.asked) == ({}, [])


def test_an_answer_without_claims_is_undefined(scripted, judge):
    outcome = judge("Faithfulness", chat=scripted(claims={"claims": ["", " . "]}))
    assert outcome.undefined == {0: "the answer claims nothing that could be checked"}


@pytest.mark.parametrize(("name", "value"), [("Faithfulness", 0.0), ("Faithfulness(scale=liverag)", -1.0)])
def test_contexts_known_to_be_none_support_nothing(name, value, scripted, judge):
    chat = scripted()
    assert judge(name, {"contexts": ()}, chat=chat).values.tolist() == [value]
    assert chat.asked == []


def test_correctness_takes_the_best_reference_and_names_what_is_missing(scripted, judge, verdicts):
    def split(prompt):
        return {"claims": ["It is in Paris.", "It is tall."] if "long" in prompt.user else ["It is in Rome."]}

    def cover(prompt):
        return verdicts("missing") if "Rome" in prompt.user else verdicts("covered", "contradicted")

    row = {"references": ("Rome", "the long one", "Rome", "...")}
    chat = scripted(claims=split, verdicts=cover)
    outcome = judge("Correctness", row, chat=chat)
    assert outcome.values[0] == 0.5
    assert outcome.details[0]["missing"] == ["It is tall."]
    assert len(chat.asked) == 4
    assert "In Paris." not in chat.asked[0].user


def test_the_claims_of_a_reference_are_asked_for_once_for_all_systems(scripted, judge, verdicts):
    chat = scripted(claims={"claims": ["It is in Paris."]}, verdicts=verdicts("covered"))
    judge("Correctness", {}, {"answer": "Rome"}, chat=chat, systems=("a", "b"))
    assert chat.batches == [1, 2]


def test_correctness_of_an_empty_answer_is_zero_and_without_reference_undefined(scripted, judge):
    chat = scripted()
    rows = ({"answer": ""}, {"references": ()}, {"references": ("...",)}, {"answer": None, "references": ()})
    outcome = judge("Correctness", *rows, chat=chat)
    assert outcome.values[0] == 0.0
    assert outcome.undefined == {
        1: "no reference answer",
        2: "the reference answer is empty after normalisation (unicode)",
        3: "no reference answer",
    }
    assert chat.asked == []


def test_a_reference_that_could_not_be_judged_fails_the_score(scripted, judge, verdicts):
    chat = scripted(claims=lambda p: "?" if "Rome" in p.user else {"claims": ["a b"]}, verdicts=verdicts("missing"))
    assert list(judge("Correctness", {"references": ("Rome", "Paris")}, chat=chat).failed) == [0]


def test_context_relevance_is_the_mean_over_chunks_seen_one_at_a_time(scripted, judge):
    def grade(prompt):
        return {"reason": "r", "grade": "answers" if "yes" in prompt.user else "unrelated"}

    chat = scripted(grade=grade)
    outcome = judge("ContextRelevance", {"contexts": ("yes", "no", "yes", " "), "answer": None}, chat=chat)
    assert outcome.values[0] == 0.5
    assert [c["value"] for c in outcome.details[0]["contexts"]] == [1.0, 0.0, 1.0, 0.0]
    assert outcome.details[0]["reason"] == "2 of 4 contexts help with the question"
    assert len(chat.asked) == 2  # the same chunk once, the blank one never
    assert not any("yes" in prompt.user and "no\n" in prompt.user for prompt in chat.asked)


def test_context_relevance_fails_for_one_chunk_that_fails_and_says_which(scripted, judge):
    chat = scripted(grade=lambda p: "?" if "two" in p.user else {"reason": "r", "grade": "helps"})
    outcome = judge("ContextRelevance", {"contexts": ("one", "two")}, chat=chat)
    assert outcome.failed[0].startswith("context 2: ")
    outcome = judge("ContextRelevance", {"contexts": ()}, {"contexts": None}, {"question": " "}, chat=chat)
    assert list(outcome.undefined.values()) == [
        "nothing retrieved", "no context texts are known", "the question has no text",
    ]  # fmt: skip


def test_responsiveness_of_the_empty_is_zero_and_of_the_unanswerable_undefined(scripted, judge):
    chat = scripted()
    outcome = judge("Responsiveness", {"answer": ""}, {"answerable": False}, chat=chat)
    assert outcome.values[0] == 0.0
    assert "marked unanswerable" in outcome.undefined[1]


def test_relevance_sees_each_reference_and_goes_without_where_there_is_none(scripted, judge):
    def grade(prompt):
        return {"reason": "r", "grade": 2 if "Paris, France" in prompt.user else 0}

    chat = scripted(grade=grade)
    rows = ({"references": ("Rome", "Paris, France")}, {"references": ()}, {"answer": " "}, {"references": ("...",)})
    outcome = judge("Relevance", *rows, chat=chat)
    assert outcome.values[:3].tolist() == [2.0, 0.0, 0.0]
    assert list(outcome.undefined) == [3]
    assert sum("reference answer |" in prompt.user for prompt in chat.asked) == 2
    assert parse("Relevance").bounds == (-1.0, 2.0)
