import json
import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from karat.core.docs import Chunk, Chunks, Doc, Page
from karat.core.errors import UsageError
from karat.core.models import ChatReply, Models
from karat.core.types import Gold, Question, TestSet
from karat.match import resolve
from karat.results.drafts import Draft, Fragment
from karat.testset._kind import KINDS
from karat.testset._questions import QuestionIds, QuotePages, question_of
from karat.testset.generate import TRIES, GenerationSettings, generate
from karat.testset.mix import Mix
from karat.testset.sample import asked_rows, gap_weights

THINGS = [
    ("harbour crane", "Ilva Strand", "lifting the ferry mail", "Tuesday"),
    ("tide clock", "Oskar Penn", "setting the fish market", "Monday"),
    ("lamp oil", "Rika Sund", "lighting the northern pier", "Friday"),
    ("bell rope", "Jonas Vik", "calling the night watch", "Sunday"),
    ("seed bank", "Mara Holt", "planting the terrace gardens", "Thursday"),
    ("snow plough", "Edda Brandt", "clearing the chapel road", "Wednesday"),
    ("salt cellar", "Piet Aalto", "curing the winter herring", "Saturday"),
    ("rain gauge", "Lotte Kern", "reporting the valley floods", "Tuesday"),
    ("wool press", "Anton Reis", "packing the mountain fleeces", "Monday"),
    ("ink stone", "Suna Dahl", "printing the parish register", "Friday"),
]
FENCED = re.compile(r"<<<fragment(?: \d)? \| (\w+)>>>\n(.*?)\n<<<end of fragment(?: \d)? \| \1>>>", re.S)


def text_of(thing, person, use, day):
    return (
        f"The {thing} is kept by {person} and nobody else. It serves for {use} in every season of the year. "
        f"Whoever borrows the {thing} brings it back before noon on {day}. A broken {thing} is shown to the council, "
        f"which pays for its repair out of the common chest."
    )


@pytest.fixture
def chunks():
    made, at = [], 0
    for number, thing in enumerate(THINGS):
        text = text_of(*thing)
        made.append(Chunk(f"book.txt#{number:04}", "book.txt", text, span=(at, at + len(text))))
        at += len(text) + 1
    return Chunks(made)


def asked_about(prompt):
    """What a prompt is about, and its kind."""
    return prompt.purpose.removeprefix("generate "), [text for _, text in FENCED.findall(prompt.user)]


def thing_in(text):
    return re.search(r"The (.+?) is kept by (.+?) and", text).groups()


def good(prompt):
    """What a sound model writes."""
    kind, texts = asked_about(prompt)
    thing, person = thing_in(texts[0])
    quote = f"The {thing} is kept by {person} and nobody else."
    if kind == "unanswerable":
        return json.dumps({"question": f"Which workshop in Antwerp cast the brass hinges of the {thing}?"})
    if len(texts) == 2:
        other, second = thing_in(texts[1])
        return json.dumps(
            {
                "question": f"Who keeps the {thing}, and who keeps the {other}?",
                "answer": f"{person} and {second}",
                "quote_1": quote,
                "quote_2": f"The {other} is kept by {second} and nobody else.",
            }
        )
    return json.dumps({"question": f"1) Who keeps the {thing}?", "answer": f"Answer: {person}", "quote": quote})


class Writer:
    """A chat model of a function from prompts to replies."""

    label = "writer"

    def __init__(self, reply=good):
        self.reply, self.prompts, self.batches = reply, [], 0

    def ask(self, prompts, said=None):
        self.batches += 1
        self.prompts += prompts
        told = [self.reply(prompt) for prompt in prompts]
        return [one if isinstance(one, ChatReply) else ChatReply(one, model="m") for one in told]


