"""Checks of quotes, copies, questions and results, where they must fire and where they must not."""

import pytest

from karat.core.docs import Chunk, Chunks
from karat.core.run import Run
from karat.core.types import Gold, Question, TestSet
from karat.testset.check import CheckContext
from karat.testset.check_testset import check_testset


class TestQuotes:
    def test_a_quote_that_stands_on_another_page(self, examined, asked):
        (found,) = examined("misplaced_quotes", asked(Gold(doc="handbook.pdf", page="5", quote="burns diesel")))
        assert found.severity == "broken"
        assert "stands on page 2, not on page 5" in found.examples[0]

    def test_a_quote_that_nearly_stands(self, examined, asked):
        gold = Gold(doc="handbook.pdf", quote="Radio contact is made each evening at eight")
        (found,) = examined("misplaced_quotes", asked(gold))
        assert "nearly" in found.title
        assert 'gold "each", index "every"' in found.examples[0]

    def test_a_quote_that_stands_nowhere(self, examined, asked):
        (found,) = examined("misplaced_quotes", asked(Gold(quote="penguins are forbidden to enter the mess")))
        assert found.title == "1 quote is not found"

    def test_a_quote_that_stands(self, examined, asked):
        assert examined("misplaced_quotes", asked(Gold(doc="handbook.pdf", page="2", quote="burns diesel"))) == ()

    def test_a_quote_cut_apart_by_the_chunks(self, book, examined, asked):
        doc, _ = book()
        edge = doc.text.index("burns diesel") + 9
        chunks = [
            Chunk(f"h#{i}", doc.id, doc.text[a:b], span=(a, b)) for i, (a, b) in enumerate(((0, edge), (edge, 900)))
        ]
        questions = asked(Gold(quote="The generator burns diesel"))
        (found,) = examined("split_quotes", questions, chunks, [doc])
        assert found.severity == "warning"
        assert found.numbers == {"split": 1, "found": 1, "share": 1}
        assert "h#0" in found.examples[0]
        assert examined("split_quotes", questions) == ()


class TestCopies:
    text = "Fuel drums are rolled and never lifted, by two people who wear gloves and goggles at all times."

    def chunks(self, pages, other):
        filler = [Chunk(f"x{i}", "x.md", f"{page} {i}") for i, page in enumerate(pages)]
        return [Chunk("gold", "a.md", self.text), Chunk("other", "b.md", other), *filler]

    def test_a_copy_word_for_word(self, examined, asked, pages):
        copy = self.text.upper().replace(",", " ;")
        (found,) = examined("copies", asked(Gold(id="gold")), self.chunks(pages, copy))
        assert found.severity == "warning"
        assert "word for word" in found.title
        assert found.examples == ("q1: other repeats gold gold",)

    def test_a_copy_that_is_gold_too(self, examined, asked, pages):
        assert examined("copies", asked(Gold(id="gold"), Gold(id="other")), self.chunks(pages, self.text)) == ()

    def test_nearly_a_copy(self, examined, asked, pages):
        (found,) = examined("copies", asked(Gold(id="gold")), self.chunks(pages, f"{self.text} Always."))
        assert "nearly" in found.title
        assert "94% alike" in found.examples[0]

    def test_what_only_resembles_is_no_copy(self, examined, asked, pages):
        """One word of 19 is in 3 of 17 shingles: 14 of 20 are common."""
        assert examined("copies", asked(Gold(id="gold")), self.chunks(pages, self.text.replace("two", "three"))) == ()

    def test_short_texts_are_copies_only_word_for_word(self, examined, asked):
        chunks = [Chunk("a", "d", "Stop!"), Chunk("b", "e", "stop"), Chunk("c", "f", "Go")]
        (found,) = examined("copies", asked(Gold(id="a")), chunks)
        assert found.numbers == {"chunks": 1, "questions": 1}


