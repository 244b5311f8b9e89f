"""Gold of several kinds: each entry by its own, for every system alike, with an index and without."""

import numpy as np
import pytest

from karat.core.docs import Chunk, Chunks
from karat.core.errors import NoOverlapError, UsageError
from karat.core.run import Run
from karat.core.types import Gold, Question, TestSet
from karat.match import JudgingSettings, judge, match, match_resolved, resolve

TEXTS = {
    "c0": "The pump runs at four bar. It is checked on Monday.",
    "c1": "The reserve tank holds oil for a week of storm.",
    "c2": "Lamps on the pier are green when the harbour is open.",
    "c3": "Nobody sails after dusk without the keeper's word.",
}
CHUNKS = Chunks.ordered(
    [
        Chunk("c0", "pump.pdf", TEXTS["c0"], pages=(1,)),
        Chunk("c1", "pump.pdf", TEXTS["c1"], pages=(2,)),
        Chunk("c2", "pier.pdf", TEXTS["c2"], pages=(1,)),
        Chunk("c3", "rules.md", TEXTS["c3"]),
    ]
)
TESTSET = TestSet(
    [
        Question("quote", gold=(Gold(doc="pump.pdf", page="1", quote="runs at four bar"),)),
        Question("page", gold=(Gold(doc="pump.pdf", page="2"),)),
        Question("doc", gold=(Gold(doc="rules.md"),)),
        Question("mixed", gold=(Gold(doc="pier.pdf", page="1"), Gold(doc="rules.md"), Gold(chunk="c0"))),
    ]
)
LISTS = {"quote": ["c1", "c0"], "page": ["c1"], "doc": ["c2", "c3"], "mixed": ["c3", "c2", "c0"]}


def run(name, *fields, lists=LISTS):
    made = Run.from_lists(name, lists)
    chunks = [CHUNKS[CHUNKS.row_of[hit]] for hit in made.doc_list]
    columns = {
        "doc": [c.doc for c in chunks],
        "page": [c.pages or None for c in chunks],
        "text": [c.text for c in chunks],
    }
    made.fields.update({field: columns[field] for field in fields})
    return made


def recalls(matched):
    judged = matched.judged
    return (judged.found_within() / judged.relevant).reshape(len(judged.systems), -1).tolist()


def test_every_entry_goes_by_its_own_kind_with_an_index_and_without():
    told = run("told", "doc", "page", "text")
    bare = run("bare")
    alone = match(TESTSET, [told])
    beside = match_resolved(resolve(TESTSET, CHUNKS), [told, bare], JudgingSettings())
    assert recalls(alone) == [[1, 1, 1, 1]]
    assert recalls(beside) == [[1, 1, 1, 1]] * 2
    assert alone.matching.matcher == "quote, page, doc, exact"


def test_hits_that_are_no_chunks_of_the_index_are_matched_by_what_they_say():
    own = run("own", "doc", "page", "text")
    renamed = Run(
        "own",
        question_ids=own.question_ids,
        offsets=own.offsets,
        _docs=[f"x{i}" for i in range(len(own))],
        fields=own.fields,
    )
    resolution = resolve(TESTSET, CHUNKS)
    found = match_resolved(resolution, [renamed], JudgingSettings())
    assert recalls(found) == [[1, 1, 1, pytest.approx(2 / 3)]]  # it has no chunk c0
    assert found.matching.strangers == {"own": (len(own), len(own), "x0")}


def test_what_hits_cannot_show_is_counted_and_has_no_score():
    """Two systems of which one has no pages are not matched by two rules: its pages are unmatchable."""
    found = match(TESTSET, [run("told", "doc", "page", "text"), run("pageless", "doc", "text")])
    assert found.matching.unmatchable == {"pageless": {"page": 2}}
    assert sorted(found.unmatchable) == [5, 7]
    assert found.unmatchable[7] == "1 of 3 gold entries cannot be matched: the hits have no page"
    assert found.matching.unranked == {"pageless"}
    assert found.matching.unmatchable_line == "gold entries that cannot be matched: pageless 2 (no page)"
    assert match(TESTSET, [run("told", "doc", "page", "text")]).matching.unranked == frozenset()


def test_what_no_hit_can_show_is_an_error_that_says_what_to_add():
    testset = TestSet([Question("q", gold=(Gold(doc="pump.pdf", page="2"),))])
    with pytest.raises(
        NoOverlapError, match=r'Its hits have no page \(1 gold entry needs it\): add "page" to the hits'
    ):
        match(testset, [run("s", "doc", lists={"q": ["c1"]})])


@pytest.mark.parametrize(("gold", "hit"), [("manual_part_1", "manual_part_2"), ("guide#12", "guide#13")])
def test_an_explicit_document_is_compared_whole(gold, hit):
    testset = TestSet([Question("q", gold=(Gold(doc=gold),)), Question("r", gold=(Gold(doc="other"),))])
    hits = Run.from_lists("s", {"q": ["x1"], "r": ["x2"]})
    hits.fields["doc"] = [hit, "other"]
    assert recalls(match(testset, [hits])) == [[0, 1]]
    hits.fields["doc"] = [gold, "other"]
    assert recalls(match(testset, [hits])) == [[1, 1]]
    assert recalls(match(testset, [Run.from_lists("s", {"q": [gold], "r": ["other::chunk-3"]})])) == [[1, 1]]


