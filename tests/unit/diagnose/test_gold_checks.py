"""Each check on a small corpus where it must fire and on one where it must not."""

import pytest

from karat.core.docs import Chunk, Chunks, Doc, Page, Problem
from karat.core.run import Run
from karat.core.types import Gold, Question, TestSet
from karat.diagnose.gold import check

PAGES = (
    "The galley opens at six. Breakfast is porridge.",
    "The generator burns diesel. Oil is changed weekly.",
    "Sledges carry at most ninety kilograms.",
    "Radio contact is made every evening at eight.",
    "The doctor keeps morphine in the locked cabinet.",
    "Bears are scared away with flares and noise.",
    "Ice thickness is drilled before vehicles cross.",
    "Laundry takes place on Saturday in the annex.",
    "Telescope shutters close when wind exceeds gales.",
    "Greenhouse lettuce ripens after forty days.",
    "Fuel drums are rolled, never lifted, by two people.",
    "Library books return before the ship departs.",
)


def book(pages=PAGES, name="docs/handbook.pdf", labels=None):
    """A document with one page a text, and a chunk for each page."""
    text, marks, chunks = "", [], []
    for number, page in enumerate(pages, 1):
        start, text = len(text), text + page + "\n"
        label = labels[number - 1] if labels else None
        marks.append(Page(number, start, start + len(page), label))
        chunks.append(
            Chunk(
                f"{name}#{number:02}", name, page, pages=(number,), span=(start, start + len(page)),
                labels=(label,) if label else (),
            )
        )  # fmt: skip
    return Doc(name, text, pages=tuple(marks)), chunks


def examined(name, questions, chunks=None, docs=None, **options):
    """What one check finds."""
    if chunks is None:
        doc, chunks = book()
        docs = [doc]
    found = check(TestSet(questions), Chunks.ordered(chunks), docs, only=[name], **options)
    assert all(f.check == name for f in found.findings)
    assert not any("failed" in f.title for f in found.findings), found.findings
    return found.findings


def asked(*golds, text="When does the galley open?", **fields):
    return [Question("q1", text, gold=golds, **fields)]


class TestOverview:
    def test_it_counts_pages_and_files(self):
        golds = [Gold(doc="handbook.pdf", page=str(p)) for p in (1, 2, 40)] + [Gold(doc="gone.pdf", page="1")]
        (found,) = examined("overview", asked(*golds))
        assert found.title == (
            "by page: the gold names 4 pages of 2 files; the index holds 12 pages of 1 file; common 2"
        )
        assert found.numbers["common"] == 2

    def test_it_counts_each_kind(self):
        golds = [Gold(quote="burns diesel"), Gold(quote="unicorn"), Gold(id="docs/handbook.pdf#01"), Gold(doc="x.md")]
        said = {f.title for f in examined("overview", asked(*golds))}
        assert said == {
            "by quote: the gold holds 2 quotes; 1 of them stands in chunks",
            "by exact: the gold names 1 id; the index holds 12 ids; common 1",
            "by doc: the gold names 1 document; the index holds 1 document; common 0",
        }

    def test_nothing_without_gold(self):
        assert examined("overview", asked()) == ()


class TestUnknownGold:
    def test_a_misspelled_file_is_named_with_the_nearest(self):
        (found,) = examined("unknown_gold", asked(Gold(doc="handbok.pdf", page="2")))
        assert found.severity == "broken"
        assert found.title == "the gold names 1 file that the index does not hold"
        assert found.examples == ("handbok.pdf (did you mean docs/handbook.pdf?)",)
        assert found.questions == ("q1",)

    def test_a_file_in_other_case_is_named(self):
        (found,) = examined("unknown_gold", asked(Gold(doc="HANDBOOK.PDF", page="2")))
        assert found.examples == ("HANDBOOK.PDF (did you mean docs/handbook.pdf?)",)

    def test_addresses_and_ids(self):
        _, chunks = book()
        golds = [Gold(url="https://example.org/zzz"), Gold(id="docs/handbook.pdf#99")]
        one, two = examined("unknown_gold", asked(*golds), chunks)
        assert "1 web page" in one.title
        assert one.examples == ("https://example.org/zzz",)
        assert "1 id" in two.title
        assert "did you mean docs/handbook.pdf#09" in two.examples[0]

    def test_what_is_there_or_not_relevant_is_not_named(self):
        assert examined("unknown_gold", asked(Gold(doc="handbook.pdf", page="1"), Gold(doc="gone", grade=0))) == ()