class TestQuestions:
    def test_repeated_and_nearly_repeated(self, examined):
        questions = [
            Question("a", "How many kilograms may one sledge carry?", gold=(Gold(page="3"),)),
            Question("b", "how many kilograms may one sledge carry", gold=(Gold(page="4"),)),
            Question("c", "When is radio contact made in the evening by the operator on duty?"),
            Question("d", "When was the radio contact made, in the evening, by operators on duty?"),
            Question("e", "Who closes the telescope shutters?"),
        ]
        (found,) = examined("near_duplicates", questions)
        assert (found.severity, found.questions) == ("warning", ("a", "b", "c", "d"))
        (found,) = examined("contradictions", questions)
        assert (found.severity, found.questions) == ("broken", ("a", "b"))
        assert examined("near_duplicates", questions[::2]) == ()

    def test_the_same_words_without_content(self, examined):
        questions = [Question("a", "Why?"), Question("b", "why"), Question("c", "How?")]
        (found,) = examined("near_duplicates", questions)
        assert found.questions == ("a", "b")

    @pytest.mark.parametrize(
        "text",
        [
            "In the passage above, who opens the galley?",
            "According to the text, how many people lift a drum?",
            "What does this document say about bears?",
            "What is mentioned above?",
            "In the text the author says what?",
            "According to the article Nansen left when?",
            "Who shouts in the passage after dinner?",
            "What year is mentioned in the passages?",
            "Which colour, as described in the document, has the flag?",
            "What does the author claim about ice?",
            "Какие правила описаны в этом документе?",
            "Согласно тексту, кто открывает камбуз?",
            "Что говорится в отрывке о медведях?",
            "Назовите перечисленные выше правила.",
            "इस पाठ में क्या कहा गया है?",
        ],
    )
    def test_passage_references(self, text, examined, asked):
        (found,) = examined("passage_references", asked(text=text))
        assert found.questions == ("q1",)

    @pytest.mark.parametrize(
        "text",
        [
            "Who signs the document on fuel drums?",
            "Which documents are needed to leave the station?",
            "What is printed in the section of the handbook about bears?",
            "In the article titled “Ice”, who drills?",
            "How is a passage through sea ice chosen?",
            "What opens in the text editor?",
            "Which button stands in the context menu?",
            "What is kept in the document safe?",
            "Where does the passage below deck lead?",
            "Which pressure is given below 20 degrees?",
            "Какие документы нужны для выезда?",
            "Согласно документу «О топливе», кто подписывает накладную?",
            "Как оформить статью в журнал?",
        ],
    )
    def test_questions_that_stand_on_their_own(self, text, examined, asked):
        assert examined("passage_references", asked(text=text)) == ()

    def test_vocabulary_gap(self, examined):
        gold = Gold(doc="handbook.pdf", page="3")
        questions = [
            Question("q1", "What is the heaviest load to pull?", gold=(gold,)),
            Question("q2", "What may a sledge be carrying?", gold=(gold,)),
        ]
        (found,) = examined("vocabulary_gap", questions)
        assert (found.severity, found.questions, found.numbers["share"]) == ("info", ("q1",), 0.5)
        assert examined("vocabulary_gap", questions[1:]) == ()

    def test_russian_words_meet_by_their_stems(self, examined, asked):
        chunks = [Chunk("c", "d", "Ночная вахта длится четыре часа, затем дежурного сменяют.")]
        assert examined("vocabulary_gap", asked(Gold(id="c"), text="Сколько часов длятся ночные вахты?"), chunks) == ()
        (found,) = examined("vocabulary_gap", asked(Gold(id="c"), text="Где находится библиотека?"), chunks)
        assert found.questions == ("q1",)

    def test_answers_that_the_gold_does_not_say(self, examined):
        gold = Gold(doc="handbook.pdf", page="3")
        questions = [
            Question("q1", "?", gold=(gold,), answers=("Forty tons",)),
            Question("q2", "?", gold=(gold,), answers=("A hundredweight", "Ninety kilogram")),
            Question("q3", "?", gold=(gold,), answers=("Yes",)),
        ]
        (found,) = examined("unsupported_answers", questions)
        assert (found.severity, found.questions, found.numbers["looked_at"]) == ("warning", ("q1",), 2)
        assert examined("unsupported_answers", questions[1:]) == ()


class TestIncomplete:
    def test_everything_that_cannot_be_scored(self, examined):
        fine = Gold(page="1")
        questions = [
            Question("no gold", "Who?"),
            Question("marked", "Who?", answerable=False),
            Question("zero", "Who?", gold=(Gold(page="1", grade=0),)),
            Question("both", "Who?", gold=(fine,), answerable=False),
            Question("nameless", "Who?", gold=(fine, Gold())),
            Question("twice", "Who?", gold=(fine,)),
            Question("twice", "Who?", gold=(fine,)),
        ]
        found = {f.questions: f for f in examined("incomplete", questions)}
        assert {ids: f.severity for ids, f in found.items()} == {
            ("no gold",): "warning",
            ("zero",): "warning",
            ("both",): "warning",
            ("nameless",): "broken",
            ("twice",): "broken",
        }
        assert found["no gold",].title == "1 question has no gold and is not marked unanswerable"

    def test_whole_questions(self, book, examined, asked):
        assert examined("incomplete", asked(Gold(page="1"))) == ()
        doc, chunks = book()
        qrels = TestSet(qrels={"q": {chunks[0].id: 1}})
        assert check_testset(CheckContext(qrels, Chunks.ordered(chunks), [doc]), only=["incomplete"]).findings == ()


class TestResults:
    def test_hits_of_another_index(self, book, examined, asked):
        doc, chunks = book()
        runs = [
            Run.from_lists("all", {"q1": ["z1", "z2"]}),
            Run.from_lists("some", {"q1": ["z1", chunks[0].id]}),
            Run.from_lists("none", {"q1": [chunks[0].id]}),
        ]
        one, two = examined("results", asked(Gold(page="1")), chunks, [doc], runs=runs)
        assert (one.severity, one.numbers["share"]) == ("broken", 1)
        assert (two.severity, two.numbers["share"], two.examples) == ("warning", 0.5, ("z1",))
