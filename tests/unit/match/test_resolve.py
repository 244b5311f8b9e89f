"""Gold of every kind, brought to the chunks that hold it."""

from itertools import pairwise

import numpy as np
import pytest

from karat.core.docs import Chunk, Chunks, Doc, Page
from karat.core.errors import UsageError
from karat.core.types import Gold, Question, TestSet
from karat.match import MATCHERS, resolve

MANUAL = "Night watch lasts four hours. Sound the horn twice.\fThe generator needs oil every week. Check it on Monday."
CUT = MANUAL.index("\f") + 1


def manual(**page):
    pages = (Page(1, 0, CUT, page.get("first")), Page(2, CUT, len(MANUAL), page.get("second")))
    return Doc("docs/manual.pdf", MANUAL, pages=pages, url="https://example.org/manual")


def cut(doc, *edges, pages=None, labels=None):
    """Chunks of a document between character positions."""
    edges = (0, *edges, len(doc.text))
    made = []
    for i, (start, end) in enumerate(pairwise(edges)):
        over = [p for p in doc.pages if p.start < end and start < p.end]
        made.append(
            Chunk(
                f"{doc.id}#{i}", doc.id, doc.text[start:end], url=doc.url, span=(start, end),
                pages=tuple(p.number for p in over), labels=tuple(p.label for p in over if p.label),
            )
        )  # fmt: skip
    return made


def resolved(*golds, docs=None, chunks=None, known=True, **options):
    docs = [manual()] if docs is None else docs
    chunks = Chunks.ordered(chunks if chunks is not None else [c for d in docs for c in cut(d, CUT)])
    return resolve(TestSet([Question("q", gold=golds)]), chunks, docs if known else None, **options)


def ids(found):
    return [[found.chunks.ids[r] for r in rows] for rows in found.holders]


def reasons(found):
    return [u.reason for u in found.unresolved]


@pytest.mark.parametrize(
    ("gold", "kind"),
    [
        (Gold(doc="manual.pdf", page="2"), "page"),
        (Gold(url="http://example.org/manual/"), "url"),
        (Gold(doc="manual.pdf"), "doc"),
        (Gold(id="docs/manual.pdf#1"), "exact"),
        (Gold(chunk="docs/manual.pdf#1", doc="manual.pdf"), "exact"),
        (Gold(doc="manual.pdf", span=(CUT + 3, CUT + 9)), "span"),
        (Gold(quote="THE GENERATOR needs oil,"), "quote"),
        (Gold(doc="manual.pdf", page="2", quote="needs oil"), "quote"),
        (Gold(id="docs/manual.pdf"), "doc"),
        (Gold(page="2"), "page"),
    ],
)
def test_gold_is_looked_for_by_the_strictest_thing_it_names(gold, kind):
    found = resolved(gold)
    assert found.kinds == [kind]
    whole = kind in ("doc", "url")
    assert ids(found) == [["docs/manual.pdf#0", "docs/manual.pdf#1"] if whole else ["docs/manual.pdf#1"]]
    assert found.unresolved == ()
    assert found.share == 1


@pytest.mark.parametrize(("page", "held"), [("34", 1), ("340", 0), ("134", 0), (" 34", 1), ("3456", 0), ("034", 1)])
def test_page_numbers_resolve_whole(page, held):
    docs = [Doc("care.pdf", "x" * 10, pages=tuple(Page(n, n - 34, n - 33) for n in range(34, 40)))]
    found = resolved(Gold(doc="care.pdf", page=page), docs=docs, chunks=[Chunk("c", "care.pdf", "x", pages=(34,))])
    assert [len(rows) for rows in found.holders] == [held]


def test_the_worked_list_of_pages():
    pages = (34, 78, 35, 102, 45)
    chunks = [Chunk(f"doc_{p}_chunk_0", "Care_During_Pregnancy.pdf", "x", pages=(p,)) for p in pages]
    golds = [Gold(doc="documents/Care_During_Pregnancy.pdf", page=p) for p in ("34", "35", "89")]
    found = resolved(*golds, chunks=chunks, docs=[])
    assert ids(found) == [["doc_34_chunk_0"], ["doc_35_chunk_0"], []]
    assert found.share == pytest.approx(2 / 3)


def test_a_page_cut_into_chunks_is_one_unit_and_a_chunk_may_hold_two():
    quarters = cut(manual(), 10, 20, 30)
    found = resolved(Gold(doc="manual.pdf", page="1"), Gold(doc="manual.pdf", page="2"), chunks=quarters)
    assert ids(found) == [[f"docs/manual.pdf#{i}" for i in range(4)], ["docs/manual.pdf#3"]]


