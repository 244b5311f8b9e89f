"""Each matcher on ids as people write them."""

import pytest

from karat.core.errors import NoOverlapError, UsageError
from karat.core.run import Run
from karat.core.types import Gold, Question, TestSet
from karat.match import Join, MatchOptions, judge, match, share_matched


def share(matcher, gold, hits, options=None, **fields):
    """Share of the gold that a list of hits holds under a matcher."""
    run = Run.from_lists("s", {"q": hits})
    run.fields.update(fields)
    golds = tuple(g if isinstance(g, Gold) else Gold(id=g) for g in gold)
    testset = TestSet([Question("q", gold=golds)])
    return share_matched(judge(testset, [run], Join(testset, [run], matcher, options)))["s"]


@pytest.mark.parametrize(("page", "expected"), [("34", 1), ("340", 0), ("134", 0), (" 34", 1), ("3456", 0), ("034", 1)])
def test_page_numbers_match_whole(page, expected):
    assert share("page", [Gold(page="34")], ["c"], page=[page]) == expected


def test_exact_never_matches_part_of_an_id():
    assert share("exact", ["34"], ["340", "134", "3"]) == 0
    assert share("exact", ["34"], [" 34"]) == 1


@pytest.mark.parametrize("hit", ["d7::chunk-3", "d7#12", "d7_chunk_0", "d7-passage-2", "d7"])
def test_doc_strips_chunk_suffixes(hit):
    assert share("doc", ["d7"], [hit]) == 1
    assert share("doc", ["d"], [hit]) == 0


def test_doc_reads_the_document_of_a_hit():
    assert share("doc", [Gold(doc="guide.pdf")], ["c1", "c2"], doc=["other.pdf", "guide.pdf"]) == 1


URN = "<urn:uuid:27c682dc-c97b-4c3e-b41c-999c65264a6d>"


def test_uuid_anywhere_in_the_id():
    assert share("uuid", [URN], [f"doc-{URN}::chunk-0"]) == 1
    assert share("uuid", [URN.upper()], [f"doc-{URN}::chunk-0"]) == 1
    assert share("uuid", [URN], ["doc-27c682dc"]) == 0


@pytest.mark.parametrize(
    "hit",
    [
        "http://en.wikipedia.org/wiki/Zürich",
        "https://EN.wikipedia.org/wiki/Z%C3%BCrich/",
        "https://en.wikipedia.org/wiki/Zürich#History",
        "https://en.wikipedia.org:443/wiki/Zürich",
        "//en.wikipedia.org/wiki/Zürich",
    ],
)
def test_url_forms_of_one_page(hit):
    assert share("url", ["https://en.wikipedia.org/wiki/Zürich"], [hit]) == 1


@pytest.mark.parametrize(
    "hit",
    [
        "https://en.wikipedia.org/wiki/Zurich",
        "https://en.wikipedia.org/wiki/Zürich?a=1",
        "https://de.wikipedia.org/wiki/Zürich",
        "http://[bad",
    ],
)
def test_url_of_another_page(hit):
    assert share("url", ["https://en.wikipedia.org/wiki/Zürich"], [hit]) == 0


def test_regex_takes_its_first_group():
    assert share("regex", ["A-1-x"], ["A-9-y"], MatchOptions(pattern=r"^(\w+)-")) == 1
    assert share("regex", ["A-1-x"], ["B-1-x"], MatchOptions(pattern=r"^(\w+)-")) == 0
    with pytest.raises(UsageError, match="not valid"):
        share("regex", ["a"], ["a"], MatchOptions(pattern="("))


def test_braces_that_repeat_nothing_are_plain_characters():
    assert share("regex", ["xa{d}"], ["ya{d}"], MatchOptions(pattern="a{d}")) == 1
    assert share("regex", ["xa{d}"], ["yab"], MatchOptions(pattern="a{d}")) == 0
    assert share("regex", ["x12"], ["y12"], MatchOptions(pattern=r"\d{2}")) == 1


def test_a_pattern_too_deep_for_its_library_is_refused():
    with pytest.raises(UsageError, match="is not valid"):
        share("regex", ["a"], ["a"], MatchOptions(pattern="(" * 450 + "a" + ")" * 450))


def test_a_pattern_that_would_search_without_end_is_refused_by_name(monkeypatch):
    monkeypatch.setattr("karat.io.patterns.SECONDS", 0.1)
    with pytest.raises(UsageError, match=r"the pattern '\^\(a\|aa\)\+\$' took more than .* for the id 'aaaa"):
        share("regex", ["a"], ["a" * 60 + "b"], MatchOptions(pattern="^(a|aa)+$"))
    with pytest.raises(UsageError, match="1,001 characters is too long"):
        share("regex", ["a"], ["a"], MatchOptions(pattern="a" * 1001))


def test_quote_is_whole_words_of_the_text():
    gold = [Gold(quote="the night watch lasts 34 hours.")]
    assert share("quote", gold, ["c"], text=["Note: The night-watch... lasts"]) == 0
    assert share("quote", gold, ["c"], text=["... The Night Watch lasts 34 hours!"]) == 1
    assert share("quote", [Gold(quote="34 hours")], ["c"], text=["It took 340 hours, or 134 hours."]) == 0


