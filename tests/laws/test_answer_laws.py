"""Laws of every registered answer measure, plug-ins included, from what it declares of itself."""

import json
import re
from dataclasses import replace
from functools import cache
from zlib import crc32

import numpy as np
import pytest
from claim_tables import claims_of_texts
from hypothesis import given
from hypothesis import strategies as st

from karat.core.answered import AnswerTable
from karat.core.language import parse
from karat.core.measure import MEASURES, Measure
from karat.core.models import ChatReply, Models
from karat.core.scores import Status
from karat.core.types import Answer
from karat.measures.compute import compute
from karat.models import EmbedderSettings, embedder_named

WORDS = [
    "paris",
    "Paris",
    "the",
    "a",
    "of",
    "city",
    "1,000",
    "10.0.0.1/24",
    "2020-05-05",
    "don't",
    "стол",
    "हिन्दी",
    "—",
]
MARKS = [
    "[1]",
    "[2, 3]",
    "[9]",
    ".",
    "?!",
    "<think>",
    "</think>",
    "<source>x</source>",
    "I don't know.",
    "\x00",
    "'",
    "(",
]
TEXTS = st.one_of(
    st.lists(st.sampled_from(WORDS + MARKS), max_size=9).map(" ".join),
    st.text(max_size=20),
    st.sampled_from(["", " ", "the", "...", "<think>never closed"]),
)
PLAIN = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(lambda words: " ".join(["Old Paris", *words]))
ROWS = st.lists(
    st.tuples(
        TEXTS,  # question
        st.one_of(st.none(), TEXTS),  # answer
        st.lists(TEXTS, max_size=3).map(tuple),  # references
        st.one_of(st.none(), st.lists(TEXTS, max_size=3).map(tuple)),  # contexts
        st.booleans(),
    ),
    min_size=1,
    max_size=4,
)
TEXTUAL = ("EM", "TokenF1", "ROUGE-1", "ROUGE-2", "ROUGE-L", "BLEU", "chrF", "SemanticSimilarity", "Completeness")
REFERENCE_BASED = (*TEXTUAL, "CrossEncoder")
JUDGES = ("Faithfulness", "Correctness", "ContextRelevance", "ContextSufficient", "Responsiveness", "Relevance")


class Pairs:
    """A cross-encoder of no sense: a number for each pair, made of its texts."""

    def score(self, pairs):
        return np.array([crc32("\0".join(pair).encode("utf-8", "surrogatepass")) / 2**29 - 4 for pair in pairs])


@cache
def wordllama():
    return embedder_named(EmbedderSettings())


class Judge:
    """A chat model whose replies fit what it is asked and follow from the prompt alone."""

    label = fingerprint = "judge"

    def ask(self, prompts, said=None):
        return [ChatReply(json.dumps(self.reply(prompt))) for prompt in prompts]

    def reply(self, prompt):
        at = crc32(prompt.user.encode())
        measure, _, step = prompt.purpose.removeprefix("judge ").partition(": ")
        if step == "claims":
            return {"claims": [f"claim {i}" for i in range(at % 4)]}
        if step == "verdicts":
            words = {"Faithfulness": ("supported", "contradicted", "not_found")}
            words = words.get(measure, ("covered", "contradicted", "missing"))
            count = int(re.findall(r"each of the (\d+) claims", prompt.user)[-1])
            return {
                "verdicts": [
                    {"claim": i + 1, "reason": "", "contexts": [1], "verdict": words[(at >> 2 * i) % 3]}
                    for i in range(count)
                ]
            }
        grades = {
            "ContextRelevance": ("answers", "helps", "related", "unrelated"),
            "Responsiveness": ("fully", "mostly", "barely", "not"),
            "Relevance": (-1, 0, 1, 2),
            "ContextSufficient": ("sufficient", "insufficient"),
        }
        return {"reason": "", "grade": grades[measure][at % len(grades[measure])]}


class Echo:
    """An answerer that says what its one context says."""

    name = fingerprint = "echo"

    def answer(self, asked, done):
        for one in asked:
            done(one, Answer(one.id, one.contexts[0].text))


MEANS = Models(
    chat=Judge(), embedder=wordllama, cross_encoder=Pairs, embedder_label="wordllama",
    answerer=lambda name, models: Echo(),
)  # fmt: skip


def answer_measures():
    """Every registered answer measure, in each declared variant and with each choice of each parameter."""
    found = {}
    for spec in (s for s in MEASURES if s.stage == "answer"):
        made = [Measure(spec), *map(parse, spec.variants)]
        made += [Measure(spec, given=((p.name, choice),)) for p in spec.params for choice in p.choices]
        found.update((m.name, m) for m in made)
    return list(found.values())


