"""The offline generator on the demo corpus: enough accepted questions a page, and how easily BM25 finds them."""

from importlib.resources import files

import pytest

from karat.core.models import Models
from karat.core.text import guess_language
from karat.models import EmbedderSettings, embedder_named
from karat.results.drafts import Fragment
from karat.systems.index import index
from karat.testset.check import Surroundings, judge_drafts
from karat.testset.lexicon import one_line
from karat.testset.offline import offline_drafts

A_PAGE = 1


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return index(
        str(files("karat.experiment") / "_demo" / "docs"), tmp_path_factory.mktemp("demo") / "i", engines="bm25"
    )


@pytest.fixture(scope="module")
def judged(demo):
    chunks = demo.chunks
    fragments = [Fragment(row, chunk, guess_language(chunk.text) or "") for row, chunk in enumerate(chunks)]
    drafts = [draft for fragment in fragments for draft in offline_drafts(fragment, ["literal"])]
    surroundings = Surroundings(chunks, Models(embedder=lambda: embedder_named(EmbedderSettings())))
    return surroundings, judge_drafts(drafts, surroundings, [])


def test_there_is_an_accepted_question_a_page(demo, judged, capsys):
    surroundings, verdicts = judged
    accepted = [verdict.draft for verdict in verdicts if verdict.rejected is None]
    pages = sum(len(doc.pages) or 1 for doc in demo.docs)
    found = surroundings.bm25.search([draft.text for draft in accepted], 3)
    recalls = []
    for (rows, _), draft in zip(found, accepted, strict=True):
        gold = {fragment.row for fragment in draft.fragments}
        recalls.append(len(gold & set(rows.tolist())) / len(gold))
    with capsys.disabled():
        print(
            f"\noffline on the demo: {len(verdicts)} drafts, {len(accepted)} accepted over {pages} pages "
            f"({len(accepted) / pages:.1f} a page); BM25 Recall@3 {sum(recalls) / len(recalls):.3f}"
        )
    assert pages == 88
    assert len(accepted) >= A_PAGE * pages


def test_gold_is_word_for_word_and_holds_the_answer(judged):
    for verdict in judged[1]:
        draft = verdict.draft
        assert len(draft.quotes) == len(draft.fragments)
        assert all(quote in fragment.chunk.text for quote, fragment in zip(draft.quotes, draft.fragments, strict=True))
        assert one_line(draft.answer) in one_line(draft.quotes[0]).replace("**", "")


def test_overlapping_chunks_share_their_gold(judged):
    joined = [verdict.draft for verdict in judged[1] if verdict.rejected is None and len(verdict.draft.fragments) > 1]
    assert joined
    assert all(len({fragment.row for fragment in draft.fragments}) == len(draft.fragments) for draft in joined)
