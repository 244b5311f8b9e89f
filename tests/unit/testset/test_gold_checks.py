"""Checks of where gold stands, each on a small corpus where it must fire and on one where it must not."""

import pytest

from karat.core.docs import Problem
from karat.core.types import Gold, Question


class TestOverview:
    def test_it_counts_pages_and_files(self, examined, asked):
        golds = [Gold(doc="handbook.pdf", page=str(p)) for p in (1, 2, 40)] + [Gold(doc="gone.pdf", page="1")]
        (found,) = examined("overview", asked(*golds))
        assert found.title == (
            "by page: the gold names 4 pages of 2 files; the index holds 12 pages of 1 file; common 2"
        )
        assert found.numbers["common"] == 2

    def test_it_counts_each_kind(self, examined, asked):
        golds = [Gold(quote="burns diesel"), Gold(quote="unicorn"), Gold(id="docs/handbook.pdf#01"), Gold(doc="x.md")]
        said = {f.title for f in examined("overview", asked(*golds))}
        assert said == {
            "by quote: the gold holds 2 quotes; 1 of them stands in chunks",
            "by exact: the gold names 1 id; the index holds 12 ids; common 1",
            "by doc: the gold names 1 document; the index holds 1 document; common 0",
        }

    def test_nothing_without_gold(self, examined, asked):
        assert examined("overview", asked()) == ()


class TestUnknownGold:
    def test_a_misspelled_file_is_named_with_the_nearest(self, examined, asked):
        (found,) = examined("unknown_gold", asked(Gold(doc="handbok.pdf", page="2")))
        assert found.severity == "broken"
        assert found.title == "the gold names 1 file that the index does not hold"
        assert found.examples == ("handbok.pdf (did you mean docs/handbook.pdf?)",)
        assert found.questions == ("q1",)

    def test_a_file_in_other_case_is_named(self, examined, asked):
        (found,) = examined("unknown_gold", asked(Gold(doc="HANDBOOK.PDF", page="2")))
        assert found.examples == ("HANDBOOK.PDF (did you mean docs/handbook.pdf?)",)

    def test_addresses_and_ids(self, book, examined, asked):
        _, chunks = book()
        golds = [Gold(url="https://example.org/zzz"), Gold(id="docs/handbook.pdf#99")]
        one, two = examined("unknown_gold", asked(*golds), chunks)
        assert "1 web page" in one.title
        assert one.examples == ("https://example.org/zzz",)
        assert "1 id" in two.title
        assert "did you mean docs/handbook.pdf#09" in two.examples[0]

    def test_what_is_there_or_not_relevant_is_not_named(self, examined, asked):
        assert examined("unknown_gold", asked(Gold(doc="handbook.pdf", page="1"), Gold(doc="gone", grade=0))) == ()


class TestUnreadFiles:
    problem = Problem("in/secret.pdf", "encrypted", "the file is encrypted.", remedy="Give its password.")

    def test_gold_in_a_file_that_could_not_be_read(self, book, examined, asked):
        doc, chunks = book()
        gold = Gold(doc="secret.pdf", page="1")
        (found,) = examined("unread_files", asked(gold), chunks, [doc], problems=[self.problem])
        assert found.severity == "broken"
        assert found.examples == ("in/secret.pdf: the file is encrypted. Give its password. (1 question)",)
        assert examined("unknown_gold", asked(gold), chunks, [doc], problems=[self.problem]) == ()

    def test_a_file_of_the_same_name_elsewhere_is_another_file(self, book, examined, asked):
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

    def test_files_that_no_gold_needs_are_a_warning(self, book, examined, asked):
        doc, chunks = book()
        (found,) = examined("unread_files", asked(Gold(page="1")), chunks, [doc], problems=[self.problem])
        assert found.severity == "warning"

    def test_problems_that_lose_nothing_are_left_alone(self, book, examined, asked):
        doc, chunks = book()
        small = Problem("handbook.pdf", "labels", "no labels", fatal=False)
        assert examined("unread_files", asked(Gold(doc="handbook.pdf")), chunks, [doc], problems=[small]) == ()


class TestMissingPages:
    def test_pages_after_the_last_and_without_text(self, examined, asked):
        golds = [Gold(doc="handbook.pdf", page="13"), Gold(doc="handbook.pdf", page="xii")]
        beyond, blank = examined("missing_pages", asked(*golds))
        assert "q1: page 13 of handbook.pdf stands after its last page, 12" in beyond.examples
        assert beyond.severity == blank.severity == "broken"
        assert "hold no text" in blank.title or "holds no text" in blank.title

    def test_pages_that_are_there(self, examined, asked):
        assert examined("missing_pages", asked(Gold(doc="handbook.pdf", page="12"))) == ()


def quoted(pages, shift, size=6):
    """Questions whose quote stands on page n and whose gold says n + shift."""
    return [
        Question(
            f"q{n}",
            "?",
            gold=(Gold(doc="handbook.pdf", page=str(n + shift), quote=" ".join(pages[n - 1].split()[:4])),),
        )
        for n in range(1, size + 1)
    ]