def answered_of(rows, systems=("s",)):
    texts, answers, references, contexts, answerable = map(list, zip(*rows, strict=True))
    questions = tuple(str(i) for i in range(len(rows) // len(systems)))
    answered = AnswerTable(
        systems,
        questions,
        texts=texts,
        answers=answers,
        references=references,
        contexts=contexts,
        answerable=answerable,
        models=MEANS,
    )
    return replace(answered, claims=claims_of_texts(answered))


def scores_of(rows, measures, systems=("s",)):
    answered = answered_of(rows, systems)
    return compute(measures, answered.systems, answered.questions, answered=answered)


def test_the_laws_see_every_measure_and_the_plugins():
    seen = {m.spec.name for m in answer_measures()}
    assert {*REFERENCE_BASED, *JUDGES, "SupportCoverage", "CitationRecall", "Refusal", "Wordiness"} <= seen
    assert len(seen) == sum(spec.stage == "answer" for spec in MEASURES)
    assert "TokenF1(norm=technical)" in {m.name for m in answer_measures()}


@given(ROWS)
def test_every_value_is_within_its_bounds_or_has_a_reason(rows):
    scores = scores_of(rows, answer_measures())
    for m, one in enumerate(scores.measures):
        low, high = one.bounds
        values = scores.values[:, :, m][scores.status[:, :, m] == Status.ok]
        assert ((values >= low) & (values <= high)).all(), f"{one}: {values} not within {low} to {high}"
    has_value = np.isfinite(scores.values)
    assert np.array_equal(has_value, scores.status == Status.ok)
    assert not (scores.status == Status.failed).any()
    assert {tuple(int(i) for i in at) for at in np.argwhere(~has_value)} == set(scores.reasons)
    assert all(scores.reasons.values())


@given(ROWS)
def test_a_row_scores_the_same_alone_and_among_others(rows):
    measures = answer_measures()
    together = scores_of(rows, measures)
    for i, row in enumerate(rows):
        alone = scores_of([row], measures)
        assert np.array_equal(alone.values[:, 0], together.values[:, i], equal_nan=True)
        assert np.array_equal(alone.status[:, 0], together.status[:, i])


@given(ROWS)
def test_systems_and_questions_keep_their_values_in_any_order(rows):
    measures = answer_measures()
    one = scores_of([*rows, *rows[::-1]], measures, ("s", "t"))
    two = scores_of([*rows[::-1], *rows], measures, ("t", "s"))
    assert np.array_equal(one.values, two.values[::-1], equal_nan=True)
    assert np.array_equal(one.values[0], one.values[1][::-1], equal_nan=True)


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_the_references_changes_nothing(rows, random):
    shuffled = [(q, a, tuple(random.sample(refs, len(refs))), c, ok) for q, a, refs, c, ok in rows]
    measures = [m for m in answer_measures() if not MEASURES.is_plugin(m.spec.name)]
    one, two = scores_of(rows, measures), scores_of(shuffled, measures)
    assert np.array_equal(one.values, two.values, equal_nan=True)
    assert np.array_equal(one.status, two.status)


@given(ROWS)
def test_the_best_of_several_references_is_the_best_of_each(rows):
    """For measures of which more is better; LengthRatio takes the reference nearest in length, claims the first.

    eRAG takes the best for each passage, and what a list of them is worth is another matter.
    """
    rising = [m for m in answer_measures() if m.spec.direction == "higher" and not m.relations]
    measures = [m for m in rising if not MEASURES.is_plugin(m.spec.name) and m.spec.name != "eRAG"]
    for q, answer, references, contexts, ok in rows:
        if not references:
            continue
        all_together = scores_of([(q, answer, references, contexts, ok)], measures).values[0, 0]
        each = scores_of([(q, answer, (r,), contexts, ok) for r in references], measures).values[0]
        best = np.where(np.isnan(each).all(axis=0), np.nan, np.max(np.nan_to_num(each, nan=-np.inf), axis=0))
        assert np.array_equal(all_together, best, equal_nan=True)


@given(PLAIN, st.lists(TEXTS, max_size=2), st.booleans())
def test_an_answer_equal_to_a_reference_gets_the_maximum(text, others, first):
    references = (text, *others) if first else (*others, text)
    measures = [m for m in answer_measures() if m.spec.name in TEXTUAL]
    scores = scores_of([("q", text, references, None, True)], measures)
    for m, one in enumerate(measures):
        assert scores.value(0, 0, m) == pytest.approx(one.bounds[1]), one.name


@given(PLAIN, st.sampled_from([None, "", " ", "\n", "<think>hm</think>"]), st.one_of(st.none(), st.just(("c d",))))
def test_an_empty_answer_scores_zero_and_supports_nothing(reference, answer, contexts):
    measures = answer_measures()
    scores = scores_of([("what is it", answer, (reference,), contexts, True)], measures)
    for m, one in enumerate(measures):
        counted = not one.relations or any(relation.startswith("answer by") for relation in one.relations)
        if one.spec.needs_contexts and one.spec.needs_answer and counted and one.params.get("empty") != "zero":
            assert scores.value(0, 0, m) is None, one.name
            assert scores.reason(0, 0, m)
        elif one.spec.name in REFERENCE_BASED:
            assert scores.value(0, 0, m) == 0.0, one.name


@given(ROWS)
def test_without_references_what_needs_them_is_undefined(rows):
    bare = [(q, a, (), c, ok) for q, a, _, c, ok in rows]
    measures = [m for m in answer_measures() if m.spec.needs_reference]
    assert {*REFERENCE_BASED, "LengthRatio", "Correctness"} == {m.spec.name for m in measures}
    scores = scores_of(bare, measures)
    assert (scores.status == Status.undefined).all()
    assert set(scores.reasons.values()) == {"no reference answer"}
    others = [m for m in answer_measures() if not m.spec.needs_reference and not m.relations]
    reasons = scores_of(bare, others).reasons.values()
    assert {reason for reason in reasons if "reference" in reason} <= {"no reference answer, which the heuristic needs"}


@given(ROWS)
def test_support_is_measured_only_where_contexts_are_known(rows):
    bare = [(q, a, refs, None, ok) for q, a, refs, _, ok in rows]
    scores = scores_of(bare, [m for m in answer_measures() if m.spec.needs_contexts])
    assert (scores.status == Status.undefined).all()


@given(ROWS)
def test_twice_the_same_bytes(rows):
    measures = answer_measures()
    one, two = scores_of(rows, measures), scores_of(rows, measures)
    assert one.values.tobytes() == two.values.tobytes()
    assert one.reasons == two.reasons