def test_quote_in_hindi_keeps_vowel_signs():
    assert share("quote", [Gold(quote="हिन्दी")], ["c"], text=["यह हिन्दी है"]) == 1
    assert share("quote", [Gold(quote="हिन्दी")], ["c"], text=["यह हनद है"]) == 0


def test_span_overlaps_in_the_same_document():
    gold = [Gold(doc="a", span=(10, 20))]
    assert share("span", gold, ["c"], doc=["a"], span=[(0, 11)]) == 1
    assert share("span", gold, ["c"], doc=["a"], span=[(20, 30)]) == 0
    assert share("span", gold, ["c"], doc=["b"], span=[(0, 30)]) == 0


def test_page_of_the_right_file():
    gold = [Gold(doc="docs/a.pdf", page="3")]
    assert share("page", gold, ["c", "d"], doc=["b.pdf", "a.pdf"], page=["3", "3"]) == 1
    assert share("page", gold, ["c", "d"], doc=["b.pdf", "a.pdf"], page=["3", "4"]) == 0


def test_page_alone_is_ambiguous_among_files():
    files = {"doc": ["b.pdf", "a.pdf"], "page": ["3", "3"]}
    assert share("page", [Gold(page="3")], ["c", "d"], **files) == 0
    with pytest.raises(UsageError, match=r"1 of 1 gold entry names a page and no file, .* 2 files \(a.pdf, b.pdf\)"):
        auto([Gold(page="3")], ["c", "d"], **files)
    assert share("page", [Gold(page="3")], ["c", "d"], MatchOptions(any_file=True), **files) == 1
    assert share("page", [Gold(page="3")], ["c", "d"], doc=["a.pdf", "a.pdf"], page=["2", "3"]) == 1


def test_same_file_name_in_two_folders_is_told_apart():
    gold = [Gold(doc="x/a.pdf", page="3")]
    assert share("page", gold, ["c", "d"], doc=["y/a.pdf", "x/b.pdf"], page=["3", "3"]) == 0
    assert share("page", gold, ["c", "d"], doc=["y/a.pdf", "x/a.pdf"], page=["3", "9"]) == 0
    assert share("page", gold, ["c", "d"], doc=["y/a.pdf", "x/a.pdf"], page=["9", "3"]) == 1


def test_roots_of_paths_may_differ():
    gold = [Gold(doc="data/docs/a.pdf", page="3")]
    assert share("page", gold, ["c"], doc=["C:\\users\\docs\\a.pdf"], page=["3"]) == 1
    assert share("page", gold, ["c"], doc=["a.pdf"], page=["3"]) == 1
    assert share("page", gold, ["c"], doc=["data/old/a.pdf"], page=["3"]) == 0


def test_gold_without_a_file_is_of_the_only_file():
    gold = [Gold(doc="h.pdf", page="3"), Gold(page="5")]
    assert share("page", gold, ["c", "d"], doc=["h.pdf", "h.pdf"], page=["3", "5"]) == 1
    with pytest.raises(UsageError, match="1 of 2 gold entries names a page and no file"):
        auto(gold, ["c", "d"], doc=["h.pdf", "x.pdf"], page=["3", "5"])


def test_a_range_of_gold_pages_is_several_units():
    assert share("page", [Gold(page="34-35"), Gold(page="1")], ["a", "b"], page=["34", "1"]) == pytest.approx(2 / 3)


def test_two_quotes_of_one_document_are_two_units():
    gold = [Gold(doc="h.pdf", quote="red apples grow"), Gold(doc="h.pdf", quote="blue berries shrink")]
    assert share("quote", gold, ["c"], text=["here blue berries shrink"]) == 0.5
    assert (
        share(
            "span",
            [Gold(doc="a", page="1", span=(0, 5)), Gold(doc="a", page="1", span=(9, 12))],
            ["c"],
            doc=["a"],
            span=[(0, 6)],
        )
        == 0.5
    )


def test_a_span_needs_its_document():
    with pytest.raises(UsageError, match=r"the gold names 2 files .* and the hits name none"):
        auto([Gold(doc="a", span=(0, 5)), Gold(doc="b", span=(0, 5))], ["c"], span=[(0, 5)])
    assert (
        share(
            "span",
            [Gold(doc="a", span=(0, 9)), Gold(doc="b", span=(0, 9))],
            ["c", "d"],
            doc=[None, "b"],
            span=[(0, 9), (0, 9)],
        )
        == 0.5
    )


def test_nothing_is_no_key():
    assert share("regex", ["doc-12"], ["doc-13"], MatchOptions(pattern=r"x*")) == 0
    assert share("doc", ["#1"], ["#2"]) == 0


def test_url_without_scheme_and_reserved_characters():
    assert share("url", ["e.org/b"], ["https://e.org/b"]) == 1
    assert share("url", ["https://e.org/?q=a%26b"], ["https://e.org/?q=a&b"]) == 0
    assert share("url", ["https://e.org/%7eme"], ["https://e.org/~me"]) == 1