class Couples:
    """An embedder for tests: of the things, the first is related to the second, the third to the fourth ..."""

    fingerprint = "couples"

    def embed(self, texts, role):
        vectors = np.zeros((len(texts), 15), np.float32)
        for row, text in enumerate(texts):
            number = next((n for n, (thing, *_) in enumerate(THINGS) if thing in text), 0)
            vectors[row, [number // 2, 5 + number]] = 2 / 5**0.5, 1 / 5**0.5
        return vectors


LITERAL = GenerationSettings(samples=1, kinds=("literal",))


def make(chunks, writer, samples=4, kinds=("literal",), **more):
    wanted = {name: more.pop(name) for name in list(more) if name in GenerationSettings.__dataclass_fields__}
    settings = GenerationSettings(samples=samples, kinds=kinds, **wanted)
    return generate(chunks, settings, Models(chat=writer, embedder=Couples), **more)


def reasons(made):
    return Counter(one.reason for one in made.rejected)


def test_each_sampled_chunk_gives_a_question_of_each_kind(chunks):
    writer = Writer()
    made = make(chunks, writer, kinds=("literal", "unanswerable"))
    assert Counter(q.kind for q in made.questions) == {"literal": 4, "unanswerable": 4}
    assert (writer.batches, len(writer.prompts), made.rejected, made.notes) == (1, 8, (), ())
    assert made.wanted == {"literal": 4, "unanswerable": 4}
    first = made.questions[0]
    thing, person = thing_in(chunks[made.sampled.rows[0]].text)
    assert (first.id, first.text, first.answers) == ("literal-001", f"Who keeps the {thing}?", (person,))
    assert first.gold == (
        Gold(
            doc="book.txt",
            chunk=chunks[made.sampled.rows[0]].id,
            quote=f"The {thing} is kept by {person} and nobody else.",
        ),
    )
    assert first.tags == {"language": "en", "source": "literal/1", "model": "writer"}
    last = made.questions[-1]
    assert (last.id, last.answerable, last.gold, last.answers) == ("unanswerable-004", False, (), ())
    assert made.drafts["literal-001"].fragments[0].row == made.sampled.rows[0]


def test_a_question_over_two_chunks_has_gold_in_both(chunks):
    made = make(chunks, Writer(), kinds=("comparative",), samples=3)
    assert len(made.questions) == 3
    for question in made.questions:
        assert len({gold.chunk for gold in question.gold}) == 2
    pairs = [frozenset(gold.chunk for gold in question.gold) for question in made.questions]
    assert len(set(pairs)) == 3


def test_a_pair_of_chunks_is_asked_about_once_by_a_kind(chunks):
    made = make(Chunks(chunks[:3]), Writer(), kinds=("comparative", "multi_hop"), samples=2)
    assert Counter(one.reason for one in made.rejected if one.kind == "comparative") == {"no_related_chunk": 2}
    assert Counter(q.kind for q in made.questions)["comparative"] == 1


def test_a_chunk_that_fails_gives_its_place_to_one_of_the_reserve(chunks):
    bad = None

    def reply(prompt):
        nonlocal bad
        thing, _ = thing_in(asked_about(prompt)[1][0])
        bad = bad or thing
        return '{"question": "", "answer": "", "quote": ""}' if thing == bad else good(prompt)

    made = make(chunks, Writer(reply))
    assert len(made.questions) == 4
    assert [(one.reason, one.rows) for one in made.rejected] == [("declined", made.sampled.rows[:1])]
    assert made.questions[0].gold[0].chunk == chunks[made.sampled.reserve[0]].id


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("I'm sorry, but I can't help with that.", "refused"),
        ('{"question": "I cannot answer that question.", "answer": "x", "quote": "y"}', "refused"),
        ("no JSON at all", "unreadable"),
        ('{"question": "Who?", "answer"', "unreadable"),
        ('{"question": "Who keeps it?"}', "unreadable"),
        (ChatReply('{"question": "Who ke', cut=True), "cut_off"),
        (ChatReply(error="the server had an error"), "model_failed"),
        ('{"question": "", "answer": "", "quote": ""}', "declined"),
        (
            '{"question": "Who paints boats in Antwerp?", "answer": "Bo", "quote": "Bo paints boats in spring."}',
            "quote_not_found",
        ),
    ],
)
def test_what_went_wrong_is_counted_by_its_reason(chunks, reply, reason):
    writer = Writer(lambda prompt: reply)
    made = make(chunks, writer, samples=2)
    count = 2 if reason == "model_failed" else 2 * TRIES  # a call that failed is not made again in the same run
    assert reasons(made) == {reason: count}
    assert made.questions == ()
    assert made.notes == (
        f"literal: 0 of 2 questions. 2 places were not filled: {count} drafts were rejected ({reason} {count}).",
    )


def test_what_an_earlier_round_accepted_is_not_asked_again(chunks):
    same = '{"question": "Which mason from Antwerp built the common chest of the council?"}'
    made = make(chunks, Writer(lambda prompt: same), samples=2, kinds=("unanswerable",))
    assert (len(made.questions), reasons(made)) == (1, {"duplicate": TRIES})