def test_two_names_of_one_page_are_one_unit_with_the_higher_grade():
    found = resolved(Gold(doc="manual.pdf", page="1"), Gold(doc="manual.pdf", page="p. 01", grade=2))
    assert len(found.holders) == 1
    assert found.units.grade.tolist() == [2]


def test_a_range_of_pages_is_as_many_units_and_a_quote_with_pages_is_one():
    assert len(resolved(Gold(doc="manual.pdf", page="1-2")).holders) == 2
    found = resolved(Gold(doc="manual.pdf", page="1-2", quote="Sound the horn"))
    assert len(found.holders) == 1
    assert ids(found) == [["docs/manual.pdf#0"]]


def test_a_printed_number_that_looks_like_a_range_is_one_page():
    docs = [manual(first="3-1", second="3–12")]
    found = resolved(Gold(doc="manual.pdf", page="3-12"), docs=docs, pages="printed")
    assert ids(found) == [["docs/manual.pdf#1"]]
    quoted = Gold(doc="manual.pdf", page="3-12", quote="needs oil")
    assert ids(resolved(quoted, docs=docs, pages="printed")) == [["docs/manual.pdf#1"]]
    assert ids(resolved(Gold(doc="manual.pdf", page="5"), docs=docs, pages="printed")) == [[]]
    assert len(resolved(Gold(doc="manual.pdf", page="1-2"), docs=[manual(first="1", second="2")]).holders) == 2


def test_a_number_that_is_printed_on_several_pages_is_said():
    docs = [manual(first="1", second="1")]
    found = resolved(Gold(doc="manual.pdf", page="1"), docs=docs, pages="printed")
    assert ids(found) == [["docs/manual.pdf#0", "docs/manual.pdf#1"]]
    assert "1 gold entry names a printed page number that several pages of the file bear" in found.notes[0]
    assert resolved(Gold(doc="manual.pdf", page="1"), docs=docs).notes == ()


def test_printed_numbers_are_read_where_they_are_asked_for():
    docs = [manual(first="iv", second="1")]
    assert ids(resolved(Gold(doc="manual.pdf", page="1"), docs=docs, pages="printed")) == [["docs/manual.pdf#1"]]
    assert ids(resolved(Gold(doc="manual.pdf", page="iv"), docs=docs, pages="printed")) == [["docs/manual.pdf#0"]]
    assert ids(resolved(Gold(doc="manual.pdf", page="1"), docs=docs)) == [["docs/manual.pdf#0"]]
    with pytest.raises(UsageError, match="no chunk of this index knows"):
        resolved(Gold(page="1"), pages="printed")
    with pytest.raises(UsageError, match="is not one of"):
        resolved(Gold(page="1"), pages="roman")


def test_an_offset_is_added_to_the_pages_of_the_index():
    assert ids(resolved(Gold(doc="manual.pdf", page="0"), page_offset=-1)) == [["docs/manual.pdf#0"]]
    found = resolved(Gold(doc="manual.pdf", page="11", quote="Sound the horn"), page_offset=10)
    assert ids(found) == [["docs/manual.pdf#0"]]