class TestUnreadFiles:
    problem = Problem("in/secret.pdf", "encrypted", "the file is encrypted.", "Give its password.")

    def test_gold_in_a_file_that_could_not_be_read(self):
        doc, chunks = book()
        gold = Gold(doc="secret.pdf", page="1")
        (found,) = examined("unread_files", asked(gold), chunks, [doc], problems=[self.problem])
        assert found.severity == "broken"
        assert found.examples == ("in/secret.pdf: the file is encrypted. Give its password. (1 question)",)
        assert examined("unknown_gold", asked(gold), chunks, [doc], problems=[self.problem]) == ()

    def test_a_file_of_the_same_name_elsewhere_is_another_file(self):
        doc, chunks = book()
        broken = Problem("in/old/handbook.pdf", "broken", "the file is damaged.")
        (found,) = examined(
            "unread_files", asked(Gold(doc="docs/handbook.pdf", page="1")), chunks, [doc], problems=[broken]
        )
        assert found.severity == "warning"
        gone = asked(Gold(doc="2021/handbook.pdf", page="1"))
        (found,) = examined("unread_files", gone, chunks, [doc], problems=[broken])
        assert found.severity == "warning"
        (found,) = examined("unknown_gold", gone, chunks, [doc], problems=[broken])
        assert "2021/handbook.pdf" in found.examples[0]

    def test_files_that_no_gold_needs_are_a_warning(self):
        doc, chunks = book()
        (found,) = examined("unread_files", asked(Gold(page="1")), chunks, [doc], problems=[self.problem])
        assert found.severity == "warning"

    def test_problems_that_lose_nothing_are_left_alone(self):
        doc, chunks = book()
        small = Problem("handbook.pdf", "labels", "no labels", fatal=False)
        assert examined("unread_files", asked(Gold(doc="handbook.pdf")), chunks, [doc], problems=[small]) == ()


class TestMissingPages:
    def test_pages_after_the_last_and_without_text(self):
        golds = [Gold(doc="handbook.pdf", page="13"), Gold(doc="handbook.pdf", page="xii")]
        beyond, blank = examined("missing_pages", asked(*golds))
        assert "q1: page 13 of handbook.pdf stands after its last page, 12" in beyond.examples
        assert beyond.severity == blank.severity == "broken"
        assert "hold no text" in blank.title or "holds no text" in blank.title

    def test_pages_that_are_there(self):
        assert examined("missing_pages", asked(Gold(doc="handbook.pdf", page="12"))) == ()


def quoted(shift, size=6):
    """Questions whose quote stands on page n and whose gold says n + shift."""
    return [
        Question(
            f"q{n}",
            "?",
            gold=(Gold(doc="handbook.pdf", page=str(n + shift), quote=" ".join(PAGES[n - 1].split()[:4])),),
        )
        for n in range(1, size + 1)
    ]


def worded(shift, first=1, last=12):
    """Questions without quotes that use the words of page n, and whose gold says n + shift."""
    return [
        Question(
            f"q{n}", " ".join(PAGES[n - 1].split()[:4]) + "?", gold=(Gold(doc="handbook.pdf", page=str(n + shift)),)
        )
        for n in range(first, last + 1)
    ]


class TestShiftedPages:
    @pytest.mark.parametrize("shift", [-1, 3, 17])
    def test_quotes_tell_the_shift(self, shift):
        (found,) = examined("shifted_pages", quoted(shift))
        assert found.severity == "broken"
        assert found.remedy == f"Add --page-offset {shift}."
        assert found.numbers == {"evidence": "quotes", "pages": 6, "now": 0, "then": 1, "offset": shift}
        assert examined("shifted_pages", quoted(shift), page_offset=shift) == ()

    @pytest.mark.parametrize("shift", [-1, 2])
    def test_words_tell_the_shift(self, shift):
        (found,) = examined("shifted_pages", worded(shift))
        assert found.remedy == f"Add --page-offset {shift}."
        assert found.numbers["evidence"] == "words"
        assert "better for 12, worse for 0" in found.text
        assert examined("shifted_pages", worded(shift), page_offset=shift) == ()

    def test_pages_that_are_right_or_too_few_to_tell(self):
        assert examined("shifted_pages", quoted(0)) == ()
        assert examined("shifted_pages", worded(0)) == ()
        assert examined("shifted_pages", worded(2, 1, 5)) == ()
        assert examined("shifted_pages", quoted(2, 2)) == ()

    @pytest.mark.parametrize("make", [quoted, worded])
    def test_an_offset_that_is_not_needed(self, make):
        (found,) = examined("shifted_pages", make(0), page_offset=25)
        assert found.title == "--page-offset 25 moves pages that are right as they stand"
        assert found.remedy == "Drop --page-offset 25."

    def test_some_wrong_pages_are_no_shift(self):
        assert examined("shifted_pages", [*quoted(0), Question("x", "?", gold=quoted(5)[0].gold)]) == ()

    @pytest.mark.parametrize("make", [quoted, worded])
    def test_printed_numbers_are_recognised(self, make):
        labels = ["i", "ii", *(str(n) for n in range(1, 11))]
        doc, chunks = book(labels=labels)
        questions = [q for q in make(-2, 12) if int(q.gold[0].page) > 0] if make is quoted else make(-2, 3)
        (found,) = examined("shifted_pages", questions, chunks, [doc])
        assert found.remedy == "Add --pages printed." if make is quoted else found.remedy in (
            "Add --pages printed.", "Add --page-offset -2."
        )  # fmt: skip
        assert examined("shifted_pages", questions, chunks, [doc], pages="printed") == ()

    def test_a_page_0_counts_from_0(self):
        (found,) = examined("shifted_pages", asked(Gold(doc="handbook.pdf", page="0")))
        assert found.title == "the gold has a page 0"
        assert found.remedy == "Add --page-offset -1."
        assert examined("shifted_pages", asked(Gold(doc="handbook.pdf", page="10"))) == ()


