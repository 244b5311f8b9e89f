"""Checks of questions and the tables, on small corpora where each figure is known by hand."""

import json

import numpy as np
import pytest

from karat.core.docs import Chunk, Chunks
from karat.core.text.detect import passage_reference
from karat.core.types import Gold, Question, TestSet
from karat.report import objects
from karat.report.build.testset_check import check_document as document_of
from karat.report.build.testset_check import verdict
from karat.report.document import Detail
from karat.report.render import console, markdown
from karat.testset.check import CHECKS, CheckContext
from karat.testset.check.not_a_question import leftover_of
from karat.testset.check_testset import check_testset
from karat.testset.lexicon import Weights, longest_run

SHEETS = (
    ("galley", "The galley opens at six. Breakfast is porridge with honey from the valley."),
    ("galley", "The cook counts the tins every Friday evening."),
    ("power", "The generator Asta burns thirty litres of diesel in an hour."),
    ("power", "Generator oil is changed every nine days by the engineer."),
    ("travel", "Sledges carry at most ninety kilograms across the ice."),
    ("travel", "Radio contact is made every evening at eight."),
    ("medical", "The doctor keeps morphine in the locked cabinet."),
    ("medical", "Bears are scared away with flares and noise."),
    ("travel", "Ice thickness is drilled before vehicles cross the strait."),
    ("galley", "Laundry takes place on Saturday in the annex."),
)
CHUNKS = Chunks.ordered([Chunk(f"{doc}.md#{n}", f"{doc}.md", text) for n, (doc, text) in enumerate(SHEETS)])


def ask(id_, text, answer=None, gold=None, kind=None, **more):
    golds = () if gold is None else (Gold(chunk=gold),)
    return Question(id_, text, answers=() if answer is None else (answer,), gold=golds, kind=kind, **more)


CLEAN = [
    ask("a", "When does the galley open?", "at six", "galley.md#0", "literal"),
    ask("b", "How much diesel does Asta burn in an hour?", "thirty litres", "power.md#2", "literal"),
    ask("c", "Where is the strong painkiller stored?", "in the locked cabinet", "medical.md#6", "paraphrase"),
    ask("d", "How do we frighten wild animals?", "with flares and noise", "medical.md#7", "scenario"),
    ask("e", "What weight can be hauled over the frozen sea?", "ninety kilograms", "travel.md#4", "paraphrase"),
    ask("f", "Who was the first cook?", kind="unanswerable", answerable=False),
]


def found(questions, check, chunks=CHUNKS, **more):
    """The findings of one check."""
    made = check_testset(CheckContext(TestSet(questions), chunks), only=[check], **more).findings
    assert not any("failed" in f.title for f in made), made
    assert {f.check for f in made} <= {check}
    return made


def ids(questions, check, chunks=CHUNKS, **more):
    return sorted({id_ for f in found(questions, check, chunks, **more) for id_ in f.questions})


@pytest.mark.parametrize(
    "check",
    [name for name in CHECKS.names() if name not in ("balance", "size", "difficulty", "overview", "vocabulary_gap")],
)
def test_a_clean_test_set_has_no_fault(check):
    assert ids(CLEAN, check) == []


def test_every_check_is_named_as_its_file_and_has_a_summary():
    for name in CHECKS.names():
        assert CHECKS.get(name).name == name
        assert CHECKS.get(name).summary