def test_a_reply_that_is_repaired_counts_once(chunks):
    writer = Writer(lambda prompt: good(prompt) if prompt.turns else "no JSON")
    made = make(chunks, writer, samples=3)
    assert (len(made.questions), made.rejected) == (3, ())
    assert (writer.batches, len(writer.prompts)) == (2, 6)


def test_the_wrong_language_is_rejected(chunks):
    def reply(prompt):
        told = json.loads(good(prompt))
        return json.dumps(
            {**told, "question": "Кто хранит портовый кран и приливные часы в городе Антверпен?"}, ensure_ascii=False
        )

    assert reasons(make(chunks, Writer(reply), samples=1)) == {"wrong_language": TRIES}


def test_tried_is_accepted_and_rejected_and_no_place_is_tried_too_often(chunks):
    turns = Counter()

    def reply(prompt):
        turns[prompt.user] += 1
        return good(prompt) if len(turns) % 3 == 0 else "nothing"

    writer = Writer(reply)
    made = make(chunks, writer, samples=5, kinds=("literal", "unanswerable"))
    asked = [prompt for prompt in writer.prompts if not prompt.turns]
    assert len(asked) == len(made.questions) + len(made.rejected)
    assert len(set(asked)) == len(asked)


def test_where_no_chunk_is_left_fewer_questions_are_made_and_said_so(chunks):
    made = make(chunks, Writer(), samples=12)
    assert len(made.questions) == 10
    assert made.notes == (
        "10 chunks can be asked about, where 12 were wanted.",
        "literal: 10 of 12 questions. 2 places were not filled: no chunk was left.",
    )


def test_chunks_that_a_kind_asks_about_already_are_named(chunks):
    made = make(chunks, Writer(), samples=2, asked={"literal": range(10)})
    assert made.notes == (
        "literal: 0 of 2 questions. 2 places were not filled: no chunk was left (10 have a question of this kind "
        "already).",
    )


def test_places_that_no_chunk_is_left_for_are_not_laid_at_the_door_of_filters(chunks):
    made = make(chunks, Writer(lambda prompt: "nothing"), samples=9)
    assert made.notes == (
        "literal: 0 of 9 questions. 9 places were not filled: 10 drafts were rejected (unreadable 10), and no chunk "
        "was left.",
    )


def test_the_same_seed_and_replies_make_the_same_questions(chunks):
    assert make(chunks, Writer(), seed=2) == make(chunks, Writer(), seed=2)
    assert make(chunks, Writer(), seed=2).questions != make(chunks, Writer(), seed=3).questions


def test_a_mix_is_told_to_the_model_and_tagged(chunks):
    mix = Mix.of({"phrasing": {"concise": 1, "verbose": 1}})
    writer = Writer()
    made = make(chunks, writer, mix=mix)
    assert Counter(q.tags["phrasing"] for q in made.questions) == {"concise": 2, "verbose": 2}
    assert sum("Ask in one short, natural sentence." in prompt.user for prompt in writer.prompts) == 2


def test_questions_that_exist_are_not_asked_again_and_ids_go_on(chunks):
    first = make(chunks, Writer(), samples=3)
    covered = asked_rows(first.questions, chunks)
    assert covered.by_kind == {"literal": frozenset(first.sampled.rows)}
    more = make(chunks, Writer(), samples=3, before=first.questions, asked=covered.by_kind)
    assert [q.id for q in more.questions] == ["literal-004", "literal-005", "literal-006"]
    assert not {q.text for q in more.questions} & {q.text for q in first.questions}
    assert more.rejected == ()
    again = make(chunks, Writer(), samples=3, before=first.questions)
    assert reasons(again)["duplicate"] == 3


def test_gaps_are_filled_before_what_is_covered():
    made = [Chunk(f"d{n % 5}#{n}", f"d{n % 5}", text_of(*THINGS[n]), span=(n, n + 1)) for n in range(10)]
    chunks = Chunks.ordered(made)
    sections = [None, "s", None, None, None, None, None, None, "a", "a"]
    weights = gap_weights(chunks, frozenset((0, 8)), sections)
    assert [weights[row] for row in range(10)] == [1e-12, 1e-8, 1, 1, 1, 1, 1, 1, 1e-12, 1e-10]
    rows = make(chunks, Writer(), samples=6, weights=weights).sampled.rows
    assert sorted(rows) == [2, 3, 4, 5, 6, 7]


