import pytest
import Stemmer

from karat.core.errors import UsageError
from karat.core.text.codes import Vocabulary
from karat.core.text.languages import count_languages
from karat.retrieve import _terms
from karat.retrieve._terms import STEMMERS, Terms
from karat.retrieve.engines.bm25 import BM25Engine


def found(texts, query, **settings):
    rows, _ = BM25Engine.build(texts, settings, lambda *_: None).search([query]).of(0)
    return rows.tolist()


def test_plain_splits_at_white_space_only():
    assert Terms("plain").of("The night-watch,\tSir\u00a0X!") == ["the", "night-watch,", "sir", "x!"]


def test_words_part_at_punctuation():
    words = Terms("words").of
    assert words("The night-watch, on/off (e.g.) a_b") == ["the", "night", "watch", "on", "off", "e", "g", "a", "b"]
    assert words("don't, the station's 1,234.5 m; 10:30") == ["dont", "the", "stations", "12345", "m", "10", "30"]
    assert words("") == words("—?!") == []


def test_words_of_other_scripts_keep_their_marks():
    words = Terms("words").of
    assert words("हिन्दी में, रात-दिन।") == ["हिन्दी", "में", "रात", "दिन"]
    assert words("Й и\u0306 — «Ночь»") == ["й", "й", "ночь"]
    assert words("don’t a→b 5€ co\u00adop na\u200dme \ufb01re caf\u0065\u0301 １２") == [
        "dont", "a", "b", "5", "coop", "name", "fire", "café", "12",
    ]  # fmt: skip
    assert words("a\ud800b") == ["a", "b"]


def test_stems_without_stop_words():
    assert Terms("stem", "en").of("The watches of the night were cancelled") == ["watch", "night", "cancel"]
    assert Terms("stem", "fr").of("l’eau de l'école") == ["eau", "écol"]
    assert Terms("stem", "de").of("Die Häuser der Stadt") == ["haus", "stadt"]


def test_each_word_is_stemmed_by_the_language_of_its_script():
    terms = Terms("stem", "en")
    assert terms.of("Дежурства на станциях: watches") == ["дежурств", "станц", "watch"]
    assert terms.of("स्टेशनों की किताबें") == ["स्टेशन", "किताब"]
    assert Terms("stem", "ru").of("watches") == ["watch"]
    assert Terms("stem", "sr").language_of["cyrillic"] == Terms("stem", "sr").language_of["latin"] == "sr"
    assert terms.of("東京 7B") == ["東京", "7b"]


@pytest.mark.parametrize(
    ("texts", "language"),
    [
        (["Where is the city?", "It is on the hill."], "en"),
        (["Wo liegt die Stadt?", "Sie liegt auf dem Berg.", "the"], "de"),
        (["Где город?", "Город на горе.", "La ville est sur la montagne."], "fr"),
        (["Где город?"], "en"),
        (["", "123"], "en"),
    ],
)
def test_the_language_of_latin_script_is_guessed(texts, language):
    assert Terms("stem", "auto").fitted(count_languages(texts)).language == language


def test_a_language_may_be_named_by_its_stemmer():
    assert Terms.asked("stem", "german") == Terms("stem", "de")
    with pytest.raises(UsageError, match="Did you mean german"):
        Terms.asked("stem", "germann")
    with pytest.raises(UsageError, match="terms = 7"):
        Terms.asked(7, "auto")


def test_every_language_has_its_stemmer(monkeypatch):
    known = [code for code, (algorithm, _) in STEMMERS.items() if algorithm in Stemmer.algorithms()]
    assert {"en", "ru", "hi", "de", "fr", "es"} <= set(known)
    assert all(Terms.asked("stem", code).of_words(["word"]) for code in known)
    monkeypatch.setattr(_terms, "_algorithms", frozenset)
    with pytest.raises(UsageError, match="no stemmer for hindi"):
        Terms.asked("stem", "hi")


def test_the_words_of_a_vocabulary_are_its_tokens():
    vocabulary = Vocabulary("plain")
    vocabulary.encode(["b a", "a ж"])
    assert vocabulary.words() == ["b", "a", "ж"]


def test_english_forms_meet():
    texts = ["Each watch lasts four hours.", "The kitchen opens at six.", "Snow covers the runway."]
    assert found(texts, "How long are night watches?") == [0]
    assert found(texts, "opening the kitchens") == [1]
    assert found(texts, "watches", terms="words") == []


def test_russian_forms_meet():
    texts = [
        "Ночная вахта на станции длится четыре часа.",
        "Кухня открывается в шесть утра.",
        "Взлётная полоса покрыта снегом.",
    ]
    assert found(texts, "Сколько длятся ночные вахты?") == [0]
    assert found(texts, "Часы работы кухни") == [1, 0]
    assert found(texts, "взлетные полосы под снегом") == [2]


def test_hindi_forms_meet():
    texts = ["रात का पहरा चार घंटे चलता है।", "रसोई सुबह छह बजे खुलती है।", "स्टेशन की किताब मेज़ पर है।"]
    assert found(texts, "रात के पहरे कितने घंटों के हैं?") == [0]
    assert found(texts, "स्टेशनों की किताबें कहाँ हैं?") == [2]


def test_a_mixed_corpus_answers_in_each_language():
    texts = ["The night watches last four hours.", "Ночные вахты длятся четыре часа.", "रात के पहरे चार घंटे चलते हैं।"]
    assert found(texts, "watch") == [0]
    assert found(texts, "вахта") == [1]
    assert found(texts, "पहरा") == [2]