class TestOtherMatcher:
    def test_ids_of_documents_that_are_looked_for_as_chunks(self):
        (found,) = examined("other_matcher", asked(Gold(doc="handbook.pdf")), by="exact")
        assert found.title == "--match doc would reach 100% of the gold instead of 0%"
        assert found.numbers["doc"] == 1
        assert found.numbers["exact" if "exact" in found.numbers else "chosen"] == 0

    def test_silent_where_names_are_not_to_blame(self):
        assert examined("other_matcher", asked(Gold(doc="handbook.pdf", page="3"))) == ()
        assert examined("other_matcher", asked(Gold(doc="handbook.pdf", page="30"))) == ()

    def test_silent_where_it_would_find_other_gold_than_what_names_lost(self):
        """A page that does not exist is hidden, not found, by counting documents."""
        assert (
            examined("other_matcher", asked(Gold(doc="handbok.pdf", page="3"), Gold(doc="handbook.pdf", page="30")))
            == ()
        )


class TestQuotes:
    def test_a_quote_that_stands_on_another_page(self):
        (found,) = examined("misplaced_quotes", asked(Gold(doc="handbook.pdf", page="5", quote="burns diesel")))
        assert found.severity == "broken"
        assert "stands on page 2, not on page 5" in found.examples[0]

    def test_a_quote_that_nearly_stands(self):
        gold = Gold(doc="handbook.pdf", quote="Radio contact is made each evening at eight")
        (found,) = examined("misplaced_quotes", asked(gold))
        assert "nearly" in found.title
        assert 'gold "each", index "every"' in found.examples[0]

    def test_a_quote_that_stands_nowhere(self):
        (found,) = examined("misplaced_quotes", asked(Gold(quote="penguins are forbidden to enter the mess")))
        assert found.title == "1 quote is not found"

    def test_a_quote_that_stands(self):
        assert examined("misplaced_quotes", asked(Gold(doc="handbook.pdf", page="2", quote="burns diesel"))) == ()

    def test_a_quote_cut_apart_by_the_chunks(self):
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

    def chunks(self, other):
        filler = [Chunk(f"x{i}", "x.md", f"{page} {i}") for i, page in enumerate(PAGES)]
        return [Chunk("gold", "a.md", self.text), Chunk("other", "b.md", other), *filler]

    def test_a_copy_word_for_word(self):
        copy = self.text.upper().replace(",", " ;")
        (found,) = examined("copies", asked(Gold(id="gold")), self.chunks(copy))
        assert found.severity == "warning"
        assert "word for word" in found.title
        assert found.examples == ("q1: other repeats gold gold",)

    def test_a_copy_that_is_gold_too(self):
        assert examined("copies", asked(Gold(id="gold"), Gold(id="other")), self.chunks(self.text)) == ()

    def test_nearly_a_copy(self):
        (found,) = examined("copies", asked(Gold(id="gold")), self.chunks(f"{self.text} Always."))
        assert "nearly" in found.title
        assert "94% alike" in found.examples[0]

    def test_what_only_resembles_is_no_copy(self):
        """One word of 19 is in 3 of 17 shingles: 14 of 20 are common."""
        assert examined("copies", asked(Gold(id="gold")), self.chunks(self.text.replace("two", "three"))) == ()

    def test_short_texts_are_copies_only_word_for_word(self):
        chunks = [Chunk("a", "d", "Stop!"), Chunk("b", "e", "stop"), Chunk("c", "f", "Go")]
        (found,) = examined("copies", asked(Gold(id="a")), chunks)
        assert found.numbers == {"chunks": 1, "questions": 1}