class TestQuotes:
    def test_a_chunk_that_covers_half_of_a_quote_holds_it(self):
        """Without documents too: what a chunk says of itself is all that counts."""
        quote = "Night watch lasts four hours. Sound the horn twice."
        for edge, held in ((len(quote), [0]), (45, [0]), (30, [0]), (23, [1]), (12, [1])):
            for known in (True, False):
                found = resolved(Gold(quote=quote), chunks=cut(manual(), edge), known=known)
                assert ids(found) == [[f"docs/manual.pdf#{i}" for i in held]], edge

    def test_a_chunk_within_a_quote_holds_it_if_it_is_half_of_it(self):
        quote = Gold(quote="Night watch lasts four hours. Sound the horn twice.")
        assert ids(resolved(quote, chunks=cut(manual(), 6, 45))) == [["docs/manual.pdf#1"]]
        assert ids(resolved(quote, chunks=cut(manual(), 18, 40))) == [[]]

    def test_a_quote_cut_into_three_is_held_by_none(self):
        found = resolved(Gold(quote="Night watch lasts four hours."), chunks=cut(manual(), 12, 23))
        assert reasons(found) == ["quote not found"]
        assert "split over many" in found.unresolved[0].why

    def test_it_is_looked_for_in_the_document_it_names(self):
        other = Doc("docs/other.md", "Before: needs oil every week. After.")
        docs = [manual(), other]
        chunks = [*cut(manual(), CUT), *cut(other)]
        both = resolved(Gold(quote="oil every week"), docs=docs, chunks=chunks)
        assert ids(both) == [["docs/manual.pdf#1", "docs/other.md#0"]]
        one = resolved(Gold(quote="oil every week", doc="other.md"), docs=docs, chunks=chunks)
        assert ids(one) == [["docs/other.md#0"]]
        wrong = resolved(Gold(quote="Sound the horn", doc="other.md"), docs=docs, chunks=chunks)
        assert reasons(wrong) == ["quote elsewhere"]
        assert "stands in docs/manual.pdf, not in other.md" in wrong.unresolved[0].why
        by_url = resolved(Gold(quote="oil every week", url="example.org/manual"), docs=docs, chunks=chunks)
        assert ids(by_url) == [["docs/manual.pdf#1"]]

    def test_it_is_looked_for_on_the_page_it_names(self):
        found = resolved(Gold(quote="Sound the horn", doc="manual.pdf", page="2"))
        assert reasons(found) == ["quote elsewhere"]
        assert "stands on page 1, not on page 2" in found.unresolved[0].why
        assert [p.pages for p in found.quote_places.of(found.units.gold[0])] == [(1,)]

    def test_words_are_whole_and_order_counts(self):
        found = resolved(Gold(quote="watch last four"), Gold(quote="four lasts watch"), Gold(quote="ight watch"))
        assert found.share == 0
        assert reasons(found) == ["quote not found"] * 3

    def test_spans_are_those_of_the_text_as_written(self):
        text = "«İstanbul» — Привет,  мир! नमस्ते दुनिया; the end."
        doc = Doc("d", text)
        found = resolved(Gold(quote="ПРИВЕТ мир नमस्ते"), docs=[doc], chunks=cut(doc))
        (place,) = found.quote_places.of(found.units.gold[0])
        assert text[place.start : place.end] == "Привет,  мир! नमस्ते"

    @pytest.mark.parametrize("spanned", [True, False])
    def test_texts_already_cut_count_for_their_document(self, spanned):
        docs = [Doc("p1", "Red lamps mean stop.", part_of="rules"), Doc("p2", "Green lamps mean go.", part_of="rules")]
        chunks = [Chunk(d.id, "rules", d.text, span=(0, len(d.text)) if spanned else None) for d in docs]
        found = resolved(Gold(doc="rules", quote="lamps mean go"), docs=docs, chunks=chunks)
        assert ids(found) == [["p2"]]
        assert len(found.quote_places.of(found.units.gold[0])) == 1

    def test_the_same_quote_in_two_questions_stays_apart(self):
        doc = Doc("d", "hot hot", pages=(Page(1, 0, 4), Page(2, 4, 7)))
        testset = TestSet(
            [Question(q, gold=(Gold(doc="d", page=p, quote="hot"),)) for q, p in (("a", "1"), ("b", "2"))]
        )
        found = resolve(testset, Chunks.ordered(cut(doc, 4)), [doc])
        assert ids(found) == [["d#0"], ["d#1"]]


@pytest.mark.parametrize(
    ("gold", "reason", "why"),
    [
        (Gold(doc="manuel.pdf", page="1"), "unknown file", "no chunk comes from the file manuel.pdf"),
        (Gold(doc="manual.pdf", page="9"), "beyond the end", "page 9 of manual.pdf stands after its last page, 2"),
        (Gold(doc="manual.pdf", page="0"), "beyond the end", "before its first page, 1"),
        (Gold(doc="manual.pdf", page="iv"), "page without text", "no chunk stands on page iv"),
        (Gold(doc="gone.md"), "unknown file", "no chunk comes from the document gone.md"),
        (Gold(url="https://example.org/gone"), "unknown address", "no chunk comes from https://example.org/gone"),
        (Gold(id="x9"), "unknown id", "no chunk has the id x9"),
        (Gold(doc="manual.pdf", span=(900, 910)), "span outside", "characters 900 to 910 of manual.pdf"),
        (Gold(doc="gone.md", quote="the horn"), "unknown file", "no document is called gone.md"),
        (Gold(quote="a unicorn"), "quote not found", "stands in no document"),
        (Gold(), "names no unit", "names no id"),
    ],
)
def test_what_no_chunk_holds_is_named_with_the_reason(gold, reason, why):
    found = resolved(gold)
    assert reasons(found) == [reason]
    assert why in found.unresolved[0].why
    assert found.share == 0


def test_a_page_without_text_of_its_own_is_not_beyond_the_end():
    doc = Doc("a.pdf", "one", pages=(Page(1, 0, 3), Page(2, 3, 3), Page(3, 3, 3)))
    found = resolved(Gold(doc="a.pdf", page="3"), Gold(doc="a.pdf", page="4"), docs=[doc], chunks=cut(doc))
    assert reasons(found) == ["page without text", "beyond the end"]