def test_gold_the_matcher_cannot_use_is_counted():
    run = Run.from_lists("s", {"q": ["c"]})
    run.fields.update(text=["x a b y"])
    testset = TestSet([Question("q", gold=(Gold(quote="a b"), Gold(doc="h", page="3")))])
    found = match(testset, [run], by="quote").matching
    assert (found.matcher, found.unusable, found.entries) == ("quote", 1, 2)


def test_page_offset_shifts_the_hits():
    assert share("page", [Gold(page="34")], ["c"], MatchOptions(page_offset=1), page=["33"]) == 1


def test_pages_without_a_number_match_nothing():
    assert share("page", [Gold(page="34")], ["c", "d"], page=["N/A", None]) == 0


def auto(golds, hits, **fields):
    run = Run.from_lists("s", {"q": hits})
    run.fields.update(fields)
    return match(TestSet([Question("q", gold=tuple(golds))]), [run]).matching


def test_auto_prefers_exact():
    assert auto([Gold(id="a")], ["a", "b"]).matcher == "exact"


def test_auto_reads_documents_inside_chunk_ids():
    assert auto([Gold(doc=URN)], [f"doc-{URN}::chunk-0"]).matcher == "uuid"
    assert auto([Gold(id="d7")], ["d7::chunk-3", "d8::chunk-0"]).matcher == "doc"


def test_auto_takes_pages_quotes_urls_by_what_the_gold_is():
    assert auto([Gold(page="8")], ["8", "N/A"], page=["8", "N/A"]).matcher == "page"
    assert auto([Gold(quote="a b")], ["c"], text=["x a b y"]).matcher == "quote"
    assert auto([Gold(url="https://a.org/x")], ["c1"], url=["http://A.org/x/"]).matcher == "url"


def test_auto_never_loosens_a_chunk_to_its_document_but_suggests_it():
    with pytest.raises(NoOverlapError, match=r"--match doc.*would match 100%"):
        auto([Gold(chunk="d7::chunk-1")], ["d7::chunk-3"])


def test_zero_overlap_shows_both_sides_and_the_way_out():
    with pytest.raises(NoOverlapError, match=r"Gold looks like 'alpha'.*hits like 'beta'.*--allow-zero-overlap"):
        auto([Gold(id="alpha")], ["beta"])
    run = Run.from_lists("s", {"q": ["beta"]})
    testset = TestSet([Question("q", gold=(Gold(id="alpha"),))])
    assert match(testset, [run], allow_zero=True).matching.share == {"s": 0.0}


def test_a_system_that_returned_no_hits_is_told_so():
    testset = TestSet([Question("q", gold=(Gold(id="alpha"),))])
    with pytest.raises(NoOverlapError, match=r"'s' returned no hits for any question\..*--allow-zero-overlap"):
        match(testset, [Run.from_lists("s", {"q": []})])


def test_one_system_of_several_without_overlap_is_an_error():
    runs = [Run.from_lists("good", {"q": ["a"]}), Run.from_lists("bad", {"q": ["z"]})]
    with pytest.raises(NoOverlapError, match="'bad'"):
        match(TestSet([Question("q", gold=(Gold(id="a"),))]), runs)


def test_auto_tells_what_others_would_match():
    found = auto([Gold(id="https://a.org/x"), Gold(id="https://a.org/y")], ["https://a.org/x", "http://a.org/y/"])
    assert found.matcher == "exact"
    assert found.share == {"s": 0.5}
    assert found.others["url"] == 1
    assert "--match url" in (found.suggestion or "")


def test_shifted_page_numbers_are_recognised():
    with pytest.raises(NoOverlapError, match="look shifted by 1: `--page-offset 1` would match 100%"):
        auto([Gold(page="34"), Gold(page="36")], ["a", "b"], page=["33", "35"])
    with pytest.raises(NoOverlapError, match="No matcher makes them meet"):
        auto([Gold(page="34"), Gold(page="36")], ["a", "b"], page=["3", "5"])


def test_a_shift_that_loses_all_pages_is_blamed_and_not_answered_with_the_matcher_in_use():
    testset = TestSet([Question(f"q{i}", gold=(Gold(page=str(10 * i)),)) for i in range(1, 5)])
    run = Run.from_lists("s", {f"q{i}": [f"c{i}"] for i in range(1, 5)})
    run.fields["page"] = ["10", "20", "30", "40"]
    with pytest.raises(NoOverlapError, match=r"`--page-offset 0` would match 100%") as error:
        match(testset, [run], by="page", page_offset=5)
    assert "--match page" not in str(error.value)
    run.fields["page"] = ["13", "23", "33", "43"]
    with pytest.raises(NoOverlapError, match="No matcher makes them meet"):
        match(testset, [run], by="page", page_offset=5)


def test_the_matchers_offered_read_pages_as_they_were_asked_to():
    testset = TestSet([Question("q", gold=(Gold(page="10"),))])
    run = Run.from_lists("s", {"q": ["c"]})
    run.fields["page"] = ["10"]
    with pytest.raises(NoOverlapError, match="No matcher makes them meet"):
        match(testset, [run], by="exact", page_offset=5)