class TestQuestions:
    def test_empty_ones_are_broken(self):
        (finding,) = found([*CLEAN, ask("x", " ? ")], "malformed")
        assert (finding.severity, finding.questions) == ("broken", ("x",))

    def test_one_word_too_long_and_no_question(self):
        faulty = [ask("one", "diesel?"), ask("long", "why " * 90), ask("bare", "A fine day on the ice.")]
        assert [f.questions for f in found([*CLEAN, *faulty], "malformed")] == [("one",), ("long",), ("bare",)]

    def test_a_set_of_queries_is_no_fault_of_each(self):
        (finding,) = found([ask("a", "diesel consumption"), ask("b", "bear flares")], "malformed")
        assert (finding.severity, finding.questions) == ("info", ())

    @pytest.mark.parametrize(
        "text",
        ["1) Who?", "12. Who is it", "Question: who?", "Q3: who?", "Вопрос 3: кто?", "«Кто там?»", '"Who?"', "**Who?**",
         "- Who?", "Sure! Here is it: who?", "Who?\nAnswer: me", '{"question": "Who?"}', "(2) Who?", "№ 4 Кто?"],
    )  # fmt: skip
    def test_leftovers_are_seen(self, text):
        assert leftover_of(text) is not None

    @pytest.mark.parametrize(
        "text",
        ["Who?", "3 crowns for a letter?", "«Сева» и «Юг»: где?", "Q fever: how is it spread?", "2020: what happened?",
         "What is the answer to life?", "В каком цехе?", "Is 1) or 2) right?"],
    )  # fmt: skip
    def test_what_belongs_to_a_question_is_no_leftover(self, text):
        assert leftover_of(text) is None

    @pytest.mark.parametrize(
        "text",
        ["What happens in this passage?", "According to the text above, who?", "Based on the given context, who?",
         "What does the author claim?", "As mentioned above, who?", "Согласно тексту, кто?",
         "Кто назван в этом отрывке?", "Что сказано в тексте?", "Laut dem Text, wer?"],
    )  # fmt: skip
    def test_references_to_a_passage_are_seen(self, text):
        assert passage_reference(text) is not None

    @pytest.mark.parametrize(
        "text",
        ["Which text editor is installed?", "Who wrote the article on ice?", "What does the document on fire describe?",
         "Which section of the handbook covers fire?", "Какой документ нужен?", "По тексту договора, кто платит?",
         "Where does the passage above the engine room lead?"],
    )  # fmt: skip
    def test_texts_that_are_named_are_no_reference(self, text):
        assert passage_reference(text) is None

    def test_an_answer_in_the_question_is_leaked(self):
        faulty = [
            ask("leak", "Why does Asta burn thirty litres of diesel?", "thirty litres", "power.md#2"),
            ask("choice", "Does she burn thirty litres or forty litres?", "thirty litres", "power.md#2"),
            ask("number", "Is 30 litres in an hour all that 40 people need?", "40 litres", "power.md#2"),
        ]
        assert ids([*CLEAN, *faulty], "leaked_answers") == ["leak"]

    def test_language(self):
        faulty = [
            ask("ru", "Когда открывается камбуз?", "at six", "galley.md#0"),
            ask("de", "Wann wird die Küche von den Leuten geöffnet und warum?", "at six", "galley.md#0"),
            ask("short", "Asta?", gold="power.md#2"),
        ]
        assert ids([*CLEAN, *faulty], "other_language") == ["de", "ru"]

    def test_a_set_across_languages_is_meant(self):
        (finding,) = found([ask("ru", "Когда открывается камбуз?", "at six", "galley.md#0")], "other_language")
        assert finding.severity == "info"