def test_a_quote_counts_in_the_document_and_on_the_page_it_names():
    testset = TestSet([Question("q", gold=(Gold(doc="b.pdf", page="2", quote="open from nine"),))])
    hits = Run.from_lists("s", {"q": ["x", "y", "z"]})
    hits.fields.update(text=["Open from nine."] * 3, doc=["a.pdf", "b.pdf", "b.pdf"], page=["2", "1", "2"])
    assert match(testset, [hits]).judged.rank.tolist() == [3]
    del hits.fields["page"]
    assert match(testset, [hits]).judged.rank.tolist() == [2, 3]


@pytest.mark.parametrize(
    "text",
    [
        "Of these the stores12 of the northern station are the first to freeze.",
        "Of these the stores¹² of the northern station are the first to freeze.",
        "Of these the stores of the north-\nern station are the ﬁrst to freeze.",
        "Of these the stores of the nor\u00adthern station are the first to freeze.",
    ],
)
def test_a_quote_that_differs_by_typography_is_found(text):
    quote = "the stores of the northern station are the first to freeze"
    testset = TestSet([Question("q", gold=(Gold(quote=quote),))])
    hits = Run.from_lists("s", {"q": ["x"]})
    hits.fields["text"] = [text]
    assert recalls(match(testset, [hits])) == [[1]]
    chunks = Chunks.ordered([Chunk("x", "d", text)])
    assert resolve(testset, chunks).share == 1


def test_numbers_that_differ_are_no_footnotes():
    testset = TestSet([Question("q", gold=(Gold(quote="installed on windows11 in every office"),))])
    hits = Run.from_lists("s", {"q": ["x", "y"]})
    hits.fields["text"] = [
        "It was installed on windows10 in every office.",
        "It was installed in every office of 2011.",
    ]
    assert recalls(match(testset, [hits], allow_zero=True)) == [[0]]


def test_a_page_number_alone_counts_in_any_file_under_that_option_with_a_warning():
    testset = TestSet([Question("q", gold=(Gold(page="1"),)), Question("r", gold=(Gold(page="2"),))])
    hits = run("s", "doc", "page", lists={"q": ["c2", "c0"], "r": ["c1"]})
    with pytest.raises(UsageError, match=r"2 of 2 gold entries name a page and no file.*--dialect healthcare"):
        match(testset, [hits])
    with pytest.raises(UsageError, match=r'2 of 2 gold entries name a page and no file.*column "file"'):
        match_resolved(resolve(testset, CHUNKS), [hits], JudgingSettings())
    found = match(testset, [hits], any_file=True)
    assert recalls(found) == [[1, 1]]
    assert "1 of 2 gold pages are page numbers of several files" in found.matching.notes[0]
    beside = match_resolved(resolve(testset, CHUNKS, any_file=True), [hits], JudgingSettings())
    assert recalls(beside) == [[1, 1]]


def test_pages_that_look_shifted_are_said_where_some_are_found_too():
    golds = {f"q{i}": str(i + 2) for i in range(8)}
    testset = TestSet([Question(q, gold=(Gold(doc="a.pdf", page=page),)) for q, page in golds.items()])
    pages = [str(int(page) - 1) for page in golds.values()]
    pages[0], pages[1] = golds["q0"], "90"
    hits = Run.from_lists("s", {q: [f"c{q}"] for q in golds})
    hits.fields.update(doc=["a.pdf"] * 8, page=pages)
    found = match(testset, [hits])
    assert found.matching.share == {"s": 0.125}
    assert "look shifted by 1: `--page-offset 1` would match 75% of the gold pages" in found.matching.suggestion
    assert match(testset, [hits], page_offset=1).matching.share == {"s": 0.75}


def test_a_matcher_that_clearly_wins_is_the_only_one_tried(monkeypatch):
    tried = []
    plain = judge

    def counted(testset, runs, join, settings):
        tried.append(join.name)
        return plain(testset, runs, join, settings)

    monkeypatch.setattr("karat.match._match.judge", counted)
    testset = TestSet([Question(f"q{i}", gold=(Gold(id=f"d{i}"),)) for i in range(10)])
    hits = Run.from_lists("s", {f"q{i}": [f"d{i}" if i else "x"] for i in range(10)})
    assert match(testset, [hits]).matching.others == {}
    assert set(tried) == {"exact"}
    assert match(testset, [hits], try_all=True).matching.others["doc"] == pytest.approx(0.9)


def test_judging_leaves_the_runs_as_they_are():
    told = run("told", "doc", "page", "text")
    before = {name: list(column) for name, column in told.fields.items()}
    match(TESTSET, [told])
    assert told.fields == before
    assert np.array_equal(told.offsets, [0, 2, 3, 5, 8])