class TestQuestions:
    def test_repeated_and_nearly_repeated(self):
        questions = [
            Question("a", "How many kilograms may one sledge carry?", gold=(Gold(page="3"),)),
            Question("b", "how many kilograms may one sledge carry", gold=(Gold(page="4"),)),
            Question("c", "When is radio contact made in the evening by the operator on duty?"),
            Question("d", "When was the radio contact made, in the evening, by operators on duty?"),
            Question("e", "Who closes the telescope shutters?"),
        ]
        same, near = examined("repeated_questions", questions)
        assert (same.severity, same.questions, same.numbers["other_gold"]) == ("warning", ("a", "b"), 1)
        assert (near.severity, near.questions) == ("info", ("c", "d"))
        assert examined("repeated_questions", questions[::2]) == ()

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
    def test_leaks(self, text):
        (found,) = examined("leaks", asked(text=text))
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
    def test_questions_that_stand_on_their_own(self, text):
        assert examined("leaks", asked(text=text)) == ()

    def test_vocabulary_gap(self):
        gold = Gold(doc="handbook.pdf", page="3")
        questions = [
            Question("q1", "What is the heaviest load to pull?", gold=(gold,)),
            Question("q2", "What may a sledge be carrying?", gold=(gold,)),
        ]
        (found,) = examined("vocabulary_gap", questions)
        assert (found.severity, found.questions, found.numbers["share"]) == ("info", ("q1",), 0.5)
        assert examined("vocabulary_gap", questions[1:]) == ()

    def test_russian_words_meet_by_their_stems(self):
        chunks = [Chunk("c", "d", "Ночная вахта длится четыре часа, затем дежурного сменяют.")]
        assert examined("vocabulary_gap", asked(Gold(id="c"), text="Сколько часов длятся ночные вахты?"), chunks) == ()
        (found,) = examined("vocabulary_gap", asked(Gold(id="c"), text="Где находится библиотека?"), chunks)
        assert found.questions == ("q1",)

    def test_answers_that_the_gold_does_not_say(self):
        gold = Gold(doc="handbook.pdf", page="3")
        questions = [
            Question("q1", "?", gold=(gold,), answers=("Forty tons",)),
            Question("q2", "?", gold=(gold,), answers=("A hundredweight", "Ninety kilogram")),
            Question("q3", "?", gold=(gold,), answers=("Yes",)),
        ]
        (found,) = examined("unsupported_answers", questions)
        assert (found.questions, found.numbers["looked_at"], found.numbers["words_held"]) == (("q1",), 2, 0.5)
        assert examined("unsupported_answers", questions[1:]) == ()


class TestIncomplete:
    def test_everything_that_cannot_be_scored(self):
        fine = Gold(page="1")
        questions = [
            Question("no gold", "Who?"),
            Question("marked", "Who?", answerable=False),
            Question("zero", "Who?", gold=(Gold(page="1", grade=0),)),
            Question("both", "Who?", gold=(fine,), answerable=False),
            Question("nameless", "Who?", gold=(fine, Gold())),
            Question("empty", " ", gold=(fine,)),
            Question("twice", "Who?", gold=(fine,)),
            Question("twice", "Who?", gold=(fine,)),
        ]
        found = {f.questions: f for f in examined("incomplete", questions)}
        assert {ids: f.severity for ids, f in found.items()} == {
            ("no gold",): "warning",
            ("zero",): "warning",
            ("both",): "warning",
            ("nameless",): "broken",
            ("empty",): "broken",
            ("twice",): "broken",
        }
        assert found["no gold",].title == "1 question has no gold and is not marked unanswerable"

    def test_whole_questions(self):
        assert examined("incomplete", asked(Gold(page="1"))) == ()
        doc, chunks = book()
        qrels = TestSet(qrels={"q": {chunks[0].id: 1}})
        assert check(qrels, Chunks.ordered(chunks), [doc], only=["incomplete"]).findings == ()


class TestResults:
    def test_hits_of_another_index(self):
        doc, chunks = book()
        runs = [
            Run.from_lists("all", {"q1": ["z1", "z2"]}),
            Run.from_lists("some", {"q1": ["z1", chunks[0].id]}),
            Run.from_lists("none", {"q1": [chunks[0].id]}),
        ]
        one, two = examined("results", asked(Gold(page="1")), chunks, [doc], runs=runs)
        assert (one.severity, one.numbers["share"]) == ("broken", 1)
        assert (two.severity, two.numbers["share"], two.examples) == ("warning", 0.5, ("z1",))