class TestPairs:
    @pytest.mark.parametrize(
        "text",
        ["WHEN DOES THE GALLEY OPEN", "The galley: when does it open?", "Please tell me when the galleys open!",
         "When does the galley oppen?"],
    )  # fmt: skip
    def test_other_order_case_number_or_a_slip_ask_the_same(self, text):
        assert ids([*CLEAN, ask("x", text, "at six", "galley.md#0", "scenario")], "near_duplicates") == ["a", "x"]

    @pytest.mark.parametrize(
        "text", ["Why does the galley open?", "When does the galley not open?", "When does galley 2 open?"]
    )
    def test_another_word_that_asks_a_denial_or_a_number_ask_something_else(self, text):
        assert ids([*CLEAN, ask("x", text, "never", "galley.md#1")], "near_duplicates") == []

    def test_the_same_with_other_gold_contradicts(self):
        same = ask("x", "when does the galley open", "at six", "travel.md#5")
        (finding,) = found([*CLEAN, same], "contradictions")
        assert (finding.severity, finding.questions) == ("broken", ("a", "x"))
        again = ask("y", "when does the galley open", "at six", "galley.md#0")
        assert found([*CLEAN, again], "contradictions") == ()

    def test_they_are_seen_without_an_index(self):
        twice = [*CLEAN, ask("x", "The galley, when does it open?", "at six", "power.md#2")]
        made = check_testset(CheckContext(TestSet(twice)))
        assert {f.check for f in made.findings if f.questions} == {"near_duplicates", "contradictions"}
        assert set(made.not_run) == {c.name for c in CHECKS if c.needs_index}
        assert (made.chunks, made.docs, made.coverage, made.attained) == (None, None, None, ())
        assert "no index was given" in console.render(document_of(made))


class TestGold:
    def test_a_literal_paraphrase_is_seen_and_counted(self):
        faulty = ask("x", "How often is generator oil changed by the engineer?", "every nine days", "power.md#3",
                     "paraphrase")  # fmt: skip
        (finding,) = found([*CLEAN, faulty], "literal_paraphrases")
        assert finding.questions == ("x",)
        assert finding.numbers == {"questions": 1, "looked_at": 4, "share": 0.25}
        rows = {row.kind: row for row in check_testset(CheckContext(TestSet([*CLEAN, faulty]), CHUNKS)).kinds}
        assert (rows["paraphrase"].literal, rows["scenario"].literal, rows["literal"].literal) == (1, 0, None)

    def test_a_story_around_it_does_not_hide_it(self):
        text = "Our boat leaves tomorrow and everybody is nervous: how often is generator oil changed?"
        assert ids([ask("x", text, "every nine days", "power.md#3", "scenario")], "literal_paraphrases") == ["x"]

    def test_an_answer_that_the_gold_does_not_hold(self):
        faulty = [
            ask("x", "When does the galley open?", "at midnight on Sundays", "galley.md#0"),
            ask("digits", "How much diesel does Asta burn?", "30 litres", "power.md#2"),
            ask("yes", "Is there porridge?", "yes", "galley.md#0"),
        ]
        assert ids(faulty, "unsupported_answers") == ["x"]

    def test_gold_that_another_chunk_beats(self):
        faulty = ask("x", "How often is generator oil changed?", "every nine days", "medical.md#7")
        (finding,) = found([*CLEAN, faulty], "wrong_gold")
        assert finding.questions == ("x",)
        assert "rather power.md#3" in finding.examples[0]

    def test_a_chunk_that_answers_as_well_and_is_not_gold(self):
        more = Chunk("notice.md#0", "notice.md", "A reminder. Laundry takes place on Saturday in the old annex. Bye.")
        chunks = Chunks.ordered([*CHUNKS, more])
        asked = ask("x", "Where does laundry take place?", "in the annex", "galley.md#9")
        (finding,) = found([*CLEAN, asked], "unjudged_chunks", chunks)
        assert finding.questions == ("x",)
        assert "also notice.md#0" in finding.examples[0]
        both = Question("x", asked.text, answers=asked.answers, gold=(*asked.gold, Gold(chunk="notice.md#0")))
        assert found([*CLEAN, both], "unjudged_chunks", chunks) == ()

    def test_the_same_told_of_another_thing_is_no_answer(self):
        more = Chunk("notice.md#0", "notice.md", "The generator Brun burns thirty litres of diesel in an hour.")
        assert ids(CLEAN, "unjudged_chunks", Chunks.ordered([*CHUNKS, more])) == []