def test_pages_without_a_file_are_ambiguous_among_several():
    docs = [manual(), Doc("b.pdf", "text", pages=(Page(1, 0, 4),))]
    found = resolved(Gold(page="1"), Gold(doc="b.pdf", page="1"), docs=docs)
    assert reasons(found) == ["ambiguous"]
    assert "names page 1 without a file, and the index holds 2 files" in found.unresolved[0].why
    assert ids(found)[1] == ["b.pdf#0"]


@pytest.mark.parametrize(
    ("gold", "kind", "reason"),
    [
        (Gold(doc="guide.md", page="3"), "page", "page without text"),
        (Gold(doc="guide.md", chunk="guide.md#99"), "exact", "unknown id"),
        (Gold(doc="guide.md", quote="...", page="2"), "page", "page without text"),
        (Gold(doc="guide.md", id="passage 7"), "exact", "unknown id"),
    ],
)
def test_gold_within_a_document_is_never_loosened_into_it(gold, kind, reason):
    found = resolved(gold, docs=[Doc("guide.md", "Some text.")])
    assert (found.kinds, reasons(found), found.share) == ([kind], [reason], 0)


def test_a_whole_document_is_no_loosened_gold():
    assert resolved(Gold(doc="guide.md"), docs=[Doc("guide.md", "Some text.")]).notes == ()


def test_mixed_gold_is_resolved_entry_by_entry():
    found = resolved(
        Gold(url="https://example.org/manual"), Gold(doc="manual.pdf", page="2", quote="needs oil"), Gold(id="nothing")
    )
    assert found.kinds == ["url", "quote", "exact"]
    assert [len(rows) for rows in found.holders] == [2, 1, 0]


def test_by_forces_one_kind():
    gold = Gold(doc="manual.pdf", page="2", quote="needs oil")
    assert [resolved(gold, by=name).kinds[0] for name in ("page", "doc", "quote")] == ["page", "doc", "quote"]
    assert reasons(resolved(gold, by="span")) == ["names no unit"]
    assert ids(resolved(Gold(id="manual-1"), by=r"regex:manual\D+(\d)")) == [["docs/manual.pdf#1"]]
    with pytest.raises(UsageError, match="unknown matcher"):
        resolved(gold, by="pge")


def test_plain_ids_are_taken_for_documents_where_no_chunk_has_them_and_that_is_said():
    chunks = [Chunk("x1", "d7", "one"), Chunk("x2", "d7", "two"), Chunk("x3", "d8", "three")]
    found = resolved(Gold(id="d7"), Gold(id="d9"), chunks=chunks, docs=[])
    assert (found.kinds, ids(found)) == (["doc", "doc"], [["x1", "x2"], []])
    assert "read as the documents" in found.notes[0]
    assert ids(resolved(Gold(id="d7"), Gold(id="x3"), chunks=chunks, docs=[])) == [[], ["x3"]]


def test_numbers_are_pages_where_there_is_one_file_and_ambiguous_among_several():
    assert ids(resolved(Gold(id="2"))) == [["docs/manual.pdf#1"]]
    found = resolved(Gold(id="2"), docs=[manual(), Doc("b.pdf", "text", pages=(Page(1, 0, 4),))])
    assert reasons(found) == ["ambiguous"]
    assert "names page 2 without a file, and the index holds 2 files" in found.unresolved[0].why


def test_the_id_of_a_chunk_is_never_loosened_into_its_document():
    found = resolved(Gold(id="docs/manual.pdf#9"))
    assert (found.kinds, reasons(found)) == (["exact"], ["unknown id"])


def test_nothing_at_all():
    found = resolve(TestSet([]), Chunks([]), [])
    assert found.holders == []
    assert found.share is None
    assert resolved(Gold(id="x"), chunks=[], docs=[]).share == 0
    assert np.array_equal(resolved(Gold(page="1")).gold_rows(0), [0])


def test_resolving_is_no_matcher_of_the_command_line():
    assert "resolve" not in MATCHERS.keys()  # noqa: SIM118
    assert "resolved" not in MATCHERS.keys()  # noqa: SIM118


def test_gold_pages_that_mean_another_page_as_printed_are_said():
    docs = [manual(first="iv", second="1")]
    (note,) = resolved(Gold(doc="manual.pdf", page="1"), docs=docs).notes
    assert note.startswith("1 gold page read by the number in the file")
    assert "page 2 of docs/manual.pdf is printed 1" in note
    assert resolved(Gold(doc="manual.pdf", page="2"), docs=docs).notes == ()
    assert resolved(Gold(doc="manual.pdf", page="1"), docs=docs, pages="printed").notes == ()
    assert resolved(Gold(doc="manual.pdf", page="1"), docs=[manual(first="1", second="2")]).notes == ()
