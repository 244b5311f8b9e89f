"""Whatever test set and chunks hold, no check fails, no number is impossible, and the report can be written."""

import json
import math

from hypothesis import given
from hypothesis import strategies as st

from karat.core.docs import Chunk, Chunks, Doc, Page
from karat.core.types import Gold, Question, TestSet
from karat.match import resolve
from karat.report import objects
from karat.report.build.testset_check import check_document
from karat.report.document import Detail
from karat.report.render import console
from karat.testset.check import CheckContext
from karat.testset.check_testset import check_testset

odd = st.sampled_from(
    ["", " ", "a", "a b c d", "\x00", "\ud800", "\x1b[31m", "İß", "क ि", "x" * 300, "1", "a.pdf", "№ —"]
)
texts = st.one_of(odd, st.text(max_size=30), st.lists(odd, max_size=12).map(" ".join))
maybe = st.one_of(st.none(), texts)
spans = st.one_of(st.none(), st.tuples(st.integers(0, 9), st.integers(0, 30)))
golds = st.builds(
    Gold, id=maybe, doc=maybe, page=st.one_of(maybe, st.sampled_from(["0", "1", "2-9", "-3", "iv", "1e9"])),
    url=st.one_of(maybe, st.just("http://[::1")), chunk=maybe, quote=maybe, span=spans, grade=st.integers(-1, 2),
)  # fmt: skip
questions = st.builds(
    Question, id=odd, text=texts, answers=st.lists(texts, max_size=2).map(tuple),
    gold=st.lists(golds, max_size=3).map(tuple), answerable=st.booleans(),
)  # fmt: skip
pages = st.lists(st.integers(1, 4), max_size=2, unique=True).map(lambda p: tuple(sorted(p)))
chunks = st.builds(
    Chunk,
    id=texts,
    doc=odd,
    text=texts,
    url=maybe,
    pages=pages,
    labels=st.lists(odd, max_size=2).map(tuple),
    span=spans,
)
sheets = st.builds(Page, st.integers(1, 4), st.integers(0, 5), st.integers(0, 9), odd)
docs = st.builds(Doc, id=odd, text=texts, url=maybe, part_of=maybe, pages=st.lists(sheets, max_size=3).map(tuple))


@given(
    st.lists(questions, max_size=4),
    st.lists(chunks, max_size=5, unique_by=lambda c: c.id),
    st.one_of(st.none(), st.lists(docs, max_size=3)),
    st.integers(-2, 2),
)
def test_no_input_breaks_a_check(asked, held, known, offset):
    found = check_testset(CheckContext(TestSet(asked), Chunks.ordered(held), known, page_offset=offset))
    assert not [f for f in found.findings if "failed" in f.title]
    assert all(0 <= c.value <= 1 and math.isfinite(c.value) for c in found.ceilings)
    assert 0 <= found.reach.reached <= found.reach.units
    lost = resolve(TestSet(asked), Chunks.ordered(held), known, page_offset=offset).unresolved
    said = {q for f in found.of("broken") for q in f.questions}
    assert {u.question for u in lost if u.gold.grade >= 1} <= said, "gold that is missing is always said"
    json.loads(objects.examined(found))
    said = console.render(check_document(found), Detail.FULL)
    assert "\x1b" not in said
    assert "\x00" not in said
    said.encode()