class TestTables:
    def test_recall_by_kind_beside_what_any_ranking_reaches(self):
        rows = {(row.kind, row.k): row for row in check_testset(CheckContext(TestSet(CLEAN), CHUNKS)).attained}
        assert rows["literal", 1].bm25 == 1.0
        assert rows["all", 1].questions == 5
        assert rows["all", 20].ceiling == 1.0
        for row in rows.values():
            assert max(row.bm25, row.dense) <= row.better <= row.ceiling

    def test_two_units_in_two_chunks_reach_half_at_one(self):
        both = Question("x", "When does the galley open, and when is laundry?", answers=("six, Saturday",),
                        gold=(Gold(chunk="galley.md#0"), Gold(chunk="galley.md#9")))  # fmt: skip
        rows = {row.k: row for row in check_testset(CheckContext(TestSet([both]), CHUNKS)).attained}
        assert (rows[1].ceiling, rows[5].ceiling) == (0.5, 1.0)

    def test_what_can_be_told(self):
        made = check_testset(CheckContext(TestSet(CLEAN), CHUNKS)).detectable
        worst = made[-1]
        assert (worst.questions, worst.spread, worst.difference, worst.needed) == (5, 1.0, 1.0, 8721)
        assert all(row.difference <= worst.difference for row in made)

    def test_too_few_questions_tell_no_difference_however_large(self):
        (said,) = found(CLEAN[:2], "size")
        assert (said.severity, said.title) == ("warning", "2 questions: too few to show any difference")
        assert "not even" in said.text
        (said,) = found([ask(str(n), f"Who keeps key {n}?") for n in range(5)], "size")
        assert "Fewer than two of them have gold" in said.text

    def test_gold_that_no_chunk_holds_is_neither_easy_nor_hard(self):
        lost = [ask(str(n), f"When is door {n} shut?", "at six", "gone.md#1", "literal") for n in range(12)]
        assert found(lost, "difficulty") == ()

    def test_one_kind_is_told_of_once(self):
        easy = [ask(str(n), "When does the galley open?", "at six", "galley.md#0", "literal") for n in range(12)]
        (said,) = found(easy, "difficulty")
        assert "on the questions of kind literal" in said.title
        mixed = [*easy, *(ask(f"c{n}", "When is laundry?", "Saturday", "galley.md#9", "cloze") for n in range(12))]
        assert [f.title.partition(" on ")[2] for f in found(mixed, "difficulty")] == [
            "all questions", "the questions of kind literal", "the questions of kind cloze",
        ]  # fmt: skip

    def test_scores_rest_on_no_others_where_all_are_unanswerable(self):
        none = [ask(str(n), f"Who was cook {n}?", answerable=False) for n in range(3)]
        (said,) = found(none, "balance")
        assert said.title == "100% of the questions are unanswerable"
        assert "No measure of retrieval" in said.text

    def test_coverage_counts_documents_and_chunks(self):
        found = check_testset(CheckContext(TestSet(CLEAN), CHUNKS)).coverage
        assert (found.questions, found.docs, found.docs_asked, found.chunks, found.chunks_asked) == (5, 4, 4, 10, 5)
        assert {row.doc: (row.chunks, row.questions) for row in found.by_doc} == {
            "medical.md": (2, 2), "galley.md": (3, 1), "power.md": (2, 1), "travel.md": (3, 1),
        }  # fmt: skip
        # by questions a chunk: travel and galley 1/3, power 1/2, medical 1; areas under the curve of shares
        size, held = np.array([0, 0.3, 0.6, 0.8, 1]), np.array([0, 0.2, 0.4, 0.6, 1])
        assert found.gini == pytest.approx(1 - np.sum(np.diff(size) * (held[1:] + held[:-1])))

    def test_a_topic_that_nobody_asks_about_is_thin(self):
        fish = [Chunk(f"fish#{i:02}", "fish", f"The net caught {w} fish, cod and herring in the sea.") for i, w in
                enumerate(("many", "few", "old", "red", "blue", "long", "thin", "wet"))]  # fmt: skip
        cars = [Chunk(f"cars#{i:02}", "cars", f"The {w} engine of the car needs oil and new tyres.") for i, w in
                enumerate(("big", "loud", "old", "fast", "slow", "worn", "clean", "cold"))]  # fmt: skip
        asked = [
            ask(f"q{i}", f"What does the {i} engine of the car need?", "oil", f"cars#{i % 8:02}") for i in range(16)
        ]
        made = check_testset(CheckContext(TestSet(asked), Chunks.ordered([*fish, *cars])))
        thin = [row for row in made.coverage.topics if row.thin]
        assert [row.questions for row in thin] == [0]
        assert {"fish", "cod", "herring", "net"} & set(thin[0].words)
        titles = [f.title for f in made.of("warning") if f.check == "coverage"]
        assert titles[0] == "1 topic of 2 is thin or untouched"
        assert "100% of the questions are about one document, cars" in titles

    def test_languages_are_counted(self):
        made = check_testset(
            CheckContext(TestSet([*CLEAN, ask("ru", "Когда открыто?", "at six", "galley.md#0")]), CHUNKS)
        )
        assert [(r.language, r.questions, r.elsewhere) for r in made.languages] == [("en", 6, 0), ("ru", 1, 1)]