def test_gold_of_others_that_is_not_in_the_index_is_told(chunks):
    other = Question("q", "Who?", gold=(Gold(doc="lost.txt", quote="Nobody knows where this stands."),))
    found = asked_rows([other], chunks)
    assert (found.rows, found.missing) == (frozenset(), 1)
    assert "1 gold entry of the existing questions cannot be found" in found.notes[0]
    assert asked_rows([], chunks).rows == frozenset()


def test_unknown_and_missing_kinds_are_refused(chunks):
    with pytest.raises(UsageError, match="unknown kind 'literl'"):
        make(chunks, Writer(), kinds=("literl",))
    with pytest.raises(UsageError, match="no kind of question is named"):
        make(chunks, Writer(), kinds=())
    with pytest.raises(UsageError, match="--model"):
        generate(chunks, LITERAL, Models())


def test_numbers_go_on_from_the_highest_of_each_kind():
    numbers = QuestionIds(["literal-009", "literal-2", "literal-x", "q7", "multi_hop-100"])
    assert [numbers.next(kind) for kind in ("literal", "multi_hop", "negated")] == [
        "literal-010", "multi_hop-101", "negated-001",
    ]  # fmt: skip


def pages_case():
    text = "".join(f"{text_of(*thing)}\n" for thing in THINGS[:4])
    edges = [0, *(m.end() for m in re.finditer("\n", text))]
    pages = tuple(Page(n + 1, a, b) for n, (a, b) in enumerate(pairwise(edges)))
    return Doc("book.pdf", text, pages=pages)


def test_the_page_is_that_of_the_quote_and_gold_is_found_however_the_text_is_cut():
    doc = pages_case()
    whole = Chunk("book.pdf#1", "book.pdf", doc.text, pages=(1, 2, 3, 4), span=(0, len(doc.text)))
    kept = f"The {THINGS[2][0]} is kept by {THINGS[2][1]} and nobody else."
    across = doc.text[doc.pages[1].end - 40 : doc.pages[2].start + 30].split(" ", 1)[1].rsplit(" ", 1)[0]
    fragment = Fragment(0, whole, "en")
    draft = Draft("Who?", "literal", (fragment,), answer="x", quotes=(kept,), language="en")
    questions = [
        question_of(draft, "a", QuotePages([doc], {doc.id})),
        question_of(replace(draft, quotes=(across,)), "b", QuotePages([doc], {doc.id})),
        question_of(draft, "c", QuotePages(None, {doc.id})),
    ]
    assert [q.gold[0].page for q in questions] == ["3", "2-3", "1-4"]
    for size in (90, 200, 333):
        cut = Chunks(
            [
                Chunk(
                    f"x{start:05}", "book.pdf", doc.text[start : start + size], span=(start, start + size),
                    pages=tuple(p.number for p in doc.pages if p.start < start + size and p.end > start),
                )
                for start in range(0, len(doc.text), size)
            ]
        )  # fmt: skip
        found = resolve(TestSet(questions), cut, [doc])
        assert found.unresolved == ()
        assert set(found.kinds) == {"quote"}


def test_every_kind_has_a_summary_and_a_version():
    assert all(kind.summary and kind.version >= 1 and kind.source.startswith(kind.name) for kind in KINDS)


RUSSIAN = (
    "Музей открыт ежедневно, кроме понедельника. Касса закрывается в половине седьмого вечера. Билет для взрослых "
    "стоит 450 рублей, для студентов 200 рублей. Музей основал купец Назаров в 1894 году. Самый древний экспонат, "
    "бронзовый топор, хранится в третьем зале на втором этаже. Входить в залы с рюкзаками нельзя никому."
)


def test_without_a_model_documents_in_other_languages_are_refused():
    with pytest.raises(UsageError, match=r"no chunk is in English \(of 1 that can be asked about\), .*--model"):
        generate(Chunks([Chunk("m#0", "m", RUSSIAN)]), replace(LITERAL, offline=True), Models())


def test_without_a_model_each_chunk_in_another_language_is_counted(chunks):
    mixed = Chunks.ordered([*chunks, Chunk("m#0", "m", RUSSIAN)])
    made = generate(mixed, replace(LITERAL, samples=11, offline=True), Models())
    assert [one.rows for one in made.rejected if one.reason == "other_language"] == [(mixed.row_of["m#0"],)]
