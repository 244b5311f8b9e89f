import json
from pathlib import Path

import numpy as np
import pytest

import karat
from karat.core.errors import InputError, KaratError, UsageError
from karat.models.embedders import wordllama
from karat.systems.index import Index

TEXTS = {
    "watch.md": "# The night watch\n\nThe night watch lasts four hours and is kept by two people.\n",
    "fuel.md": "# Fuel\n\nEach tank holds 42,000 litres of fuel. The tank is dipped every Monday.\n",
    "radio.txt": "The radio room answers to the call name Lantern.\n",
}


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def files_of(path):
    return {p.relative_to(path).as_posix(): p.read_bytes() for p in path.rglob("*") if p.is_file()}


def test_an_index_holds_documents_chunks_engines_and_how_they_were_made(docs, tmp_path):
    index = karat.index(docs, tmp_path / "i", chunk="sentences:1")
    assert index.about["settings"]["chunk"] == "sentences:1:0"
    counts = {"docs": 3, "pages": 0, "chunks": len(index.chunks), "tokens": 38}
    assert index.about["corpus"] == {**counts, "language": "en"}
    assert index.engines == ("bm25", "dense")
    assert [d.id for d in index.docs] == ["fuel.md", "radio.txt", "watch.md"]
    assert index.chunks.ids == sorted(index.chunks.ids)
    assert "watch.md" in {c.doc for c in index.chunks}
    rows, _ = index.engine("bm25").search(["lantern"]).of(0)
    assert [index.chunks[row].doc for row in rows] == ["radio.txt"]


def test_the_same_documents_give_the_same_bytes(docs, tmp_path):
    karat.index(docs, tmp_path / "i")
    karat.index(docs, tmp_path / "j")
    assert files_of(tmp_path / "i") == files_of(tmp_path / "j")


def test_a_title_is_searched_unless_it_is_not_wanted(tmp_path):
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"_id": "d1", "title": "Aurora", "text": "Lights in the sky."}))
    with_titles = karat.index(tmp_path / "corpus.jsonl", tmp_path / "i", engines="bm25")
    without = karat.index(tmp_path / "corpus.jsonl", tmp_path / "j", engines="bm25", titles=False)
    assert len(with_titles.engine("bm25").search(["aurora"]).rows) == 1
    assert len(without.engine("bm25").search(["aurora"]).rows) == 0


def test_indexing_again_embeds_only_what_changed(docs, tmp_path, monkeypatch):
    karat.index(docs, tmp_path / "i")
    embedded = []
    kind = type(wordllama.embedder(wordllama_settings()))
    original = kind.embed

    def counted(self, texts, role):
        embedded.extend(texts)
        return original(self, texts, role)

    monkeypatch.setattr(kind, "embed", counted)
    (docs / "new.md").write_text("# New\n\nA page that was not there before.\n", encoding="utf-8")
    index = karat.index(docs, tmp_path / "i")
    assert len(embedded) == 1
    assert "not there before" in embedded[0]
    fresh = karat.index(docs, tmp_path / "j")
    assert np.array_equal(
        np.sort(index.engine("dense").vectors, axis=0), np.sort(fresh.engine("dense").vectors, axis=0)
    )


def wordllama_settings():
    from karat.models import EmbedderSettings

    return EmbedderSettings()


def test_what_could_not_be_read_is_kept_with_the_index(docs, tmp_path):
    (docs / "broken.pdf").write_bytes(b"%PDF-1.7 torn")
    (docs / "empty.txt").write_text("")
    index = karat.index(docs, tmp_path / "i", engines="bm25")
    assert {(Path(p.place).name, p.kind) for p in Index.open(tmp_path / "i").problems if p.fatal} == {
        ("broken.pdf", "broken"),
        ("empty.txt", "empty"),
    }
    assert len(index.docs) == 3


def test_chunks_that_the_model_makes_nothing_of_are_counted(docs, tmp_path, monkeypatch):
    from karat.models import Encoder

    embed = Encoder.embed
    monkeypatch.setattr(
        Encoder, "embed", lambda self, texts, role: embed(self, [t if "watch" in t else "" for t in texts], role)
    )
    index = karat.index(docs, tmp_path / "i", chunk="whole")
    (problem,) = index.problems
    assert (problem.place, problem.kind, problem.fatal) == ("engine dense", "no vector", False)
    assert problem.reason.startswith(f"{sum('watch' not in t for t in TEXTS.values())} of 3 chunks have no vector")


def test_an_endpoint_that_is_down_leaves_the_other_engine_and_says_so(docs, tmp_path):
    from karat.models import EmbedderSettings

    down = EmbedderSettings("openai", "some-model", base_url="http://127.0.0.1:9/v1", retries=0)
    index = karat.index(docs, tmp_path / "i", embedder=down)
    assert index.engines == ("bm25",)
    (problem,) = index.problems
    assert (problem.place, problem.kind, problem.fatal) == ("engine dense", "failed", True)
    assert "127.0.0.1:9" in problem.reason
    with pytest.raises(UsageError, match="this index has no engine 'dense'"):
        index.engine("dense")


def test_an_endpoint_that_is_down_does_not_cost_an_index_that_stands(docs, tmp_path):
    from karat.models import EmbedderSettings

    karat.index(docs, tmp_path / "i")
    before = files_of(tmp_path / "i")
    down = EmbedderSettings("openai", "some-model", base_url="http://127.0.0.1:9/v1", retries=0)
    with pytest.raises(KaratError, match="left as it was"):
        karat.index(docs, tmp_path / "i", embedder=down)
    assert {name: data for name, data in files_of(tmp_path / "i").items() if "journal" not in name} == before


def test_wrong_choices_are_refused_before_anything_is_read(docs, tmp_path):
    with pytest.raises(UsageError, match="Did you mean bm25"):
        karat.index(docs, tmp_path / "i", engines="bm52")
    with pytest.raises(UsageError, match=r"'bm52', which is not built. Did you mean bm25"):
        karat.index(docs, tmp_path / "i", settings={"bm52": {"k1": 1}})
    with pytest.raises(UsageError, match="k2"):
        karat.index(docs, tmp_path / "i", settings={"bm25": {"k2": 1}})
    with pytest.raises(UsageError, match="tokens"):
        karat.index(docs, tmp_path / "i", chunk="tokenz:3")
    assert not (tmp_path / "i").exists()


def test_no_documents_at_all_is_an_error_that_leaves_nothing(tmp_path):
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError):
        karat.index(tmp_path / "none", tmp_path / "i")
    assert not (tmp_path / "i").exists()