def worded(pages, shift, first=1, last=12):
    """Questions without quotes that use the words of page n, and whose gold says n + shift."""
    return [
        Question(
            f"q{n}", " ".join(pages[n - 1].split()[:4]) + "?", gold=(Gold(doc="handbook.pdf", page=str(n + shift)),)
        )
        for n in range(first, last + 1)
    ]


class TestShiftedPages:
    @pytest.mark.parametrize("shift", [-1, 3, 17])
    def test_quotes_tell_the_shift(self, shift, pages, examined):
        (found,) = examined("shifted_pages", quoted(pages, shift))
        assert found.severity == "broken"
        assert found.remedy == f"Add --page-offset {shift}."
        assert found.numbers == {"evidence": "quotes", "pages": 6, "now": 0, "then": 1, "offset": shift}
        assert examined("shifted_pages", quoted(pages, shift), page_offset=shift) == ()

    @pytest.mark.parametrize("shift", [-1, 2])
    def test_words_tell_the_shift(self, shift, pages, examined):
        (found,) = examined("shifted_pages", worded(pages, shift))
        assert found.remedy == f"Add --page-offset {shift}."
        assert found.numbers["evidence"] == "words"
        assert "better for 12, worse for 0" in found.text
        assert examined("shifted_pages", worded(pages, shift), page_offset=shift) == ()

    def test_pages_that_are_right_or_too_few_to_tell(self, pages, examined):
        assert examined("shifted_pages", quoted(pages, 0)) == ()
        assert examined("shifted_pages", worded(pages, 0)) == ()
        assert examined("shifted_pages", worded(pages, 2, 1, 5)) == ()
        assert examined("shifted_pages", quoted(pages, 2, 2)) == ()

    @pytest.mark.parametrize("make", [quoted, worded])
    def test_an_offset_that_is_not_needed(self, make, pages, examined):
        (found,) = examined("shifted_pages", make(pages, 0), page_offset=25)
        assert found.title == "--page-offset 25 moves pages that are right as they stand"
        assert found.remedy == "Drop --page-offset 25."

    def test_some_wrong_pages_are_no_shift(self, pages, examined):
        assert examined("shifted_pages", [*quoted(pages, 0), Question("x", "?", gold=quoted(pages, 5)[0].gold)]) == ()

    @pytest.mark.parametrize("make", [quoted, worded])
    def test_printed_numbers_are_recognised(self, make, pages, book, examined):
        labels = ["i", "ii", *(str(n) for n in range(1, 11))]
        doc, chunks = book(labels=labels)
        questions = (
            [q for q in make(pages, -2, 12) if int(q.gold[0].page) > 0] if make is quoted else make(pages, -2, 3)
        )
        (found,) = examined("shifted_pages", questions, chunks, [doc])
        assert found.remedy == "Add --pages printed." if make is quoted else found.remedy in (
            "Add --pages printed.", "Add --page-offset -2."
        )  # fmt: skip
        assert examined("shifted_pages", questions, chunks, [doc], pages="printed") == ()

    def test_what_printed_numbers_reach_now_is_said(self, pages, book, examined):
        doc, chunks = book(labels=[str(number + 3) for number in range(1, 13)])
        shifted = [Question(f"a{n}", page, gold=(Gold(doc="handbook.pdf", page=str(n % 12 + 2)),))
                   for n, page in enumerate([*pages, *pages, *pages])]  # fmt: skip
        printed = [Question(f"b{n}", page, gold=(Gold(doc="handbook.pdf", page=str(n + 4)),))
                   for n, page in enumerate(pages[:4])]  # fmt: skip
        (found,) = examined("shifted_pages", [*shifted, *printed], chunks, [doc], pages="printed")
        assert found.remedy == "Add --page-offset 1."
        assert found.numbers["now"] >= 4 / 40

    def test_a_page_0_counts_from_0(self, examined, asked):
        (found,) = examined("shifted_pages", asked(Gold(doc="handbook.pdf", page="0")))
        assert found.title == "the gold has a page 0"
        assert found.remedy == "Add --page-offset -1."
        assert examined("shifted_pages", asked(Gold(doc="handbook.pdf", page="10"))) == ()


class TestOtherMatcher:
    def test_ids_of_documents_that_are_looked_for_as_chunks(self, examined, asked):
        (found,) = examined("other_matcher", asked(Gold(doc="handbook.pdf")), by="exact")
        assert found.title == "--match doc would reach 100% of the gold instead of 0%"
        assert found.numbers["doc"] == 1
        assert found.numbers["exact" if "exact" in found.numbers else "chosen"] == 0

    def test_silent_where_names_are_not_to_blame(self, examined, asked):
        assert examined("other_matcher", asked(Gold(doc="handbook.pdf", page="3"))) == ()
        assert examined("other_matcher", asked(Gold(doc="handbook.pdf", page="30"))) == ()

    def test_silent_where_it_would_find_other_gold_than_what_names_lost(self, examined, asked):
        """A page that does not exist is hidden, not found, by counting documents."""
        assert (
            examined("other_matcher", asked(Gold(doc="handbok.pdf", page="3"), Gold(doc="handbook.pdf", page="30")))
            == ()
        )
