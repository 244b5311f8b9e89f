"""Answered elsewhere: chunks that answer a question without being its gold, or far better than its gold does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from karat.core.ranked import Ranked
from karat.core.text import guess_language
from karat.core.text.detect import VERDICTS
from karat.core.text.support import NUMBER_WORDS, Claim, SupportText
from karat.models.terms import terms
from karat.testset.check._check import (
    CheckContext,
    Draft,
    Finding,
    Fragment,
    Surroundings,
    about_questions,
    check,
    draft_filter,
)
from karat.testset.check._context import DEPTH
from karat.testset.lexicon import ChunkSentence, content_of, one_line, without_asking
from karat.testset.once import once

ANSWER = 0.95  # share of the answer, by weight, that a few sentences of the chunk must hold
ASKED = 0.7  # share of the question's words that they must hold
TOLD = 0.6  # or of the words of the sentence that answers in the gold
QUOTED = 0.9  # or of the words that the gold quotes, whatever the question says
LOOKED = 10  # chunks that each search finds first
LEAD = 0.18  # by how much more another chunk must hold than the gold, as a share by weight
MOST_GOLD = 50  # gold chunks that are looked at
_GOLD_READ = 8  # gold chunks that are read sentence by sentence
_NEAR = 3  # neighbouring sentences that are read together
MOST_OTHERS = 3  # chunks that may join the gold of a draft; a question that more chunks answer is too general
ANSWER_IN_DRAFT, QUESTION_IN_DRAFT = 0.9, 0.8  # weight of the stems of either that two neighbours have to hold
WORTH_READING = 0.75  # of a draft's weight that a chunk has to hold to be looked at closely


@check(31)
def unjudged_chunks(context: CheckContext) -> Iterable[Finding]:
    """Chunks that answer a question and are not its gold."""
    answered = [q for q in range(len(context.questions)) if answering(context)[q] is not None]
    faulty = [(context.questions[q], rows) for q in answered if (rows := unjudged(context, q))]
    return about_questions(
        "unjudged_chunks", "warning",
        [(question, "also " + ", ".join(context.chunks.ids[row] for row in rows[:3])) for question, rows in faulty],
        len(answered),
        ("is also answered by a chunk that is not gold", "are also answered by chunks that are not gold"),
        "A few sentences there hold the reference answer beside the words of the question or of the gold. A system "
        "that returns such a chunk is scored as if it had found nothing.",
        "Read these chunks, and add those that answer to the gold.",
    )  # fmt: skip


@check(30)
def wrong_gold(context: CheckContext) -> Iterable[Finding]:
    """Questions that another chunk answers far better than their gold."""
    ids, gold = context.chunks.ids, context.gold_rows
    answerable = [q for q, question in enumerate(context.questions) if len(gold[q]) and question.answerable]
    better = [(q, row) for q in answerable if (row := better_row(context, q)) is not None]
    return about_questions(
        "wrong_gold", "warning",
        [(context.questions[q], f"gold {ids[int(gold[q][0])]}, rather {ids[row]}") for q, row in better],
        len(answerable), ("seems to have the wrong gold", "seem to have the wrong gold"),
        "Another chunk holds far more of the words of question and answer. A system that returns it is scored as if it "
        "had found nothing.", "Read both chunks, and correct the gold.",
    )  # fmt: skip


@draft_filter(70)
def answered_elsewhere(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | Draft | None:
    """Too many chunks answer it; a few others join its gold."""
    if not draft.answerable or not draft.answer:
        return None
    mine = {fragment.row for fragment in draft.fragments}
    answer = surroundings.stems(draft.answer) - VERDICTS
    asked = surroundings.stems(without_asking(draft.text)) - answer
    joined: list[tuple[Fragment, str]] = []
    for row in surroundings.near(draft.text):
        if row in mine:
            continue
        quote = _repeated(draft, row, surroundings) or _sentences_that_answer(
            draft.answer, asked, answer, row, surroundings
        )
        if quote:
            chunk = surroundings.chunks[row]
            language = guess_language(chunk.text) or draft.fragments[0].language
            joined.append((Fragment(row, chunk, language), quote))
    if len(joined) > MOST_OTHERS:
        return (
            f"{len(joined)} other chunks answer it, among them {joined[0][0].chunk.id}; with more than {MOST_OTHERS} a "
            "question is too general."
        )
    if not joined:
        return None
    more = tuple(fragment for fragment, _ in joined)
    quotes = tuple(quote for _, quote in joined)
    return replace(draft, fragments=draft.fragments + more, quotes=draft.quotes + quotes)


def unjudged(context: CheckContext, q: int) -> list[int]:
    """Rows that hold the answer beside the words of the question, or of the gold's sentence, and are not gold.

    They must name what the question is about: of its words that stand in the gold, the one that tells most. Else the
    same told of another thing would count.
    """
    claims, asked, sentence = claims_of(context, q), context.asked_sets[q], answering(context)[q]
    if not claims or sentence is None:
        return []
    share, key = context.weights.share, _subject(context, q)
    quotes = [frozenset(content_of(g.quote, context.languages[q])) for g in context.questions[q].gold if g.quote]

    def tells(held: frozenset[str]) -> bool:
        if any(len(quote) > 3 and share(quote, held) >= QUOTED for quote in quotes):
            return True
        if key is None:
            return share(sentence.stems, held) >= QUOTED
        return key in held and (share(sentence.stems, held) >= TOLD or (len(asked) > 1 and share(asked, held) >= ASKED))

    def answers(held: frozenset[str]) -> bool:
        return any(held_by(context, claimed, held) >= ANSWER for claimed in claims)

    return [
        row
        for row in candidates(context, q, LOOKED)
        if row not in context.gold_sets[q]
        and tells(context.held[row])
        and answers(context.held[row])
        and any(tells(near) and answers(near) for near in windows(context, row))
    ]


def _subject(context: CheckContext, q: int) -> str | None:
    """The word of a question that tells most among those that stand in its gold; None where none does."""
    rows = context.gold_rows[q][:LOOKED].tolist()
    shared = context.asked_sets[q].intersection(frozenset().union(*(context.held[row] for row in rows)))
    return max(shared, key=lambda stem: (context.weights[stem], stem), default=None)


def better_row(context: CheckContext, q: int) -> int | None:
    """The chunk that holds question and answer far better than all gold of the question together, or None.

    One that holds less of the answer than the gold does is no better, whatever it holds of the question.
    """
    rows = context.gold_rows[q][:MOST_GOLD].tolist()
    claims = claims_of(context, q)
    wanted = context.asked_sets[q].union(*claims[:1])
    if not rows or len(wanted) < 2:
        return None
    together = frozenset().union(*(context.held[row] for row in rows))
    ours = held_by(context, wanted, together)
    answered = max((held_by(context, claimed, together) for claimed in claims), default=0.0)
    best, best_row = ours + LEAD, None
    for row in candidates(context, q, LOOKED):
        held = context.held[row]
        if row in context.gold_sets[q] or context.weights.share(wanted, held) <= best - LEAD / 2:
            continue
        theirs = held_by(context, wanted, held)
        if theirs > best and (not claims or max(held_by(context, c, held) for c in claims) >= answered):
            best, best_row = theirs, row
    return best_row


def claims_of(context: CheckContext, q: int) -> tuple[frozenset[str], ...]:
    """What each reference answer of a question claims: its content words but for yes and no; those that claim any."""
    return tuple(claimed for answer in context.answers[q] if (claimed := answer - VERDICTS))


def held_by(context: CheckContext, claimed: frozenset[str], held: frozenset[str] | set[str]) -> float:
    """How much of a claim some words hold, by weight; a number may be written in letters or digits."""
    whole = context.weights.of(claimed)
    return (
        context.weights.of(stem for stem in claimed if stem in held or _spelled(stem, held)) / whole if whole else 0.0
    )


@lru_cache(maxsize=4096)
def _stemmed(word: str) -> frozenset[str]:
    language = "en" if word.isascii() else "ru"
    return frozenset(content_of(word, language))


def _spelled(stem: str, held: frozenset[str] | set[str]) -> bool:
    """Whether a number stands among the words in its other spelling."""
    if stem.isdecimal():
        return any(value == stem and not _stemmed(word).isdisjoint(held) for word, value in NUMBER_WORDS.items())
    return any(stem in _stemmed(word) and value in held for word, value in NUMBER_WORDS.items())


@once
def answering(context: CheckContext) -> list[ChunkSentence | None]:
    """For each question the sentence of its gold that answers it, or None."""
    return [_answering(context, q) for q in range(len(context.questions))]


def _answering(context: CheckContext, q: int) -> ChunkSentence | None:
    """The sentence of the gold of an answerable question that holds most of the answer, and of the question.

    None where no gold holds half of a reference answer.
    """
    claims, best, answer = claims_of(context, q), (0.5, 0.0), None
    if not context.questions[q].answerable or not claims:
        return None
    for row in context.gold_rows[q][:_GOLD_READ].tolist():
        for sentence in context.sentences(row):
            if all(claimed.isdisjoint(sentence.stems) for claimed in claims):
                continue
            share = max(held_by(context, claimed, sentence.stems) for claimed in claims)
            score = (share, context.weights.share(context.asked_sets[q], sentence.stems))
            if score > best:
                best, answer = score, sentence
    return answer


def windows(context: CheckContext, row: int) -> list[frozenset[str]]:
    """The stems of every few neighbouring sentences of a chunk, its title with each."""
    title = frozenset(content_of(context.chunks[row].title or "", context.language_of(row)))
    parts = [one.stems for one in context.sentences(row)]
    return [title.union(*parts[i : i + _NEAR]) for i in range(max(1, len(parts) - _NEAR + 1))]


def candidates(context: CheckContext, q: int, most: int) -> list[int]:
    """Rows that engines find for a question, the first of each first."""
    lists = [ranked.of(q)[0][:most].tolist() for ranked in (*context.ranked.values(), *_ranked_answers(context))]
    return list(dict.fromkeys(row for place in range(most) for rows in lists for row in rows[place : place + 1]))


@once
def _ranked_answers(context: CheckContext) -> list[Ranked]:
    """What BM25 finds for each question with its first reference answer, and for the sentence that answers it."""
    if not context.has_corpus:
        return []
    asked = [" ".join((question.text, *question.answers[:1])) for question in context.questions]
    sentences = [sentence.text if sentence is not None else "" for sentence in answering(context)]
    return [context.bm25.search(texts, DEPTH) for texts in (asked, sentences)]


def _repeated(draft: Draft, row: int, surroundings: Surroundings) -> str:
    """A quote of the draft that stands in this chunk too, as where chunks overlap."""
    text = surroundings.line(row)
    return next((quote for quote in draft.quotes if one_line(quote) in text), "")


def _sentences_that_answer(
    reference: str, asked: frozenset[str], answer: frozenset[str], row: int, surroundings: Surroundings
) -> str:
    """Two neighbouring sentences of the chunk, or one, that hold the answer and what is asked; "" where none do."""
    held = surroundings.row_stems(row)
    if not answer or not asked or surroundings.share(answer, held) < ANSWER_IN_DRAFT:
        return ""
    if surroundings.share(asked, held) < WORTH_READING:
        return ""
    parts = surroundings.sentences(row)
    windows = [parts[i : i + size] for size in (1, 2) for i in range(len(parts) - size + 1)]
    for window in windows:
        stems = frozenset[str]().union(*(part.stems for part in window))
        if surroundings.share(answer, stems) < ANSWER_IN_DRAFT or surroundings.share(asked, stems) < QUESTION_IN_DRAFT:
            continue
        held_there = SupportText.of("\n".join(part.text for part in window), None, terms)
        if not Claim.of(reference, None, terms).against(held_there).figures:
            return _between(surroundings.chunks[row].text, window[0].text, window[-1].text)
    return ""


def _between(text: str, first: str, last: str) -> str:
    start = text.find(first)
    return text[start : text.find(last, start) + len(last)]