class TestWhole:
    def test_the_same_input_gives_the_same_bytes(self):
        one, two = (objects.examined(check_testset(CheckContext(TestSet(CLEAN), CHUNKS))) for _ in range(2))
        assert one == two
        assert json.loads(one)["format"] == 2

    def test_verdict(self):
        assert verdict(check_testset(CheckContext(TestSet(CLEAN), CHUNKS), only=["malformed"])) == (
            "no fault found; all 5 gold units can be found."
        )
        said = verdict(check_testset(CheckContext(TestSet([*CLEAN, ask("x", "")]), CHUNKS)))
        assert said.startswith("broken: 1 question is empty")

    def test_no_questions_are_broken(self):
        made = check_testset(CheckContext(TestSet([]), CHUNKS))
        assert made.broken
        assert "too few to show any difference" in console.render(document_of(made))

    def test_a_check_that_fails_is_a_finding(self, monkeypatch):
        def fail(view):
            raise ZeroDivisionError("by hand")

        made = CHECKS.get("leftovers")
        monkeypatch.setitem(CHECKS._loaded, "leftovers", type(made)(made.name, made.summary, fail, made.order))
        (finding,) = found_all([*CLEAN], "leftovers")
        assert finding.severity == "broken"
        assert "by hand" in finding.text

    def test_hostile_texts_reach_no_page_as_they_are(self):
        hostile = ask("\x1b[31mid", "1) \x1b[2J| who <b>?\u202e", "x", "galley.md#0")
        made = check_testset(CheckContext(TestSet([*CLEAN, hostile]), CHUNKS))
        for page in (console.render(document_of(made), Detail.FULL), markdown.render(document_of(made))):
            assert "\x1b" not in page
            assert "\u202e" not in page
        assert "\x1b" not in objects.examined(made)

    def test_markdown_holds_every_id_and_table(self):
        faulty = [ask(f"x{i}", "") for i in range(40)]
        page = markdown.render(document_of(check_testset(CheckContext(TestSet([*CLEAN, *faulty]), CHUNKS))))
        assert "x39" in page
        for head in ("## Findings", "## Kinds", "## Recall", "## Documents", "## Differences"):
            assert head in page, head


def found_all(questions, check):
    return check_testset(CheckContext(TestSet(questions), CHUNKS), only=[check]).findings


def test_words():
    assert longest_run(list("abcd"), list("bcxabc")) == 3
    weights = Weights([frozenset("ab"), frozenset("a")])
    assert weights["a"] == pytest.approx(np.log(2))  # 1 + 3 / 3
    assert weights["z"] == pytest.approx(np.log(4))
    assert weights.share(frozenset("az"), frozenset("a")) == pytest.approx(1 / 3)
